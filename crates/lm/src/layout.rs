//! What queries ask of the n-grams, however they are laid out.
//!
//! Queries walk from a word to longer n-grams that end in it: `c`, `b c`, `a b c`. A [`Cursor`] says where the walk
//! is; what it means is the layout's own business. All layouts hold the same floats.

use crate::WordId;

/// A place in the walk, of one layout of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Cursor(pub(crate) u64);

/// An n-gram that is not one of the longest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// ln p(newest word | the others).
    pub(crate) prob: f32,
    /// ln of the back-off weight; see [`is_context`].
    pub(crate) backoff: f32,
    /// Whether some n-gram is this one with an older word in front.
    pub(crate) grows_left: bool,
    /// Where the walk continues.
    pub(crate) cursor: Cursor,
    /// The number of its place, for values that are kept beside the n-grams.
    pub(crate) slot: usize,
}

/// The weight of an n-gram that need not be remembered as a history: it equals the weight 1 but has its own bits.
pub(crate) const NO_CONTEXT: f32 = -0.0;

/// Whether having seen an n-gram with this weight can change the score of a later word.
#[inline]
pub(crate) fn is_context(backoff: f32) -> bool {
    backoff.to_bits() != NO_CONTEXT.to_bits()
}

/// N-grams that can be walked.
pub(crate) trait Layout {
    /// What is known about a query before it starts. The default knows nothing.
    type Hints: Copy + Default;

    /// The length of the longest n-grams.
    fn order(&self) -> usize;

    /// The n-gram of one word. Words of other models give nonsense but no harm.
    fn word(&self, word: WordId) -> Found;

    /// The n-gram of length `n`, more than one and less than the order, that has `oldest` in front of the one at
    /// `cursor`. Hints make it faster, never different.
    fn longer(&self, n: usize, cursor: Cursor, oldest: WordId, hints: Self::Hints) -> Option<Found>;

    /// The probability of the longest n-gram that has `oldest` in front of the one at `cursor`.
    fn longest(&self, cursor: Cursor, oldest: WordId) -> Option<f32>;

    /// Announces a query, so that its memory can be prefetched.
    fn announce(&self, word: WordId, history: &[WordId]) -> Self::Hints;

    /// Announces the first step of a query.
    fn announce_word(&self, word: WordId);

    /// Announces one step of a query: the n-gram of length `n` with `oldest` in front of the one at `cursor`.
    fn announce_longer(&self, n: usize, cursor: Cursor, oldest: WordId);

    /// How many places there are for n-grams of this length, taken or not.
    fn slots(&self, n: usize) -> usize;
}
