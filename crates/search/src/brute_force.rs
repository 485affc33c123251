//! Brute force: every derivation, one after the other. The reference for all other searches, on small
//! forests.

use sylvan_base::IndexVec;
use sylvan_forest::{Derivation, EdgeId, TranslationForest, VertexId};

use crate::outcome::better;
use crate::{Counters, LanguageModel, Outcome, rescore};

/// All derivations of a forest, in a fixed order.
#[derive(Debug)]
pub struct Derivations<'f> {
    forest: &'f TranslationForest,
    /// Per vertex, how many derivations it has; saturating.
    counts: IndexVec<VertexId, u64>,
}

impl<'f> Derivations<'f> {
    /// Counts the derivations without making them.
    pub fn of(forest: &'f TranslationForest) -> Self {
        let mut counts: IndexVec<VertexId, u64> = IndexVec::new();
        for vertex in forest.vertices() {
            let total = forest.edges(vertex).fold(0u64, |total, edge| {
                let ways = forest.tails(edge).fold(1u64, |ways, tail| ways.saturating_mul(counts[tail]));
                total.saturating_add(ways)
            });
            counts.push(total);
        }
        Self { forest, counts }
    }

    /// How many there are; `u64::MAX` stands for that many or more.
    pub fn count(&self) -> u64 {
        self.counts[self.forest.goal()]
    }

    /// Derivation number `index`, below [`count`](Self::count): a mixed-radix number whose digits choose the
    /// edges.
    pub fn get(&self, index: u64) -> Derivation {
        let mut edges = Vec::new();
        let mut open = vec![(self.forest.goal(), index)];
        while let Some((vertex, mut index)) = open.pop() {
            let edge = self.choose(vertex, &mut index);
            edges.push(edge);
            // The last tail is pushed first, so that the first is expanded first: target order.
            let tails: Vec<VertexId> = self.forest.tails(edge).collect();
            for &tail in tails.iter().rev() {
                open.push((tail, index % self.counts[tail]));
                index /= self.counts[tail];
            }
        }
        Derivation::new(edges)
    }

    fn choose(&self, vertex: VertexId, index: &mut u64) -> EdgeId {
        for edge in self.forest.edges(vertex) {
            let ways = self.forest.tails(edge).map(|tail| self.counts[tail]).product();
            if *index < ways {
                return edge;
            }
            *index -= ways;
        }
        unreachable!("the index is below the vertex's count")
    }
}

/// The best derivation by looking at all of them; `None` if there is none.
///
/// # Panics
/// If there are more than `limit`: this search is for checking others on small forests.
pub fn brute_force<L: LanguageModel>(forest: &TranslationForest, lm: &L, limit: u64) -> Option<Outcome> {
    let all = Derivations::of(forest);
    assert!(all.count() <= limit, "{} derivations are more than {limit}", all.count());
    let mut best: Option<(f64, u64, Derivation)> = None;
    for index in 0..all.count() {
        let derivation = all.get(index);
        let score = rescore(forest, lm, &derivation);
        let hash = derivation
            .edges()
            .iter()
            .fold(0, |hash, &edge| sylvan_base::hash::fold(hash, forest.edge(edge).spec.hash));
        if best.as_ref().is_none_or(|(s, h, _)| better(score, hash, *s, *h)) {
            best = Some((score, hash, derivation));
        }
    }
    let counters = Counters { items: all.count(), ..Counters::default() };
    best.map(|(score, _, derivation)| Outcome { derivation, score, counters })
}
