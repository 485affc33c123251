//! Counted rules as text, between extraction and scoring.
//!
//! ```text
//! VP ( VB ( "show" ) x0:NP ) ||| x0 "を" "見せ" ||| 3 ||| 0-1 ||| 17 4711
//! ```
//!
//! Source side and target side as in Travatar's tables, count, links, training lines. Files of several machines may
//! be given to scoring together, in any order: equal lines add up. Link counts for lexical weights are lines
//! `source target count` with `NULL` for a missing end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_base::{Fault, Progress, Result, Vocab};
use sylvan_store::{Output, Scratch, TextReader};

use super::{TrainConfig, Trained, TrainingFiles, describe, learn, meta_of, scratch_folder};
use crate::aggregate::{Merged, Pairs, RuleValues, key};
use crate::formats::{count_line, parse_count_line};
use crate::score::{Lexicon, Scorer};
use crate::table::tokens::TokenInterner;
use crate::{Meta, Source, TargetSide};

/// Learns rules and writes their counts as text, sorted, each rule with each of its links once.
pub fn extract_counts(
    files: &TrainingFiles,
    counts: &Path,
    lexicon: Option<&Path>,
    config: &TrainConfig,
    progress: &dyn Progress,
) -> Result<Trained> {
    let learnt = learn(files, counts, config, progress)?;
    let mut out = Output::create(counts)?;
    let mut merged = Merged::new(&learnt.parts, config.memory / 8)?;
    let (mut tokens, mut target, mut links, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut trained = learnt.trained;
    let known = learnt.tokens.tokens();
    while merged.advance()? {
        let length = key::source_len(&merged.key, known).unwrap_or(0);
        key::take_source(&merged.key[..length], &mut tokens);
        let mut rest = &merged.key[length..];
        key::take_target(&mut rest, &mut target).expect("keys are written by this program");
        key::take_links(&mut rest, &mut links).expect("keys are written by this program");
        let count = key::read_value(&merged.value, &mut [], &mut lines);
        let source: Vec<Source> = tokens.iter().map(|&token| known[token as usize]).collect();
        out.line(&count_line(&source, &target, count, &links, &lines, &learnt.vocab))?;
        trained.scored.distinct += 1;
    }
    out.finish()?;
    if let Some(path) = lexicon {
        let mut out = Output::create(path)?;
        for line in learnt.lexicon.lines(&learnt.vocab) {
            out.line(&line)?;
        }
        out.finish()?;
    }
    trained.scratch = learnt.scratch.peak();
    Ok(trained)
}

/// Adds up counted rules, scores them and writes a table.
pub fn score_counts(
    counts: &[PathBuf],
    lexicon: Option<&Path>,
    pairs: u64,
    out: &Path,
    config: &TrainConfig,
    progress: &dyn Progress,
) -> Result<Trained> {
    let scratch = Scratch::new(&scratch_folder(config.scratch.as_deref(), out));
    let mut vocab = Vocab::new();
    let mut tokens = TokenInterner::default();
    let values = RuleValues { lines: config.score.lines as usize, tallies: 0 };
    let mut collected = Pairs::new(&scratch, config.memory / 2, values);
    let mut trained = Trained { pairs, ..Trained::default() };
    let (mut key, mut value) = (Vec::new(), Vec::new());
    progress.begin("reading counts", None);
    for path in counts {
        let mut reader = TextReader::open(path)?.tolerant();
        while let Some(line) = reader.next_line()? {
            let parsed = parse_count_line(line, &mut vocab);
            let rule = parsed.map_err(|fault| reader.locate(fault))?;
            let boundary = |symbol: &TargetSide| matches!(symbol, TargetSide::Word(word) if matches!(vocab.text(*word), "<s>" | "</s>"));
            if rule.rule.target().iter().any(boundary) {
                let fault = Fault::new(0, "a sentence boundary in a target side", "words");
                return Err(reader.locate(fault));
            }
            key.clear();
            rule.rule.source().iter().for_each(|&token| key::put(&mut key, tokens.intern(token)));
            key::put_target(&mut key, rule.rule.target(), &rule.links);
            value.clear();
            key::put_value(&mut value, rule.count, &[], &rule.lines);
            collected.push(&key, &value)?;
            trained.lines += 1;
            progress.at(trained.lines);
        }
    }
    progress.end();
    let lexicon = match lexicon {
        Some(path) => Lexicon::read(&mut TextReader::open(path)?.tolerant(), &mut vocab)?,
        None => Lexicon::default(),
    };
    let parts = [collected.finish()];
    let meta = Meta { pairs, made_by: describe(config), ..meta_of(config) };
    let scorer = Scorer {
        config: config.score,
        meta,
        tokens: &tokens,
        vocab: &vocab,
        lexicon: &lexicon,
        scratch: Arc::clone(&scratch),
        flat: None,
        reordering: None,
        memory: config.memory / 2,
        progress,
    };
    trained.scored = scorer.write(&mut Merged::new(&parts, config.memory / 8)?, out)?;
    trained.scratch = scratch.peak();
    Ok(trained)
}
