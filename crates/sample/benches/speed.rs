//! How many pairs a second one core makes: `cargo bench -p sylvan-sample`.

use std::io::Write;
use std::time::Instant;

use sylvan_sample::{Config, FileBuffers, Sampler};

/// Pairs per chunk, as a program that writes files would ask for.
const CHUNK: u64 = 10_000;
const CHUNKS: u64 = 30;

fn main() {
    let start = Instant::now();
    let closed = Sampler::new(Config::default()).expect("the default settings work");
    report(&format!("start-up: {:.1} ms", start.elapsed().as_secs_f64() * 1e3));
    let open = Sampler::new(Config { types: Some(1_000_000), ..Config::default() }).expect("settings work");
    for (name, sampler) in [("closed vocabulary", &closed), ("a million types", &open)] {
        let (mut source, mut target) = (Vec::new(), Vec::new());
        let rate = measure(|range| {
            source.clear();
            target.clear();
            sampler.write_text(range, &mut source, &mut target);
        });
        report(&format!("{name}, text only: {rate:.0} pairs/s"));
        let mut files = FileBuffers::default();
        let rate = measure(|range| {
            files.clear();
            sampler.write_all(range, &mut files);
        });
        report(&format!("{name}, all five files: {rate:.0} pairs/s"));
    }
}

fn measure(mut work: impl FnMut(std::ops::Range<u64>)) -> f64 {
    // The first chunk fills caches and buffers.
    work(0..CHUNK);
    let start = Instant::now();
    for chunk in 1..=CHUNKS {
        work(chunk * CHUNK..(chunk + 1) * CHUNK);
    }
    (CHUNK * CHUNKS) as f64 / start.elapsed().as_secs_f64()
}

fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{line}");
    drop(written);
}
