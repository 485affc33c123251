//! What is left of a history.
//!
//! A [`State`] is the part of the history that can still matter (Li & Khudanpur 2008): words are dropped from the
//! far end as long as no n-gram continues them and no back-off weight other than 1 would be charged for them or for
//! any longer history. Histories with equal futures thereby become equal, which recombination in a search
//! depends on.
//!
//! The state also carries the back-off weights of its words (Heafield 2011). Without them a query that backs off
//! would have to look up the history once more, which costs as much as the query itself.

use std::hash::{Hash, Hasher};

use sylvan_base::define_id;

use crate::MAX_ORDER;

define_id!(
    /// A word of one model's own vocabulary; 0 is the unknown word.
    WordId
);

/// The longest history.
pub(crate) const MAX_HISTORY: usize = MAX_ORDER - 1;

/// The words before the next one, as far as they can matter.
///
/// Equality and hashing look at the words only: the same words have the same weights.
#[derive(Debug, Clone, Copy)]
pub struct State {
    /// Newest first; unused places are zero, so that states can be compared as a whole.
    pub(crate) words: [WordId; MAX_HISTORY],
    /// `backoffs[i]` is the weight of the n-gram `words[i] .. words[0]`.
    pub(crate) backoffs: [f32; MAX_HISTORY],
    pub(crate) len: u32,
}

const _: () = assert!(size_of::<State>() == 52);

impl State {
    pub(crate) const EMPTY: Self =
        Self { words: [WordId(0); MAX_HISTORY], backoffs: [0.0; MAX_HISTORY], len: 0 };

    /// The words, newest first.
    #[inline]
    pub fn words(&self) -> &[WordId] {
        &self.words[..self.len()]
    }

    /// The weights of the histories of 1, 2, ... words.
    #[inline]
    pub(crate) fn backoffs(&self) -> &[f32] {
        &self.backoffs[..self.len()]
    }

    /// How many words there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // The minimum tells the compiler what is always true, and saves it a check.
        (self.len as usize).min(MAX_HISTORY)
    }

    /// The state of `len` words: `newest`, then those of `older`.
    #[inline]
    pub(crate) fn after(older: &Self, newest: WordId, backoffs: [f32; MAX_HISTORY], len: usize) -> Self {
        let mut words = [WordId(0); MAX_HISTORY];
        words[0] = newest;
        words[1..].copy_from_slice(&older.words[..MAX_HISTORY - 1]);
        for (index, word) in words.iter_mut().enumerate() {
            *word = if index < len { *word } else { WordId(0) };
        }
        Self { words, backoffs, len: len as u32 }
    }
}

impl PartialEq for State {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.words == other.words
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().hash(hasher);
    }
}
