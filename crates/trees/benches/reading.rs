//! How fast each format is read and written, on one thread: `cargo bench -p sylvan-trees`.
//!
//! Uses the treebanks below `SYLVAN_DATA`, else a generated one. The unit is the internal node for trees and forests
//! and the word for dependencies; the best of five runs counts.
#![allow(clippy::print_stdout)] // Figures are what a bench is for.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sylvan_base::{Rng, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::Columns;
use sylvan_trees::penn::Layout;
use sylvan_trees::{
    ConlluReader, Direction, EgretReader, HeadRules, PackedForest, PennOptions, PennReader, Tree, binarise,
    conllu, egret, penn, to_dependencies,
};

/// Where a text comes from.
enum Source {
    File(PathBuf),
    Memory(String),
}

impl Source {
    fn open(&self) -> TextReader {
        match self {
            Self::File(path) => TextReader::open(path).expect("the file was there"),
            Self::Memory(text) => TextReader::from_text("generated", text.clone()),
        }
    }
}

fn source(name: &str, generate: impl FnOnce() -> String) -> (String, Source) {
    let path = std::env::var_os("SYLVAN_DATA").map(|folder| Path::new(&folder).join(name));
    match path.filter(|path| path.exists()) {
        Some(path) => (name.to_string(), Source::File(path)),
        None => ("generated".to_string(), Source::Memory(generate())),
    }
}

/// Prints the best of five runs of `work`, which returns how many units it did.
fn measure(what: &str, unit: &str, mut work: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    let mut units = 0;
    for _ in 0..5 {
        let start = Instant::now();
        units = work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what:<44} {units:>9} {unit} {best:>8.3} s {:>8.2} M/s", units as f64 / best / 1e6);
}

fn read_penn(source: &Source, options: &PennOptions) -> usize {
    let mut vocab = Vocab::new();
    let mut reader = PennReader::new(source.open(), options.clone());
    let mut nodes = 0;
    while let Some(tree) = reader.next_tree(&mut vocab).expect("a treebank without mistakes") {
        nodes += tree.map_or(0, |tree| tree.len());
    }
    nodes
}

fn read_conllu(source: &Source, columns: Columns) -> usize {
    let mut vocab = Vocab::new();
    let mut reader = ConlluReader::new(source.open(), columns);
    let mut words = 0;
    while let Some(tree) = reader.next_tree(&mut vocab).expect("a treebank without mistakes") {
        words += tree.map_or(0, |tree| tree.len());
    }
    words
}

fn read_egret(source: &Source) -> usize {
    let mut vocab = Vocab::new();
    let mut reader = EgretReader::new(source.open());
    let mut nodes = 0;
    while let Some(forest) = reader.next_forest(&mut vocab).expect("forests without mistakes") {
        nodes += forest.map_or(0, |forest| forest.len());
    }
    nodes
}

fn all_trees(source: &Source, vocab: &mut Vocab) -> Vec<Tree> {
    let mut reader = PennReader::new(source.open(), PennOptions::standard());
    let mut trees = Vec::new();
    while let Some(tree) = reader.next_tree(vocab).expect("a treebank without mistakes") {
        trees.extend(tree);
    }
    trees
}

/// Trees of about the shape of a treebank: binary splits over 5 to 40 words, Zipf-like words.
fn generate() -> String {
    let mut rng = Rng::new(1);
    let labels = ["S", "NP", "VP", "PP", "SBAR", "ADJP", "NP-SBJ", "NN", "VBD", "DT", "IN", "JJ"];
    let mut text = String::new();
    for _ in 0..30_000 {
        // A stack of widths that are still to be divided; 0 closes a bracket.
        let mut open = vec![5 + rng.below(36)];
        while let Some(width) = open.pop() {
            match width {
                0 => text.push(')'),
                1 => {
                    let word = (1000.0 * rng.unit().powi(3)) as usize;
                    text.push_str(&format!(" ({} w{word})", labels[7 + rng.below(5)]));
                }
                _ => {
                    text.push_str(&format!(" ({}", labels[rng.below(7)]));
                    let left = 1 + rng.below(width - 1);
                    open.extend([0, width - left, left]);
                }
            }
        }
        text.push('\n');
    }
    text
}

/// Dependencies and forests of trees, as text.
fn derive(trees: &[Tree], vocab: &mut Vocab) -> (String, String) {
    let rules = HeadRules::english();
    let (mut dependencies, mut forests) = (String::new(), String::new());
    for (index, tree) in trees.iter().enumerate() {
        conllu::write(&to_dependencies(tree, &rules, vocab), vocab, &mut dependencies);
        egret::write(&PackedForest::from_tree(tree), index as u64 + 1, vocab, &mut forests);
    }
    (dependencies, forests)
}

fn main() {
    let generated = generate;
    let (mut last, mut vocab) = (Vec::new(), Vocab::new());
    for name in ["enja/train.en.tree", "zhen/train.zh.tree", "craft/train.mrg"] {
        let (title, source) = source(name, generated);
        measure(&format!("penn, as it is: {title}"), "nodes", || read_penn(&source, &PennOptions::as_is()));
        measure(&format!("penn, cleaned: {title}"), "nodes", || read_penn(&source, &PennOptions::standard()));
        let many = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
        measure(&format!("penn, many lines: {title}"), "nodes", || read_penn(&source, &many));
        vocab = Vocab::new();
        last = all_trees(&source, &mut vocab);
        if matches!(source, Source::Memory(_)) {
            break;
        }
    }
    let (dependencies, forests) = derive(&last, &mut vocab);
    let (title, source) = source("gum/train.conllu", || dependencies);
    for columns in [Columns::Basic, Columns::All] {
        measure(&format!("conllu, {columns:?}: {title}"), "words", || read_conllu(&source, columns));
    }
    let source = Source::Memory(forests);
    measure("egret: forests of the last trees", "nodes", || read_egret(&source));
    measure("writing penn: the last trees", "nodes", || {
        let mut out = String::new();
        for tree in &last {
            penn::write(tree, &vocab, &mut out);
            out.push('\n');
        }
        last.iter().map(Tree::len).sum::<usize>() + usize::from(out.is_empty())
    });
    measure("binarising: the last trees", "nodes", || {
        last.iter().map(|tree| binarise(tree, Direction::Right, &mut vocab).len()).sum()
    });
    let rules = HeadRules::english();
    measure("heads: the last trees", "nodes", || {
        last.iter().map(|tree| rules.heads(tree, &vocab).word.len()).sum()
    });
}
