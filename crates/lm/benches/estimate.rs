//! How fast models are estimated: `cargo bench -p sylvan-lm --bench estimate`.
//!
//! The text is generated: words by Zipf's law, two thirds of them chosen by the word before, so that counts fall
//! off as in natural text. The figures are words per second from text to ARPA file, the best of three runs, and
//! the bytes on disk besides.
#![allow(clippy::print_stdout)] // Figures are what a bench is for.

use std::time::Instant;

use sylvan_base::{Rng, Silent};
use sylvan_lm::{EstimateConfig, EstimateSummary, Estimator, Prune};
use sylvan_store::{Output, TextReader};

const WORDS: usize = 2_000_000;
const TYPES: usize = 100_000;

fn generate() -> String {
    let mut rng = Rng::new(1);
    let mut sums = Vec::with_capacity(TYPES);
    let mut sum = 0.0;
    for rank in 1..=TYPES {
        sum += 1.0 / (rank as f64 + 2.7);
        sums.push(sum);
    }
    let (mut text, mut word) = (String::new(), 0);
    let mut words = 0;
    while words < WORDS {
        let length = 4 + rng.below(36);
        words += length;
        for _ in 0..length {
            word = if rng.chance(0.65) {
                // One of a few followers of the last word, the first of them most often.
                let which = (0..30).take_while(|_| rng.chance(0.62)).count();
                (Rng::for_item(word as u64, which as u64).unit().powi(4) * TYPES as f64) as usize
            } else {
                let at = rng.unit() * sum;
                sums.partition_point(|&sum| sum < at)
            };
            text.push('w');
            text.push_str(&word.to_string());
            text.push(' ');
        }
        text.push('\n');
    }
    text
}

fn estimate(text: &str, config: EstimateConfig) -> EstimateSummary {
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    let mut estimator = Estimator::with_temp(config, dir.path()).expect("a sound order");
    let mut reader = TextReader::from_text("generated", text);
    estimator.read(&mut reader, &Silent).expect("text without mistakes");
    let mut out = Output::create(&dir.path().join("lm.arpa")).expect("a writable folder");
    let summary = estimator.write_arpa(&mut out, &Silent).expect("a model");
    out.finish().expect("a writable folder");
    summary
}

fn main() {
    let text = generate();
    let full = EstimateConfig { order: 5, ..EstimateConfig::default() };
    let pruned = Prune::parse("0 0 1").expect("thresholds that do not fall");
    let cases = [
        ("order 3", EstimateConfig { order: 3, ..full }),
        ("order 5", full),
        ("order 5, two threads", EstimateConfig { threads: 2, ..full }),
        ("order 5, pruned 0 0 1", EstimateConfig { prune: pruned, ..full }),
        ("order 5, 16 MB of memory", EstimateConfig { memory: 16 << 20, ..full }),
        ("order 7", EstimateConfig { order: 7, ..full }),
    ];
    println!("{:<26} {:>9} {:>8} {:>10} {:>8}", "", "n-grams", "seconds", "words/s", "disk MB");
    for (name, config) in cases {
        let mut best = f64::INFINITY;
        let mut last = None;
        for _ in 0..3 {
            let start = Instant::now();
            last = Some(estimate(&text, config));
            best = best.min(start.elapsed().as_secs_f64());
        }
        if let Some(summary) = last {
            let (grams, speed) = (summary.counts.iter().sum::<u64>(), summary.tokens as f64 / best);
            println!("{name:<26} {grams:>9} {best:>8.2} {speed:>10.0} {:>8}", summary.disk >> 20);
        }
    }
}
