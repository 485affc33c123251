//! Inside and outside scores of a forest, over the best derivation or over all of them, and pruning by them.

use sylvan_base::{Id, IndexVec};

use crate::{BundleId, EdgeId, Target, TranslationForest, VertexId};

/// What several derivations are worth together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// The best of them.
    Best,
    /// The log of the sum of their exponentials.
    All,
}

impl Sum {
    fn add(self, a: f64, b: f64) -> f64 {
        let (high, low) = if a >= b { (a, b) } else { (b, a) };
        match self {
            Sum::Best => high,
            Sum::All if low == f64::NEG_INFINITY => high,
            Sum::All => high + (low - high).exp().ln_1p(),
        }
    }
}

/// Inside and outside scores. An edge is worth its own score and what the caller says its words are worth,
/// such as the language model's score of a bundle without its context.
#[derive(Debug, Clone)]
pub struct InsideOutside {
    inside: IndexVec<VertexId, f64>,
    outside: IndexVec<VertexId, f64>,
    /// Each edge alone: its score and its words.
    own: IndexVec<EdgeId, f64>,
    goal: VertexId,
}

impl InsideOutside {
    /// Two passes over the forest; `words` is called once per bundle.
    pub fn of(forest: &TranslationForest, sum: Sum, mut words: impl FnMut(BundleId) -> f64) -> Self {
        let bundles: Vec<f64> =
            (0..forest.bundle_count()).map(|id| words(BundleId::from_index(id))).collect();
        let own: IndexVec<EdgeId, f64> = forest
            .edge_ids()
            .map(|edge| {
                let words = forest.target(edge).iter().map(|symbol| match symbol {
                    Target::Bundle(bundle) => bundles[bundle.index()],
                    Target::Vertex(_) => 0.0,
                });
                forest.edge(edge).spec.score + words.sum::<f64>()
            })
            .collect();
        let mut inside: IndexVec<VertexId, f64> = IndexVec::new();
        for vertex in forest.vertices() {
            let mut total = f64::NEG_INFINITY;
            for edge in forest.edges(vertex) {
                let tails: f64 = forest.tails(edge).map(|tail| inside[tail]).sum();
                total = sum.add(total, own[edge] + tails);
            }
            inside.push(total);
        }
        let mut outside: IndexVec<VertexId, f64> = forest.vertices().map(|_| f64::NEG_INFINITY).collect();
        outside[forest.goal()] = 0.0;
        for vertex in forest.vertices().rev() {
            for edge in forest.edges(vertex) {
                // The sum without each tail is computed anew: subtracting from the whole would turn
                // infinities into NaN.
                let tails: Vec<VertexId> = forest.tails(edge).collect();
                for (place, &tail) in tails.iter().enumerate() {
                    let others: f64 = tails
                        .iter()
                        .enumerate()
                        .filter(|(other, _)| *other != place)
                        .map(|(_, v)| inside[*v])
                        .sum();
                    outside[tail] = sum.add(outside[tail], outside[vertex] + own[edge] + others);
                }
            }
        }
        Self { inside, outside, own, goal: forest.goal() }
    }

    /// What the derivations below a vertex are worth.
    pub fn inside(&self, vertex: VertexId) -> f64 {
        self.inside[vertex]
    }

    /// What the derivations around a vertex are worth.
    pub fn outside(&self, vertex: VertexId) -> f64 {
        self.outside[vertex]
    }

    /// What all derivations are worth.
    pub fn total(&self) -> f64 {
        self.inside[self.goal]
    }

    /// What the derivations with this edge are worth.
    pub fn through(&self, forest: &TranslationForest, edge: EdgeId) -> f64 {
        let tails: f64 = forest.tails(edge).map(|tail| self.inside[tail]).sum();
        self.outside[forest.edge(edge).head] + self.own[edge] + tails
    }

    /// The forest without the edges whose derivations are worth less than the whole by more than `margin`. The best
    /// derivation stays, whatever the margin.
    pub fn prune(&self, forest: &TranslationForest, margin: f64) -> TranslationForest {
        // Rounding must not cost the best derivation an edge.
        let least = self.total() - margin.max(0.0) - 1e-9 * (1.0 + self.total().abs());
        forest.only(|edge| self.through(forest, edge) >= least)
    }
}

#[cfg(test)]
mod tests {
    use sylvan_base::{Rng, Span, Symbol};

    use super::*;
    use crate::{Derivation, EdgeSpec, ForestBuilder, Layer, Part, RuleRef};

    fn random_forest(rng: &mut Rng) -> TranslationForest {
        let mut builder = ForestBuilder::new();
        let mut known: Vec<VertexId> = Vec::new();
        for number in 0..2 + rng.below(4) {
            let vertex = builder.vertex(1, Span::new(0, 1));
            for id in 0..1 + rng.below(3) {
                let mut target = vec![Part::word(Symbol(rng.below(3) as u32))];
                for _ in 0..rng.below(3) {
                    if let Some(&tail) = known.get(rng.below(known.len().max(1))) {
                        target.push(Part::Vertex(tail));
                    }
                }
                let rule = RuleRef { layer: Layer::Grammar, id: (number * 10 + id) as u32 };
                let score = -3.0 * rng.unit();
                builder.edge(EdgeSpec { rule, score, nodes: 1, hash: id as u64 }, &target);
            }
            known.push(vertex);
        }
        let goal = *known.last().expect("vertices");
        builder.finish(goal)
    }

    /// All derivations of a vertex, as lists of edges.
    fn derivations(forest: &TranslationForest, vertex: VertexId) -> Vec<Vec<EdgeId>> {
        let mut all = Vec::new();
        for edge in forest.edges(vertex) {
            let mut partial = vec![vec![edge]];
            for tail in forest.tails(edge) {
                let below = derivations(forest, tail);
                partial = partial
                    .iter()
                    .flat_map(|head| below.iter().map(move |rest| [head.as_slice(), rest].concat()))
                    .collect();
            }
            all.extend(partial);
        }
        all
    }

    #[test]
    fn scores_and_pruning_equal_enumeration() {
        let mut rng = Rng::new(5);
        let mut pruned_some = 0;
        for _ in 0..300 {
            let forest = random_forest(&mut rng);
            let words = |bundle: BundleId| -0.1 * forest.bundle(bundle).len() as f64;
            let all = derivations(&forest, forest.goal());
            if all.len() > 5_000 {
                continue;
            }
            let worth = |edges: &[EdgeId]| {
                let derivation = Derivation::new(edges.to_vec());
                derivation.local_score(&forest) - 0.1 * derivation.words(&forest).len() as f64
            };
            let scores: Vec<f64> = all.iter().map(|edges| worth(edges)).collect();
            let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total = scores.iter().map(|score| (score - best).exp()).sum::<f64>().ln() + best;
            let of_best = InsideOutside::of(&forest, Sum::Best, words);
            let of_all = InsideOutside::of(&forest, Sum::All, words);
            assert!((of_best.total() - best).abs() < 1e-9 && (of_all.total() - total).abs() < 1e-9);
            for edge in forest.edge_ids() {
                let with = || all.iter().zip(&scores).filter(|(edges, _)| edges.contains(&edge));
                let expected = with().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
                let found = of_best.through(&forest, edge);
                assert!(found == expected || (found - expected).abs() < 1e-9, "{found} {expected}");
                // An edge that a derivation has twice counts twice among all: its expected number.
                let expected: f64 = with()
                    .map(|(edges, score)| {
                        (score - total).exp() * edges.iter().filter(|other| **other == edge).count() as f64
                    })
                    .sum();
                assert!(((of_all.through(&forest, edge) - total).exp() - expected).abs() < 1e-9);
            }
            let margin = rng.unit();
            let pruned = of_best.prune(&forest, margin);
            let kept: Vec<u32> = pruned.edge_ids().map(|edge| pruned.edge(edge).spec.rule.id).collect();
            let expected: Vec<u32> = forest
                .edge_ids()
                .filter(|edge| {
                    all.iter()
                        .zip(&scores)
                        .any(|(edges, score)| edges.contains(edge) && *score >= best - margin)
                })
                .map(|edge| forest.edge(edge).spec.rule.id)
                .collect();
            assert_eq!(kept, expected);
            pruned_some += usize::from(kept.len() < forest.edge_ids().len());
        }
        assert!(pruned_some > 200, "{pruned_some}");
    }
}
