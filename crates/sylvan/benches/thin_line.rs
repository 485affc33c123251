//! The thin line on the sample corpus and, when SYLVAN_DATA is set, on real data: gold or given links, minimal
//! rules, in-memory language model, default weights, no tuning. `cargo bench -p sylvan --bench thin_line`.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::time::Instant;

use sylvan::{Model, Search, Trainer, TrainerConfig, Translator};
use sylvan_corpus::{Alignment, Base};
use sylvan_eval::{Bleu, Tokenizer};
use sylvan_sample::{Config, Sampler, Workspace};
use sylvan_search::{Beam, Cube, Future, Prediction};
use sylvan_store::TextReader;

struct Test {
    tree: String,
    reference: String,
}

fn main() {
    println!(
        "| corpus | pairs | rules | search | beam | BLEU | model score | LM queries | ms per sentence |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    sample(&Config::default(), "sample");
    sample(&Config { types: Some(1_000_000), ..Config::default() }, "sample, open vocabulary");
    real();
}

fn sample(config: &Config, name: &str) {
    let sampler = Sampler::new(config.clone()).unwrap();
    let mut workspace = Workspace::new();
    let mut trainer = Trainer::new(TrainerConfig::default()).unwrap();
    let pairs = 49_000;
    for index in 0..pairs {
        let mut pair = sampler.pair(index, &mut workspace);
        let links = Alignment::parse(&pair.alignment(), Base::Zero).unwrap();
        trainer.add(&pair.source_tree(), &pair.target(), links.sure()).unwrap();
    }
    let test = (pairs..pairs + 500).map(|index| {
        let mut pair = sampler.pair(index, &mut workspace);
        Test { tree: pair.source_tree(), reference: pair.target() }
    });
    let test = test.collect();
    rows(name, pairs, trainer.finish().unwrap(), test);
}

/// English to Japanese with automatic trees and links; the last 1,000 training lines are never trained on.
fn real() {
    let Some(folder) = sylvan_testkit::data("enja") else { return };
    let read = |name: &str| {
        let mut reader = TextReader::open(&folder.join(name)).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(line.to_string());
        }
        lines
    };
    let (trees, words, links) = (read("train.en.tree"), read("train.ja"), read("train.fast_align.gdfa"));
    let mut trainer = Trainer::new(TrainerConfig::default()).unwrap();
    let pairs = trees.len() - 1_000;
    for index in 0..pairs {
        let links = Alignment::parse(&links[index], Base::Zero).unwrap();
        trainer.add(&trees[index], &words[index], links.sure()).unwrap();
    }
    let test = read("dev.en.tree").into_iter().zip(read("dev.ja"));
    let test = test.map(|(tree, reference)| Test { tree, reference }).collect();
    rows("enja dev, given trees and links", pairs as u64, trainer.finish().unwrap(), test);
}

fn rows(name: &str, pairs: u64, mut model: Model, test: Vec<Test>) {
    let trees: Vec<_> = test.iter().map(|pair| model.read_tree(&pair.tree).unwrap().unwrap()).collect();
    let references = vec![test.into_iter().map(|pair| pair.reference).collect::<Vec<_>>()];
    let translator = Translator::new(&model);
    let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    for beam in [20, 100] {
        for (search_name, search) in [
            ("cube pruning", Search::CubePruning(Cube::new(Beam(beam)))),
            ("incremental, inside", Search::Incremental(Beam(beam).into(), Future::Inside)),
            ("prediction", Search::Prediction(Beam(beam).into(), Prediction::default())),
        ] {
            let started = Instant::now();
            let found: Vec<_> = trees.iter().map(|tree| translator.translate(tree, search)).collect();
            let n = trees.len() as f64;
            let time = started.elapsed().as_secs_f64() * 1000.0 / n;
            let texts: Vec<String> = found.iter().map(|found| found.text(&model.vocab)).collect();
            println!(
                "| {name} | {pairs} | {} | {search_name} | {beam} | {:.1} | {:.3} | {:.0} | {time:.2} |",
                model.grammar.len(),
                bleu.corpus(&texts, &references).unwrap().score,
                found.iter().map(|found| found.score).sum::<f64>() / n,
                found.iter().map(|found| found.counters.lm_queries as f64).sum::<f64>() / n,
            );
        }
    }
}
