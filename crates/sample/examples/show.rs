//! Prints pairs of the sample corpus.
//!
//! ```text
//! cargo run --release -p sylvan-sample --example show -- [count] [first] [min] [max] [types]
//! ```
use std::io::Write;
use sylvan_sample::*;
fn main() {
    let a: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let g = |i: usize, d: usize| a.get(i).copied().unwrap_or(d);
    let config = Config { min_words: g(2, 4), max_words: g(3, 60), types: a.get(4).copied(), ..Config::default() };
    let s = match Sampler::new(config) { Ok(s) => s, Err(e) => { eprintln!("{e}"); return; } };
    let mut w = Workspace::new();
    let mut out = std::io::stdout().lock();
    for i in g(1, 0)..g(1, 0) + g(0, 30) {
        let mut p = s.pair(i as u64, &mut w);
        writeln!(out, "{}\n  {}", p.source(), p.target()).unwrap();
        if std::env::var("ALL").is_ok() { writeln!(out, "  {}\n  {}\n{}  {:?}\n", p.source_tree(), p.alignment(), p.conllu(), p.phenomena()).unwrap(); }
    }
}
