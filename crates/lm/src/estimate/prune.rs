//! Which n-grams are left out of the model.
//!
//! Pruning looks at the raw counts, and it comes after counting: pruned n-grams still take part in adjusted
//! counts, counts of counts and the sums of their contexts, and their mass goes to the context's back-off weight.
//! Thresholds do not fall with the length, so whatever is part of an n-gram that stays, stays.

use sylvan_base::Fault;

use crate::MAX_ORDER;

/// N-grams with a count at or below the threshold of their length are left out. The last threshold holds for
/// all greater lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prune {
    thresholds: [u64; MAX_ORDER],
    given: usize,
}

impl Prune {
    /// Thresholds for 1-grams, 2-grams, and so on; they must not fall.
    pub fn new(thresholds: &[u64]) -> Result<Self, Fault> {
        let expected = "up to seven counts that do not fall, such as \"0 0 1\"";
        let found = || format!("{thresholds:?}");
        if thresholds.len() > MAX_ORDER {
            return Err(Fault::new(0, found(), expected));
        }
        if !thresholds.is_sorted() {
            return Err(Fault::new(0, found(), expected)
                .advise("an n-gram cannot stay when its parts go; raise the later thresholds"));
        }
        let last = thresholds.last().copied().unwrap_or(0);
        let mut all = [last; MAX_ORDER];
        all[..thresholds.len()].copy_from_slice(thresholds);
        Ok(Self { thresholds: all, given: thresholds.len() })
    }

    /// Thresholds between spaces: `0 0 1`.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let numbers: Result<Vec<u64>, Fault> = text
            .split_ascii_whitespace()
            .map(|field| {
                field.parse().map_err(|_| Fault::new(0, format!("{field:?}"), "a count such as 0 or 1"))
            })
            .collect();
        Self::new(&numbers?)
    }

    /// How many thresholds were given.
    pub fn given(&self) -> usize {
        self.given
    }

    /// The threshold for n-grams of length `n`.
    #[inline]
    pub(crate) fn threshold(&self, n: usize) -> u64 {
        self.thresholds[n - 1]
    }
}

/// All that decides whether an n-gram stays.
#[derive(Debug, Default)]
pub(crate) struct Pruning {
    pub(crate) counts: Prune,
    /// For each word whether it is outside of the vocabulary asked for; empty if none was given.
    pub(crate) outside: Vec<bool>,
}

impl Pruning {
    /// Whether the n-gram goes that consists of `words` (in any order) and was seen `count` times.
    #[inline]
    pub(crate) fn prunes(&self, words: &[u32], count: u64) -> bool {
        count <= self.counts.threshold(words.len())
            || (!self.outside.is_empty() && words.iter().any(|&word| self.outside[word as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_threshold_repeats_and_none_may_fall() {
        let prune = Prune::parse("0 0 1").unwrap();
        assert_eq!([1, 2, 3, 7].map(|n| prune.threshold(n)), [0, 0, 1, 1]);
        assert_eq!(Prune::parse("").unwrap().threshold(1), 0);
        assert!(Prune::parse("0 2 1").unwrap_err().to_string().contains("raise"));
        assert!(Prune::parse("0 x").is_err());
        assert!(Prune::parse("0 0 0 0 0 0 0 1").is_err());
    }
}
