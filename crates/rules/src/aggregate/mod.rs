//! Counting more rules than memory holds: sorted streams of keys and values.
//!
//! ```text
//! (key, value)* --Pairs--> sorted runs --Merged--> each key once, values merged
//! ```
//!
//! Keys and values are plain bytes and merging is associative, so the same step can run as the map and reduce
//! filters of a distributed engine. What comes out depends on the pairs alone, not on memory or threads.

pub(crate) mod key;
mod merge;
mod pairs;
mod spool;

pub(crate) use merge::Merged;
pub(crate) use pairs::{Pairs, SortedPairs};
pub(crate) use spool::Spool;

/// How the values of equal keys become one: counts and tallies are added, and of the training lines those with the
/// smallest hashes are kept. All are associative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleValues {
    /// Lines to keep.
    pub(crate) lines: usize,
    /// Further whole numbers that are counted with each rule, at most [`MOST_TALLIES`].
    pub(crate) tallies: usize,
}

/// Three orientations towards what is before, three towards what is after.
pub(crate) const MOST_TALLIES: usize = 6;

impl RuleValues {
    /// Takes over the value of an equal key.
    pub(crate) fn merge(self, into: &mut Vec<u8>, other: &[u8]) {
        let (mut lines, mut more) = (Vec::new(), Vec::new());
        let (mut sums, mut tallies) = ([0; MOST_TALLIES], [0; MOST_TALLIES]);
        let (sums, tallies) = (&mut sums[..self.tallies], &mut tallies[..self.tallies]);
        let mut count = key::read_value(into, sums, &mut lines);
        count += key::read_value(other, tallies, &mut more);
        sums.iter_mut().zip(tallies).for_each(|(sum, tally)| *sum = sum.saturating_add(*tally));
        self.merge_lines(&mut lines, &more);
        into.clear();
        key::put_value(into, count, sums, &lines);
    }

    /// Adds lines to those that are kept.
    pub(crate) fn merge_lines(self, lines: &mut Vec<u64>, more: &[u64]) {
        if self.lines == 0 {
            lines.clear();
            return;
        }
        if more.is_empty() {
            return;
        }
        lines.extend_from_slice(more);
        lines.sort_unstable_by_key(|&line| key::line_rank(line));
        lines.dedup();
        lines.truncate(self.lines);
    }
}
