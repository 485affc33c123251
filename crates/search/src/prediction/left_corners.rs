//! Left corners: which vertices can be the first thing recognised of which.

use sylvan_base::Id;
use sylvan_forest::VertexId;

/// Which vertices are left corners of which, one bit each. Left corners of a vertex lie shortly before it in a tree, so
/// a row begins with the first of them: all rows together grow with the input, not with its square.
#[derive(Debug, Default)]
pub(super) struct Corners {
    rows: Vec<Row>,
    bits: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    /// Where its bits begin, and the place of the first of them in units of 64.
    at: usize,
    first: usize,
}

impl Corners {
    /// Adds the next row: the vertex itself, and all members of the rows of `others`, which came before.
    pub(super) fn push(&mut self, others: &[VertexId]) {
        let own = self.rows.len();
        let first = others.iter().map(|other| self.rows[other.index()].first).min();
        let row = Row { at: self.bits.len(), first: first.unwrap_or(own / 64) };
        self.rows.push(row);
        self.bits.resize(self.end(own), 0);
        for other in others {
            let Row { at, first } = self.rows[other.index()];
            let end = self.end(other.index());
            for bits in at..end {
                self.bits[row.at + first - row.first + bits - at] |= self.bits[bits];
            }
        }
        self.bits[row.at + own / 64 - row.first] |= 1 << (own % 64);
    }

    fn end(&self, row: usize) -> usize {
        let Row { at, first } = self.rows[row];
        at + row / 64 + 1 - first
    }

    /// No member of a row is smaller than this.
    pub(super) fn lowest(&self, row: usize) -> usize {
        self.rows[row].first * 64
    }

    /// `column` is not larger than `row`, like everything below a vertex, or it is no left corner.
    pub(super) fn get(&self, row: usize, column: usize) -> bool {
        let Row { at, first } = self.rows[row];
        let word = column / 64;
        column <= row && word >= first && self.bits[at + word - first] >> (column % 64) & 1 == 1
    }

    /// The members of a row, largest first.
    pub(super) fn row_descending(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let Row { at, first } = self.rows[row];
        let words = &self.bits[at..self.end(row)];
        words.iter().enumerate().rev().flat_map(move |(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let top = left.checked_ilog2()?;
                left &= !(1 << top);
                Some((first + word) * 64 + top as usize)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sylvan_base::Rng;

    use super::*;

    #[test]
    fn rows_hold_what_they_were_given_and_nothing_else() {
        let mut rng = Rng::new(5);
        for size in [1, 63, 64, 65, 200, 500] {
            let mut corners = Corners::default();
            let mut expected: Vec<BTreeSet<usize>> = Vec::new();
            for own in 0..size {
                // Now and then a vertex far below, so that rows begin in different words.
                let reach = if rng.chance(0.1) { own } else { own.min(5) };
                let others: BTreeSet<usize> =
                    (0..rng.below(4)).filter(|_| reach > 0).map(|_| own - 1 - rng.below(reach)).collect();
                let mut row = BTreeSet::from([own]);
                others.iter().for_each(|&other| row.extend(&expected[other]));
                let ids: Vec<VertexId> = others.into_iter().map(VertexId::from_index).collect();
                corners.push(&ids);
                expected.push(row);
            }
            for (row, members) in expected.iter().enumerate() {
                let found: Vec<usize> = corners.row_descending(row).collect();
                assert!(found.iter().rev().eq(members), "row {row} of {size}");
                assert!(members.first() >= Some(&corners.lowest(row)));
                assert!(corners.lowest(row) + 64 > members.first().copied().unwrap_or(0));
                for column in 0..size {
                    assert_eq!(corners.get(row, column), members.contains(&column), "{row} {column}");
                }
            }
        }
    }
}
