//! Figure 7 of Huang & Mi 2010 on the reference search problem.
//!
//! `cargo bench -p sylvan-decode --bench huang_mi_2010 -- figure7a` with SYLVAN_DATA set: cost against length at beam
//! 50. The 500 trees are joined under a new root, in ones, twos, fours and so on, so that all lengths have the same
//! words. `figure7b`: model score against time and language-model queries over beams. `times`: what each input of
//! figure 7a cost, separated by tabs, wall clock. Rows are named by the options of the program.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;
#[path = "../tests/reference/mod.rs"]
mod reference;

use std::sync::Arc;

use measure::{Measured, arguments, mean, search};
use reference::{Reference, lines};
use sylvan_decode::{Input, Sentence, With, Worker};

const SEARCHES: [&str; 5] = ["cube", "refine", "incremental", "incremental --margin inf", "prediction"];
const BEAM: usize = 50;
/// How many trees are joined. 480 trees can be cut into groups of each size.
const JOINED: [usize; 6] = [1, 2, 4, 8, 16, 32];
const TREES: usize = 480;
/// How often everything is timed; the best time of each input counts.
const ROUNDS: usize = 5;

fn main() {
    let arguments = arguments();
    let wanted = |part: &str| arguments.is_empty() || arguments.iter().any(|word| word == part);
    let Some(problem) = Reference::load() else { return };
    let mut worker = Worker::new(Arc::clone(&problem.model));
    if wanted("figure7a") || wanted("times") {
        let inputs = JOINED.map(|number| joined(&mut worker, number));
        let mut costs = SEARCHES.map(|_| JOINED.map(|_| None::<Measured>));
        for _ in 0..ROUNDS {
            for (name, costs) in SEARCHES.iter().zip(&mut costs) {
                for (inputs, cost) in inputs.iter().zip(costs) {
                    let again = Measured::of(&mut worker, inputs, search(name, BEAM));
                    match cost {
                        Some(cost) => cost.faster_of(&again),
                        None => *cost = Some(again),
                    }
                }
            }
        }
        let costs = costs.map(|costs| costs.map(Option::unwrap));
        if wanted("figure7a") {
            figure_7a(&inputs, &costs);
        }
        if wanted("times") {
            times(&inputs, &costs);
        }
    }
    if wanted("figure7b") {
        figure_7b(&mut worker, &problem.sentences);
    }
}

/// Trees joined under a new root, so many at a time.
fn joined(worker: &mut Worker, number: usize) -> Vec<Sentence> {
    let trees = lines(&sylvan_testkit::data("enja/dev.en.tree").unwrap());
    let read = |trees: &[String]| {
        let line = match trees {
            [tree] => tree.clone(),
            _ => format!("(ROOT {})", trees.join(" ")),
        };
        worker.read(&line, Input::Tree, With::default()).unwrap().unwrap()
    };
    trees[..TREES].chunks(number).map(read).collect()
}

fn words(inputs: &[Sentence]) -> f64 {
    mean(inputs.iter().map(|input| input.words.len() as f64))
}

fn figure_7a(inputs: &[Vec<Sentence>; 6], costs: &[[Measured; 6]; 5]) {
    println!(
        "\nbeam {BEAM}; ms of processor time from the tree to the words, best of {ROUNDS} rounds; n is the mean number of words\n"
    );
    println!("| search | trees joined | n | ms | ms / n | items / n | LM queries / n |");
    println!("|---|---|---|---|---|---|---|");
    for (name, costs) in SEARCHES.iter().zip(costs) {
        for ((inputs, cost), joined) in inputs.iter().zip(costs).zip(JOINED) {
            let n = words(inputs);
            let (time, items, queries) = (cost.time(), cost.items() / n, cost.queries() / n);
            println!(
                "| {name} | {joined} | {n:.1} | {time:.3} | {:.4} | {items:.1} | {queries:.1} |",
                time / n
            );
        }
    }
    println!("\nexponents of n by least squares on the logarithms of these means, with 95 % intervals\n");
    println!("| search | time | items | LM queries |");
    println!("|---|---|---|---|");
    for (name, costs) in SEARCHES.iter().zip(costs) {
        let slope = |of: fn(&Measured) -> f64| {
            let points = inputs.iter().zip(costs).map(|(inputs, cost)| (words(inputs).ln(), of(cost).ln()));
            let (slope, interval) = regression(&points.collect::<Vec<_>>());
            format!("{slope:.3} ± {interval:.3}")
        };
        println!(
            "| {name} | {} | {} | {} |",
            slope(Measured::time),
            slope(Measured::items),
            slope(Measured::queries)
        );
    }
}

/// The slope of a straight line through six points, and half the width of its 95 % interval.
fn regression(points: &[(f64, f64)]) -> (f64, f64) {
    /// Student's t for four degrees of freedom.
    const T: f64 = 2.776;
    assert_eq!(points.len(), 6);
    let (x, y) = (mean(points.iter().map(|p| p.0)), mean(points.iter().map(|p| p.1)));
    let sxx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = sxy / sxx;
    let rest: f64 = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
    (slope, T * (rest / 4.0 / sxx).sqrt())
}

fn times(inputs: &[Vec<Sentence>; 6], costs: &[[Measured; 6]; 5]) {
    println!("\nsearch\tjoined\tnumber\twords\tmilliseconds\tscore\titems\tlm_queries");
    for (name, costs) in SEARCHES.iter().zip(costs) {
        for ((inputs, cost), joined) in inputs.iter().zip(costs).zip(JOINED) {
            for (index, input) in inputs.iter().enumerate() {
                println!(
                    "{name}\t{joined}\t{}\t{}\t{:.4}\t{:.6}\t{}\t{}",
                    index + 1,
                    input.words.len(),
                    cost.milliseconds[index],
                    cost.scores[index],
                    cost.counters[index].items,
                    cost.counters[index].lm_queries
                );
            }
        }
    }
}

/// Beams 10 to 70 for cube pruning, 10 to 110 for incremental search, as in the paper.
fn figure_7b(worker: &mut Worker, sentences: &[Sentence]) {
    println!(
        "\n{} sentences; ms of processor time from the tree to the words, best of {ROUNDS} rounds\n",
        sentences.len()
    );
    println!("| search | beam | model score | LM queries | items | ms |");
    println!("|---|---|---|---|---|---|");
    for (name, most) in [("cube", 70), ("incremental", 110), ("incremental --margin inf", 110)] {
        for beam in (10..=most).step_by(10) {
            let found = Measured::best_of(ROUNDS, worker, sentences, search(name, beam));
            println!("| {name} | {beam} | {} |", found.columns());
        }
    }
}
