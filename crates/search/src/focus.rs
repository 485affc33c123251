//! Where effort is worth it: vertices by what the derivations through them promise.
//!
//! A forest over spans has many vertices that no good derivation uses. What a vertex promises is the best score of a
//! derivation through it, language model without the joints; its *gap* is how much that is below the best of all. Half
//! of all vertices have a gap below the *scale* of the sentence, which so depends on no weight.

use sylvan_forest::{BundleId, InsideOutside, Sum, TranslationForest, VertexId};

/// How much a vertex gets at least, so that nothing is left out altogether.
const LEAST: usize = 30;

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
        let mut finite: Vec<f64> = gaps.iter().copied().filter(|gap| gap.is_finite()).collect();
        finite.sort_unstable_by(f64::total_cmp);
        let scale = finite.get(finite.len() / 2).copied().unwrap_or(0.0);
        Self { gaps, scale }
    }

    /// A vertex's part of an effort: less by a factor of e for each scale of its gap.
    pub(crate) fn share(&self, vertex: VertexId, effort: usize) -> usize {
        let gap = self.gaps.get(vertex.0 as usize).copied().unwrap_or(0.0);
        if effort == usize::MAX || gap <= 0.0 {
            return effort;
        }
        ((effort as f64 * (-gap / self.scale).exp()) as usize).max(LEAST.min(effort))
    }

    /// How much more than its parts a candidate may be worth: what the language model adds where parts meet.
    pub(crate) fn slack(&self) -> f64 {
        self.scale
    }
}
