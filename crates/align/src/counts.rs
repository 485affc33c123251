//! Expected links of each pair of words: what a saved model remembers of the text.
//!
//! Rows by source word, sorted by target word. The posteriors of all tokens are sorted by their types, in scratch
//! files if there are too many for the memory, and added up as integers, so that neither the memory nor the number
//! of threads matters.

use std::sync::atomic::{AtomicI64, Ordering};

use sylvan_base::Result;
use sylvan_store::{Record, Sorter, radix_sort};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::bitext::Bitext;
use crate::portion::Portion;
use crate::posteriors::Posteriors;
use crate::side::Side;
use crate::work;

/// Sparse tables of expected counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LinkCounts {
    /// Where each source type's entries start; one more at the end.
    pub(crate) rows: Vec<u64>,
    pub(crate) targets: Vec<u32>,
    /// Forward and reverse.
    pub(crate) counts: [Vec<f32>; 2],
    /// By given type, all entries, including those that were dropped.
    pub(crate) totals: [Vec<f32>; 2],
    /// By generated type, words without a link.
    pub(crate) nulls: [Vec<f32>; 2],
}

/// Entries below this in both directions are dropped.
const LEAST: f64 = 0.05;
/// What one link is in integers.
const UNIT: f64 = (1u64 << 30) as f64;
/// Portions per job.
const JOB: usize = 4;
/// Ranges of source words that are sorted apart.
const BUCKETS: usize = 64;

/// Expected links of a pair of types.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Row {
    source: u32,
    target: u32,
    counts: [u64; 2],
}

impl Record for Row {
    type Key = u64;

    fn key(&self) -> u64 {
        u64::from(self.source) << 32 | u64::from(self.target)
    }

    fn add(&mut self, other: &Self) {
        self.counts[0] += other.counts[0];
        self.counts[1] += other.counts[1];
    }

    fn sort(records: &mut Vec<Self>, spare: &mut Vec<Self>) {
        radix_sort(records, spare, Self::key);
    }
}

/// Shows the posteriors of all pairs of a portion.
type Show<'a> = dyn Fn(usize, &Portion<'_>, &mut dyn FnMut(usize, &Posteriors)) -> Result<()> + Sync + 'a;

impl LinkCounts {
    /// Adds up the posteriors of all pairs.
    pub(crate) fn collect(bitext: &Bitext, threads: usize, posteriors: &Show<'_>) -> Result<Self> {
        let types = bitext.vocab().len();
        let bucket_of = buckets(bitext)?;
        let memory = bitext.memory();
        let sorter: Sorter<Row> = Sorter::new(&memory.scratch, BUCKETS, memory.limit / 4);
        let nulls = [0, 1].map(|_| (0..types).map(|_| AtomicI64::new(0)).collect::<Vec<_>>());
        let jobs = work::cut(0..bitext.portions(), JOB, |_| 1);
        let results = work::run(threads, jobs, |run| -> Result<()> {
            let mut feeder = sorter.feeder();
            let (mut rows, mut spare) = (Vec::new(), Vec::new());
            for number in run {
                let portion = bitext.portion(number)?;
                rows.clear();
                posteriors(number, &portion, &mut |index, matrix| {
                    weigh(&portion, index, matrix, &mut rows, &nulls);
                })?;
                // Frequent pairs are added up at once.
                Row::sort(&mut rows, &mut spare);
                let mut rest = rows.iter().copied();
                let Some(mut row) = rest.next() else { continue };
                for next in rest {
                    if next.key() == row.key() {
                        row.add(&next);
                    } else {
                        feeder.push(bucket_of[row.source as usize].into(), row)?;
                        row = next;
                    }
                }
                feeder.push(bucket_of[row.source as usize].into(), row)?;
            }
            feeder.finish()
        });
        results.into_iter().collect::<Result<()>>()?;
        let mut out = Self { rows: vec![0], ..Self::default() };
        let mut totals = [vec![0u64; types], vec![0u64; types]];
        for bucket in 0..BUCKETS {
            let mut merge = sorter.drain(bucket, memory.limit / 8)?;
            while let Some(Row { source, target, counts }) = merge.next_record()? {
                totals[0][source as usize] += counts[0];
                totals[1][target as usize] += counts[1];
                let [forward, reverse] = counts.map(|count| count as f64 / UNIT);
                if forward.max(reverse) >= LEAST {
                    out.rows.resize(source as usize + 1, out.targets.len() as u64);
                    out.targets.push(target);
                    out.counts[0].push(forward as f32);
                    out.counts[1].push(reverse as f32);
                }
            }
        }
        out.rows.resize(types + 1, out.targets.len() as u64);
        let narrow = |units: f64| (units / UNIT) as f32;
        out.totals = totals.map(|sums| sums.into_iter().map(|sum| narrow(sum as f64)).collect());
        out.nulls = nulls.map(|sums| sums.into_iter().map(|sum| narrow(sum.into_inner() as f64)).collect());
        Ok(out)
    }

    /// The expected counts of a pair of types.
    pub(crate) fn get(&self, source: u32, target: u32) -> [f32; 2] {
        let Some(row) = self.row(source as usize) else { return [0.0; 2] };
        match self.targets[row.clone()].binary_search(&target) {
            Ok(at) => [self.counts[0][row.start + at], self.counts[1][row.start + at]],
            Err(_) => [0.0; 2],
        }
    }

    fn row(&self, source: usize) -> Option<std::ops::Range<usize>> {
        Some(*self.rows.get(source)? as usize..*self.rows.get(source + 1)? as usize)
    }
}

/// Cells whose probability is below this are dropped at once; they are nine tenths of all.
const NOTHING: f32 = 0.005;

/// The range of each source type, such that ranges have about the same number of tokens.
fn buckets(bitext: &Bitext) -> Result<Vec<u8>> {
    let mut tokens = vec![0u64; bitext.vocab().len()];
    for number in 0..bitext.portions() {
        for &word in bitext.portion(number)?.all(Side::Source) {
            tokens[word as usize] += 1;
        }
    }
    let size = bitext.tokens(Side::Source) / BUCKETS as u64 + 1;
    let mut before = 0;
    let bucket = |tokens: u64| {
        before += tokens;
        ((before - tokens) / size) as u8
    };
    Ok(tokens.into_iter().map(bucket).collect())
}

fn weigh(
    portion: &Portion<'_>,
    index: usize,
    matrix: &Posteriors,
    rows: &mut Vec<Row>,
    nulls: &[Vec<AtomicI64>; 2],
) {
    let (source, target) = (portion.words(Side::Source, index), portion.words(Side::Target, index));
    let add = |which: usize, word: u32, linked: f32| {
        let units = f64::from((1.0 - linked).max(0.0)) * UNIT;
        nulls[which][word as usize].fetch_add(units as i64, Ordering::Relaxed);
    };
    let mut columns = vec![0f32; target.len()];
    for (i, &word) in source.iter().enumerate() {
        let cells = i * target.len()..(i + 1) * target.len();
        let mut sum = 0.0;
        let both = matrix.forward[cells.clone()].iter().zip(&matrix.reverse[cells]);
        for ((&other, (&forward, &reverse)), column) in target.iter().zip(both).zip(&mut columns) {
            *column += forward;
            sum += reverse;
            if forward.max(reverse) >= NOTHING {
                let counts = [forward, reverse].map(|share| (f64::from(share) * UNIT) as u64);
                rows.push(Row { source: word, target: other, counts });
            }
        }
        add(1, word, sum);
    }
    target.iter().zip(columns).for_each(|(&word, sum)| add(0, word, sum));
}
