//! The words that can stand next to each other in the translations of one forest.

use sylvan_base::HashMap;
use sylvan_forest::TokenId;

/// The words of a forest, and before each the words that some derivation can put there.
#[derive(Debug, Clone)]
pub struct Neighbours {
    pub(crate) words: Vec<TokenId>,
    pub(crate) numbers: HashMap<TokenId, u32>,
    pub(crate) before: Vec<Vec<TokenId>>,
    pub(crate) first: Set,
    pub(crate) last: Vec<TokenId>,
    pub(crate) empty: bool,
}

/// A set of word numbers.
#[derive(Debug, Clone)]
pub(crate) struct Set(Box<[u64]>);

impl Set {
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)].into())
    }
    pub(crate) fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }
    pub(crate) fn extend(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(64 * index + bit)
            })
        })
    }
}

impl Neighbours {
    /// All words, each with those that can stand right before it.
    pub fn words(&self) -> impl Iterator<Item = (TokenId, &[TokenId])> {
        self.words.iter().copied().zip(self.before.iter().map(Vec::as_slice))
    }

    /// Whether a sentence can begin with the word.
    pub fn is_first(&self, word: TokenId) -> bool {
        self.numbers.get(&word).is_some_and(|&number| self.first.contains(number))
    }

    /// The words with which a sentence can end.
    pub fn last_words(&self) -> &[TokenId] {
        &self.last
    }

    /// Whether a sentence can have no words.
    pub fn can_be_empty(&self) -> bool {
        self.empty
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sylvan_base::Rng;

    use super::*;

    #[test]
    fn sets_hold_what_was_put_in_and_nothing_else() {
        let mut rng = Rng::new(3);
        for size in [1, 63, 64, 65, 200] {
            let (mut set, mut other) = (Set::new(size), Set::new(size));
            let mut expected: BTreeSet<usize> = BTreeSet::new();
            for round in 0..size {
                let number = rng.below(size);
                let half = if round % 2 == 0 { &mut set } else { &mut other };
                half.insert(number as u32);
                expected.insert(number);
            }
            set.extend(&other);
            assert!(set.iter().eq(expected.iter().copied()), "{size}");
            assert!((0..size).all(|number| set.contains(number as u32) == expected.contains(&number)));
        }
        assert_eq!(Set::new(100).iter().next(), None);
    }
}
