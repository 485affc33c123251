//! Bottom-up searches on the reference problem, their time apart from that of matching and making forests.
//! `cargo bench -p sylvan --bench bottom_up -- cube 200 1000` with SYLVAN_DATA set. Times are
//! processor time, the best of three rounds.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::time::{Duration, Instant};

use reference::Reference;
use sylvan::Translator;
use sylvan_forest::TranslationForest;
use sylvan_search::{Beam, Counters, Cube, CubePruning, Losers, Outcome, Refine};

/// How often everything is done; the best time counts.
const ROUNDS: usize = 3;

fn main() {
    let Some(Reference { model, trees, defaults, .. }) = Reference::load() else { return };
    let translator = Translator::with_defaults(&model, defaults);
    let lm = translator.scorer();
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let mut beams: Vec<usize> = arguments.iter().filter_map(|word| word.parse().ok()).collect();
    if beams.is_empty() {
        beams = vec![1, 10, 100, 200, 500, 1000, 2000];
    }
    let wanted = |name: &str| {
        let mut names = arguments.iter().filter(|word| word.parse::<usize>().is_err()).peekable();
        names.peek().is_none() || names.any(|wanted| name.contains(wanted.as_str()))
    };
    let (time, forests) =
        best_of(|| -> Vec<TranslationForest> { trees.iter().map(|tree| translator.forest(tree)).collect() });
    let n = trees.len() as f64;
    println!("matching and forest: {:.3} ms per sentence\n", time / n);
    println!("| search | beam | model score | LM queries | items | recombined | search ms |");
    println!("|---|---|---|---|---|---|---|");
    let report = |name: &str, beam: usize, search: &mut dyn FnMut(&TranslationForest) -> Outcome| {
        let (time, found) = best_of(|| forests.iter().map(&mut *search).collect::<Vec<Outcome>>());
        let mut counters = Counters::default();
        found.iter().for_each(|found| counters += found.counters);
        println!(
            "| {name} | {beam} | {:.4} | {:.0} | {:.0} | {:.0} | {:.3} |",
            found.iter().map(|found| found.score).sum::<f64>() / n,
            counters.lm_queries as f64 / n,
            counters.items as f64 / n,
            counters.recombined as f64 / n,
            time / n
        );
    };
    for &beam in &beams {
        if wanted("cube") {
            let mut cube = CubePruning::default();
            report("cube", beam, &mut |forest| {
                cube.search(forest, lm, Cube::new(Beam(beam)), Losers::Forget).unwrap()
            });
        }
        if wanted("refine") {
            let mut refine = Refine::default();
            report("refine", beam, &mut |forest| {
                refine.search(forest, lm, Beam(beam), Losers::Forget).unwrap()
            });
        }
    }
}

/// The shortest time in ms, and the last result.
fn best_of<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let clock = Clock(Instant::now());
    let mut best = f64::INFINITY;
    let mut timed = || {
        let started = clock.now();
        let result = work();
        best = best.min((clock.now() - started).as_secs_f64() * 1000.0);
        result
    };
    for _ in 1..ROUNDS {
        timed();
    }
    let result = timed();
    (best, result)
}

/// The time this thread had a processor, where the system tells; otherwise the time that passed.
struct Clock(Instant);

impl Clock {
    fn now(&self) -> Duration {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let spent = stat.and_then(|stat| stat.split(' ').next()?.parse().ok()).map(Duration::from_nanos);
        spent.unwrap_or_else(|| self.0.elapsed())
    }
}
