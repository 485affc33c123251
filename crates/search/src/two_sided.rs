//! What bottom-up search asks of a language model: scores of pieces whose neighbours are not known yet.
//!
//! A piece is a run of target words somewhere in the sentence. Its first words lack a history; they are charged
//! what is known, and joining pieces *changes* the charges of the words at the joints. So a score is always the
//! sum over all words of the best that is known so far, and scores of pieces can be compared as they are.
//!
//! ```text
//! words -- piece --> (score, State)
//! State .. State -- join --> (change of the scores' sum, State)        States of parts, in target order
//! State -- begin --> (change, State) when <s> is put before it
//! State -- sentence --> change when <s>, unless it is there, and </s> are put around it
//! State -- show(2, 1) --> Shown: the first two words and the last one, as far as they matter
//! Shown .. Shown -- estimate --> the change at the joints that can be predicted
//! ```
//!
//! Refinement works by showing a boundary word by word (Heafield, Koehn & Lavie 2013): pieces whose outer
//! words are the same have nearly the same future, and are treated as one until it matters.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use sylvan_base::hash::fold;
use sylvan_forest::TokenId;

/// An end of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Where words still lack their history.
    Left,
    /// Where the history of what follows begins.
    Right,
}

/// A language model over pieces. Scores are natural logs and already weighted.
pub trait TwoSided {
    /// All that matters of a piece. Equal states must have equal futures.
    type State: Copy + Eq + Hash + Debug;
    /// A state of which only the outer words are known.
    type Shown: Copy + Debug;

    /// Whether two states are the same. Models whose states are numbers for something else compare that.
    #[inline]
    fn same(&self, a: &Self::State, b: &Self::State) -> bool {
        a == b
    }

    /// A hash of a state; equal for states that are the same.
    #[inline]
    fn state_hash(&self, state: &Self::State) -> u64 {
        FixedState::default().hash_one(state)
    }

    /// Words as one piece, and their score without history.
    fn piece(&self, words: &[TokenId]) -> (f64, Self::State);

    /// The piece made of `parts` from left to right, and how much more it scores than all of them together.
    /// The sums must not depend on how a sentence was put together, except for rounding.
    fn join<'s>(&self, parts: impl Iterator<Item = &'s Self::State>) -> (f64, Self::State)
    where
        Self::State: 's;

    /// The piece at the beginning of the sentence, and how much its score changes: no word lacks its history then. Such
    /// a piece is only ever the first part of another.
    fn begin(&self, piece: &Self::State) -> (f64, Self::State);

    /// By how much the score changes when the piece, begun or not, is the whole sentence.
    fn sentence(&self, piece: &Self::State) -> f64;

    /// A better guess at what the first words will cost, to be added only when pieces are compared.
    fn rest(&self, _piece: &Self::State) -> f64 {
        0.0
    }

    /// What the first words, which are to be charged again, have been charged without history.
    fn without_history(&self, piece: &Self::State) -> f64;

    /// How many words are still to be charged again when a history comes. This is what a part costs in
    /// [`join`](Self::join), in words scored, unless it is the first: then no history comes.
    fn open(&self, piece: &Self::State) -> usize;

    /// What distinguishes a piece at its `index`-th word from a side: two states that agree in all marks of both
    /// sides are equal. The mark after the last word that matters says that it was the last.
    fn mark(&self, piece: &Self::State, side: Side, index: usize) -> Mark;

    /// The piece as it looks when the first `left` marks of its left and `right` of its right side are known. With
    /// the marks after the last words it is the piece itself.
    fn show(&self, piece: &Self::State, left: usize, right: usize) -> Self::Shown;

    /// Like [`open`](Self::open), of the words that are known: what a part after the first costs in
    /// [`estimate`](Self::estimate).
    fn open_shown(&self, shown: &Self::Shown) -> usize;

    /// What is known of the change that [`join`](Self::join) will give; equal to it when everything is shown.
    fn estimate<'s>(&self, parts: impl Iterator<Item = &'s Self::Shown>) -> f64
    where
        Self::Shown: 's;
}

/// See [`TwoSided::mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark(pub u64);

impl Mark {
    /// There is no such word: the side ends before it, and words to come are hidden behind it (`closed`) or seen
    /// through the piece.
    pub fn end(closed: bool) -> Self {
        Self(u64::MAX - u64::from(closed))
    }

    /// A word.
    pub fn word(id: u32) -> Self {
        Self(u64::from(id))
    }

    /// The mark under several models, at most 8: pieces that agree in it agree in the marks of all. It is an end where
    /// the side has ended for all of them.
    pub fn of_all(marks: impl Iterator<Item = Mark>) -> Self {
        let (mut hash, mut closed, mut ended, mut number) = (0, 0, true, 0);
        for mark in marks {
            hash = fold(hash, mark.0);
            ended &= mark.is_end();
            closed |= u64::from(mark == Mark::end(true)) << number;
            number += 1;
        }
        if ended { Self(u64::MAX - closed) } else { Self(hash >> 1) }
    }

    /// Whether the side has no such word.
    pub fn is_end(self) -> bool {
        self.0 >= u64::MAX - 0xff
    }
}
