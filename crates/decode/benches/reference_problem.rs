//! The reference search problem: another toolkit's rules, language model and weights, so that searches compare
//! on model score. `cargo bench -p sylvan-decode --bench reference_problem` with SYLVAN_DATA set; words after `--` choose the
//! searches whose name contains one of them, numbers the beams.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::time::Instant;

use std::sync::Arc;

use reference::Reference;
use sylvan_decode::{List, With, Worker};
use sylvan_search::{Beam, Counters, Cube, Future, Incremental, Limits, Prediction, Search, Stop};

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
    println!("| search | beam | model score | better/equal/worse than pop 2000 | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|---|");
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let beams: Vec<usize> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
    let names: Vec<&String> = arguments.iter().filter(|word| word.parse::<usize>().is_err()).collect();
    for beam in [1, 5, 10, 20, 50, 70, 100, 200, 500, 1000, 2000] {
        if !beams.is_empty() && !beams.contains(&beam) {
            continue;
        }
        let limits = Limits::beam(Beam(beam));
        let grids = Limits { pops: 4 * beam, ..limits };
        let close = Limits::usual(Beam(beam));
        let blind = Prediction { future: false, ..Prediction::default() };
        for (name, search) in [
            ("cube pruning", Search::Cube(Cube::new(Beam(beam)))),
            ("refine", Search::Refine(Beam(beam))),
            ("incremental, inside", Search::Incremental(limits, Incremental::from(Future::Inside))),
            ("incremental, inside, grids", Search::Incremental(grids, Incremental::from(Future::Inside))),
            ("incremental, inside, margin", Search::Incremental(close, Incremental::from(Future::Inside))),
            ("incremental, rough", Search::Incremental(limits, Incremental::from(Future::Rough))),
            ("incremental, no future", Search::Incremental(limits, Incremental::from(Future::None))),
            ("prediction", Search::Prediction(limits, Prediction::default())),
            ("prediction, margin", Search::Prediction(close, Prediction::default())),
            ("prediction, grids", Search::Prediction(grids, Prediction::default())),
            ("prediction, no future", Search::Prediction(limits, blind)),
        ] {
            // Taking every option of a thousand items takes minutes and shows nothing new.
            let lazy = ["grids", "margin", "cube", "refine"];
            if beam >= 1000 && !lazy.iter().any(|word| name.contains(word)) {
                continue;
            }
            if !names.is_empty() && !names.iter().any(|&wanted| name.contains(wanted.as_str())) {
                continue;
            }
            let started = Instant::now();
            let mut counters = Counters::default();
            let scores: Vec<f64> = sentences
                .iter()
                .map(|sentence| {
                    let found =
                        worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
                    counters += found.counters;
                    found.hypotheses[0].score
                })
                .collect();
            let time = started.elapsed().as_secs_f64() * 1000.0;
            let n = sentences.len() as f64;
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
