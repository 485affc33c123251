//! How long each metric takes on 100,000 made-up lines, one thread.
#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![allow(clippy::unwrap_used, reason = "a bench may panic")]

use std::num::NonZeroUsize;
use std::time::Instant;

use sylvan_base::Rng;
use sylvan_eval::{Bleu, Chrf, Metric, Ribes, Ter, Tokenizer};

fn main() {
    let lines = 100_000;
    let mut rng = Rng::new(1);
    // Words as frequent and as long as in captions: twelve a line, the common ones short.
    let vocab: Vec<String> = (0..20_000)
        .map(|rank| {
            (0..2 + rng.below(3) + rank / 4000).map(|_| (b'a' + rng.below(26) as u8) as char).collect()
        })
        .collect();
    let word = |rng: &mut Rng| vocab[(vocab.len() as f64 * rng.unit().powi(6)) as usize].clone();
    let mut reference = Vec::with_capacity(lines);
    let mut hypothesis = Vec::with_capacity(lines);
    for _ in 0..lines {
        let words: Vec<String> = (0..6 + rng.below(13)).map(|_| word(&mut rng)).collect();
        let mut other: Vec<String> =
            words.iter().map(|w| if rng.chance(0.2) { word(&mut rng) } else { w.clone() }).collect();
        let (from, to) = (rng.below(other.len()), rng.below(other.len()));
        let moved = other.remove(from);
        other.insert(to, moved);
        reference.push(words.join(" ") + ".");
        hypothesis.push(other.join(" ") + ".");
    }
    println!("| metric | seconds | score |\n|---|---|---|");
    for tokenizer in Tokenizer::ALL {
        let name = format!("BLEU, {}", tokenizer.name());
        run(&name, &Bleu { tokenizer, ..Bleu::default() }, &hypothesis, &reference);
    }
    run("chrF", &Chrf::default(), &hypothesis, &reference);
    run("chrF++", &Chrf::plus_plus(), &hypothesis, &reference);
    run("TER", &Ter::default(), &hypothesis, &reference);
    run("RIBES", &Ribes::default(), &hypothesis, &reference);
}

fn run<M: Metric>(name: &str, metric: &M, hypothesis: &[String], reference: &[String]) {
    let references = [reference.to_vec()];
    let start = Instant::now();
    let stats = metric.line_stats(hypothesis, &references, NonZeroUsize::MIN).unwrap();
    let score = metric.value(&metric.sum(&stats));
    println!("| {name} | {:.2} | {score:.2} |", start.elapsed().as_secs_f64());
}
