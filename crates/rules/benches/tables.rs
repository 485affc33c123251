//! Opening a table, matching trees and building forests: `cargo bench -p sylvan-rules --bench tables`.
//!
//! Works on the reference table of SYLVAN_DATA and prints Markdown.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use sylvan_base::Silent;
use sylvan_rules::apply::{Applier, DefaultRules, SentenceRules, Workspace};
use sylvan_rules::formats::TextFormat;
use sylvan_rules::{Grammar, ImportConfig, Precision, Preprocessing, Weights, import};
use sylvan_trees::penn::{Brackets, parse_line};
use sylvan_trees::{Direction, Tree};

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let Some(folder) = sylvan_testkit::data("travatar-enja") else { return };
    let Some(dev) = sylvan_testkit::data("enja/dev.en.tree") else { return };
    let scratch = tempfile::tempdir().unwrap();
    println!("| table | bytes | open | with vocabulary | match and build, 500 trees | per 20-word tree |");
    println!("|---|---|---|---|---|---|");
    for (name, precision) in
        [("exact", Precision::Exact), ("16 bits", Precision::Bits(16)), ("8 bits", Precision::Bits(8))]
    {
        let path = scratch.path().join("rules");
        let preprocessing = Preprocessing { binarise: Some(Direction::Right), ..Preprocessing::as_is() };
        let config = ImportConfig { preprocessing, precision, ..ImportConfig::default() };
        import(&folder.join("rule-table.gz"), TextFormat::Travatar, &path, &config, &Silent).unwrap();
        let bytes = std::fs::metadata(&path).unwrap().len();
        let time = |work: &dyn Fn()| {
            median(
                (0..9)
                    .map(|_| {
                        let start = Instant::now();
                        work();
                        start.elapsed()
                    })
                    .collect(),
            )
        };
        let open = time(&|| drop(Grammar::open(&path).unwrap()));
        let with_vocab = time(&|| drop(Grammar::open(&path).unwrap().vocab()));
        let grammar = Grammar::open(&path).unwrap();
        let mut vocab = grammar.vocab();
        let text = std::fs::read_to_string(&dev).unwrap();
        let mut trees: Vec<Tree> = Vec::new();
        for line in text.lines() {
            let tree = parse_line(line, Brackets::Keep, &mut vocab).unwrap();
            trees.extend(tree.and_then(|tree| grammar.meta().preprocessing.apply(tree, &mut vocab)));
        }
        let weights = Weights::of([("p_ef", 0.02), ("p_fe", 0.006), ("lex_ef", 0.0005), ("lex_fe", 0.02)]);
        let applier = Applier::new(&grammar, &weights, DefaultRules::Missing);
        let all = time(&|| {
            let mut work = Workspace::default();
            for tree in &trees {
                std::hint::black_box(applier.forest_in(tree, &vocab, SentenceRules::default(), &mut work));
            }
        });
        // The longest sentences have 16 words; scale by words to 20.
        let words: usize = trees.iter().map(|tree| tree.words().len()).sum();
        let long: Vec<&Tree> = trees.iter().filter(|tree| tree.words().len() >= 12).collect();
        let long_words: usize = long.iter().map(|tree| tree.words().len()).sum();
        let slow = time(&|| {
            let mut work = Workspace::default();
            for tree in &long {
                std::hint::black_box(applier.forest_in(*tree, &vocab, SentenceRules::default(), &mut work));
            }
        });
        println!(
            "| {name} | {bytes} | {:.2} ms | {:.2} ms | {:.1} ms ({:.3} ms each, {words} words) | {:.3} ms |",
            open.as_secs_f64() * 1e3,
            with_vocab.as_secs_f64() * 1e3,
            all.as_secs_f64() * 1e3,
            all.as_secs_f64() * 1e3 / trees.len() as f64,
            slow.as_secs_f64() * 1e3 / long_words as f64 * 20.0,
        );
    }
}
