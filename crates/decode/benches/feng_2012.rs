//! Tables 4 and 5 of Feng, Liu, Liu & Cohn 2012 on the reference search problem.
//!
//! `cargo bench -p sylvan-decode --bench feng_2012 -- table4` (or `table5`) with SYLVAN_DATA set. Rows are named by the
//! options of the program.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;
#[path = "../tests/reference/mod.rs"]
mod reference;

use std::collections::HashMap;
use std::sync::Arc;

use measure::{Duel, Measured, applying, arguments, search};
use reference::{Reference, lines};
use sylvan_decode::{Input, Sentence, With, Worker};

/// Better, equal, worse in percent of 1,082 sentences: the paper's table 4.
const TABLE_4: [(usize, &str); 5] =
    [(10, "67/32/1"), (20, "61/38/1"), (30, "57/41/2"), (40, "49/48/3"), (50, "29/65/6")];
const BEAMS: [usize; 8] = [1, 2, 5, 10, 20, 30, 40, 50];
/// Where sentences are long.
const LONG: usize = 15;

fn main() {
    let arguments = arguments();
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|word| word == part);
    let Some(problem) = Reference::load() else { return };
    if wanted("table4") {
        table_4(&problem);
    }
    if wanted("table5") {
        table_5(&problem);
    }
}

/// Prediction against cube pruning at equal beams, with the same weights.
fn table_4(problem: &Reference) {
    let Reference { model, sentences, .. } = problem;
    let long = long_sentences(&mut Worker::new(Arc::clone(model)));
    let number = sentences.iter().filter(|sentence| sentence.words.len() >= LONG).count();
    println!("\n{} sentences, {number} of them of {LONG} words or more;", sentences.len());
    println!("long: the {} sentences of the training text of {LONG} words or more\n", long.len());
    println!(
        "| prediction | against | b | better/equal/worse | percent | Feng et al. | long: better/equal/worse | percent |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let scores = |name: &str| {
        let mut worker = Worker::new(Arc::new(model.with_applying(applying(name))));
        BEAMS.map(|beam| {
            [sentences, &long].map(|set| Measured::of(&mut worker, set, search(name, beam)).scores)
        })
    };
    let all = "prediction --margin inf";
    let paper = "prediction --margin inf --goals bins --coverage links --future-features translation";
    let (cube, pops) = ("cube", "cube --pops b");
    let blind = "cube --pops b --boundary none";
    let found: HashMap<&str, _> =
        ["prediction", all, paper, cube, pops, blind].map(|name| (name, scores(name))).into();
    for (ours, theirs) in
        [("prediction", cube), (all, cube), (all, pops), (all, blind), (paper, pops), (paper, blind)]
    {
        for (index, beam) in BEAMS.into_iter().enumerate() {
            let [dev, long] =
                [0, 1].map(|set| Duel::of(&found[ours][index][set], &found[theirs][index][set]));
            let printed = TABLE_4.iter().find(|(b, _)| *b == beam).map_or("", |(_, percent)| percent);
            println!(
                "| {ours} | {theirs} | {beam} | {} | {} | {printed} | {} | {} |",
                dev.counts(),
                dev.percent(),
                long.counts(),
                long.percent()
            );
        }
    }
}

/// Trees of the training text, which the rules have seen: there are hardly any long ones in dev.
fn long_sentences(worker: &mut Worker) -> Vec<Sentence> {
    let Some(path) = sylvan_testkit::data("enja/train.en.tree") else { return Vec::new() };
    let mut read = |line: &String| worker.read(line, Input::Tree, With::default()).unwrap();
    let sentences = lines(&path).into_iter().filter_map(|line| read(&line));
    sentences.filter(|sentence| sentence.words.len() >= LONG).collect()
}

/// Prediction with and without future cost.
fn table_5(problem: &Reference) {
    let Reference { model, sentences, .. } = problem;
    let mut worker = Worker::new(Arc::clone(model));
    println!(
        "\n{} sentences; ms of processor time from the tree to the words, best of three rounds\n",
        sentences.len()
    );
    println!("| search | b | model score | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|");
    for beam in [10, 20, 50] {
        for name in [
            "prediction",
            "prediction --future none",
            "prediction --margin inf",
            "prediction --margin inf --future none",
            "incremental --margin inf --future none",
            "prediction --margin inf --reevaluate",
        ] {
            // It takes a minute, and the paper has one beam.
            if name.contains("--reevaluate") && beam != 20 {
                continue;
            }
            let found = Measured::best_of(3, &mut worker, sentences, search(name, beam));
            println!("| {name} | {beam} | {} |", found.columns());
        }
    }
}
