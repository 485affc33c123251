//! The static estimate f of a vertex: the most that a derivation of it scores when every bundle is scored as if
//! nothing came before it.

use sylvan_forest::{BundleId, EdgeId, Target, TranslationForest, VertexId};
use sylvan_search::LanguageModel;

/// f of all vertices, and the scores of all bundles without their left context.
#[derive(Debug)]
pub struct Estimate<'f> {
    forest: &'f TranslationForest,
    vertices: Vec<f64>,
    bundles: Vec<f64>,
}

impl<'f> Estimate<'f> {
    pub fn new<L: LanguageModel>(forest: &'f TranslationForest, lm: &L) -> Self {
        let local = |id| lm.run(lm.null(), forest.bundle(BundleId(id as u32))).0;
        let bundles = (0..forest.bundle_count()).map(local).collect();
        let mut new = Self { forest, vertices: Vec::new(), bundles };
        // Tails come before their heads, so f of each is known when it is asked for.
        for vertex in forest.vertices() {
            let values = forest.edges(vertex).map(|edge| new.rest(edge, 0));
            let best = values.fold(f64::NEG_INFINITY, f64::max);
            new.vertices.push(best);
        }
        new
    }

    pub fn vertex(&self, vertex: VertexId) -> f64 {
        self.vertices[vertex.0 as usize]
    }

    pub fn bundle(&self, bundle: BundleId) -> f64 {
        self.bundles[bundle.0 as usize]
    }

    pub fn symbol(&self, symbol: Target) -> f64 {
        match symbol {
            Target::Vertex(vertex) => self.vertex(vertex),
            Target::Bundle(bundle) => self.bundle(bundle),
        }
    }

    /// What is seen of the score of an edge, and the estimates of its symbols from the `from`-th on.
    pub fn rest(&self, edge: EdgeId, from: usize) -> f64 {
        let symbols = self.forest.target(edge)[from..].iter();
        self.forest.outlook(edge) + symbols.map(|&symbol| self.symbol(symbol)).sum::<f64>()
    }
}

/// The source positions below an edge's head and below none of its tails.
pub fn lexical(forest: &TranslationForest, edge: EdgeId) -> Vec<usize> {
    let below_tail = |position: usize| forest.tails(edge).any(|tail| forest.span(tail).contains(position));
    forest.span(forest.edge(edge).head).range().filter(|&position| !below_tail(position)).collect()
}
