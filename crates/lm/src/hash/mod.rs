//! The layout `hash`, for speed: one hash table per n-gram length, keyed by 63-bit hashes of the words.
//!
//! ```text
//! 1-grams   one entry per word id:  prob, back-off
//! n-grams   lines of 64 bytes:      4 x key, 4 x (prob, back-off)
//! longest   lines of 64 bytes:      5 x key, 5 x prob
//! ```
//!
//! The place of an n-gram depends on its words alone, not on what was found before. So a query can prefetch all the
//! lines that it may need at once and wait for them together instead of one after the other. A line is one cache
//! line; it fills from its front, and what does not fit goes to the next line. A search ends at a line with a free
//! last place.
//!
//! Two n-grams of the same length are taken for each other if their 63-bit hashes are equal. Building notices this
//! among the n-grams of the model (it then looks like a repeated n-gram; for 20 million n-grams the odds are one in
//! 50,000); a query for an n-gram that is not there meets it once in about 10^18 times.

mod table;

use sylvan_base::{Id, prefetch};
use sylvan_store::Section;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub(crate) use table::{Growing, LongLine, MiddleLine, Table};

use crate::layout::{Cursor, Found, Layout, NO_CONTEXT, is_context};
use crate::state::MAX_HISTORY;
use crate::{MAX_ORDER, WordId};

/// What is known about an n-gram that is not one of the longest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gram {
    /// ln p(newest word | the others).
    pub(crate) prob: f32,
    /// ln of the back-off weight; see [`is_context`].
    pub(crate) backoff: f32,
    /// Whether some n-gram is this one with an older word in front.
    pub(crate) grows_left: bool,
}

impl Gram {
    /// An n-gram that no other is made of.
    pub(crate) fn new(prob: f32, backoff: f32) -> Self {
        Self { prob, backoff, grows_left: false }
    }

    /// Notes that the n-gram must be remembered as a history.
    pub(crate) fn set_context(&mut self) {
        if !is_context(self.backoff) {
            self.backoff = 0.0;
        }
    }
}

/// A 1-gram as it is kept. Stated probabilities are at most 1, so the sign of the logarithm says nothing; its bit is
/// set if the n-gram grows to the left.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct WordGram {
    prob: u32,
    backoff: f32,
}

const SIGN: u32 = 1 << 31;

impl From<Gram> for WordGram {
    fn from(gram: Gram) -> Self {
        let flag = if gram.grows_left { SIGN } else { 0 };
        Self { prob: gram.prob.to_bits() & !SIGN | flag, backoff: gram.backoff }
    }
}

impl From<WordGram> for Gram {
    #[inline]
    fn from(word: WordGram) -> Self {
        let grows_left = word.prob & SIGN != 0;
        Self { prob: f32::from_bits(word.prob | SIGN), backoff: word.backoff, grows_left }
    }
}

/// A multiplier for each distance from the newest word: the digits of pi, made odd.
const MULTIPLIERS: [u64; MAX_ORDER] = [
    0x243F_6A88_85A3_08D3,
    0x1319_8A2E_0370_7345,
    0xA409_3822_299F_31D1,
    0x082E_FA98_EC4E_6C89,
    0x4528_21E6_38D0_1377,
    0xBE54_66CF_34E9_0C6D,
    0xC0AC_29B7_C97C_50DD,
];

/// The sum that stands for the n-gram of one word.
#[inline]
pub(crate) fn first(word: WordId) -> Cursor {
    lengthen(1, Cursor(0), word)
}

/// The sum of the n-gram of length `n` that has `oldest` in front. All products are independent of each other, so
/// the sums of all lengths are ready after hardly more than one multiplication.
#[inline]
pub(crate) fn lengthen(n: usize, cursor: Cursor, oldest: WordId) -> Cursor {
    Cursor(cursor.0.wrapping_add((u64::from(oldest.0) + 1).wrapping_mul(MULTIPLIERS[n - 1])))
}

/// The word of the n-gram of one word that a sum stands for: the multiplier is odd, so it has an inverse.
fn only_word(cursor: Cursor) -> u64 {
    cursor.0.wrapping_mul(INVERSE).wrapping_sub(1)
}

/// The inverse of the first multiplier modulo 2^64. Each step of Newton's method doubles the number of right bits.
const INVERSE: u64 = {
    let mut inverse = MULTIPLIERS[0];
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(MULTIPLIERS[0].wrapping_mul(inverse)));
        step += 1;
    }
    inverse
};

const _: () = assert!(INVERSE.wrapping_mul(MULTIPLIERS[0]) == 1);

/// The sum of `words`, oldest first.
pub(crate) fn cursor_of(words: &[WordId]) -> Cursor {
    (1..).zip(words.iter().rev()).fold(Cursor(0), |cursor, (n, &word)| lengthen(n, cursor, word))
}

/// The key of an n-gram: even, because tables keep a flag in the last bit, and never 0, which marks free places.
#[inline]
pub(crate) fn key(cursor: Cursor) -> u64 {
    let mixed = (cursor.0 ^ (cursor.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed & !1).max(2)
}

/// All n-grams of a model.
#[derive(Debug, Clone)]
pub(crate) struct HashLayout {
    pub(crate) words: Section<WordGram>,
    /// Those of length 2, 3, ...
    pub(crate) middle: Vec<Table<MiddleLine>>,
    /// `None` in models of order 1.
    pub(crate) longest: Option<Table<LongLine>>,
}

impl HashLayout {
    /// The slot of the 1-gram at `cursor`.
    pub(crate) fn words_slot(&self, cursor: Cursor) -> Option<usize> {
        usize::try_from(only_word(cursor)).ok().filter(|&word| word < self.words.len())
    }
}

impl Layout for HashLayout {
    type Hints = ();

    #[inline]
    fn order(&self) -> usize {
        1 + self.middle.len() + usize::from(self.longest.is_some())
    }

    #[inline]
    fn word(&self, word: WordId) -> Found {
        match self.words.get(word.index()) {
            Some(&gram) => found(gram.into(), first(word), word.index()),
            None => found(Gram::new(0.0, NO_CONTEXT), first(word), 0),
        }
    }

    #[inline]
    fn longer(&self, n: usize, cursor: Cursor, oldest: WordId, (): ()) -> Option<Found> {
        let cursor = lengthen(n, cursor, oldest);
        let (slot, gram) = self.middle.get(n - 2)?.find(key(cursor))?;
        Some(found(gram, cursor, slot))
    }

    #[inline]
    fn longest(&self, cursor: Cursor, oldest: WordId) -> Option<f32> {
        let cursor = lengthen(self.order(), cursor, oldest);
        self.longest.as_ref()?.find(key(cursor)).map(|(_, prob)| prob)
    }

    #[inline]
    fn announce(&self, word: WordId, history: &[WordId]) {
        self.announce_word(word);
        let mut cursor = first(word);
        let mut n = 1;
        for (&older, table) in history.iter().zip(&self.middle) {
            n += 1;
            cursor = lengthen(n, cursor, older);
            table.announce(key(cursor));
        }
        if let (Some(&oldest), Some(table)) = (history.get(self.middle.len()), &self.longest) {
            table.announce(key(lengthen(n + 1, cursor, oldest)));
        }
    }

    #[inline]
    fn announce_word(&self, word: WordId) {
        if let Some(gram) = self.words.get(word.index()) {
            prefetch(gram);
        }
    }

    fn announce_longer(&self, n: usize, cursor: Cursor, oldest: WordId) {
        let key = key(lengthen(n, cursor, oldest));
        match (self.middle.get(n - 2), &self.longest) {
            (Some(table), _) => table.announce(key),
            (None, Some(table)) => table.announce(key),
            (None, None) => {}
        }
    }

    fn slots(&self, n: usize) -> usize {
        match n {
            1 => self.words.len(),
            _ if n < self.order() => self.middle[n - 2].slots(),
            _ => self.longest.as_ref().map_or(0, Table::slots),
        }
    }
}

#[inline]
fn found(gram: Gram, cursor: Cursor, slot: usize) -> Found {
    Found { prob: gram.prob, backoff: gram.backoff, grows_left: gram.grows_left, cursor, slot }
}

const _: () = assert!(MAX_HISTORY < MULTIPLIERS.len());
