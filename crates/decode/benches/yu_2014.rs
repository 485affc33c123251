//! Table 2 of Yu, Mi, Huang & Liu 2014 by model score and time: the ways to use a structured language model, with the same
//! weights, in one run.
//!
//! `cargo bench -p sylvan-decode --bench yu_2014 -- RULES LM SLM WEIGHTS TREES [all]`; `all` asks about every item, too,
//! which takes long. Rows are named by the options of the program; the first is without the model. Scores are those of
//! whole translations, parsed once they are complete.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;

use std::path::PathBuf;
use std::sync::Arc;

use measure::{mean, search, seconds};
use sylvan_decode::features::weight_of;
use sylvan_decode::{Input, List, Model, Sentence, With, Worker};
use sylvan_parse::structured::StructuredLm;
use sylvan_rules::Weights;
use sylvan_search::{Search, Stop};
use sylvan_store::TextReader;

const ROWS: [(&str, usize); 19] = [
    ("--structured rerank", 100),
    ("--structured naive --plain-parses", 100),
    ("--structured naive --plain-parses", 1000),
    ("--structured best-parse --plain-parses", 100),
    ("--structured best-parse --plain-parses", 500),
    ("--structured grouping --plain-parses --groups 1", 100),
    ("--structured grouping --plain-parses --groups 2", 100),
    ("--structured grouping --plain-parses", 100),
    ("--structured grouping --plain-parses --groups 8", 100),
    ("--structured grouping --plain-parses --parses 4", 100),
    ("--structured grouping --plain-parses --shortlist 5", 100),
    ("--structured grouping", 100),
    ("--structured best-parse", 100),
    ("--parses 1", 100),
    ("--parses 2", 100),
    ("--parses 4", 100),
    ("--parses 8", 100),
    ("--parses 4", 300),
    ("--parses 4 --plain-parses", 100),
];

const SLOW: [(&str, usize); 2] =
    [("--structured grouping --plain-parses --shortlist 0", 100), ("--shortlist 0", 100)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let [rules, lm, slm, weights, trees, more @ ..] = arguments.as_slice() else {
        println!("expected RULES LM SLM WEIGHTS TREES after --");
        return;
    };
    let weights = Weights::read(&mut TextReader::open(weights.as_ref()).unwrap()).unwrap();
    let weight = weight_of(&weights, "slm");
    let open = |weights: &Weights| {
        let (model, _) = Model::open_parts(rules.as_ref(), &[PathBuf::from(lm)], weights).unwrap();
        let model = model.with_structured(StructuredLm::open(slm.as_ref()).unwrap());
        Worker::new(Arc::new(model))
    };
    let mut without = weights.clone();
    without.set("slm", 0.0);
    let (mut with, mut without) = (open(&weights), open(&without));
    let lines = sylvan_store::read_lines(trees.as_ref()).unwrap();
    let mut read = |line: &String| with.read(line, Input::Tree, With::default()).unwrap();
    let sentences: Vec<Sentence> = lines.iter().filter_map(&mut read).collect();
    println!("{} sentences of {trees}, weight {weight}\n", sentences.len());
    println!("| incremental | beam | score | of it the tree | items | ms | times |");
    println!("|---|---|---|---|---|---|---|");
    let mut base = None;
    for (options, beam) in [("", 100), ("", 500)] {
        let search = search("incremental", beam);
        row(&mut without, &mut with, &sentences, (options, search), weight, &mut base);
    }
    let slow = if more.iter().any(|word| word == "all") { &SLOW[..] } else { &[] };
    for &(options, beam) in ROWS.iter().chain(slow) {
        let search = search(&format!("incremental {options}"), beam);
        let mut worker = open(&weights);
        row(&mut worker, &mut with, &sentences, (options, search), weight, &mut base);
    }
}

/// Decodes with one worker, and scores with another that has the whole model.
fn row(
    worker: &mut Worker,
    judge: &mut Worker,
    sentences: &[Sentence],
    (options, search): (&str, Search),
    weight: f64,
    base: &mut Option<f64>,
) {
    let (mut scores, mut trees, mut items) = (Vec::new(), Vec::new(), 0);
    let mut spent = 0.0;
    for sentence in sentences {
        let start = seconds();
        let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
        spent += seconds() - start;
        items += found.counters.items;
        let best = &found.hypotheses[0].derivation;
        let forest = judge.forest(sentence, With::default());
        let derived = judge.derived(sentence, With::default(), &forest, best);
        scores.push(derived.contributions().score());
        let values = derived.features();
        trees.push(weight * values.iter().find(|(name, _)| name == "slm").map_or(0.0, |(_, value)| *value));
    }
    let ms = 1000.0 * spent / sentences.len() as f64;
    let times = ms / *base.get_or_insert(ms);
    let options = if options.is_empty() { "without the model" } else { options };
    println!(
        "| {options} | {} | {:.4} | {:.4} | {} | {ms:.2} | {times:.2} |",
        search.beam().0,
        mean(scores.iter().copied()),
        mean(trees.iter().copied()),
        items / sentences.len() as u64
    );
}
