//! One derivation: which edges, in which order.

use sylvan_base::Symbol;

use crate::{EdgeId, Edges, Target, TokenId};

/// A derivation as the list of its edges in the order in which a left-to-right reader of the target side
/// meets them: each edge before those of its tails, tails in target order. The list determines the
/// derivation, because every vertex on the way takes the next edge.
///
/// Over a tree the first edge holds all others. In general a derivation is a sequence of such trees, read one after
/// the other: phrase-based translation is a chain of edges without tails.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Derivation {
    edges: Vec<EdgeId>,
}

impl Derivation {
    /// A derivation from its edges in target order, heads first.
    pub fn new(edges: Vec<EdgeId>) -> Self {
        Self { edges }
    }

    /// A derivation from its edges with each edge after those of its tails, tails in target order.
    ///
    /// # Panics
    /// If an edge finds fewer finished tails than it needs.
    pub fn from_tails_first<E: Edges>(forest: &E, edges: &[EdgeId]) -> Self {
        // Roots of finished subtrees, as places in `edges`; each edge takes its tails from the end.
        let mut roots: Vec<usize> = Vec::new();
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
        for (place, &edge) in edges.iter().enumerate() {
            let vertices = forest.target(edge).iter().filter(|symbol| matches!(symbol, Target::Vertex(_)));
            children.push(roots.split_off(roots.len() - vertices.count()));
            roots.push(place);
        }
        roots.reverse();
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
    pub fn local_score<E: Edges>(&self, forest: &E) -> f64 {
        self.edges.iter().map(|&edge| forest.score(edge)).sum()
    }

    /// The target words.
    pub fn words<E: Edges>(&self, forest: &E) -> Vec<Symbol> {
        let mut words = Vec::new();
        self.walk(forest, |_, _| {}, |_, token| words.push(forest.token(token).word));
        words
    }

    /// The target words as tokens of the sentence.
    pub fn tokens<E: Edges>(&self, forest: &E) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        self.walk(forest, |_, _| {}, |_, token| tokens.push(token));
        tokens
    }

    /// Visits each edge with its depth, and each word with the index (in [`edges`](Self::edges)) of the edge
    /// that produced it, in target order.
    ///
    /// # Panics
    /// If the list ends while an edge still waits for a tail.
    pub fn walk<E: Edges>(
        &self,
        forest: &E,
        mut on_edge: impl FnMut(usize, EdgeId),
        mut on_word: impl FnMut(usize, TokenId),
    ) {
        // Open edges: index into `edges`, and the position in its target side.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut next = 0;
        let mut expected = !self.edges.is_empty();
        loop {
            if expected {
                on_edge(open.len(), self.edges[next]);
                open.push((next, 0));
                next += 1;
            }
            expected = false;
            let Some(top) = open.last_mut() else {
                // The next tree of the sequence.
                expected = next < self.edges.len();
                if expected {
                    continue;
                }
                break;
            };
            match forest.target(self.edges[top.0]).get(top.1) {
                None => {
                    open.pop();
                }
                Some(&symbol) => {
                    top.1 += 1;
                    match symbol {
                        Target::Vertex(_) => expected = true,
                        Target::Bundle(bundle) => {
                            let from = top.0;
                            for &token in forest.bundle(bundle) {
                                on_word(from, token);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sylvan_base::{Id, Span};

    use super::*;
    use crate::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef};

    fn spec(id: u32) -> EdgeSpec {
        let rule = RuleRef { layer: Layer::Grammar, id };
        EdgeSpec { rule, score: -1.0, nodes: 1, hash: u64::from(id) }
    }

    #[test]
    fn a_derivation_is_a_tree_or_a_sequence_of_trees() {
        let word = |id| Part::word(Symbol(id));
        let mut builder = ForestBuilder::new();
        let x = builder.vertex(1, Span::new(0, 1));
        builder.edge(spec(0), &[word(1), word(2)]);
        let y = builder.vertex(1, Span::new(1, 2));
        builder.edge(spec(1), &[word(3)]);
        let top = builder.vertex(1, Span::new(0, 2));
        builder.edge(spec(2), &[Part::Vertex(y), word(4), Part::Vertex(x)]);
        let forest = builder.finish(top);
        let [a, b, c] = [0, 1, 2].map(EdgeId::from_index);
        let symbols = |ids: &[u32]| ids.iter().map(|&id| Symbol(id)).collect::<Vec<_>>();
        let tree = Derivation::new(vec![c, b, a]);
        assert_eq!(tree.words(&forest), symbols(&[3, 4, 1, 2]));
        assert_eq!(Derivation::from_tails_first(&forest, &[b, a, c]), tree);
        let chain = Derivation::new(vec![b, a]);
        assert_eq!(chain.words(&forest), symbols(&[3, 1, 2]));
        assert_eq!(Derivation::from_tails_first(&forest, &[b, a]), chain);
        let both = Derivation::new(vec![a, c, b, a, b]);
        assert_eq!(both.words(&forest), symbols(&[1, 2, 3, 4, 1, 2, 3]));
        assert_eq!(Derivation::from_tails_first(&forest, &[a, b, a, c, b]), both);
        let mut depths = Vec::new();
        both.walk(&forest, |depth, edge| depths.push((depth, edge)), |_, _| {});
        assert_eq!(depths, [(0, a), (0, c), (1, b), (1, a), (0, b)]);
        assert_eq!(Derivation::new(Vec::new()).words(&forest), []);
    }
}
