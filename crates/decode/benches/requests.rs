//! What a request costs on an open model: a line alone and in a batch, several language models, margins, words never
//! seen.
//!
//! `cargo bench -p sylvan-decode --bench requests -- MODEL TREES [part ..]` with a model of `sylvan train` and trees to
//! translate; parts: `lines`, `models`, `margins`, `words` (with `words=N` sentences), all of them if none is named.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod measure;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use measure::Measured;
use sylvan_decode::file::ModelFile;
use sylvan_decode::{Input, List, Model, Request, Sentence, With, Worker, translate_lines, workers};
use sylvan_rules::Weights;
use sylvan_search::{Limits, Search, SearchName, Stop};
use sylvan_store::read_lines;

/// How often everything is timed; the best time counts.
const ROUNDS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let [model, trees, parts @ ..] = arguments.as_slice() else {
        println!("skipped: give a model and a file of trees");
        return;
    };
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|word| word.starts_with(part));
    let trees = read_lines(Path::new(trees)).unwrap();
    if wanted("lines") {
        lines(Path::new(model), &trees);
    }
    if wanted("models") {
        several_models(Path::new(model), &trees);
    }
    if wanted("margins") {
        margins(Path::new(model), &trees);
    }
    if wanted("words") {
        let count = parts.iter().find_map(|word| word.strip_prefix("words=")?.parse().ok());
        new_words(Path::new(model), &trees, count.unwrap_or(1_000_000));
    }
}

fn request(search: Search) -> Request {
    let mut request = Request::default();
    (request.input, request.search) = (Input::Tree, Some(search));
    request
}

/// Milliseconds per item, the best of some rounds, each part in turn.
fn best_of<const N: usize>(items: usize, mut parts: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (best, part) in best.iter_mut().zip(&mut parts) {
            let started = Instant::now();
            part();
            *best = best.min(started.elapsed().as_secs_f64() * 1000.0 / items as f64);
        }
    }
    best
}

/// A line alone against a line in a batch.
fn lines(model: &Path, trees: &[String]) {
    let started = Instant::now();
    let model = Arc::new(Model::open(model).unwrap());
    println!("opened in {:.1} ms\n", started.elapsed().as_secs_f64() * 1000.0);
    println!(
        "| search | ms per line, batch of {} | one by one | with a new worker each | ratio |",
        trees.len()
    );
    println!("|---|---|---|---|---|");
    for name in [SearchName::Refine, SearchName::Cube, SearchName::Incremental, SearchName::Prediction] {
        let request = request(Search::named(name));
        let (mut crew, mut one) = (workers(&model, 1), Worker::new(Arc::clone(&model)));
        let [batch, alone, fresh] = best_of(
            trees.len(),
            [
                &mut || drop(translate_lines(&mut crew, trees, "trees", 1, &request)),
                &mut || trees.iter().for_each(|tree| drop(one.translate(tree, &request).unwrap())),
                &mut || {
                    let translate = |tree: &String| Worker::new(Arc::clone(&model)).translate(tree, &request);
                    trees.iter().for_each(|tree| drop(translate(tree).unwrap()));
                },
            ],
        );
        println!("| {name} | {batch:.3} | {alone:.3} | {fresh:.3} | {:.3} |", alone / batch);
    }
}

/// One language model, the same twice, three times.
fn several_models(model: &Path, trees: &[String]) {
    let file = ModelFile::open(model).unwrap();
    let given = file.weights().unwrap();
    println!("\n| search | one model, ms | two | three | two / one |");
    println!("|---|---|---|---|---|");
    let open = |count: usize| {
        let mut weights = Weights::default();
        given.iter().for_each(|(name, weight)| weights.set(name, weight));
        let whole = weights.get("lm0");
        let mut models = Vec::new();
        for number in 0..count {
            // Together they weigh what one does, so that all search the same problem.
            weights.set(&format!("lm{number}"), whole / count as f64);
            models.extend(file.models().unwrap());
        }
        let grammar = file.grammar().unwrap();
        let vocab = grammar.vocab();
        Worker::new(Arc::new(Model::from_parts(grammar, models, weights, vocab).unwrap()))
    };
    let mut crew = [1, 2, 3].map(open);
    let read = |line: &String| crew[0].read(line, Input::Tree, With::default()).unwrap();
    let sentences: Vec<Sentence> = trees.iter().filter_map(read).collect();
    for name in [SearchName::Refine, SearchName::Cube, SearchName::Incremental, SearchName::Prediction] {
        let search = Search::named(name);
        let decode = |worker: &mut Worker| {
            for sentence in &sentences {
                drop(worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER));
            }
        };
        let [a, b, c] = &mut crew;
        let [one, two, three] =
            best_of(sentences.len(), [&mut || decode(a), &mut || decode(b), &mut || decode(c)]);
        println!("| {name} | {one:.3} | {two:.3} | {three:.3} | {:.2} |", two / one);
    }
}

/// Left-to-right search with the default margin, others and none.
fn margins(model: &Path, trees: &[String]) {
    let mut worker = Worker::new(Arc::new(Model::open(model).unwrap()));
    let read = |line: &String| worker.read(line, Input::Tree, With::default()).unwrap();
    let sentences: Vec<Sentence> = trees.iter().filter_map(read).collect();
    println!(
        "\n| search, its default beam | margin | model score | LM queries | items | ms of processor time |"
    );
    println!("|---|---|---|---|---|---|");
    for name in [SearchName::Incremental, SearchName::Prediction] {
        for (shown, margin) in [("0", 0), ("0.02", Limits::USUAL_MARGIN), ("0.05", 50), ("inf", u32::MAX)] {
            let mut search = Search::named(name);
            search.limits_mut().unwrap().margin = margin;
            let found = Measured::of(&mut worker, &sentences, search);
            println!("| {name} | {shown} | {} |", found.columns());
        }
    }
}

/// Sentences of words that are new each time, and what memory they leave.
fn new_words(model: &Path, trees: &[String], count: usize) {
    let model = Arc::new(Model::open(model).unwrap());
    let mut worker = Worker::new(Arc::clone(&model));
    let request = request(Search::named(SearchName::Refine).with_beam(10));
    println!("\n| sentences of new words | resident memory, MB | vocabulary of the model |");
    println!("|---|---|---|");
    let mut number = 0u64;
    for done in 0..=count {
        if done % (count / 10).max(1) == 0 {
            println!("| {done} | {:.1} | {} |", resident(), model.vocab().len());
        }
        // Every third leaf gets a name that was never there before.
        let mut leaves = 0;
        let renamed = trees[done % trees.len()].split(' ').map(|piece| match piece.split_once(')') {
            Some((word, brackets)) if !word.is_empty() => {
                leaves += 1;
                number += 1;
                if leaves % 3 == 0 { format!("{word}q{number}){brackets}") } else { piece.to_string() }
            }
            _ => piece.to_string(),
        });
        let renamed = renamed.collect::<Vec<_>>().join(" ");
        drop(worker.translate(&renamed, &request).unwrap());
    }
}

/// Resident memory in MB, where the system says.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
