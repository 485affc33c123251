//! Which words meet in how many pairs, counted without holding all pairs: for texts that do not fit into memory.
//!
//! Source words are taken in groups that fit the memory, one walk through the text for each group. A word that
//! meets few others keeps a list of them, a word that meets many one byte for each type.

use sylvan_base::{Progress, Result};

use crate::bitext::Bitext;
use crate::side::Side;

/// Numbers of meetings, exact, and a filter for the pairs that meet again.
#[derive(Debug)]
pub(crate) struct Meetings {
    /// How many different target types each type meets as a source word.
    source_degree: Vec<u32>,
    /// How many different source types each type meets as a target word.
    target_degree: Vec<u32>,
    /// Pairs of types (source, target) that meet more than once.
    again: Filter,
}

/// A set of pairs with a few false positives.
#[derive(Debug)]
pub(crate) struct Filter {
    bits: Vec<u64>,
    shift: u32,
}

/// Spreads pairs over the high bits; both factors are odd, without a pattern.
#[inline]
pub(crate) fn mix(a: u32, b: u32) -> u64 {
    u64::from(a)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(u64::from(b).wrapping_mul(0xD1B5_4A32_D192_ED03))
}

impl Filter {
    fn new(bits: usize) -> Self {
        let bits = bits.next_power_of_two().max(1 << 10);
        Self { bits: vec![0; bits / 64], shift: 64 - bits.trailing_zeros() }
    }

    fn add(&mut self, source: u32, target: u32) {
        let at = (mix(source, target) >> self.shift) as usize;
        self.bits[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn has(&self, source: u32, target: u32) -> bool {
        let at = (mix(source, target) >> self.shift) as usize;
        self.bits[at / 64] >> (at % 64) & 1 == 1
    }
}

impl Meetings {
    /// Counts, with about `memory` bytes for lists.
    pub(crate) fn count(bitext: &Bitext, memory: usize, progress: &dyn Progress) -> Result<Self> {
        let types = bitext.vocab().len();
        let mut cells = vec![0u64; types];
        for number in 0..bitext.portions() {
            let portion = bitext.portion(number)?;
            for pair in 0..portion.len() {
                let width = portion.words(Side::Target, pair).len() as u64;
                for &word in portion.words(Side::Source, pair) {
                    cells[word as usize] += width;
                }
            }
        }
        let filter = usize::try_from(bitext.cells() / 4).unwrap_or(usize::MAX).min(memory).min(1 << 32);
        let mut meetings =
            Self { source_degree: vec![0; types], target_degree: vec![0; types], again: Filter::new(filter) };
        progress.begin("pairing words", Some(types as u64));
        let mut start = 0;
        while start < types {
            let (mut end, mut bytes) = (start, 0u64);
            while end < types && (end == start || bytes + Group::bytes(cells[end], types) <= memory as u64) {
                bytes += Group::bytes(cells[end], types);
                end += 1;
            }
            let mut group = Group::new(start, &cells[start..end], types);
            for number in 0..bitext.portions() {
                let portion = bitext.portion(number)?;
                for pair in 0..portion.len() {
                    let target = portion.words(Side::Target, pair);
                    for &word in portion.words(Side::Source, pair) {
                        group.meet(word as usize, target);
                    }
                }
            }
            group.finish(&mut meetings);
            start = end;
            progress.at(start as u64);
        }
        progress.end();
        Ok(meetings)
    }

    /// How many different words each type meets when it stands on the given side.
    pub(crate) fn degree(&self, side: Side) -> &[u32] {
        match side {
            Side::Source => &self.source_degree,
            Side::Target => &self.target_degree,
        }
    }

    /// Whether two types meet more than once; sometimes true for pairs that do not.
    #[inline]
    pub(crate) fn again(&self, source: u32, target: u32) -> bool {
        self.again.has(source, target)
    }
}

/// The meetings of some consecutive source types.
struct Group {
    start: usize,
    types: usize,
    /// Where each type's meetings are written next, in `lists` or, above it, in `bytes`.
    next: Vec<usize>,
    dense: Vec<bool>,
    lists: Vec<u32>,
    bytes: Vec<u8>,
}

impl Group {
    fn bytes(cells: u64, types: usize) -> u64 {
        (4 * cells).min(types as u64)
    }

    fn new(start: usize, cells: &[u64], types: usize) -> Self {
        let (mut lists, mut bytes) = (0, 0);
        let dense: Vec<bool> = cells.iter().map(|&cells| 4 * cells > types as u64).collect();
        let next = cells.iter().zip(&dense).map(|(&cells, &dense)| {
            let (end, size) = if dense { (&mut bytes, types) } else { (&mut lists, cells as usize) };
            *end += size;
            *end - size
        });
        let next = next.collect();
        Self { start, types, next, dense, lists: vec![0; lists], bytes: vec![0; bytes] }
    }

    #[inline]
    fn meet(&mut self, word: usize, target: &[u32]) {
        let Some(at) = word.checked_sub(self.start).filter(|&at| at < self.next.len()) else { return };
        let next = self.next[at];
        if self.dense[at] {
            let met = &mut self.bytes[next..next + self.types];
            for &other in target {
                let met = &mut met[other as usize];
                *met = (*met + 1).min(2);
            }
        } else {
            self.lists[next..next + target.len()].copy_from_slice(target);
            self.next[at] += target.len();
        }
    }

    fn finish(self, meetings: &mut Meetings) {
        let mut met = vec![0u8; self.types];
        let mut first = 0;
        let mut seen = Vec::new();
        for (at, (&next, &dense)) in self.next.iter().zip(&self.dense).enumerate() {
            let word = self.start + at;
            let mut see = |other: usize, often: u8| {
                meetings.source_degree[word] += 1;
                meetings.target_degree[other] += 1;
                if often > 1 {
                    meetings.again.add(word as u32, other as u32);
                }
            };
            if dense {
                let counts = self.bytes[next..next + self.types].iter().enumerate();
                counts.filter(|&(_, &often)| often > 0).for_each(|(other, &often)| see(other, often));
                continue;
            }
            for &other in &self.lists[first..next] {
                let met = &mut met[other as usize];
                if *met == 0 {
                    seen.push(other);
                }
                *met = (*met + 1).min(2);
            }
            first = next;
            for other in seen.drain(..) {
                see(other as usize, std::mem::take(&mut met[other as usize]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitext::ReadConfig;
    use crate::pairs::{Once, Pairs};
    use proptest::prelude::*;
    use sylvan_base::{Rng, Silent};

    proptest! {
        #[test]
        fn counts_are_those_of_the_table_of_all_pairs(seed: u64, memory in 1usize..3000, types in 1usize..60) {
            let mut rng = Rng::new(seed);
            let mut bitext = Bitext::default();
            for _ in 0..40 {
                let mut line = || {
                    let words: Vec<String> =
                        (0..1 + rng.below(8)).map(|_| format!("w{}", rng.below(types) * rng.below(3))).collect();
                    words.join(" ")
                };
                bitext.push(&line(), &line(), ReadConfig::default()).unwrap();
            }
            let meetings = Meetings::count(&bitext, memory, &Silent).unwrap();
            let pairs = Pairs::build(&bitext, Once::Shared);
            for side in [Side::Source, Side::Target] {
                prop_assert_eq!(meetings.degree(side), pairs.degree(side));
            }
            for word in 0..bitext.vocab().len() {
                for slot in pairs.row(word) {
                    prop_assert!(meetings.again(word as u32, pairs.targets()[slot]));
                }
            }
        }
    }
}
