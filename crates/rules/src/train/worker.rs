//! One thread's share of the extraction.

use std::path::PathBuf;
use std::sync::Arc;

use sylvan_base::{HashMap, Id, Result};
use sylvan_store::Scratch;

use super::forests::Syntax;
use super::reader::{Parse, TrainingPair};
use super::share_out::{Learn, Learnt};
use super::{TrainConfig, out_of_range};
use crate::Count;
use crate::aggregate::{Pairs, RuleValues, key};
use crate::extract::{Extractor, Place};
use crate::input::Input;
use crate::score::Lexicon;

/// Cuts rules out of pairs and counts links.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    /// The files of links.
    sets: &'a [PathBuf],
    extractor: Extractor,
    pairs: Pairs,
    lexicon: Lexicon,
    keeps_lines: bool,
    learnt: u64,
    occurrences: u64,
    key: Vec<u8>,
    value: Vec<u8>,
    /// Of the current sentence: keys of rules that are parts of an occurrence, with their sums, and where each is.
    parts: Vec<(Vec<u8>, f64)>,
    place_of: HashMap<Vec<u8>, usize>,
}

impl Learn<TrainingPair> for Worker<'_> {
    fn learn(&mut self, batch: &[TrainingPair]) -> Result<()> {
        batch.iter().try_for_each(|pair| self.learn_pair(pair))
    }

    fn finish(self) -> Result<Learnt> {
        Ok(Learnt {
            pairs: self.learnt,
            occurrences: self.occurrences,
            lexicon: self.lexicon,
            sorted: self.pairs.finish(),
        })
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        config: &TrainConfig,
        scratch: &Arc<Scratch>,
        memory: usize,
        sets: &'a [PathBuf],
    ) -> Self {
        let values = RuleValues { lines: config.score.lines as usize, tallies: 0 };
        Self {
            sets,
            extractor: Extractor::new(config.extract),
            pairs: Pairs::new(scratch, memory, values),
            lexicon: Lexicon::default(),
            keeps_lines: config.score.lines > 0,
            learnt: 0,
            occurrences: 0,
            key: Vec::new(),
            value: Vec::new(),
            parts: Vec::new(),
            place_of: HashMap::default(),
        }
    }

    fn learn_pair(&mut self, pair: &TrainingPair) -> Result<()> {
        for parse in &pair.parses {
            for set in (0..pair.links.len()).filter(|&set| !pair.links[set].is_empty()) {
                match &parse.syntax {
                    Syntax::Tree(tree) => self.learn_parse(tree, parse, pair, set)?,
                    Syntax::Forest(forest) => self.learn_parse(forest, parse, pair, set)?,
                }
            }
        }
        let lines = if self.keeps_lines { std::slice::from_ref(&pair.line) } else { &[] };
        self.place_of.clear();
        for (key, share) in self.parts.drain(..) {
            self.value.clear();
            key::put_value(&mut self.value, Count::from_f64(share), &[], lines);
            self.pairs.push(&key, &self.value)?;
        }
        for links in &pair.links {
            self.lexicon.add(pair.parses[0].syntax.words(), &pair.target, links);
        }
        self.learnt += 1;
        Ok(())
    }

    /// Whole occurrences are counted at once. Parts of one are added up first, sentence by sentence, so that each rule
    /// is rounded once however many trees, derivations and sets of links have it.
    fn learn_parse<I: Input>(
        &mut self,
        input: &I,
        parse: &Parse,
        pair: &TrainingPair,
        set: usize,
    ) -> Result<()> {
        let Self { extractor, pairs, keeps_lines, key, value, occurrences, parts, place_of, .. } = self;
        let lines = if *keeps_lines { std::slice::from_ref(&pair.line) } else { &[] };
        let tokens = &parse.tokens;
        let among = parse.share / pair.links.len() as f64;
        let mut failed = None;
        let extracted = extractor.extract(input, &pair.target, &pair.links[set], |occurrence| {
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
            *occurrences += 1;
            let share = occurrence.share() * among;
            if share == 1.0 {
                value.clear();
                key::put_value(value, Count::ONE, &[], lines);
                if let Err(error) = pairs.push(key, value) {
                    failed.get_or_insert(error);
                }
            } else if let Some(&place) = place_of.get(key.as_slice()) {
                parts[place].1 += share;
            } else {
                place_of.insert(key.clone(), parts.len());
                parts.push((key.clone(), share));
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        extracted.map_err(|error| out_of_range(&error, &self.sets[set], pair.line))
    }
}
