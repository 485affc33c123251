//! The n-grams of one length in a trie, and how one of them is found.

use sylvan_base::prefetch;
use sylvan_store::Section;

use super::bits::{mask, read};
use super::codes::Codes;
use super::perfect::{Perfect, key};
use crate::WordId;

/// The n-grams of one length > 1.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    /// Places for n-grams; in sorted levels all of them are taken.
    pub(crate) cells: usize,
    pub(crate) word_mask: u64,
    /// Bits from one word to the next: more than a word has if the record stands behind each word.
    pub(crate) stride: u32,
    pub(crate) words: Section<u8>,
    /// Bits before the first record.
    pub(crate) record_offset: u32,
    /// Bits from one record to the next.
    pub(crate) record_stride: u32,
    /// In front of a sorted level there is one record more, which only says where the last one's n-grams end.
    pub(crate) records: Section<u8>,
    pub(crate) order: Order,
    pub(crate) prob: Codes,
    pub(crate) backoff: Codes,
    /// Bits of the start of the longer n-grams, or 1 if they are not sorted: whether there are any.
    pub(crate) next_width: u32,
}

/// Where the n-grams of a level stand.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// Consecutively under the shorter one that they end in, sorted by their oldest words.
    Sorted,
    /// Where a hash function says. Each has the place of the shorter one after its word.
    Hashed { perfect: Perfect, word_width: u32, parent_mask: u64 },
}

/// Where searches stop guessing and look at every word.
const FEW: usize = 8;

impl Level {
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u32 {
        read(&self.words, at as u64 * u64::from(self.stride), self.word_mask) as u32
    }

    /// The place of the n-gram without its oldest word, if this level keeps it.
    pub(crate) fn parent(&self, at: usize) -> Option<u32> {
        let Order::Hashed { word_width, parent_mask, .. } = &self.order else { return None };
        let bit = at as u64 * u64::from(self.stride) + u64::from(*word_width);
        Some(read(&self.words, bit, *parent_mask) as u32)
    }

    /// Whether an n-gram stands here: free cells of hashed levels hold a copy of one that stands elsewhere.
    pub(crate) fn is_taken(&self, at: usize) -> bool {
        match (&self.order, self.parent(at)) {
            (Order::Hashed { perfect, .. }, Some(parent)) => {
                perfect.cell(key(parent, WordId(self.word(at)))) == at
            }
            _ => true,
        }
    }

    #[inline(always)]
    fn record(&self, at: usize) -> u64 {
        at as u64 * u64::from(self.record_stride) + u64::from(self.record_offset)
    }

    #[inline(always)]
    pub(crate) fn prob(&self, at: usize) -> f32 {
        self.prob.decode(read(&self.records, self.record(at), mask(self.prob.width)))
    }

    #[inline(always)]
    pub(crate) fn backoff(&self, at: usize) -> f32 {
        let bit = self.record(at) + u64::from(self.prob.width);
        self.backoff.decode(read(&self.records, bit, mask(self.backoff.width)))
    }

    /// Probability, back-off weight and start of the longer n-grams. The reads do not wait for each other.
    #[inline(always)]
    pub(crate) fn fields(&self, at: usize) -> (f32, f32, u32) {
        let bit = self.record(at);
        let prob = self.prob.decode(read(&self.records, bit, mask(self.prob.width)));
        let bit = bit + u64::from(self.prob.width);
        let backoff = self.backoff.decode(read(&self.records, bit, mask(self.backoff.width)));
        let bit = bit + u64::from(self.backoff.width);
        (prob, backoff, read(&self.records, bit, mask(self.next_width)) as u32)
    }

    /// Where the longer n-grams of this one start.
    #[inline(always)]
    pub(crate) fn next(&self, at: usize) -> u32 {
        let bit = self.record(at) + u64::from(self.prob.width + self.backoff.width);
        read(&self.records, bit, mask(self.next_width)) as u32
    }

    /// Whether this very n-gram stands in a cell.
    #[inline(always)]
    pub(crate) fn holds(&self, at: usize, parent: u32, oldest: WordId) -> bool {
        let Order::Hashed { word_width, parent_mask, .. } = &self.order else { return false };
        let bit = at as u64 * u64::from(self.stride);
        // Words and places of other models may be too large for the fields, and then nothing is equal.
        let word = read(&self.words, bit, self.word_mask) == u64::from(oldest.0);
        word & (read(&self.words, bit + u64::from(*word_width), *parent_mask) == u64::from(parent))
    }

    /// The place of `word` from `low` to `high`; `scale` is 2^32 divided by the number of words of the model.
    #[inline(always)]
    pub(crate) fn find(&self, mut low: usize, mut high: usize, word: u32, scale: u64) -> Option<usize> {
        let size = (high - low) as u64;
        // How many of the words lie between two ids this far apart.
        let share = |ids: u32| ((u64::from(ids).wrapping_mul(scale) >> 8).wrapping_mul(size) >> 24) as usize;
        let mut at = low + share(word);
        // The record is needed as soon as the word is found; prefetching it hides most of the wait.
        self.announce_record(at);
        // Ids are evenly spread, or the file is damaged; a few guesses are enough, and then halving ends it.
        for _ in 0..6 {
            if high - low <= FEW {
                break;
            }
            at = at.clamp(low, high - 1);
            let found = self.word(at);
            if found < word {
                low = at + 1;
                at = low + share(word - found);
            } else if found > word {
                high = at;
                at = at.saturating_sub(1 + share(found - word));
            } else {
                return Some(at);
            }
            self.announce_record(at);
        }
        while high - low > FEW {
            let middle = low + (high - low) / 2;
            if self.word(middle) <= word {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low..high).find(|&at| self.word(at) == word)
    }

    /// Prefetches the memory where `word` is likely to be.
    #[inline(always)]
    pub(crate) fn announce(&self, low: usize, high: usize, word: u32, scale: u64) {
        let at = low
            + ((u64::from(word).wrapping_mul(scale) >> 8).wrapping_mul((high - low) as u64) >> 24) as usize;
        if let Some(byte) = self.words.get(at * self.stride as usize / 8) {
            prefetch(byte);
        }
        self.announce_record(at);
    }

    #[inline(always)]
    fn announce_record(&self, at: usize) {
        if let Some(byte) = self.records.get((self.record(at) / 8) as usize) {
            prefetch(byte);
        }
    }

    /// Prefetches a cell, which may lie in two cache lines.
    #[inline(always)]
    pub(crate) fn announce_cell(&self, at: usize) {
        let first = at * self.stride as usize / 8;
        if let Some(bytes) = self.words.get(first..first + 16) {
            prefetch(&bytes[0]);
            prefetch(&bytes[15]);
        }
    }
}
