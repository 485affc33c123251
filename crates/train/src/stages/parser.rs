//! The parser: learnt from a treebank, unless one is given.

use std::path::Path;

use sylvan_base::{HashSet, Symbol, Vocab};
use sylvan_parse::{News, Parser, TrainConfig, train_constituency, treebank};
use sylvan_store::TextReader;
use sylvan_trees::Tree;

use crate::preflight::shown;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

/// One in this many trees of a treebank is for measuring the parser, not for training.
const HELD: usize = 20;
/// A parser that knows less than one in this many of a text's words is for another language.
const KNOWN: usize = 3;

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let Some(trees) = &run.config.treebank else {
        if let Some(path) = &run.parser {
            let parser = Parser::open(path)?;
            same_language(path, &run.dev.source, |word| parser.knows(word))?;
        }
        return Ok(());
    };
    let model = run.work.file("parser");
    let (epochs, threads, progress) = (run.config.parser_epochs, run.threads, run.progress);
    let dev = run.dev.source.clone();
    let stage = Stage {
        name: "parser",
        inputs: vec![trees, &dev],
        settings: epochs.to_string(),
        outputs: vec![&model],
    };
    run.work.run(&stage, say, |say| {
        let mut vocab = Vocab::new();
        let all: Vec<Tree> = treebank::read_constituents(trees, &mut vocab)?.into_iter().flatten().collect();
        let words: HashSet<Symbol> = all.iter().flat_map(|tree| tree.words().iter().copied()).collect();
        let lower = |word: &str| vocab.get(&word.to_lowercase()).is_some_and(|word| words.contains(&word));
        same_language(trees, &dev, |word| {
            vocab.get(word).is_some_and(|word| words.contains(&word)) || lower(word)
        })?;
        let rules = treebank::head_rules(&all, &vocab);
        let (mut train, mut held) = (Vec::new(), Vec::new());
        for (index, tree) in all.into_iter().enumerate() {
            if index % HELD == HELD - 1 { held.push(tree) } else { train.push(tree) }
        }
        let conventions = treebank::conventions(&[trees])?;
        let config = TrainConfig { epochs, threads, conventions, ..TrainConfig::default() };
        let mut told = |news: News<'_>| {
            if let News::Line(line) = news {
                say(&format!("  {line}"));
            }
        };
        let parser = train_constituency(&train, &held, &rules, &mut vocab, &config, progress, &mut told)?;
        parser.write(&model)?;
        Ok::<(), Error>(())
    })?;
    run.parser = Some(model);
    Ok(())
}

/// Checks that a parser or treebank knows enough words of a text.
fn same_language(what: &Path, text: &Path, knows: impl Fn(&str) -> bool) -> Result<()> {
    let mut reader = TextReader::open(text)?.tolerant();
    let (mut words, mut known) = (0, 0);
    while let Some(line) = reader.next_line()? {
        for word in line.split_ascii_whitespace() {
            words += 1;
            known += usize::from(knows(word));
        }
    }
    if known * KNOWN >= words {
        return Ok(());
    }
    let found = format!("{known} of the {words} words in {} known", text.display());
    Err(Error::setting(shown(what), found, "trees of the source language")
        .advise("is it the right language, and tokenised in the same way?"))
}
