//! How likely the orientations of a rule's phrase pair are, with recursive MAP smoothing (Cherry 2013; Siahbani &
//! Sarkar 2017).
//!
//! ```text
//! P(o)     = (c(o)     + global 1/3)                     / (c     + global)
//! P(o|f)   = (c(o,f)   + side P(o))                      / (c(f)  + side)
//! P(o|e)   = (c(o,e)   + side P(o))                      / (c(e)  + side)
//! P(o|f,e) = (c(o,f,e) + source P(o|f) + target P(o|e))  / (c(f,e) + source + target)
//! ```
//!
//! The phrase pair of a rule is what its words say: the source side without gaps at its ends and with one mark for each
//! gap inside, and the target words. Rules that differ only in the gaps around a phrase share it, and so does glue.
//!
//! Counts are kept under hashes of `(f, e)`, `f` and `e`, sorted on disk: what memory holds is one key of many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_base::hash::fold;
use sylvan_base::{HashSet, Result, Symbol};
use sylvan_store::{Feeder, Record, Scratch, ScratchFile, Sorter};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::extract::{FlatOccurrence, FlatPlace};
use crate::{Source, TargetSide};

/// How much the counts of many weigh against those of a phrase pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapSmoothing {
    /// Equal orientations against all counts.
    pub global: f64,
    /// All counts against those of one side.
    pub side: f64,
    /// Those of the source side against those of the pair.
    pub source: f64,
    /// Those of the target side against those of the pair.
    pub target: f64,
}

impl Default for MapSmoothing {
    fn default() -> Self {
        Self::of(30.0)
    }
}

impl MapSmoothing {
    /// This much for all against one side, and half of it for each side against the pair.
    pub fn of(prior: f64) -> Self {
        Self { global: prior, side: prior, source: prior / 2.0, target: prior / 2.0 }
    }
}

pub(super) type Counts = [f64; 3];

fn mix(counts: Counts, priors: &[(f64, Counts)]) -> Counts {
    let all: f64 = counts.iter().sum::<f64>() + priors.iter().map(|(weight, _)| weight).sum::<f64>();
    let one = |place: usize| {
        let added: f64 = priors.iter().map(|(weight, prior)| weight * prior[place]).sum();
        if all > 0.0 { (counts[place] + added) / all } else { 1.0 / 3.0 }
    };
    [one(0), one(1), one(2)]
}

impl MapSmoothing {
    /// The probabilities of a phrase pair, from its counts, those of its source side, of its target side and of all.
    pub fn probabilities(&self, pair: Counts, source: Counts, target: Counts, all: Counts) -> Counts {
        let global = mix(all, &[(self.global, [1.0 / 3.0; 3])]);
        let of_source = mix(source, &[(self.side, global)]);
        let of_target = mix(target, &[(self.side, global)]);
        mix(pair, &[(self.source, of_source), (self.target, of_target)])
    }
}

/// How often each orientation was seen of what a key stands for: three towards what is before, three towards what is
/// after.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Tally {
    key: u64,
    counts: [u32; 6],
}

impl Record for Tally {
    type Key = u64;

    fn key(&self) -> u64 {
        self.key
    }

    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
    }
}

/// Keys of a phrase pair, of its source side, and of its target side. A gap inside the source side is `None`.
fn keys(source: impl Iterator<Item = Option<Symbol>>, target: impl Iterator<Item = Symbol>) -> [u64; 3] {
    let source =
        source.fold(1, |hash, symbol| fold(hash, symbol.map_or(0, |symbol| u64::from(symbol.0) + 1)));
    let target = target.fold(2, |hash, symbol| fold(hash, u64::from(symbol.0) + 1));
    [fold(source, target), source, target]
}

/// A source side without the gaps at its ends.
fn inner<T>(symbols: &[T], is_gap: impl Fn(&T) -> bool) -> &[T] {
    let first = symbols.iter().position(|symbol| !is_gap(symbol)).unwrap_or(symbols.len());
    let last = symbols.iter().rposition(|symbol| !is_gap(symbol)).map_or(first, |last| last + 1);
    &symbols[first..last]
}

/// What all threads count.
#[derive(Debug)]
pub(crate) struct Counted {
    sorter: Sorter<Tally>,
    sums: [AtomicU64; 6],
}

impl Counted {
    pub(crate) fn new(scratch: &Arc<Scratch>, memory: usize) -> Self {
        Self { sorter: Sorter::new(scratch, 1, memory), sums: Default::default() }
    }
}

/// A phrase pair where it stands: its keys, and which orientations it has there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance {
    /// Of the pair, of its source side, of its target side.
    pub(super) keys: [u64; 3],
    pub(super) orientations: [bool; 6],
}

/// Finds the phrase pairs of rules, each once in its place.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// Those of the current sentence pair: many rules have the same words in the same place.
    seen: HashSet<u64>,
    places: Vec<FlatPlace>,
}

impl Finder {
    /// The next sentence pair.
    pub(super) fn begin(&mut self) {
        self.seen.clear();
    }

    /// The phrase pair of a rule with its target side; `None` if it was seen in its place before.
    pub(super) fn find(
        &mut self,
        occurrence: &FlatOccurrence<'_>,
        target: &[TargetSide],
    ) -> Option<Instance> {
        self.places.clear();
        self.places.extend(occurrence.places());
        let source = inner(&self.places, |place| *place == FlatPlace::Var);
        let words = || {
            target.iter().map_while(|symbol| match symbol {
                TargetSide::Word(word) => Some(*word),
                TargetSide::Var(_) => None,
            })
        };
        let (first, count) = (occurrence.pair().t1, words().count() as u32);
        let place =
            source.iter().fold(u64::from(first) << 32 | u64::from(count), |hash, place| match place {
                FlatPlace::Word(position) => fold(hash, u64::from(*position)),
                FlatPlace::Var => hash,
            });
        if !self.seen.insert(place) {
            return None;
        }
        let positions = source.iter().filter_map(|place| match place {
            FlatPlace::Word(position) => Some(*position),
            FlatPlace::Var => None,
        });
        let (low, high) = (positions.clone().min()?, positions.max()?);
        let orientations = occurrence.neighbours((low, high + 1), (first, first + count))?;
        let symbols = source.iter().map(|place| match place {
            FlatPlace::Word(position) => Some(occurrence.source_word(*position)),
            FlatPlace::Var => None,
        });
        Some(Instance { keys: keys(symbols, words()), orientations })
    }
}

/// Counts the orientations of phrase pairs where they stand.
#[derive(Debug)]
pub(crate) struct Instances<'a> {
    counted: &'a Counted,
    feeder: Feeder<'a, Tally>,
    sums: [u64; 6],
    finder: Finder,
}

impl<'a> Instances<'a> {
    pub(crate) fn new(counted: &'a Counted) -> Self {
        Self { counted, feeder: counted.sorter.feeder(), sums: [0; 6], finder: Finder::default() }
    }

    /// The next sentence pair.
    pub(crate) fn begin(&mut self) {
        self.finder.begin();
    }

    /// An occurrence of a rule with its target side.
    pub(crate) fn add(&mut self, occurrence: &FlatOccurrence<'_>, target: &[TargetSide]) -> Result<()> {
        let Some(Instance { keys, orientations }) = self.finder.find(occurrence, target) else {
            return Ok(());
        };
        let counts = orientations.map(u32::from);
        self.sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
        for key in keys {
            self.feeder.push(0, Tally { key, counts })?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        for (sum, more) in self.counted.sums.iter().zip(self.sums) {
            sum.fetch_add(more, Ordering::Relaxed);
        }
        self.feeder.finish()
    }
}

/// Tallies by key.
#[derive(Debug)]
pub(crate) struct Tallies {
    /// All of them, if memory holds them.
    held: Vec<Tally>,
    /// Else they are here, and of every so many the first key.
    file: ScratchFile,
    index: Vec<u64>,
    length: usize,
    all: [Counts; 2],
    smoothing: MapSmoothing,
    /// What was looked up last of each kind: the rules of one source side come one after the other.
    recent: [(u64, [Counts; 2]); 3],
    page: Vec<Tally>,
}

/// Tallies that are read at a time.
const PAGE: usize = 64;

impl Tallies {
    /// All that was counted.
    pub(crate) fn new(
        counted: &Counted,
        scratch: &Arc<Scratch>,
        memory: usize,
        smoothing: MapSmoothing,
    ) -> Result<Self> {
        let mut new = Self {
            held: Vec::new(),
            file: scratch.file(),
            index: Vec::new(),
            length: 0,
            all: halves(counted.sums.each_ref().map(|sum| sum.load(Ordering::Relaxed) as f64)),
            smoothing,
            recent: Default::default(),
            page: Vec::new(),
        };
        let mut merge = counted.sorter.drain(0, memory)?;
        let most = (memory / size_of::<Tally>()).max(PAGE);
        let mut spilt = false;
        while let Some(tally) = merge.next_record()? {
            if new.length.is_multiple_of(PAGE) {
                new.index.push(tally.key);
            }
            new.length += 1;
            new.held.push(tally);
            if new.held.len() >= most {
                new.file.append(new.held.as_bytes())?;
                new.held.clear();
                spilt = true;
            }
        }
        if spilt {
            new.file.append(new.held.as_bytes())?;
            new.held = Vec::new();
        }
        Ok(new)
    }

    fn get(&mut self, kind: usize, key: u64) -> Result<[Counts; 2]> {
        if self.recent[kind].0 == key {
            return Ok(self.recent[kind].1);
        }
        let among = if self.held.is_empty() { self.page_of(key)? } else { &self.held };
        let found = match among.binary_search_by_key(&key, |tally| tally.key) {
            Ok(place) => halves(among[place].counts.map(f64::from)),
            Err(_) => Default::default(),
        };
        self.recent[kind] = (key, found);
        Ok(found)
    }

    /// The tallies that a key would be among.
    fn page_of(&mut self, key: u64) -> Result<&[Tally]> {
        let Some(page) = self.index.partition_point(|&first| first <= key).checked_sub(1) else {
            return Ok(&[]);
        };
        let count = PAGE.min(self.length - page * PAGE);
        self.page.resize(count, Tally { key: 0, counts: [0; 6] });
        let at = (page * PAGE * size_of::<Tally>()) as u64;
        self.file.read(at, self.page.as_mut_slice().as_mut_bytes())?;
        Ok(&self.page)
    }

    /// Natural logarithms of the probabilities of a rule's orientations.
    pub(crate) fn features(&mut self, source: &[Source], target: &[TargetSide]) -> Result<[f32; 6]> {
        let symbols: Vec<Option<Symbol>> = source
            .iter()
            .filter_map(|side| match side {
                Source::Word(word) => Some(Some(*word)),
                Source::Var(_) => Some(None),
                Source::Open(..) => None,
            })
            .collect();
        let words = target.iter().filter_map(|symbol| match symbol {
            TargetSide::Word(word) => Some(*word),
            TargetSide::Var(_) => None,
        });
        let keys = keys(inner(&symbols, Option::is_none).iter().copied(), words);
        let [pair, source, target] = [self.get(0, keys[0])?, self.get(1, keys[1])?, self.get(2, keys[2])?];
        let mut features = [0.0; 6];
        for half in 0..2 {
            let p = self.smoothing.probabilities(pair[half], source[half], target[half], self.all[half]);
            features[3 * half..3 * half + 3].copy_from_slice(&p.map(|p| libm::log(p) as f32));
        }
        Ok(features)
    }
}

pub(super) fn halves([a, b, c, d, e, f]: [f64; 6]) -> [Counts; 2] {
    [[a, b, c], [d, e, f]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the specification; orientations are monotone, swap, discontinuous.
    #[test]
    fn map_smoothing_of_the_specification() {
        let (pair, source, target, all) =
            ([3.0, 0.0, 1.0], [10.0, 2.0, 8.0], [5.0, 0.0, 5.0], [700.0, 100.0, 200.0]);
        let p = MapSmoothing::default().probabilities(pair, source, target, all);
        for (found, expected) in p.iter().zip([0.642169, 0.081254, 0.276578]) {
            assert!((found - expected).abs() < 1e-6, "{p:?}");
        }
        let nothing = [0.0; 3];
        // An unseen pair of unseen sides has the smoothed frequencies of all.
        let p = MapSmoothing::default().probabilities(nothing, nothing, nothing, all);
        for (found, expected) in p.iter().zip([0.689320, 0.106796, 0.203883]) {
            assert!((found - expected).abs() < 1e-6, "{p:?}");
        }
    }

    /// Property P25 of the specification.
    #[test]
    fn without_smoothing_frequencies_and_with_much_of_it_the_sides() {
        let (pair, source, target, all) =
            ([3.0, 0.0, 1.0], [10.0, 2.0, 8.0], [5.0, 0.0, 5.0], [7.0, 1.0, 2.0]);
        let none = MapSmoothing { global: 0.0, side: 0.0, source: 0.0, target: 0.0 };
        assert_eq!(none.probabilities(pair, source, target, all), [0.75, 0.0, 0.25]);
        let much = MapSmoothing { global: 0.0, side: 0.0, source: 1e12, target: 1e12 };
        let p = much.probabilities(pair, source, target, all);
        for (found, expected) in p.iter().zip([0.5, 0.05, 0.45]) {
            assert!((found - expected).abs() < 1e-9, "{p:?}");
        }
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn gaps_at_the_ends_belong_to_no_phrase() {
        let var = |symbol: &i32| *symbol == 0;
        assert_eq!(inner(&[0, 5, 0, 6, 0], var), [5, 0, 6]);
        assert_eq!(inner(&[5], var), [5]);
        assert_eq!(inner(&[0, 0], var), [0; 0]);
    }
}
