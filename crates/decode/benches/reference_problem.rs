//! The reference search problem: another toolkit's rules, language model and weights, so that searches compare
//! on model score. `cargo bench -p sylvan-decode --bench reference_problem` with SYLVAN_DATA set.
//!
//! A row is what `sylvan decode --search NAME --beam BEAM` does, with the options that stand behind the name; `4b` is
//! four times the beam. Words after `--` choose the rows whose name contains one of them (`=cube`: is `cube`; `+NAME` is a
//! row that is not among the usual ones), numbers the beams.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;
#[path = "../tests/reference/mod.rs"]
mod reference;

use std::sync::Arc;
use std::time::Instant;

use measure::{Duel, Measured};
use reference::Reference;
use sylvan_decode::Worker;
use sylvan_search::Search;

const BEAMS: [usize; 17] = [1, 2, 4, 5, 8, 10, 16, 20, 50, 70, 100, 200, 500, 1000, 1150, 2000, 5000];

const ROWS: [&str; 16] = [
    "cube",
    "refine",
    "incremental",
    "incremental --margin inf",
    "incremental --pops 4b",
    "incremental --future rough",
    "incremental --future none",
    "prediction",
    "prediction --margin inf",
    "prediction --pops 4b",
    "prediction --future none",
    "prediction --margin inf --future none",
    "undirected",
    "undirected --plain",
    "undirected --plain --parents none",
    "cube --pops b",
];

/// The beams that are measured if none is asked for: large ones only where they take seconds, not minutes.
fn most(name: &str) -> usize {
    match name {
        "cube" => 5000,
        "refine" => 2000,
        "incremental" | "prediction" | "undirected" => 1000,
        // All combinations, in rules with many variables.
        "undirected --plain" | "undirected --plain --parents none" => 16,
        _ => 200,
    }
}

fn main() {
    let started = Instant::now();
    let Some(problem) = Reference::load() else { return };
    let theirs = problem.scores("dev.pop2000.scores");
    let Reference { model, sentences, .. } = &problem;
    println!(
        "{} rules, {} trees, loaded in {:.1} s",
        model.grammar().len(),
        sentences.len(),
        started.elapsed().as_secs_f64()
    );
    let mut worker = Worker::new(Arc::clone(model));
    let edges: usize = problem.forests().iter().map(|forest| forest.forest.edge_ids().len()).sum();
    println!("{:.0} rule applications per sentence\n", edges as f64 / sentences.len() as f64);
    println!("| search | beam | better/equal/worse than pop 2000 | model score | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|---|");
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let beams: Vec<usize> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
    let names: Vec<&String> = arguments.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    let wanted = |name: &str| {
        let fits =
            |word: &&String| word.strip_prefix('=').map_or(name.contains(word.as_str()), |all| name == all);
        names.is_empty() || names.iter().any(fits)
    };
    let more = arguments.iter().filter_map(|word| word.strip_prefix('+'));
    for name in ROWS.into_iter().filter(|name| wanted(name)).chain(more) {
        let usual = || BEAMS.into_iter().filter(|&beam| beam <= most(name)).collect();
        let chosen: Vec<usize> = if beams.is_empty() { usual() } else { beams.clone() };
        for beam in chosen {
            let search = Search::with_options(name, beam).unwrap();
            let found = Measured::of(&mut worker, sentences, search);
            let duel = Duel::of(&found.scores, &theirs).counts();
            println!("| {name} | {beam} | {duel} | {} |", found.columns());
        }
    }
}
