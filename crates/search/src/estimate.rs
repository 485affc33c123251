//! The static estimate f: the best that a vertex can give when its context is unknown.

use sylvan_base::IndexVec;
use sylvan_forest::{BundleId, Target, TranslationForest, VertexId};

use crate::LanguageModel;

/// `f(v) = max over edges e of v: score(e) + sum of f over e's tails + sum of local(b) over e's bundles`,
/// and `local(b)` itself for every bundle. Of an edge's score it counts what estimates may see
/// ([`TranslationForest::outlook`]).
///
/// It is the Viterbi inside score without the language model at the joints; exact for a unigram model.
#[derive(Debug, Clone)]
pub struct Estimate {
    vertices: IndexVec<VertexId, f64>,
    bundles: IndexVec<BundleId, f64>,
    /// Words scored to compute it.
    pub lm_queries: u64,
}

impl Estimate {
    pub(crate) fn of_parts(
        vertices: IndexVec<VertexId, f64>,
        bundles: IndexVec<BundleId, f64>,
        lm_queries: u64,
    ) -> Self {
        Self { vertices, bundles, lm_queries }
    }

    /// f of a vertex; minus infinity if it has no derivation.
    pub fn vertex(&self, vertex: VertexId) -> f64 {
        self.vertices[vertex]
    }

    /// The local language-model score of a bundle.
    pub fn bundle(&self, bundle: BundleId) -> f64 {
        self.bundles[bundle]
    }

    /// The estimate of one symbol.
    pub fn symbol(&self, symbol: Target) -> f64 {
        match symbol {
            Target::Vertex(vertex) => self.vertex(vertex),
            Target::Bundle(bundle) => self.bundle(bundle),
        }
    }
}

/// Computes [`Estimate`] bottom-up, one visit per edge.
pub fn inside_estimate<L: LanguageModel>(forest: &TranslationForest, lm: &L) -> Estimate {
    let mut lm_queries = 0;
    let bundles = (0..forest.bundle_count())
        .map(|index| {
            let words = forest.bundle(BundleId(index as u32));
            lm_queries += words.len() as u64;
            lm.local(words)
        })
        .collect();
    let mut estimate = Estimate { vertices: IndexVec::new(), bundles, lm_queries };
    for vertex in forest.vertices() {
        let mut best = f64::NEG_INFINITY;
        for edge in forest.edges(vertex) {
            let rest: f64 = forest.target(edge).iter().map(|&symbol| estimate.symbol(symbol)).sum();
            best = best.max(forest.outlook(edge) + rest);
        }
        estimate.vertices.push(best);
    }
    estimate
}
