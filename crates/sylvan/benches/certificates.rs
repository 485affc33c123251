//! The reference search problem solved exactly: how often the optimum is proven within a time, how large the gap is
//! otherwise, and how often the other searches reach a proven optimum.
//!
//! `cargo bench -p sylvan --bench certificates` with SYLVAN_DATA set. Numbers after `--` are the limits in seconds
//! (0.1 0.5 2 if there are none); with `searches` the other searches are run too; `sentences=FROM..TO` takes only some;
//! `scores=FILE` writes one line per sentence: best score, upper bound, whether proven, seconds.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::io::Write;
use std::time::Instant;

use reference::Reference;
use sylvan::{Search, Translator};
use sylvan_search::{Beam, Certified, Cube, Effort, Future, Limits, Prediction, exact};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let value = |name: &str| arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let mut limits: Vec<f64> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
    if limits.is_empty() {
        limits = vec![0.1, 0.5, 2.0];
    }
    let Some(Reference { model, trees, defaults, .. }) = Reference::load() else { return };
    let range = value("sentences").and_then(|range| range.split_once(".."));
    let (from, to) =
        range.map_or((0, trees.len()), |(from, to)| (from.parse().unwrap(), to.parse().unwrap()));
    let translator = Translator::with_defaults(&model, defaults);
    let forests: Vec<_> = trees[from..to].iter().map(|tree| translator.forest(tree)).collect();
    let n = forests.len() as f64;
    println!("{} sentences; seconds of one thread's processor time\n", forests.len());

    println!(
        "| limit, s | proven | of all | mean gap of the rest | largest | mean seconds of the proven | mean joins |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut results: Vec<Option<(Certified, f64)>> = vec![None; forests.len()];
    for &limit in &limits {
        for (forest, result) in forests.iter().zip(&mut results) {
            if result.as_ref().is_some_and(|(certified, _)| certified.proven) {
                continue;
            }
            let started = seconds();
            let start = translator.search(forest, Search::CubePruning(Cube::new(Beam(200)))).derivation;
            let mut stop = || seconds() - started > limit;
            let certified = exact(forest, translator.scorer(), Some(start), Effort::UNLIMITED, &mut stop);
            *result = Some((certified.unwrap(), seconds() - started));
        }
        let done = || results.iter().flatten();
        let proven: Vec<f64> = done().filter(|(c, _)| c.proven).map(|&(_, seconds)| seconds).collect();
        let gaps: Vec<f64> = done().filter(|(c, _)| !c.proven).map(|(c, _)| c.gap()).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        println!(
            "| {limit} | {} | {:.1} % | {:.4} | {:.4} | {:.3} | {:.0} |",
            proven.len(),
            100.0 * proven.len() as f64 / n,
            mean(&gaps),
            gaps.iter().fold(0.0, |a: f64, &b| a.max(b)),
            mean(&proven),
            done().map(|(c, _)| c.joins as f64).sum::<f64>() / n,
        );
    }
    if let Some(path) = value("scores") {
        let mut file = std::fs::File::create(path).unwrap();
        for (certified, seconds) in results.iter().flatten() {
            let score = certified.best.as_ref().unwrap().score;
            writeln!(file, "{score}\t{}\t{}\t{seconds:.3}", certified.upper_bound, certified.proven).unwrap();
        }
    }
    let optima: Vec<Option<f64>> =
        results.iter().flatten().map(|(c, _)| c.proven.then(|| c.best.as_ref().unwrap().score)).collect();
    let known = optima.iter().flatten().count();
    println!(
        "\nmean of the {known} proven optima: {:.4}",
        optima.iter().flatten().sum::<f64>() / known as f64
    );
    if !arguments.iter().any(|word| word == "searches") {
        return;
    }
    println!("\n| search | beam | optimum reached | of the proven | mean loss | ms |");
    println!("|---|---|---|---|---|---|");
    for beam in [1, 10, 50, 200, 1000] {
        let grids = Limits { pops: 4 * beam, ..Limits::beam(Beam(beam)) };
        let searches = [
            ("cube pruning", Search::CubePruning(Cube::new(Beam(beam)))),
            ("incremental, inside, grids", Search::Incremental(grids, Future::Inside)),
            ("prediction, grids", Search::Prediction(grids, Prediction::default())),
        ];
        for (name, search) in searches {
            let started = seconds();
            let (mut reached, mut loss) = (0, 0.0);
            for (forest, optimum) in forests.iter().zip(&optima) {
                let Some(optimum) = optimum else { continue };
                let missing = optimum - translator.search(forest, search).score;
                assert!(missing > -1e-5, "{name} found better than proven by {missing}");
                reached += usize::from(missing < 1e-5);
                loss += missing;
            }
            println!(
                "| {name} | {beam} | {reached} | {:.1} % | {:.4} | {:.2} |",
                100.0 * f64::from(reached as u32) / known as f64,
                loss / known as f64,
                1000.0 * (seconds() - started) / known as f64
            );
        }
    }
}

/// Processor time of this thread where the system tells it, else the time since the start.
fn seconds() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ran.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
