//! The edit distance of Tercom: around the diagonal only, forwards with a trace, and backwards so that a shift
//! needs to be computed between its two ends only.
//!
//! Cell (i, j) is: the first i words of the translation have become the first j of the reference. A row holds
//! the cells within [`BEAM`] of the diagonal; a path through such cells is an edit script, and the fewest edits
//! over all such paths is the distance. A path crosses every row, so for any row i the distance is also the
//! least sum of a cell's cost from the start and its cost to the end, which makes shifts cheap.

use sylvan_base::Symbol;

const BEAM: usize = 25;
/// More than any cost, and no overflow when added to itself.
const NEVER: u32 = 1 << 29;

/// Which cells of the matrix exist.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Band {
    hyp: usize,
    reference: usize,
    ratio: f64,
    width: usize,
}

impl Band {
    pub(super) fn new(hyp: usize, reference: usize) -> Self {
        let ratio = if hyp == 0 { 1.0 } else { reference as f64 / hyp as f64 };
        // Where one word stands for very many, rows must still overlap.
        let steep = (BEAM as f64) < ratio / 2.0;
        let width = if steep { (ratio / 2.0 + BEAM as f64).ceil() as usize } else { BEAM };
        Self { hyp, reference, ratio, width }
    }

    /// The columns of row `i`.
    #[inline]
    fn columns(&self, i: usize) -> std::ops::Range<usize> {
        if i == 0 {
            return 0..self.reference + 1;
        }
        let diagonal = (i as f64 * self.ratio).floor() as usize;
        let end =
            if i == self.hyp { self.reference + 1 } else { (diagonal + self.width).min(self.reference + 1) };
        diagonal.saturating_sub(self.width)..end
    }
}

/// One matrix of costs, row by row; cells outside the band cost [`NEVER`].
#[derive(Debug, Default)]
pub(super) struct Costs {
    cells: Vec<u32>,
    width: usize,
}

impl Costs {
    fn reset(&mut self, band: &Band) {
        self.width = band.reference + 1;
        self.cells.clear();
        self.cells.resize((band.hyp + 1) * self.width, NEVER);
    }

    #[inline]
    fn row(&self, i: usize) -> &[u32] {
        &self.cells[i * self.width..(i + 1) * self.width]
    }

    /// Costs from the start.
    pub(super) fn forwards(&mut self, band: &Band, hyp: &[Symbol], reference: &[Symbol]) {
        self.reset(band);
        for (j, cell) in self.cells[..self.width].iter_mut().enumerate() {
            *cell = j as u32;
        }
        for i in 1..=hyp.len() {
            let (before, rest) = self.cells.split_at_mut(i * self.width);
            next_row(
                &before[(i - 1) * self.width..],
                &mut rest[..self.width],
                band,
                i,
                hyp[i - 1],
                reference,
            );
        }
    }

    /// Costs to the end.
    pub(super) fn backwards(&mut self, band: &Band, hyp: &[Symbol], reference: &[Symbol]) {
        self.reset(band);
        let (n, last) = (hyp.len(), reference.len());
        for i in (0..=n).rev() {
            let (rest, after) = self.cells.split_at_mut((i + 1) * self.width);
            let row = &mut rest[i * self.width..];
            for j in band.columns(i).rev() {
                let mut cost = if i == n && j == last { 0 } else { NEVER };
                if i < n {
                    cost = cost.min(after[j] + 1);
                    if j < last {
                        cost = cost.min(after[j + 1] + u32::from(hyp[i] != reference[j]));
                    }
                }
                if j < last {
                    cost = cost.min(row[j + 1] + 1);
                }
                row[j] = cost.min(NEVER);
            }
        }
    }

    /// The distance, from forward costs.
    pub(super) fn distance(&self) -> u32 {
        self.cells.last().copied().unwrap_or(0)
    }

    /// The edits from the end to the start, from forward costs. Of equally cheap ones substitution (or keeping)
    /// comes first, then deletion, then insertion.
    pub(super) fn trace(&self, hyp: &[Symbol], reference: &[Symbol], mut edit: impl FnMut(Edit)) {
        let (mut i, mut j) = (hyp.len(), reference.len());
        while i > 0 || j > 0 {
            let cost = self.row(i)[j];
            let differ = i > 0 && j > 0 && hyp[i - 1] != reference[j - 1];
            if i > 0 && j > 0 && self.row(i - 1)[j - 1] + u32::from(differ) == cost {
                edit(if differ { Edit::Substitute } else { Edit::Keep });
                (i, j) = (i - 1, j - 1);
            } else if i > 0 && self.row(i - 1)[j] + 1 == cost {
                edit(Edit::Delete);
                i -= 1;
            } else {
                edit(Edit::Insert);
                j = j.saturating_sub(1);
            }
        }
    }
}

/// What happens to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// Both have it.
    Keep,
    /// Another one takes its place.
    Substitute,
    /// A word of the translation goes.
    Delete,
    /// A word of the reference comes.
    Insert,
}

/// The distance after words `from..to` of the translation have been put in another order, given the forward and
/// backward costs of the old order. `rows` is scratch memory.
pub(super) fn distance_after(
    (forwards, backwards): (&Costs, &Costs),
    band: &Band,
    (from, to): (usize, usize),
    shifted: &[Symbol],
    reference: &[Symbol],
    rows: &mut [Vec<u32>; 2],
) -> u32 {
    let [above, row] = rows;
    above.clear();
    above.extend_from_slice(forwards.row(from));
    for i in from + 1..=to {
        row.clear();
        row.resize(reference.len() + 1, NEVER);
        next_row(above, row, band, i, shifted[i - 1], reference);
        std::mem::swap(above, row);
    }
    let sums = above.iter().zip(backwards.row(to)).map(|(start, end)| start + end);
    sums.min().unwrap_or(0)
}

/// Fills row `i`, whose word is `word`, from the row above it.
#[inline]
fn next_row(above: &[u32], row: &mut [u32], band: &Band, i: usize, word: Symbol, reference: &[Symbol]) {
    let columns = band.columns(i);
    let mut left = NEVER;
    for j in columns {
        let mut cost = above[j] + 1;
        if j > 0 {
            cost = cost.min(above[j - 1] + u32::from(reference[j - 1] != word)).min(left + 1);
        }
        left = cost.min(NEVER);
        row[j] = left;
    }
}
