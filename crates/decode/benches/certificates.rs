//! The reference search problem solved exactly: how often the optimum is proven within a time, how large the gap is
//! otherwise, and how often the other searches reach a proven optimum.
//!
//! `cargo bench -p sylvan-decode --bench certificates` with SYLVAN_DATA set. Numbers after `--` are the limits in seconds
//! (0.1 0.5 2 if there are none); with `searches` the other searches are run too; `sentences=FROM..TO` takes only some;
//! `scores=FILE` writes one line per sentence: best score, upper bound, whether proven, seconds.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::io::Write;
use std::time::Instant;

use reference::Reference;
use std::sync::Arc;

use sylvan_decode::{List, Sentence, With, Worker};
use sylvan_search::{Beam, Cube, Effort, Future, Incremental, Limits, Prediction, Search, Stop};

/// The best score that a search found, how much better anything can be, and the seconds it took.
#[derive(Debug, Clone, Copy)]
struct Certified {
    score: f64,
    gap: f64,
    seconds: f64,
}

impl Certified {
    fn is_proven(&self) -> bool {
        self.gap == 0.0
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let value = |name: &str| arguments.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let mut limits: Vec<f64> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
    if limits.is_empty() {
        limits = vec![0.1, 0.5, 2.0];
    }
    let Some(Reference { model, sentences, .. }) = Reference::load() else { return };
    let range = value("sentences").and_then(|range| range.split_once(".."));
    let (from, to) =
        range.map_or((0, sentences.len()), |(from, to)| (from.parse().unwrap(), to.parse().unwrap()));
    let sentences: Vec<&Sentence> = sentences[from..to].iter().collect();
    let mut worker = Worker::new(Arc::clone(&model));
    let n = sentences.len() as f64;
    println!("{} sentences; seconds of one thread's processor time\n", sentences.len());

    println!("| limit, s | proven | of all | mean gap of the rest | largest | mean seconds of the proven |");
    println!("|---|---|---|---|---|---|");
    let mut results: Vec<Option<Certified>> = vec![None; sentences.len()];
    for &limit in &limits {
        for (sentence, result) in sentences.iter().zip(&mut results) {
            if result.is_some_and(|certified| certified.is_proven()) {
                continue;
            }
            let started = seconds();
            let stop = Stop {
                deadline: Some(Instant::now() + std::time::Duration::from_secs_f64(limit)),
                ..Stop::NEVER
            };
            let search = Search::Exact(Beam(200), Effort::UNLIMITED);
            let found = worker.decode(sentence, With::default(), search, List::default(), &stop);
            let (score, gap) = (found.hypotheses[0].score, found.gap.unwrap_or(f64::INFINITY));
            *result = Some(Certified { score, gap, seconds: seconds() - started });
        }
        let done = || results.iter().flatten();
        let proven: Vec<f64> = done().filter(|c| c.is_proven()).map(|c| c.seconds).collect();
        let gaps: Vec<f64> = done().filter(|c| !c.is_proven()).map(|c| c.gap).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        println!(
            "| {limit} | {} | {:.1} % | {:.4} | {:.4} | {:.3} |",
            proven.len(),
            100.0 * proven.len() as f64 / n,
            mean(&gaps),
            gaps.iter().fold(0.0, |a: f64, &b| a.max(b)),
            mean(&proven),
        );
    }
    if let Some(path) = value("scores") {
        let mut file = std::fs::File::create(path).unwrap();
        for Certified { score, gap, seconds } in results.iter().flatten() {
            writeln!(file, "{score}\t{}\t{}\t{seconds:.3}", score + gap, *gap == 0.0).unwrap();
        }
    }
    let optima: Vec<Option<f64>> =
        results.iter().flatten().map(|c| c.is_proven().then_some(c.score)).collect();
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
            ("cube pruning", Search::Cube(Cube::new(Beam(beam)))),
            ("incremental, inside, grids", Search::Incremental(grids, Incremental::from(Future::Inside))),
            ("prediction, grids", Search::Prediction(grids, Prediction::default())),
        ];
        for (name, search) in searches {
            let started = seconds();
            let (mut reached, mut loss) = (0, 0.0);
            for (sentence, optimum) in sentences.iter().zip(&optima) {
                let Some(optimum) = optimum else { continue };
                let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
                let missing = optimum - found.hypotheses[0].score;
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

/// Processor time of this thread where the system says, else the time since the start.
fn seconds() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = stat.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    ran.map_or_else(|| start.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
