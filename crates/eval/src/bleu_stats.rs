//! The sufficient statistics of BLEU (Papineni et al. 2002) and how one sentence gets them.
//!
//! | paper | here |
//! |---|---|
//! | Count_clip(n-gram) summed | `matches[n-1]` |
//! | Count(n-gram) summed | `totals[n-1]` |
//! | c | `hyp_len` |
//! | r, the closest length | `ref_len` |
//!
//! All are integers, so a sum does not depend on its order and can be undone exactly.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use sylvan_base::Symbol;

use crate::grams::Grams;

/// The longest n-gram that BLEU counts.
pub const ORDER: usize = 4;

/// What BLEU needs to know about a sentence or a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BleuStats {
    /// Clipped matches of 1- to 4-grams.
    pub matches: [u64; ORDER],
    /// Number of 1- to 4-grams of the translation.
    pub totals: [u64; ORDER],
    /// Words of the translation.
    pub hyp_len: u64,
    /// Words of the reference whose length is closest; the shorter one on a tie.
    pub ref_len: u64,
}

impl AddAssign for BleuStats {
    fn add_assign(&mut self, other: Self) {
        for n in 0..ORDER {
            self.matches[n] += other.matches[n];
            self.totals[n] += other.totals[n];
        }
        self.hyp_len += other.hyp_len;
        self.ref_len += other.ref_len;
    }
}

impl Add for BleuStats {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// Takes a sentence out of a sum that contains it. Anything else is a mistake of the caller and overflows.
impl SubAssign for BleuStats {
    fn sub_assign(&mut self, other: Self) {
        for n in 0..ORDER {
            self.matches[n] -= other.matches[n];
            self.totals[n] -= other.totals[n];
        }
        self.hyp_len -= other.hyp_len;
        self.ref_len -= other.ref_len;
    }
}

impl Sub for BleuStats {
    type Output = Self;
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl Sum for BleuStats {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::default(), Add::add)
    }
}

/// The n-grams of the references of one sentence, counted once for any number of translations.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// Counts are the largest in any one reference.
    grams: Grams,
    lengths: Vec<u64>,
}

impl References {
    /// Counts the n-grams of all references of one sentence. Without references nothing matches and the length
    /// is 0.
    pub fn new<R: AsRef<[Symbol]>>(references: &[R]) -> Self {
        let mut new = Self::default();
        new.refill(references);
        new
    }

    /// Forgets the old references and counts new ones; keeps the memory.
    pub(crate) fn refill<R: AsRef<[Symbol]>>(&mut self, references: &[R]) {
        let words: usize = references.iter().map(|reference| reference.as_ref().len()).sum();
        self.grams.reset(words * ORDER);
        self.lengths.clear();
        let mut most: Vec<u32> = Vec::new();
        for (number, reference) in references.iter().enumerate() {
            let reference = reference.as_ref();
            self.lengths.push(reference.len() as u64);
            for start in 0..reference.len() {
                let mut node = 0;
                for &word in reference[start..].iter().take(ORDER) {
                    node = self.grams.child_or_new(node, word.0);
                    self.grams.counts[node as usize] += 1;
                }
            }
            if references.len() > 1 {
                most.resize(self.grams.counts.len(), 0);
                for (most, count) in most.iter_mut().zip(&mut self.grams.counts) {
                    *most = (*most).max(std::mem::take(count));
                }
                if number + 1 == references.len() {
                    std::mem::swap(&mut most, &mut self.grams.counts);
                }
            }
        }
    }

    /// The statistics of a translation. Its words must come from the vocabulary of the references.
    pub fn stats(&self, hypothesis: &[Symbol]) -> BleuStats {
        let length = hypothesis.len();
        let mut stats = BleuStats {
            totals: std::array::from_fn(|n| length.saturating_sub(n) as u64),
            hyp_len: length as u64,
            ref_len: self.closest_length(length as u64),
            ..BleuStats::default()
        };
        // Clipping: an n-gram matches as often as some reference has it, whichever occurrences these are.
        let mut left = self.grams.counts.clone();
        for start in 0..length {
            let mut node = 0;
            for (n, &word) in hypothesis[start..].iter().take(ORDER).enumerate() {
                let Some(child) = self.grams.child(node, word.0) else { break };
                node = child;
                if left[node as usize] > 0 {
                    left[node as usize] -= 1;
                    stats.matches[n] += 1;
                }
            }
        }
        stats
    }

    fn closest_length(&self, length: u64) -> u64 {
        self.lengths.iter().copied().min_by_key(|&other| (other.abs_diff(length), other)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The definition, spelt out with maps of slices.
    fn obvious(hypothesis: &[Symbol], references: &[Vec<Symbol>]) -> BleuStats {
        let mut stats = BleuStats { hyp_len: hypothesis.len() as u64, ..BleuStats::default() };
        let mut best: Option<u64> = None;
        for reference in references {
            let (new, hyp) = (reference.len() as u64, stats.hyp_len);
            let closer = best.is_none_or(|old| {
                new.abs_diff(hyp) < old.abs_diff(hyp) || new.abs_diff(hyp) == old.abs_diff(hyp) && new < old
            });
            if closer {
                best = Some(new);
            }
        }
        stats.ref_len = best.unwrap_or(0);
        let count = |words: &[Symbol], n: usize| {
            let mut counts: BTreeMap<Vec<Symbol>, u64> = BTreeMap::new();
            for gram in words.windows(n) {
                *counts.entry(gram.to_vec()).or_default() += 1;
            }
            counts
        };
        for n in 1..=ORDER {
            let tables: Vec<_> = references.iter().map(|reference| count(reference, n)).collect();
            for (gram, times) in count(hypothesis, n) {
                let most = tables.iter().filter_map(|table| table.get(&gram)).max().copied().unwrap_or(0);
                stats.totals[n - 1] += times;
                stats.matches[n - 1] += times.min(most);
            }
        }
        stats
    }

    fn words(line: &[u32]) -> Vec<Symbol> {
        line.iter().map(|&word| Symbol(word)).collect()
    }

    proptest! {
        #[test]
        fn fast_statistics_are_the_definition(
            hypothesis in prop::collection::vec(0u32..5, 0..15),
            references in prop::collection::vec(prop::collection::vec(0u32..5, 0..15), 0..4),
        ) {
            let references: Vec<_> = references.iter().map(|line| words(line)).collect();
            let hypothesis = words(&hypothesis);
            let fast = References::new(&references).stats(&hypothesis);
            prop_assert_eq!(fast, obvious(&hypothesis, &references));
        }

        #[test]
        fn adding_and_taking_away_cancel(a in prop::array::uniform4(0u64..99), b in prop::array::uniform4(0u64..99)) {
            let x = BleuStats { matches: a, totals: b, hyp_len: a[0], ref_len: b[0] };
            let y = BleuStats { matches: b, totals: a, hyp_len: b[1], ref_len: a[1] };
            prop_assert_eq!(x + y - y, x);
            prop_assert_eq!([x, y].into_iter().sum::<BleuStats>(), y + x);
        }
    }

    #[test]
    fn equally_close_lengths_give_the_shorter() {
        let references = [words(&[1; 6]), words(&[1; 4])];
        assert_eq!(References::new(&references).stats(&words(&[1; 5])).ref_len, 4);
    }
}
