//! Packed forests in place of trees: what the beam of a parser holds.

use std::borrow::Cow;
use std::convert::Infallible;
use std::path::Path;

use sylvan_base::{Progress, Symbol, Vocab};
use sylvan_decode::{Result, Sentence, With, Worker};
use sylvan_parse::{Parser, TrainConfig, Workspace, pack, train_constituency, treebank};
use sylvan_trees::{Tree, escape};

/// The first trees of a training text, from which a parser is learnt where trees come without one.
const TREES: usize = 10_000;
/// Trees per sentence.
const BEAM: usize = 16;

/// Learns a parser that makes trees like those of a text.
pub(crate) fn learn_parser(trees: &Path, to: &Path, threads: usize, progress: &dyn Progress) -> Result<()> {
    let mut vocab = Vocab::new();
    let all = treebank::read_constituents(trees, &mut vocab)?;
    let all: Vec<Tree> = all.into_iter().flatten().take(TREES).collect();
    let rules = treebank::head_rules(&all, &vocab);
    let config = TrainConfig { threads, ..TrainConfig::default() };
    let made = train_constituency(&all, &[], &rules, &mut vocab, &config, progress, &mut |_| {})?;
    Ok(made.write(to)?)
}

/// Sentences whose syntax is all that the parser's beam holds.
pub(crate) fn sentences(worker: &mut Worker, parser: &Parser, lines: &[String]) -> Vec<Option<Sentence>> {
    let mut workspace = Workspace::new();
    let read = |line: &String| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let forest = worker.read_forest(With::default(), |vocab| {
            let parsed = parser.constituents(&words, BEAM, BEAM, vocab, &mut workspace);
            // Rules were learnt from trees in brackets, where round brackets are escaped.
            let escaped = |word: &mut Symbol| {
                if let Cow::Owned(code) = escape(vocab.text(*word)) {
                    *word = vocab.intern(&code);
                }
            };
            Ok::<_, Infallible>(pack(&parsed).map(|forest| forest.map_words(escaped)))
        });
        match forest {
            Ok(sentence) => sentence,
            Err(never) => match never {},
        }
    };
    lines.iter().map(read).collect()
}
