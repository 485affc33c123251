//! The layout `trie`, for size: n-grams as paths from their newest word to their oldest, packed bit by bit.
//!
//! ```text
//! 1-grams   one entry per word id:     prob, back-off, where its 2-grams start
//! n-grams   words, one behind the other, sorted under the same shorter n-gram
//!           records in the same order: prob, back-off, where the (n+1)-grams start
//! longest   words; records: prob
//! ```
//!
//! The n-grams under a node are those from its start to the start of the next node. Words and records are kept
//! apart: a search through the words then touches three to five times fewer cache lines, and the record is fetched
//! while the search still runs.
//!
//! Word ids are scattered (in the order of a hash of the text), so the words under a node are spread evenly over
//! all ids. The place of a word among `k` words can then be guessed with an error of about the root of `k`, and the
//! word found there says how far to go: two or three guesses do where halving needs fifteen (Heafield 2011 uses
//! interpolation in the same way).

pub(crate) mod bits;
pub(crate) mod build;
pub(crate) mod codes;

use sylvan_base::Id;
use sylvan_store::Section;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::layout::{Cursor, Found, Layout, NO_CONTEXT};
use crate::prefetch::prefetch;
use crate::{MAX_ORDER, WordId};
use bits::{mask, read, read_wide};
use codes::Codes;

/// A 1-gram. The one behind the last word only says where the last word's 2-grams end.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct TrieWord {
    pub(crate) prob: f32,
    pub(crate) backoff: f32,
    pub(crate) next: u32,
}

/// The n-grams of one length > 1.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) count: usize,
    pub(crate) word_mask: u64,
    /// Bits from one word to the next: more than a word has if the record stands behind each word.
    pub(crate) stride: u32,
    pub(crate) words: Section<u8>,
    /// Bits before the first record.
    pub(crate) record_offset: u32,
    /// Bits from one record to the next.
    pub(crate) record_stride: u32,
    /// For n-grams that are not the longest there is one record more, which only says where the last one ends.
    pub(crate) records: Section<u8>,
    /// Where n-grams stand, by their hash.
    pub(crate) jumps: Option<Jumps>,
    pub(crate) prob: Codes,
    pub(crate) backoff: Codes,
    pub(crate) next_width: u32,
}

/// Where searches stop guessing and look at every word.
const FEW: usize = 8;

impl Level {
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u32 {
        read(&self.words, at as u64 * u64::from(self.stride), self.word_mask) as u32
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

    /// Probability, back-off weight and start of the longer n-grams, all from one read.
    #[inline(always)]
    fn fields(&self, at: usize) -> (f32, f32, u32) {
        let bits = read_wide(&self.records, self.record(at));
        let prob = self.prob.decode(bits as u64 & mask(self.prob.width));
        let bits = bits >> (self.prob.width & 63);
        let backoff = self.backoff.decode(bits as u64 & mask(self.backoff.width));
        let bits = (bits >> (self.backoff.width & 63)) as u64;
        (prob, backoff, (bits & mask(self.next_width)) as u32)
    }

    /// Where the longer n-grams of this one start.
    #[inline(always)]
    pub(crate) fn next(&self, at: usize) -> u32 {
        let bit = self.record(at) + u64::from(self.prob.width + self.backoff.width);
        read(&self.records, bit, mask(self.next_width)) as u32
    }

    /// The place of `word` from `low` to `high`; `scale` is 2^32 divided by the number of words of the model.
    #[inline(always)]
    fn find(&self, mut low: usize, mut high: usize, word: u32, scale: u64) -> Option<usize> {
        let size = (high - low) as u64;
        // How many of the words lie between two ids that are so far apart.
        let share = |ids: u32| ((u64::from(ids).wrapping_mul(scale) >> 8).wrapping_mul(size) >> 24) as usize;
        let mut at = low + share(word);
        // The record is wanted as soon as the word is found; asking now hides most of the wait.
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

    /// Asks for the memory where `word` is likely to be.
    #[inline(always)]
    fn announce(&self, low: usize, high: usize, word: u32, scale: u64) {
        let at = low
            + ((u64::from(word).wrapping_mul(scale) >> 8).wrapping_mul((high - low) as u64) >> 24) as usize;
        self.announce_words(at);
        self.announce_record(at);
    }

    #[inline(always)]
    fn announce_words(&self, at: usize) {
        if let Some(byte) = self.words.get(at * self.stride as usize / 8) {
            prefetch(byte);
        }
    }

    #[inline(always)]
    fn announce_record(&self, at: usize) {
        if let Some(byte) = self.records.get((self.record(at) / 8) as usize) {
            prefetch(byte);
        }
    }
}

/// For each length from 2 on, where an n-gram may stand.
pub(crate) type Hints = [u32; MAX_ORDER];

const NO_HINTS: Hints = [u32::MAX; MAX_ORDER];

/// A guess for where an n-gram stands that needs no search: its hash is a number in a table of places.
///
/// Each step of a walk has to wait for the step before. With a table the later steps can be asked for at once; when
/// the walk comes to them, it only compares the word. Places that several n-grams share hold one of them, and the
/// others are searched.
#[derive(Debug, Clone)]
pub(crate) struct Jumps {
    pub(crate) count: usize,
    pub(crate) width: u32,
    pub(crate) places: Section<u8>,
}

impl Jumps {
    #[inline(always)]
    fn get(&self, key: u64) -> usize {
        let slot = ((u128::from(key) * self.count as u128) >> 64) as u64;
        read(&self.places, slot * u64::from(self.width), mask(self.width)) as usize
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
        let high = ((cursor.0 & 0xFFFF_FFFF) as usize).min(level.count);
        (((cursor.0 >> 32) as usize).min(high), high)
    }

    /// The part of the next level that lies between two starts.
    #[inline(always)]
    fn cursor(start: u32, end: u32) -> Cursor {
        Cursor(u64::from(start) << 32 | u64::from(end))
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
                cursor: Self::cursor(gram.next, behind.next),
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
        let (low, high) = Self::range(level, cursor);
        let hint = hints[n - 2] as usize;
        let at = if (low..high).contains(&hint) && level.word(hint) == oldest.0 {
            hint
        } else {
            level.find(low, high, oldest.0, self.scale)?
        };
        let (prob, backoff, start) = level.fields(at);
        let end = level.next(at + 1);
        Some(Found { prob, backoff, grows_left: start < end, cursor: Self::cursor(start, end), slot: at })
    }

    #[inline(always)]
    fn longest(&self, cursor: Cursor, oldest: WordId) -> Option<f32> {
        let level = self.levels.last()?;
        let (low, high) = Self::range(level, cursor);
        level.find(low, high, oldest.0, self.scale).map(|at| level.prob(at))
    }

    #[inline(always)]
    fn announce(&self, word: WordId, history: &[WordId]) -> Hints {
        let mut hints = NO_HINTS;
        let mut cursor = crate::hash::first(word);
        for ((level, &oldest), n) in self.levels.iter().zip(history).zip(2..) {
            cursor = crate::hash::lengthen(n, cursor, oldest);
            if let Some(jumps) = &level.jumps {
                let at = jumps.get(crate::hash::key(cursor));
                hints[n - 2] = at as u32;
                level.announce_words(at);
            }
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
            let (low, high) = Self::range(level, cursor);
            level.announce(low, high, oldest.0, self.scale);
        }
    }

    fn slots(&self, n: usize) -> usize {
        if n == 1 { self.words.len().saturating_sub(1) } else { self.levels[n - 2].count }
    }
}

impl TrieLayout {
    /// What is wrong with the paths, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let below = |n: usize| self.levels.get(n).map_or(0, |level| level.count);
        let starts = self.words.iter().map(|gram| gram.next as usize);
        if let Some(fault) = starts_fault(starts, below(0)) {
            return Some(format!("1-grams: {fault}"));
        }
        for (index, level) in self.levels.iter().enumerate() {
            let longest = index + 1 == self.levels.len();
            let starts = (0..=level.count).map(|at| level.next(at) as usize);
            if let Some(fault) = (!longest).then(|| starts_fault(starts, below(index + 1))).flatten() {
                return Some(format!("{}-grams: {fault}", index + 2));
            }
            if let Some(at) = (0..level.count).find(|&at| level.word(at) as usize + 1 >= self.words.len()) {
                return Some(format!("{}-gram {at} with a word that does not exist", index + 2));
            }
            let nodes = if index == 0 { self.words.len() - 1 } else { self.levels[index - 1].count };
            for node in 0..nodes {
                let range = if index == 0 {
                    self.words[node].next..self.words[node + 1].next
                } else {
                    let shorter = &self.levels[index - 1];
                    shorter.next(node)..shorter.next(node + 1)
                };
                let mut words = range.map(|at| level.word(at as usize));
                let mut last = words.next();
                for word in words {
                    if last >= Some(word) {
                        return Some(format!("{}-grams that are not in order", index + 2));
                    }
                    last = Some(word);
                }
            }
        }
        None
    }

    /// Visits all n-grams of length `n`, oldest word first, with probability and back-off weight.
    pub(crate) fn for_each(&self, n: usize, mut visit: impl FnMut(&[WordId], f32, f32)) {
        // One place per length; that of a shorter n-gram follows, because the order is the same at all lengths.
        let mut places = vec![0usize; n];
        let mut words = vec![WordId(0); n];
        for at in 0..self.slots(n) {
            places[n - 1] = at;
            for length in (1..n).rev() {
                let child = places[length];
                while places[length - 1] + 1 < self.slots(length)
                    && self.start(length, places[length - 1] + 1) <= child
                {
                    places[length - 1] += 1;
                }
            }
            words[n - 1] = WordId(places[0] as u32);
            for length in 2..=n {
                words[n - length] = WordId(self.levels[length - 2].word(places[length - 1]));
            }
            let (prob, backoff) = match n {
                1 => (self.words[at].prob, self.words[at].backoff),
                _ if n < self.order() => (self.levels[n - 2].prob(at), self.levels[n - 2].backoff(at)),
                _ => (self.levels[n - 2].prob(at), 0.0),
            };
            visit(&words, prob, backoff);
        }
    }

    fn start(&self, n: usize, at: usize) -> usize {
        if n == 1 { self.words[at].next as usize } else { self.levels[n - 2].next(at) as usize }
    }
}

/// Starts must rise from 0 to the number of longer n-grams.
fn starts_fault(starts: impl Iterator<Item = usize>, below: usize) -> Option<String> {
    let mut last = 0;
    for (at, start) in starts.enumerate() {
        if start < last || at == 0 && start != 0 {
            return Some(format!("number {at} starts at {start} behind {last}"));
        }
        last = start;
    }
    (last != below).then(|| format!("the last ends at {last} of {below}"))
}
