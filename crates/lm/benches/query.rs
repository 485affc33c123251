//! How long a query takes, from every layout: in shuffled order (each query meets cold memory), in batches, and from
//! left to right.
//!
//! ```text
//! cargo bench -p sylvan-lm --bench query -- TEXT MODEL...      your own models, ARPA or compiled
//! cargo bench -p sylvan-lm --bench query                       a small model of random text
//! ```
//!
//! The shuffled order is that of `Rng::new(1)` over all words and sentence ends of the text, so that another program
//! can ask the same questions in the same order.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench is a program for its author")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sylvan_base::Rng;
use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, LayoutKind, Lm, State, WordId};
use sylvan_store::TextReader;

const ROUNDS: usize = 3;
const BATCH: usize = 256;

fn main() {
    let arguments: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|argument| argument != "--bench").map(PathBuf::from).collect();
    if let Some((text, models)) = arguments.split_first() {
        for model in models {
            let start = Instant::now();
            let lm = Lm::open(model).unwrap();
            println!("{}: opened in {:.3} ms", model.display(), start.elapsed().as_secs_f64() * 1e3);
            measure(&lm, &model.display().to_string(), text);
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    std::fs::write(&text, random_text()).unwrap();
    let mut estimator = Estimator::new(EstimateConfig { order: 4, ..EstimateConfig::default() }).unwrap();
    random_text().lines().for_each(|line| estimator.add(line).unwrap());
    let lm = estimator.finish().unwrap();
    for layout in [LayoutKind::Hash, LayoutKind::Trie] {
        let path = folder.path().join("model");
        lm.compile(&path, CompileConfig { layout, ..CompileConfig::default() }).unwrap();
        measure(&Lm::open(&path).unwrap(), &format!("{layout:?}"), &text);
    }
}

fn random_text() -> String {
    let mut rng = Rng::new(9);
    let mut text = String::new();
    for _ in 0..5_000 {
        for _ in 0..12 {
            text.push_str(&format!("w{} ", (rng.unit() * rng.unit() * 3_000.0) as usize));
        }
        text.push('\n');
    }
    text
}

fn measure(lm: &Lm, name: &str, text: &Path) {
    let mut sentences: Vec<Vec<WordId>> = Vec::new();
    let mut reader = TextReader::open(text).unwrap().tolerant();
    while let Some(line) = reader.next_line().unwrap() {
        let words = line.split_ascii_whitespace().map(|word| lm.word(word));
        sentences.push(words.chain([lm.end_word()]).collect());
    }
    let mut queries: Vec<(State, WordId)> = Vec::new();
    for sentence in &sentences {
        let mut state = lm.begin();
        for &word in sentence {
            queries.push((state, word));
            state = lm.score(&state, word).1;
        }
    }
    Rng::new(1).shuffle(&mut queries);
    let mut results = Vec::new();
    for _ in 0..ROUNDS {
        let per_query = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / queries.len() as f64;
        let start = Instant::now();
        let mut shuffled = 0.0;
        for (state, word) in &queries {
            let (score, next) = lm.score(state, *word);
            shuffled += f64::from(score);
            black_box(&next);
        }
        let single = per_query(start);

        let start = Instant::now();
        let mut batched = 0.0;
        for batch in queries.chunks(BATCH) {
            lm.score_batch(batch, &mut results);
            batched += results.iter().map(|(score, _)| f64::from(*score)).sum::<f64>();
        }
        let batch = per_query(start);

        let start = Instant::now();
        let mut in_order = 0.0;
        for sentence in &sentences {
            let mut state = lm.begin();
            for &word in sentence {
                let (score, next) = lm.score(&state, word);
                in_order += f64::from(score);
                state = next;
            }
        }
        let sequential = per_query(start);
        assert!((shuffled - batched).abs() < 1e-6 * shuffled.abs());
        println!(
            "{name} shuffled {single:.1} ns batched {batch:.1} ns sequential {sequential:.1} ns \
             sum of log10 {:.4} {:.4} n {}",
            shuffled / std::f64::consts::LN_10,
            in_order / std::f64::consts::LN_10,
            queries.len()
        );
    }
}
