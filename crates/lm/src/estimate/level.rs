//! The n-grams of each length, as a trie in suffix order.
//!
//! In suffix order n-grams are compared from their newest word to their oldest. So the list of the n-grams of
//! length n is that of length n - 1 with each n-gram, its *parent*, replaced by those that have one more word in
//! front: an entry needs to hold only its oldest word, and a mark at the first child of each parent.
//!
//! ```text
//! length 1:  ...      cat                     dog
//! length 2:  ...      a cat, the cat          <s> dog, the dog
//! length 3:  ...      <s> a cat, see the cat  see the dog           (<s> dog has no child)
//! ```
//!
//! All n-grams that end in the same word are one contiguous piece at every length. *Buckets* are ranges of that
//! word; threads work on different buckets. The *rank* of an n-gram is its place in the list of its length.

use sylvan_base::Result;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::column::{Reader, Segment};
use super::discount::Discounts;
use super::{BEGIN_ID, END_ID};
use crate::MAX_ORDER;

/// Words of an n-gram, newest first; zeros after the oldest.
pub(crate) type Words = [u32; MAX_ORDER];

/// An n-gram of two or more words: its oldest word and its adjusted count.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) oldest: u32,
    bits: u32,
}

const FIRST: u32 = 1 << 31;
const PRUNED: u32 = 1 << 30;
/// Counts are capped at about a thousand million; the model stays a proper distribution.
const MAX_COUNT: u64 = PRUNED as u64 - 1;

impl Entry {
    pub(crate) fn new(oldest: u32, count: u64, first: bool, pruned: bool) -> Self {
        let flags = if first { FIRST } else { 0 } | if pruned { PRUNED } else { 0 };
        Self { oldest, bits: count.min(MAX_COUNT) as u32 | flags }
    }

    #[inline]
    pub(crate) fn count(self) -> u32 {
        self.bits & (PRUNED - 1)
    }

    /// Whether it has another parent than the entry before.
    #[inline]
    pub(crate) fn is_first(self) -> bool {
        self.bits & FIRST != 0
    }

    #[inline]
    pub(crate) fn is_pruned(self) -> bool {
        self.bits & PRUNED != 0
    }
}

/// All n-grams with their adjusted counts.
#[derive(Debug)]
pub(crate) struct Levels {
    pub(crate) order: usize,
    /// `starts[n - 1][b]` is the rank of the first n-gram of length n in bucket b; one more at the end.
    pub(crate) starts: Vec<Vec<u32>>,
    /// By length, to find buckets.
    pub(crate) finders: Vec<Finder>,
    /// By word.
    pub(crate) unigrams: Vec<Unigram>,
    /// `entries[n - 2][b]` are the n-grams of length n in bucket b.
    pub(crate) entries: Vec<Vec<Segment<Entry>>>,
    /// How many n-grams of each length stay in the model.
    pub(crate) kept: Vec<u64>,
    pub(crate) discounts: Vec<Discounts>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unigram {
    pub(crate) count: u64,
    pub(crate) pruned: bool,
}

impl Levels {
    pub(crate) fn buckets(&self) -> usize {
        self.starts[0].len() - 1
    }

    /// The bucket of the n-gram of length `n` with this rank.
    #[inline]
    pub(crate) fn bucket(&self, n: usize, rank: u32) -> usize {
        self.finders[n - 1].bucket(&self.starts[n - 1], rank)
    }

    fn parents(&self, bucket: usize) -> u32 {
        self.starts[0][bucket]
    }

    /// The n-grams of length `n` >= 2 in a bucket.
    pub(crate) fn cursor(&self, n: usize, bucket: usize) -> Cursor<'_> {
        let parents = (n > 2).then(|| self.entries[n - 3][bucket].reader());
        Cursor {
            entries: self.entries[n - 2][bucket].reader(),
            parents,
            parent: self.starts[n - 2][bucket],
            parent_oldest: 0,
            begun: false,
            rank: self.starts[n - 1][bucket],
        }
    }

    /// The n-grams of length `n` in a bucket with all their words.
    pub(crate) fn walk(&self, n: usize, bucket: usize) -> Walk<'_> {
        let readers = (2..=n).map(|m| self.entries[m - 2][bucket].reader()).collect();
        Walk { readers, next_word: self.parents(bucket), words: [0; MAX_ORDER], length: n }
    }
}

/// Finds the bucket of a rank: a table over the high bits gives a bucket that is not too late, and from there on
/// it is seldom more than a step.
#[derive(Debug)]
pub(crate) struct Finder {
    shift: u32,
    first: Vec<u16>,
}

impl Finder {
    /// `starts` as in [`Levels`].
    pub(crate) fn new(starts: &[u32]) -> Self {
        let total = starts.last().copied().unwrap_or(0);
        // About a thousand pieces.
        let shift = total.checked_ilog2().map_or(0, |log| log.saturating_sub(10));
        let find = |rank: u32| starts.partition_point(|&start| start <= rank).saturating_sub(1) as u16;
        let first = (0..=total >> shift).map(|piece| find(piece << shift)).collect();
        Self { shift, first }
    }

    #[inline]
    fn bucket(&self, starts: &[u32], rank: u32) -> usize {
        let mut bucket = usize::from(self.first[(rank >> self.shift) as usize]);
        // Empty buckets share their start with the next one; the last of them is the one that has it.
        while starts[bucket + 1] <= rank {
            bucket += 1;
        }
        bucket
    }
}

/// Whether nothing stands in front of a word: `<unk>` does not occur and `<s>` is the start.
fn is_childless(word: u32) -> bool {
    word < END_ID
}

/// Where a [`Cursor`] is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) entry: Entry,
    pub(crate) rank: u32,
    /// The rank of the n-gram without its oldest word.
    pub(crate) parent: u32,
    /// The oldest word of the parent, if that has two words or more.
    pub(crate) parent_oldest: u32,
}

/// Goes through the n-grams of one length and keeps track of their parents.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    entries: Reader<'a, Entry>,
    /// The parents, if they have two words or more.
    parents: Option<Reader<'a, Entry>>,
    /// The parent of the last entry; before the first one the first candidate.
    parent: u32,
    parent_oldest: u32,
    begun: bool,
    /// The rank of the next entry.
    rank: u32,
}

impl Cursor<'_> {
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Place>> {
        let Some(entry) = self.entries.next()? else { return Ok(None) };
        if entry.is_first() {
            self.next_parent()?;
        }
        let rank = self.rank;
        self.rank += 1;
        Ok(Some(Place { entry, rank, parent: self.parent, parent_oldest: self.parent_oldest }))
    }

    fn next_parent(&mut self) -> Result<()> {
        loop {
            self.parent += u32::from(self.begun);
            self.begun = true;
            let childless = match &mut self.parents {
                None => is_childless(self.parent),
                Some(parents) => {
                    let parent = parents.next()?.expect("every entry has a parent");
                    self.parent_oldest = parent.oldest;
                    parent.oldest == BEGIN_ID
                }
            };
            if !childless {
                return Ok(());
            }
        }
    }
}

/// Goes through the n-grams of one length and gives their words.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    /// For the lengths 2, 3, ...
    readers: Vec<Reader<'a, Entry>>,
    next_word: u32,
    words: Words,
    length: usize,
}

impl Walk<'_> {
    /// The words of the next n-gram, newest first, and its entry.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(&[u32], Entry)>> {
        let entry = self.step(self.length)?;
        Ok(entry.map(|entry| (&self.words[..self.length], entry)))
    }

    /// Recursion ends after as many steps as the n-gram has words.
    fn step(&mut self, n: usize) -> Result<Option<Entry>> {
        let Some(entry) = self.readers[n - 2].next()? else { return Ok(None) };
        if entry.is_first() {
            if n == 2 {
                while is_childless(self.next_word) {
                    self.next_word += 1;
                }
                self.words[0] = self.next_word;
                self.next_word += 1;
            } else {
                while self.step(n - 1)?.expect("every entry has a parent").oldest == BEGIN_ID {}
            }
        }
        self.words[n - 1] = entry.oldest;
        Ok(Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_found_in_its_bucket() {
        for starts in [vec![0, 1], vec![0, 0, 5, 5, 9], vec![0, 3000, 3001, 3001, 70_000, 1 << 20]] {
            let finder = Finder::new(&starts);
            for rank in (0..starts[starts.len() - 1])
                .step_by(7)
                .chain(starts.iter().map(|start| start.saturating_sub(1)))
            {
                let bucket = finder.bucket(&starts, rank);
                assert!(starts[bucket] <= rank && rank < starts[bucket + 1], "{rank} in {starts:?}");
            }
        }
    }
}
