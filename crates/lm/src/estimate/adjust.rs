//! Adjusted counts: one walk over the sorted n-grams of the full length gives all shorter ones.
//!
//! The adjusted count of an n-gram of the full length N is how often it occurs; that of a shorter one is the
//! number of different words in front of it (Kneser & Ney 1995), except that nothing can stand in front of `<s>`:
//! n-grams that begin with it keep how often they occur.
//!
//! The n-grams come newest word first, so the shorter ones that end alike follow each other:
//!
//! ```text
//! in:   cat the see   2        out, when the next n-gram differs:
//!       cat the <s>   1          "see the cat" 2, "<s> the cat" 1; "the cat" 2; "cat" 1
//!       dog a <s>     1
//! ```
//!
//! Raw counts of shorter n-grams, which pruning needs, are sums over the longer ones.

use sylvan_base::Result;

use super::BEGIN_ID;
use super::column::{Segment, Shelf, Writer};
use super::level::{Entry, Words};
use super::prune::Pruning;
use crate::MAX_ORDER;

/// The numbers about the n-grams of one length that the rest needs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// How many have the adjusted count 1, 2, 3, 4.
    pub(crate) n: [u64; 4],
    pub(crate) all: u64,
    pub(crate) kept: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, adjusted: u64, pruned: bool) {
        if let times @ 1..=4 = adjusted {
            self.n[times as usize - 1] += 1;
        }
        self.all += 1;
        self.kept += u64::from(!pruned);
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        for (sum, n) in self.n.iter_mut().zip(other.n) {
            *sum += n;
        }
        self.all += other.all;
        self.kept += other.kept;
    }
}

/// An n-gram that is not complete yet.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    adjusted: u64,
    raw: u64,
    first: bool,
}

/// Takes the n-grams of one bucket.
#[derive(Debug)]
pub(crate) struct Adjuster<'a> {
    order: usize,
    pruning: &'a Pruning,
    words: Words,
    /// Of the lengths 1, 2, ...; as many as `open`.
    pending: [Pending; MAX_ORDER],
    open: usize,
    unigrams: Vec<(u32, u64)>,
    writers: Vec<Writer<Entry>>,
    tallies: [Tally; MAX_ORDER],
}

/// The n-grams of one bucket, by length.
#[derive(Debug)]
pub(crate) struct Adjusted {
    /// Words and their adjusted counts.
    pub(crate) unigrams: Vec<(u32, u64)>,
    /// For the lengths 2, 3, ...
    pub(crate) entries: Vec<Segment<Entry>>,
    pub(crate) tallies: [Tally; MAX_ORDER],
}

impl<'a> Adjuster<'a> {
    /// `shelves` are for the lengths 2, 3, ... up to the order.
    pub(crate) fn new(shelves: &[Shelf], pruning: &'a Pruning) -> Self {
        Self {
            order: shelves.len() + 1,
            pruning,
            words: [0; MAX_ORDER],
            pending: [Pending::default(); MAX_ORDER],
            open: 0,
            unigrams: Vec::new(),
            writers: shelves.iter().map(Shelf::writer).collect(),
            tallies: [Tally::default(); MAX_ORDER],
        }
    }

    /// Takes an n-gram, newest word first. N-grams must come in order, each once. An n-gram that begins with
    /// `<s>` may be shorter than the order and is followed by zeros.
    #[inline]
    pub(crate) fn push(&mut self, words: &Words, count: u64) -> Result<()> {
        let same = words.iter().zip(&self.words).take(self.open).take_while(|(new, old)| new == old).count();
        self.close(same)?;
        for pending in &mut self.pending[..same] {
            pending.raw += count;
        }
        if same > 0 {
            self.pending[same - 1].adjusted += 1;
        }
        self.words = *words;
        for n in same + 1..=self.order {
            let begins = words[n - 1] == BEGIN_ID;
            let adjusted = if begins || n == self.order { count } else { 1 };
            self.pending[n - 1] = Pending { adjusted, raw: count, first: n > same + 1 };
            self.open = n;
            if begins {
                break;
            }
        }
        Ok(())
    }

    /// Writes the pending n-grams that are longer than `keep`.
    #[inline]
    fn close(&mut self, keep: usize) -> Result<()> {
        for n in keep + 1..=self.open {
            let Pending { adjusted, raw, first } = self.pending[n - 1];
            let pruned = self.pruning.prunes(&self.words[..n], raw);
            if n == 1 {
                self.unigrams.push((self.words[0], adjusted));
            } else {
                self.tallies[n - 1].add(adjusted, pruned);
                self.writers[n - 2].push(Entry::new(self.words[n - 1], adjusted, first, pruned))?;
            }
        }
        self.open = keep;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Adjusted> {
        self.close(0)?;
        let entries: Result<_> = self.writers.into_iter().map(Writer::finish).collect();
        Ok(Adjusted { unigrams: self.unigrams, entries: entries?, tallies: self.tallies })
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Pool;
    use super::*;
    use sylvan_store::Scratch;

    fn words(list: &[u32]) -> Words {
        let mut words = [0; MAX_ORDER];
        words[..list.len()].copy_from_slice(list);
        words
    }

    #[test]
    fn predecessors_are_counted_once_and_sentence_starts_as_often_as_they_occur() {
        // <s> 3 4 </s>, twice, and <s> 4 </s>; trigrams newest first.
        let grams: [(&[u32], u64); 5] =
            [(&[2, 4, 1], 1), (&[2, 4, 3], 2), (&[3, 1], 2), (&[4, 1], 1), (&[4, 3, 1], 2)];
        let dir = tempfile::tempdir().unwrap();
        let pool = Pool::new(&Scratch::new(dir.path()), 1 << 20);
        let pruning = Pruning::default();
        let mut adjuster = Adjuster::new(&[pool.shelf(), pool.shelf()], &pruning);
        for (gram, count) in grams {
            adjuster.push(&words(gram), count).unwrap();
        }
        let adjusted = adjuster.finish().unwrap();
        assert_eq!(adjusted.unigrams, [(2, 1), (3, 1), (4, 2)]);
        let show = |n: usize| {
            let mut reader = adjusted.entries[n - 2].reader();
            std::iter::from_fn(|| {
                reader.next().unwrap().map(|entry| (entry.oldest, entry.count(), entry.is_first()))
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(show(2), [(4, 2, true), (1, 2, true), (1, 1, true), (3, 1, false)]);
        assert_eq!(show(3), [(1, 1, true), (3, 2, false), (1, 2, true)]);
        assert_eq!(adjusted.tallies[1].n, [2, 2, 0, 0]);
    }
}
