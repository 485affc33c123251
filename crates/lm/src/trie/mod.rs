//! The layout `trie`, for size: n-grams as paths from their newest word to their oldest, packed bit by bit.
//!
//! ```text
//! 1-grams    one entry per word id:    prob, back-off, how many 2-grams end in words before it
//! n-grams    one cell per n-gram:      oldest word, place of the shorter n-gram, prob, back-off, whether it grows
//! longest    sorted under the shorter: oldest word, prob
//! ```
//!
//! A perfect hash function of the place of the shorter one and the oldest word says where an n-gram stands
//! ([`perfect`]). So a step of a walk reads one cell: either the n-gram is in it or the model does not have it. And
//! since the function does not need the cell of the shorter n-gram but only its place, all cells of a walk are known,
//! and prefetched, before the first has arrived from memory.
//!
//! The longest n-grams, which are the most, save the place of the shorter one: they stand in its order, and it knows
//! where its own start. There are mostly one or two of them. Quantised models, which are made to be small, keep all
//! n-grams in this way. Word ids are scattered (in the order of a hash of the text), so that the words under an
//! n-gram are spread evenly over all ids and the place of a word among many can be guessed (Heafield 2011).

pub(crate) mod bits;
pub(crate) mod build;
mod check;
pub(crate) mod codes;
pub(crate) mod level;
pub(crate) mod perfect;

use sylvan_base::{Id, prefetch};
use sylvan_store::Section;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::layout::{Cursor, Found, Layout, NO_CONTEXT};
use crate::{MAX_ORDER, WordId};
use level::{Level, Order};
use perfect::key;

/// A 1-gram. The one after the last word only says where the last word's 2-grams end.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct TrieWord {
    pub(crate) prob: f32,
    pub(crate) backoff: f32,
    pub(crate) next: u32,
}

/// For each length from 2 on, where the n-gram of a walk stands if the model has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hints([u32; MAX_ORDER]);

const NO_HINT: u32 = u32::MAX;

impl Default for Hints {
    #[inline(always)]
    fn default() -> Self {
        Self([NO_HINT; MAX_ORDER])
    }
}

/// All n-grams of a model.
#[derive(Debug, Clone)]
pub(crate) struct TrieLayout {
    pub(crate) words: Section<TrieWord>,
    /// Those of length 2, 3, ...
    pub(crate) levels: Vec<Level>,
    pub(crate) scale: u64,
}

/// 2^32 divided by the number of words.
pub(crate) fn scale_for(words: usize) -> u64 {
    (1 << 32) / words.max(1) as u64
}

impl TrieLayout {
    /// The part of a level that a cursor means, whatever it holds.
    #[inline(always)]
    fn range(level: &Level, cursor: Cursor) -> (usize, usize) {
        let high = ((cursor.0 & 0xFFFF_FFFF) as usize).min(level.cells);
        (((cursor.0 >> 32) as usize).min(high), high)
    }

    /// The part of the next level that lies between two starts.
    #[inline(always)]
    fn cursor(start: u32, end: u32) -> Cursor {
        Cursor(u64::from(start) << 32 | u64::from(end))
    }

    /// The n-gram of length `n` itself, whose longer ones are hashed.
    #[inline(always)]
    fn place(n: usize, at: usize) -> Cursor {
        Cursor((n as u64) << 32 | at as u64 & 0xFFFF_FFFF)
    }

    /// Whether the n-grams of length `n` + 1 are hashed.
    #[inline(always)]
    pub(crate) fn is_hashed_behind(&self, n: usize) -> bool {
        matches!(self.levels.get(n - 1), Some(Level { order: Order::Hashed { .. }, .. }))
    }
}

impl Layout for TrieLayout {
    type Hints = Hints;

    #[inline(always)]
    fn order(&self) -> usize {
        1 + self.levels.len()
    }

    #[inline(always)]
    fn word(&self, word: WordId) -> Found {
        let at = word.index();
        match self.words.get(at..).and_then(<[TrieWord]>::first_chunk::<2>) {
            Some([gram, behind]) => Found {
                prob: gram.prob,
                backoff: gram.backoff,
                grows_left: gram.next < behind.next,
                cursor: if self.is_hashed_behind(1) {
                    Self::place(1, at)
                } else {
                    Self::cursor(gram.next, behind.next)
                },
                slot: at,
            },
            None => {
                let cursor = Cursor::default();
                Found { prob: 0.0, backoff: NO_CONTEXT, grows_left: false, cursor, slot: 0 }
            }
        }
    }

    #[inline(always)]
    fn longer(&self, n: usize, cursor: Cursor, oldest: WordId, hints: Hints) -> Option<Found> {
        let level = self.levels.get(n - 2)?;
        let at = if let Order::Hashed { perfect, .. } = &level.order {
            let parent = cursor.0 as u32;
            let hint = hints.0[n - 2];
            let at = if hint == NO_HINT { perfect.cell(key(parent, oldest)) } else { hint as usize };
            if !level.holds(at, parent, oldest) {
                return None;
            }
            at
        } else {
            let (low, high) = Self::range(level, cursor);
            level.find(low, high, oldest.0, self.scale)?
        };
        let (prob, backoff, start) = level.fields(at);
        let (grows_left, cursor) = if self.is_hashed_behind(n) {
            (start != 0, Self::place(n, at))
        } else {
            let end = level.next(at + 1);
            (start < end, Self::cursor(start, end))
        };
        Some(Found { prob, backoff, grows_left, cursor, slot: at })
    }

    #[inline(always)]
    fn longest(&self, cursor: Cursor, oldest: WordId) -> Option<f32> {
        let level = self.levels.last()?;
        let (low, high) = Self::range(level, cursor);
        level.find(low, high, oldest.0, self.scale).map(|at| level.prob(at))
    }

    #[inline(always)]
    fn announce(&self, word: WordId, history: &[WordId]) -> Hints {
        self.announce_word(word);
        let mut hints = Hints::default();
        let mut parent = word.0;
        for ((level, &oldest), hint) in self.levels.iter().zip(history).zip(&mut hints.0) {
            let Order::Hashed { perfect, .. } = &level.order else { break };
            let at = perfect.cell(key(parent, oldest));
            level.announce_cell(at);
            parent = at as u32;
            *hint = parent;
        }
        hints
    }

    #[inline(always)]
    fn announce_word(&self, word: WordId) {
        if let Some(gram) = self.words.get(word.index()) {
            prefetch(gram);
        }
    }

    #[inline(always)]
    fn announce_longer(&self, n: usize, cursor: Cursor, oldest: WordId) {
        if let Some(level) = self.levels.get(n - 2) {
            if let Order::Hashed { perfect, .. } = &level.order {
                level.announce_cell(perfect.cell(key(cursor.0 as u32, oldest)));
            } else {
                let (low, high) = Self::range(level, cursor);
                level.announce(low, high, oldest.0, self.scale);
            }
        }
    }

    fn slots(&self, n: usize) -> usize {
        if n == 1 { self.words.len().saturating_sub(1) } else { self.levels[n - 2].cells }
    }
}
