//! How well a reordering model foretells orientations on text that it was not learnt from: its intrinsic quality, which no
//! search and no tuning can change.

use sylvan_base::{HashMap, Symbol};
use sylvan_corpus::Link;

use super::reordering::{Finder, Instance, MapSmoothing, halves};
use crate::extract::{FlatExtractor, FlatRules, LinkOutOfRange};

/// Orientations of phrase pairs, counted on some sentence pairs and foretold on others.
#[derive(Debug)]
pub struct Foretold {
    extractor: FlatExtractor,
    smoothing: MapSmoothing,
    finder: Finder,
    counts: HashMap<u64, [f64; 6]>,
    all: [f64; 6],
    /// What was foretold: how often, and the logarithms of the probabilities given the phrase pair, and given nothing.
    cases: f64,
    logs: [f64; 2],
}

impl Foretold {
    /// Of the phrase pairs of such rules; left-to-right Hiero has a reordering model.
    pub fn new(rules: FlatRules, smoothing: MapSmoothing) -> Self {
        Self {
            extractor: FlatExtractor::new(rules),
            smoothing,
            finder: Finder::default(),
            counts: HashMap::default(),
            all: [0.0; 6],
            cases: 0.0,
            logs: [0.0; 2],
        }
    }

    /// Counts on a sentence pair.
    pub fn learn(
        &mut self,
        source: &[Symbol],
        target: &[Symbol],
        links: &[Link],
    ) -> Result<(), LinkOutOfRange> {
        let Self { extractor, finder, counts, all, .. } = self;
        let add = |sums: &mut [f64; 6], seen: [bool; 6]| {
            sums.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += f64::from(u8::from(seen)));
        };
        each(extractor, finder, (source, target, links), |Instance { keys, orientations }| {
            add(all, orientations);
            keys.into_iter().for_each(|key| add(counts.entry(key).or_default(), orientations));
        })
    }

    /// Foretells those of a sentence pair.
    pub fn measure(
        &mut self,
        source: &[Symbol],
        target: &[Symbol],
        links: &[Link],
    ) -> Result<(), LinkOutOfRange> {
        let Self { extractor, finder, counts, all, smoothing, cases, logs } = self;
        let all = halves(*all);
        let unseen = [[0.0; 3]; 2];
        each(extractor, finder, (source, target, links), |Instance { keys, orientations }| {
            let [pair, source, target] =
                keys.map(|key| counts.get(&key).map_or(unseen, |&counts| halves(counts)));
            for half in 0..2 {
                let given = smoothing.probabilities(pair[half], source[half], target[half], all[half]);
                let nothing = smoothing.probabilities([0.0; 3], [0.0; 3], [0.0; 3], all[half]);
                for place in (0..3).filter(|place| orientations[3 * half + place]) {
                    *cases += 1.0;
                    logs[0] += libm::log(given[place]);
                    logs[1] += libm::log(nothing[place]);
                }
            }
        })
    }

    /// The perplexity of an orientation given its phrase pair, and given nothing: 1 is certainty, 3 a guess.
    pub fn perplexities(&self) -> [f64; 2] {
        self.logs.map(|log| libm::exp(-log / f64::max(self.cases, 1.0)))
    }
}

/// Calls `found` with each phrase pair of a sentence pair where it stands.
fn each(
    extractor: &mut FlatExtractor,
    finder: &mut Finder,
    (source, target, links): (&[Symbol], &[Symbol], &[Link]),
    mut found: impl FnMut(Instance),
) -> Result<(), LinkOutOfRange> {
    finder.begin();
    let mut side = Vec::new();
    extractor.extract(source, target, links, |occurrence| {
        occurrence.read_target(&mut side);
        if let Some(instance) = finder.find(occurrence, &side) {
            found(instance);
        }
    })
}
