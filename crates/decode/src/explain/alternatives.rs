//! Alternatives: the best other rule at each place, with everything outside it left as it is.
//!
//! Candidates are ranked by an estimate (scores of rules, and language models without the joints), and the
//! best few are put into the derivation and scored in full. Below the other rule, places that the derivation
//! already translates stay as they are; new ones take what the estimate prefers.

use sylvan_base::Id;
use sylvan_forest::{Derivation, EdgeId, Target, TokenId, TranslationForest, VertexId};
use sylvan_search::LanguageModel;

use crate::worker::Derived;

/// How many candidates per place are scored in full.
const TRIED: usize = 12;

/// Ways to change one rule of a derivation.
pub(super) struct Alternatives<'a> {
    derived: &'a Derived<'a>,
    forest: &'a TranslationForest,
    derivation: &'a Derivation,
    /// How many edges each edge's part of the derivation has, itself included.
    sizes: Vec<usize>,
    /// By vertex: its best estimate, and the edge that has it.
    best: Vec<(f64, Option<EdgeId>)>,
    words: Vec<sylvan_base::Symbol>,
}

/// A derivation with one rule changed, and its model score.
pub(super) struct Changed {
    pub(super) derivation: Derivation,
    pub(super) edge: EdgeId,
    pub(super) score: f64,
}

impl<'a> Alternatives<'a> {
    pub(super) fn new(derived: &'a Derived<'a>) -> Self {
        let (forest, derivation) = (derived.forest(), derived.derivation());
        let mut sizes = vec![1; derivation.edges().len()];
        let mut path: Vec<usize> = Vec::new();
        let mut depths = Vec::new();
        derivation.walk(forest, |depth, _| depths.push(depth), |_, _| {});
        for (index, &depth) in depths.iter().enumerate() {
            path.truncate(depth);
            path.iter().for_each(|&above| sizes[above] += 1);
            path.push(index);
        }
        let words = derivation.words(forest);
        let mut new = Self { derived, forest, derivation, sizes, best: Vec::new(), words };
        for vertex in forest.vertices() {
            let mut best: (f64, Option<EdgeId>) = (f64::NEG_INFINITY, None);
            for edge in forest.edges(vertex) {
                let score =
                    new.own(edge) + forest.tails(edge).map(|tail| new.best[tail.index()].0).sum::<f64>();
                let hash = |edge: EdgeId| forest.edge(edge).spec.hash;
                let tie = || best.1.is_none_or(|other| hash(edge) < hash(other));
                if score > best.0 || (score == best.0 && tie()) {
                    best = (score, Some(edge));
                }
            }
            new.best.push(best);
        }
        new
    }

    /// The score of a rule with its words, without context.
    fn own(&self, edge: EdgeId) -> f64 {
        let words = self.forest.target(edge).iter().map(|symbol| match symbol {
            Target::Bundle(bundle) => self.local(self.forest.bundle(*bundle)),
            Target::Vertex(_) => 0.0,
        });
        self.forest.edge(edge).spec.score + words.sum::<f64>()
    }

    fn local(&self, words: &[TokenId]) -> f64 {
        self.derived.models().iter().map(|model| model.local(words)).sum()
    }

    /// Where in the derivation a vertex below `step` is translated.
    fn place(&self, step: usize, vertex: VertexId) -> Option<usize> {
        let below = step + 1..step + self.sizes[step];
        below.into_iter().find(|&place| self.forest.edge(self.derivation.edges()[place]).head == vertex)
    }

    /// The best other rule for a step that leads to other words.
    pub(super) fn best_for(&self, step: usize) -> Option<Changed> {
        let taken = self.derivation.edges()[step];
        let forest = self.forest;
        let estimate = |edge: EdgeId| {
            let tails = forest.tails(edge).map(|tail| match self.place(step, tail) {
                Some(place) => {
                    let part = &self.derivation.edges()[place..place + self.sizes[place]];
                    part.iter().map(|&edge| self.own(edge)).sum()
                }
                None => self.best[tail.index()].0,
            });
            self.own(edge) + tails.sum::<f64>()
        };
        let others = forest.edges(forest.edge(taken).head).filter(|&edge| edge != taken);
        let mut ranked: Vec<(f64, EdgeId)> = others.map(|edge| (estimate(edge), edge)).collect();
        // What only glue on demand could complete is not looked at.
        ranked.retain(|(estimate, _)| *estimate > f64::NEG_INFINITY);
        let hash = |edge: EdgeId| forest.edge(edge).spec.hash;
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| hash(a.1).cmp(&hash(b.1))));
        let mut best: Option<Changed> = None;
        let mut tried = 0;
        for (_, edge) in ranked {
            if tried == TRIED {
                break;
            }
            let derivation = self.with(step, edge);
            let words = derivation.words(forest);
            if words == self.words {
                continue;
            }
            tried += 1;
            let score = self.score(&derivation);
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Changed { derivation, edge, score });
            }
        }
        best
    }

    fn score(&self, derivation: &Derivation) -> f64 {
        // Orders are worth something, too, and trees of target words, and what a network says.
        if self.forest.reordering().is_some() || self.derived.sees_far() {
            return self.derived.other(derivation).contributions().score();
        }
        let tokens = derivation.tokens(self.forest);
        let models = self.derived.models().iter().map(|model| LanguageModel::sentence(model, &tokens));
        derivation.local_score(self.forest) + models.sum::<f64>()
    }

    /// The derivation with another edge for a step.
    fn with(&self, step: usize, edge: EdgeId) -> Derivation {
        let edges = self.derivation.edges();
        let mut changed = edges[..step].to_vec();
        let mut open = vec![(edge, true)];
        while let Some((edge, new)) = open.pop() {
            changed.push(edge);
            if !new {
                continue;
            }
            let tails: Vec<VertexId> = self.forest.tails(edge).collect();
            let mut parts: Vec<(EdgeId, bool)> = Vec::new();
            for tail in tails {
                match (self.place(step, tail), self.best[tail.index()].1) {
                    (Some(place), _) => {
                        let part = &edges[place..place + self.sizes[place]];
                        parts.extend(part.iter().map(|&edge| (edge, false)));
                    }
                    (None, Some(best)) => parts.push((best, true)),
                    (None, None) => {}
                }
            }
            open.extend(parts.into_iter().rev());
        }
        changed.extend_from_slice(&edges[step + self.sizes[step]..]);
        Derivation::new(changed)
    }
}
