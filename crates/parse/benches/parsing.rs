//! How fast a model parses, on one thread: `cargo bench -p sylvan-parse`.
//!
//! `SYLVAN_PARSER` names a model and `SYLVAN_TEXT` a text of one sentence per line; without them a parser is trained
//! on the sample corpus first. Opening the model is timed by itself and is not part of the other figures.
#![allow(clippy::print_stdout)] // Figures are what a bench is for.

use std::path::Path;
use std::time::Instant;

use sylvan_base::{Silent, Vocab};
use sylvan_parse::{Kind, Parser, TrainConfig, Workspace, train_constituency};
use sylvan_sample::{Config, Sampler};
use sylvan_store::TextReader;
use sylvan_trees::{HeadRules, Tree, penn};

fn main() {
    let (parser, lines) = match (std::env::var_os("SYLVAN_PARSER"), std::env::var_os("SYLVAN_TEXT")) {
        (Some(model), Some(text)) => {
            let start = Instant::now();
            let parser = Parser::open(Path::new(&model)).expect("a parser model");
            println!("opened in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
            (parser, read(Path::new(&text), 3000))
        }
        _ => sample(),
    };
    println!("| beam | sentences | words | sentences/s |");
    println!("|---|---|---|---|");
    for beam in [1, 4, 16] {
        let words: usize = lines.iter().map(Vec::len).sum();
        let seconds = best_of(3, || parse_all(&parser, &lines, beam));
        println!("| {beam} | {} | {words} | {:.0} |", lines.len(), lines.len() as f64 / seconds);
    }
    // Linear time: the same words in lines of other lengths.
    let all: Vec<String> = lines.iter().flatten().cloned().collect();
    println!("| words per line | microseconds per word, beam 16 |");
    println!("|---|---|");
    let mut times = Vec::new();
    for length in [5, 10, 20, 50, 100, 200] {
        let cut: Vec<Vec<String>> =
            all[..all.len().min(8000)].chunks_exact(length).map(<[String]>::to_vec).collect();
        let words = (cut.len() * length).max(1) as f64;
        let per_word = best_of(3, || parse_all(&parser, &cut, 16)) / words;
        println!("| {length} | {:.1} |", per_word * 1e6);
        times.push((length as f64, per_word * length as f64));
    }
    println!("time grows with length to the power of {:.2}", slope(&times));
}

/// The slope of a straight line through the logarithms.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let above: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    above / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}

fn best_of(rounds: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(time).fold(f64::INFINITY, f64::min)
}

fn parse_all(parser: &Parser, lines: &[Vec<String>], beam: usize) {
    let mut workspace = Workspace::new();
    let mut vocab = Vocab::new();
    for line in lines {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        match parser.kind() {
            Kind::Constituency => {
                std::hint::black_box(parser.constituents(&words, beam, 1, &mut vocab, &mut workspace));
            }
            Kind::Dependency => {
                std::hint::black_box(parser.dependencies(&words, beam, None, &mut workspace));
            }
            Kind::Tagger => {
                std::hint::black_box(parser.tag(&words, &mut workspace));
            }
        }
    }
}

fn read(path: &Path, most: usize) -> Vec<Vec<String>> {
    let mut reader = TextReader::open(path).expect("a text").tolerant();
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().expect("text") {
        lines.push(line.split_ascii_whitespace().map(str::to_string).collect());
        if lines.len() == most {
            break;
        }
    }
    lines
}

fn sample() -> (Parser, Vec<Vec<String>>) {
    let mut vocab = Vocab::new();
    let sampler = Sampler::new(Config::default()).expect("the default sample");
    let mut workspace = sylvan_sample::Workspace::new();
    let mut trees: Vec<Tree> = Vec::new();
    for number in 0..1500 {
        let line = sampler.pair(number, &mut workspace).source_tree();
        trees.extend(penn::parse_line(&line, penn::Brackets::Keep, &mut vocab).expect("a sample tree"));
    }
    let config = TrainConfig { epochs: 3, ..TrainConfig::default() };
    let rules = HeadRules::chinese();
    let parser = train_constituency(&trees[..500], &[], &rules, &mut vocab, &config, &Silent, &mut |_| {})
        .expect("trees to train from");
    let lines = trees[500..]
        .iter()
        .map(|tree| tree.words().iter().map(|&word| vocab.text(word).to_string()).collect());
    (parser, lines.collect())
}
