//! Corrections change the sentences that they are about and no others.
//!
//! A beam search may change its answer because an option that it did not take is gone: other items get the
//! room. So a sentence that corrections touch is searched without them as well, and that answer stays if it
//! is still possible, unless the new one uses a rule that was added or favoured and scores more.

use std::sync::Arc;

use sylvan_base::Symbol;
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest};
use sylvan_rules::apply::{Applier, Origin};
use sylvan_search::{Search, Stop};

use super::{Decoded, SentenceForest, Worker};
use crate::hypotheses::{Hypothesis, List, put_first};
use crate::model::Weighed;
use crate::sentence::Sentence;

impl Worker {
    /// Searches a forest of corrected rules.
    pub(super) fn steady(
        &mut self,
        sentence: &Sentence,
        corrected: &Weighed,
        forest: SentenceForest,
        search: Search,
        list: List,
        stop: &Stop,
    ) -> Decoded {
        let model = Arc::clone(&self.model);
        let before = self.forest_with(model.rules(), sentence);
        let count = |forest: &SentenceForest| forest.forest.edge_ids().len();
        let applier = &corrected.applier;
        let mut edges = forest.forest.edge_ids();
        if count(&before) == count(&forest) && !edges.any(|edge| is_correction(applier, &forest.forest, edge))
        {
            return self.search(forest, search, list, stop);
        }
        let before = self.search(before, search, List::default(), stop);
        let mut decoded = self.search(forest, search, list, stop);
        decoded.counters += before.counters;
        let Some(old) = before.hypotheses.first() else { return decoded };
        let now = &decoded.forest.forest;
        let Some(derivation) = carried_over(&before.forest.forest, &old.derivation, now) else {
            return decoded;
        };
        let better = decoded.hypotheses.first().is_some_and(|new| {
            let corrected = |&edge: &EdgeId| is_correction(applier, now, edge);
            new.score > old.score && new.derivation.edges().iter().any(corrected)
        });
        if !better {
            let kept = Hypothesis { score: old.score, derivation, words: old.words.clone() };
            put_first(&mut decoded.hypotheses, kept, list);
        }
        decoded
    }
}

/// Whether an edge's rule was added or favoured.
fn is_correction(applier: &Applier, forest: &TranslationForest, edge: EdgeId) -> bool {
    let layers = 1..applier.layer_count();
    matches!(applier.origin(forest.edge(edge).spec.rule), Origin::Rule(layer, _) if layers.contains(&layer))
}

/// A derivation of one forest in another over the same input, if all its rules are there with the same scores.
fn carried_over(
    from: &TranslationForest,
    derivation: &Derivation,
    to: &TranslationForest,
) -> Option<Derivation> {
    let same = |&old: &EdgeId| {
        let spec = from.edge(old).spec;
        to.edges(from.edge(old).head).find(|&new| {
            let other = to.edge(new).spec;
            other.hash == spec.hash
                && other.score == spec.score
                && other.rule.layer == spec.rule.layer
                && from.tails(old).eq(to.tails(new))
                && words(from, old).eq(words(to, new))
        })
    };
    let edges = derivation.edges().iter().map(same).collect::<Option<Vec<EdgeId>>>()?;
    Some(Derivation::new(edges))
}

fn words(forest: &TranslationForest, edge: EdgeId) -> impl Iterator<Item = Symbol> + '_ {
    let bundles = forest.target(edge).iter().filter_map(|symbol| match symbol {
        Target::Bundle(bundle) => Some(forest.bundle_words(*bundle)),
        Target::Vertex(_) => None,
    });
    bundles.flatten()
}
