//! One thread's share of the extraction.

use std::sync::Arc;

use sylvan_base::{Fault, Id, Result};
use sylvan_store::Scratch;

use super::TrainConfig;
use super::reader::TrainingPair;
use crate::aggregate::{Pairs, RuleValues, SortedPairs, key};
use crate::extract::{Extractor, Place};
use crate::score::Lexicon;

/// Cuts rules out of pairs and counts links.
#[derive(Debug)]
pub(super) struct Worker {
    extractor: Extractor,
    pairs: Pairs,
    lexicon: Lexicon,
    keeps_lines: bool,
    learnt: u64,
    occurrences: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

/// What a worker found.
pub(super) struct Learnt {
    pub(super) pairs: u64,
    pub(super) occurrences: u64,
    pub(super) lexicon: Lexicon,
    pub(super) sorted: SortedPairs,
}

impl Worker {
    pub(super) fn new(config: &TrainConfig, scratch: &Arc<Scratch>, memory: usize) -> Self {
        let values = RuleValues { lines: config.score.lines as usize };
        Self {
            extractor: Extractor::new(config.extract),
            pairs: Pairs::new(scratch, memory, values),
            lexicon: Lexicon::default(),
            keeps_lines: config.score.lines > 0,
            learnt: 0,
            occurrences: 0,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    pub(super) fn learn(&mut self, batch: &[TrainingPair], align_name: &str) -> Result<()> {
        for pair in batch {
            self.learn_pair(pair, align_name)?;
        }
        Ok(())
    }

    fn learn_pair(&mut self, pair: &TrainingPair, align_name: &str) -> Result<()> {
        let Self { extractor, pairs, keeps_lines, key, value, occurrences, .. } = self;
        let line = keeps_lines.then_some(pair.line);
        let tokens = &pair.tokens;
        let mut failed = None;
        let extracted = extractor.extract(&pair.tree, &pair.target, &pair.links, |occurrence| {
            key.clear();
            for place in occurrence.places() {
                key::put(
                    key,
                    match *place {
                        Place::Open(way) => tokens.opens[way as usize],
                        Place::Word(position) => tokens.words[position as usize],
                        Place::Var(node) => tokens.variables[node.index()],
                    },
                );
            }
            key::put_target(key, occurrence.target(), occurrence.links());
            value.clear();
            key::put_value(value, occurrence.count(), line);
            *occurrences += 1;
            if let Err(error) = pairs.push(key, value) {
                failed.get_or_insert(error);
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        extracted.map_err(|error| {
            let expected = "links inside the sentences";
            Fault::new(0, error.to_string(), expected)
                .advise("check that the files belong together and count from 0")
                .at(align_name, pair.line)
        })?;
        self.lexicon.add(pair.tree.words(), &pair.target, &pair.links);
        self.learnt += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> Learnt {
        Learnt {
            pairs: self.learnt,
            occurrences: self.occurrences,
            lexicon: self.lexicon,
            sorted: self.pairs.finish(),
        }
    }
}
