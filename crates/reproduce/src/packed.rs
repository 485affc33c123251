//! Packed forests in place of trees: what the beam of a parser holds.

use std::borrow::Cow;
use std::convert::Infallible;
use std::path::PathBuf;

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Symbol, Vocab};
use sylvan_decode::{Result, Sentence, With, Worker};
use sylvan_parse::{Parser, TrainConfig, Workspace, pack, train_constituency, treebank};
use sylvan_train::Learnt;
use sylvan_trees::{Tree, escape};

use crate::lab::{Lab, hash};

/// The first trees of a training text, from which a parser is learnt where trees come without one.
const TREES: usize = 10_000;
/// Trees per sentence.
const BEAM: usize = 16;

/// A parser that makes trees like those that rules were learnt from.
pub(crate) fn source_parser(lab: &Lab<'_>, learnt: &Learnt) -> Result<Option<PathBuf>> {
    if learnt.parser.is_some() {
        return Ok(learnt.parser.clone());
    }
    let Some(trees) = &learnt.trees else { return Ok(None) };
    let path = lab.kept("parsers", fold(content_hash(b"source"), hash(trees)?));
    if !path.exists() {
        (lab.say)("learning a parser of the source language from the trees of the text");
        let mut vocab = Vocab::new();
        let all = treebank::read_constituents(trees, &mut vocab)?;
        let all: Vec<Tree> = all.into_iter().flatten().take(TREES).collect();
        let rules = treebank::head_rules(&all, &vocab);
        let config = TrainConfig { threads: lab.threads, ..TrainConfig::default() };
        let made = train_constituency(&all, &[], &rules, &mut vocab, &config, lab.progress, &mut |_| {})?;
        made.write(&path)?;
    }
    Ok(Some(path))
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
