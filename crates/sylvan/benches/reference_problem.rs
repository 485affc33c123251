//! The reference search problem: another toolkit's rules, language model and weights, so that searches compare
//! on model score. `cargo bench -p sylvan --bench reference_problem` with SYLVAN_DATA set.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::time::Instant;

use sylvan::{Model, Search, Translator};
use sylvan_base::Vocab;
use sylvan_lm::Lm;
use sylvan_rules::apply::DefaultRules;
use sylvan_rules::{Weights, read_travatar};
use sylvan_search::{Beam, Counters, Cube, Future, Limits, Prediction};
use sylvan_store::TextReader;
use sylvan_trees::{Direction, Tree, binarise};

fn main() {
    let Some(folder) = sylvan_testkit::data("travatar-enja") else { return };
    let Some(dev) = sylvan_testkit::data("enja/dev.en.tree") else { return };
    let open = |name: &str| TextReader::open(&folder.join(name)).unwrap();
    let started = Instant::now();
    let mut vocab = Vocab::new();
    let mut weights = Weights::read(&mut open("weights")).unwrap();
    let names: Vec<String> = weights.iter().map(|(name, _)| name.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|&name| name != "lm").collect();
    let grammar = read_travatar(&mut open("rule-table.gz"), &names, &mut vocab).unwrap();
    let lm = Lm::read_arpa(&mut open("ja.5.arpa.gz")).unwrap();
    // Their language-model feature is a base-10 logarithm.
    weights.set("lm", weights.get("lm") / std::f64::consts::LN_10);
    let defaults = DefaultRules::Missing { per_rule: weights.get("unk"), per_word: 0.0 };
    let mut model = Model { vocab, grammar, lm, weights };
    let mut reader = TextReader::open(&dev).unwrap();
    let mut trees: Vec<Tree> = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        let tree = model.read_tree(line).unwrap().unwrap();
        trees.push(binarise(&tree, Direction::Right, &mut model.vocab));
    }
    let theirs: Vec<f64> = lines(&mut open("dev.pop2000.scores"));
    println!(
        "{} rules, {} trees, loaded in {:.1} s",
        model.grammar.len(),
        trees.len(),
        started.elapsed().as_secs_f64()
    );
    let translator = Translator::with_defaults(&model, defaults);
    let edges: usize = trees.iter().map(|tree| translator.forest(tree).edge_ids().len()).sum();
    println!("{:.0} rule applications per sentence\n", edges as f64 / trees.len() as f64);
    println!("| search | beam | model score | better/equal/worse than pop 2000 | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|---|");
    for beam in [1, 5, 20, 50, 200] {
        let limits = Limits::beam(Beam(beam));
        let grids = Limits { pops: 4 * beam, ..limits };
        let blind = Prediction { future: false, ..Prediction::default() };
        for (name, search) in [
            ("cube pruning", Search::CubePruning(Cube::new(Beam(beam)))),
            ("incremental, inside", Search::Incremental(limits, Future::Inside)),
            ("incremental, inside, grids", Search::Incremental(grids, Future::Inside)),
            ("incremental, rough", Search::Incremental(limits, Future::Rough)),
            ("incremental, no future", Search::Incremental(limits, Future::None)),
            ("prediction", Search::Prediction(limits, Prediction::default())),
            ("prediction, grids", Search::Prediction(grids, Prediction::default())),
            ("prediction, no future", Search::Prediction(limits, blind)),
        ] {
            let started = Instant::now();
            let mut counters = Counters::default();
            let scores: Vec<f64> = trees
                .iter()
                .map(|tree| {
                    let found = translator.translate(tree, search);
                    counters += found.counters;
                    found.score
                })
                .collect();
            let time = started.elapsed().as_secs_f64() * 1000.0;
            let n = trees.len() as f64;
            let mut duel = [0; 3];
            for (ours, theirs) in scores.iter().zip(&theirs) {
                let difference = ours - theirs;
                duel[if difference > 1e-4 {
                    0
                } else if difference < -1e-4 {
                    2
                } else {
                    1
                }] += 1;
            }
            println!(
                "| {name} | {beam} | {:.4} | {}/{}/{} | {:.0} | {:.0} | {:.2} |",
                scores.iter().sum::<f64>() / n,
                duel[0],
                duel[1],
                duel[2],
                counters.lm_queries as f64 / n,
                counters.items as f64 / n,
                time / n
            );
        }
    }
}

fn lines(reader: &mut TextReader) -> Vec<f64> {
    let mut out = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        out.push(line.trim().parse().unwrap());
    }
    out
}
