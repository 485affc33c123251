//! The reference search problem solved exactly: how often the optimum is proven with so much work, how large the gap is
//! otherwise, and how often the other searches reach a proven optimum.
//!
//! `cargo bench -p sylvan-decode --bench certificates` with SYLVAN_DATA set. Numbers after `--` are the limits in
//! millions of joins, which do not depend on the machine (2 20 60 if there are none); with `searches` the other searches are run too; `sentences=FROM..TO` takes only some;
//! `scores=FILE` writes one line per sentence: best score, upper bound, whether proven, seconds.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;
#[path = "../tests/reference/mod.rs"]
mod reference;

use std::io::Write;
use std::sync::Arc;

use measure::{Measured, seconds};
use reference::Reference;
use sylvan_decode::{List, Sentence, With, Worker};
use sylvan_search::{Beam, Effort, Search, Stop};

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
        limits = vec![2.0, 20.0, 60.0];
    }
    let Some(problem) = Reference::load() else { return };
    let theirs = problem.scores("dev.pop2000.scores");
    let Reference { model, sentences, .. } = problem;
    let range = value("sentences").and_then(|range| range.split_once(".."));
    let (from, to) =
        range.map_or((0, sentences.len()), |(from, to)| (from.parse().unwrap(), to.parse().unwrap()));
    let sentences: Vec<&Sentence> = sentences[from..to].iter().collect();
    let mut worker = Worker::new(Arc::clone(&model));
    let n = sentences.len() as f64;
    println!("{} sentences; seconds of one thread's processor time\n", sentences.len());

    println!(
        "| million joins | proven | of all | mean gap of the rest | largest | mean seconds of the proven |"
    );
    println!("|---|---|---|---|---|---|");
    let mut results: Vec<Option<Certified>> = vec![None; sentences.len()];
    for &limit in &limits {
        for (sentence, result) in sentences.iter().zip(&mut results) {
            if result.is_some_and(|certified| certified.is_proven()) {
                continue;
            }
            let started = seconds();
            let search = Search::Exact(Beam(200), Effort { joins: (limit * 1e6) as u64 });
            let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
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
    let row = |name: &str, beam: usize, scores: &[f64], time: String| {
        let (mut reached, mut loss) = (0, 0.0);
        for (score, optimum) in scores.iter().zip(optima.iter().flatten()) {
            let missing = optimum - score;
            assert!(missing > -1e-4, "{name} found better than proven by {missing}");
            reached += usize::from(missing < 1e-4);
            loss += missing;
        }
        println!(
            "| {name} | {beam} | {reached} | {:.1} % | {:.4} | {time} |",
            100.0 * f64::from(reached as u32) / known as f64,
            loss / known as f64,
        );
    };
    let solved = |index: &usize| optima[*index].is_some();
    let theirs: Vec<f64> = (0..optima.len()).filter(solved).map(|index| theirs[from + index]).collect();
    row("Travatar, pop limit", 2000, &theirs, String::new());
    let sentences: Vec<&Sentence> = (0..optima.len()).filter(solved).map(|index| sentences[index]).collect();
    for beam in [1, 10, 50, 200, 1000] {
        for name in ["cube", "refine", "incremental", "prediction"] {
            let search = Search::with_options(name, beam).unwrap();
            let found = Measured::of(&mut worker, &sentences, search);
            row(name, beam, &found.scores, format!("{:.2}", found.time()));
        }
    }
}
