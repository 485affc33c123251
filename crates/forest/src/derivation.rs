//! One derivation: which edge translates each vertex.

use sylvan_base::Symbol;

use crate::{EdgeId, Target, TranslationForest};

/// A derivation as the list of its edges in the order in which a left-to-right reader of the target side
/// meets them: each edge before those of its tails, tails in target order. The list determines the
/// derivation, because every vertex on the way takes the next edge.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Derivation {
    edges: Vec<EdgeId>,
}

impl Derivation {
    /// A derivation from its edges in target order, heads first.
    pub fn new(edges: Vec<EdgeId>) -> Self {
        Self { edges }
    }

    /// A derivation from its edges with each edge behind those of its tails, tails in target order.
    ///
    /// # Panics
    /// If an edge finds fewer finished tails than it needs.
    pub fn from_tails_first(forest: &TranslationForest, edges: &[EdgeId]) -> Self {
        // Roots of finished subtrees, as places in `edges`; each edge takes its tails from the end.
        let mut roots: Vec<usize> = Vec::new();
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
        for (place, &edge) in edges.iter().enumerate() {
            let arity = forest.tails(edge).count();
            children.push(roots.split_off(roots.len() - arity));
            roots.push(place);
        }
        let mut order = Vec::with_capacity(edges.len());
        while let Some(place) = roots.pop() {
            order.push(edges[place]);
            roots.extend(children[place].iter().rev());
        }
        Self::new(order)
    }

    /// The edges in target order, heads first.
    pub fn edges(&self) -> &[EdgeId] {
        &self.edges
    }

    /// The sum of the edges' own scores.
    pub fn local_score(&self, forest: &TranslationForest) -> f64 {
        self.edges.iter().map(|&edge| forest.edge(edge).spec.score).sum()
    }

    /// The target words.
    ///
    /// # Panics
    /// If the edges are no derivation of this forest's goal.
    pub fn words(&self, forest: &TranslationForest) -> Vec<Symbol> {
        let mut words = Vec::new();
        self.walk(forest, |_, _| {}, |_, word| words.push(word));
        words
    }

    /// Visits each edge with its depth, and each word with the index (in [`edges`](Self::edges)) of the edge
    /// that produced it, in target order.
    ///
    /// # Panics
    /// If the edges are no derivation of this forest's goal.
    pub fn walk(
        &self,
        forest: &TranslationForest,
        mut on_edge: impl FnMut(usize, EdgeId),
        mut on_word: impl FnMut(usize, Symbol),
    ) {
        // Open edges: index into `edges`, and the position in its target side.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut expected = Some(forest.goal());
        let mut next = 0;
        loop {
            if let Some(vertex) = expected.take() {
                let edge = self.edges[next];
                assert_eq!(
                    forest.edge(edge).head,
                    vertex,
                    "edge {next} does not head the vertex that is due"
                );
                on_edge(open.len(), edge);
                open.push((next, 0));
                next += 1;
            }
            let Some(top) = open.last_mut() else { break };
            match forest.target(self.edges[top.0]).get(top.1) {
                None => {
                    open.pop();
                }
                Some(&symbol) => {
                    top.1 += 1;
                    match symbol {
                        Target::Vertex(vertex) => expected = Some(vertex),
                        Target::Bundle(bundle) => {
                            let from = top.0;
                            for &word in forest.bundle(bundle) {
                                on_word(from, word);
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(next, self.edges.len(), "edges left over");
    }
}
