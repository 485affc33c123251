//! Where effort is worth it: vertices by what the derivations through them promise.
//!
//! A forest over spans has many vertices that no good derivation uses. What a vertex promises is the best score of a
//! derivation through it, language model without the joints; its *gap* is how much that is below the best of all. Half
//! of all vertices have a gap below the *scale* of the sentence, which so depends on no weight; where half of them are
//! on the best derivation, as in trees, half of the others.

use sylvan_forest::{BundleId, InsideOutside, Sum, TranslationForest, VertexId};

/// How much a vertex gets at least, so that nothing is left out altogether.
const LEAST: usize = 30;

/// Gaps up to this are of sums in another order.
const ROUNDING: f64 = 1e-9;

/// The gaps of a forest's vertices.
#[derive(Debug, Default)]
pub(crate) struct Focus {
    gaps: Vec<f64>,
    scale: f64,
}

impl Focus {
    /// `words` gives the score of a bundle without history.
    pub(crate) fn new(forest: &TranslationForest, words: impl FnMut(BundleId) -> f64) -> Self {
        let promised = InsideOutside::of(forest, Sum::Best, words);
        let gap = |vertex| promised.total() - (promised.inside(vertex) + promised.outside(vertex));
        let gaps: Vec<f64> = forest.vertices().map(gap).collect();
        let scale = scale(&gaps);
        Self { gaps, scale }
    }

    /// A vertex's part of an effort: less by a factor of e for each scale of its gap.
    pub(crate) fn share(&self, vertex: VertexId, effort: usize) -> usize {
        let gap = self.gaps.get(vertex.0 as usize).copied().unwrap_or(0.0);
        if effort == usize::MAX || gap <= ROUNDING {
            return effort;
        }
        ((effort as f64 * (-gap / self.scale).exp()) as usize).max(LEAST.min(effort))
    }

    /// How much more than its parts a candidate may be worth: what the language model adds where parts meet.
    pub(crate) fn slack(&self) -> f64 {
        self.scale
    }
}

/// The median of the gaps; if that is rounding, the median of those that are more.
fn scale(gaps: &[f64]) -> f64 {
    let mut finite: Vec<f64> = gaps.iter().copied().filter(|gap| gap.is_finite()).collect();
    finite.sort_unstable_by(f64::total_cmp);
    let median = |sorted: &[f64]| sorted.get(sorted.len() / 2).copied();
    let others = &finite[finite.partition_point(|&gap| gap <= ROUNDING)..];
    median(&finite).filter(|&gap| gap > ROUNDING).or_else(|| median(others)).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_more_than_there_is() {
        let share = |gaps: &[f64], vertex: u32| {
            let focus = Focus { gaps: gaps.to_vec(), scale: scale(gaps) };
            focus.share(VertexId(vertex), 200)
        };
        // Most are on the best derivation, and rounding says that some are better than that.
        let gaps = [0.0, -1e-14, -1e-14, 1e-15, 2.0, 4.0, f64::INFINITY];
        assert_eq!([0, 1, 3, 4, 5, 6].map(|vertex| share(&gaps, vertex)), [200, 200, 200, 121, 73, 30]);
        assert_eq!([0, 1, 2].map(|vertex| share(&[0.0, 1.0, 2.0], vertex)), [200, 73, 30]);
        for gaps in [&[][..], &[0.0], &[f64::NAN], &[-1e-12, f64::NAN, f64::INFINITY]] {
            (0..3).for_each(|vertex| assert!(share(gaps, vertex) <= 200));
        }
    }
}
