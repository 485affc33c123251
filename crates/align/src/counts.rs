//! Expected links of each pair of words: what a saved model remembers of the text.
//!
//! Rows by source word, sorted by target word. Each source word collects the posteriors of its own occurrences,
//! so the sums do not depend on the number of threads.

use crate::bitext::{Bitext, Side};
use crate::pairs::Occurrences;
use crate::posteriors::Posteriors;
use crate::work;

/// Sparse tables of expected counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LinkCounts {
    /// Where each source type's entries start; one more at the end.
    pub(crate) rows: Vec<u64>,
    pub(crate) targets: Vec<u32>,
    /// Forward and reverse.
    pub(crate) counts: [Vec<f32>; 2],
    /// By given type, all entries, also those that were dropped.
    pub(crate) totals: [Vec<f32>; 2],
    /// By generated type, words without a link.
    pub(crate) nulls: [Vec<f32>; 2],
}

/// Entries below this in both directions are dropped.
const LEAST: f64 = 0.05;
/// Source words per job.
const JOB: usize = 1 << 13;

/// The posteriors of a block of pairs, compact: only what matters for the counts.
struct Row {
    source: u32,
    target: u32,
    counts: [f32; 2],
}

impl LinkCounts {
    /// Adds up the posteriors of all pairs. `posteriors` is called once for each.
    pub(crate) fn collect(
        bitext: &Bitext,
        threads: usize,
        posteriors: &(dyn Fn(usize, &mut Posteriors) + Sync),
    ) -> Self {
        let types = bitext.vocab().len();
        let mut nulls = [vec![0f64; types], vec![0f64; types]];
        let mut totals = [vec![0f64; types], vec![0f64; types]];
        // Cells of some weight, in the order of the text.
        let runs = work::cut(0..bitext.len(), JOB, |pair| bitext.words(Side::Source, pair).len());
        let mut cells: Vec<Row> = Vec::new();
        for batch in runs.chunks(16) {
            let parts = work::run(threads, batch.to_vec(), |run| {
                let mut matrix = Posteriors::default();
                let (mut rows, mut rest) = (Vec::new(), Vec::new());
                for pair in run {
                    posteriors(pair, &mut matrix);
                    weigh(bitext, pair, &matrix, &mut rows, &mut rest);
                }
                (rows, rest)
            });
            for (rows, rest) in parts {
                for (which, word, null) in rest {
                    nulls[which][word as usize] += f64::from(null);
                }
                cells.extend(rows);
            }
        }
        let words: Vec<u32> = cells.iter().map(|row| row.source).collect();
        let occurrences = Occurrences::new(&words, types);
        drop(words);
        let mut out = Self { rows: vec![0], ..Self::default() };
        let mut sums = vec![[0f64; 2]; types];
        let mut seen = Vec::new();
        for word in 0..types {
            for &at in occurrences.of(word) {
                let row = &cells[at as usize];
                let sum = &mut sums[row.target as usize];
                if *sum == [0.0; 2] {
                    seen.push(row.target);
                }
                sum[0] += f64::from(row.counts[0]);
                sum[1] += f64::from(row.counts[1]);
            }
            seen.sort_unstable();
            for target in seen.drain(..) {
                let [forward, reverse] = std::mem::take(&mut sums[target as usize]);
                totals[0][word] += forward;
                totals[1][target as usize] += reverse;
                if forward.max(reverse) >= LEAST {
                    out.targets.push(target);
                    out.counts[0].push(forward as f32);
                    out.counts[1].push(reverse as f32);
                }
            }
            out.rows.push(out.targets.len() as u64);
        }
        let narrow = |sums: Vec<f64>| sums.into_iter().map(|sum| sum as f32).collect();
        out.totals = totals.map(narrow);
        out.nulls = nulls.map(narrow);
        out
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

/// Cells whose probability is below this are forgotten at once; they are nine tenths of all.
const NOTHING: f32 = 0.005;

fn weigh(
    bitext: &Bitext,
    pair: usize,
    matrix: &Posteriors,
    rows: &mut Vec<Row>,
    rest: &mut Vec<(usize, u32, f32)>,
) {
    let (source, target) = (bitext.words(Side::Source, pair), bitext.words(Side::Target, pair));
    let mut columns = vec![0f32; target.len()];
    for (i, &word) in source.iter().enumerate() {
        let cells = i * target.len()..(i + 1) * target.len();
        let mut sum = 0.0;
        let both = matrix.forward[cells.clone()].iter().zip(&matrix.reverse[cells]);
        for ((&other, (&forward, &reverse)), column) in target.iter().zip(both).zip(&mut columns) {
            *column += forward;
            sum += reverse;
            if forward.max(reverse) >= NOTHING {
                rows.push(Row { source: word, target: other, counts: [forward, reverse] });
            }
        }
        rest.push((1, word, (1.0 - sum).max(0.0)));
    }
    rest.extend(target.iter().zip(columns).map(|(&word, sum)| (0, word, (1.0 - sum).max(0.0))));
}
