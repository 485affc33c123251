//! Corrections change the sentences that they are about and no others.
//!
//! A search with a beam may come to another answer because an option is gone that it did not take: other items get
//! its room. So a sentence that an overlay touches is searched without the overlay as well, and that answer stays if
//! it is still possible, unless the new one uses a rule of the overlay and scores more.

use sylvan_base::Symbol;
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest};
use sylvan_rules::apply::Origin;

use super::{Algorithm, Decoded, Hypothesis, Ready, Sentence, Wish, Workspace};

impl<'d> Ready<'d> {
    /// Searches a forest that an overlay has changed.
    pub(super) fn steady(
        &self,
        sentence: &Sentence,
        forest: TranslationForest,
        algorithm: Algorithm,
        wish: Wish,
        work: &mut Workspace<'d>,
    ) -> Decoded {
        let Some(plain) = &self.plain else { return self.search(forest, algorithm, wish, work) };
        let before = self.forest_with(plain, sentence, work);
        let count = |forest: &TranslationForest| forest.edge_ids().len();
        if count(&before) == count(&forest)
            && !forest.edge_ids().any(|edge| self.is_correction(&forest, edge))
        {
            return self.search(forest, algorithm, wish, work);
        }
        let before = self.search(before, algorithm, Wish::default(), work);
        let mut decoded = self.search(forest, algorithm, wish, work);
        let Some(old) = before.hypotheses.first() else { return decoded };
        let Some(derivation) = carried_over(&before.forest, &old.derivation, &decoded.forest) else {
            return decoded;
        };
        let better = decoded.hypotheses.first().is_some_and(|new| {
            let corrected = |&edge: &EdgeId| self.is_correction(&decoded.forest, edge);
            new.score > old.score && new.derivation.edges().iter().any(corrected)
        });
        if better {
            return decoded;
        }
        let list = &mut decoded.hypotheses;
        list.retain(|other| other.derivation != derivation && !(wish.distinct && other.words == old.words));
        list.insert(0, Hypothesis { score: old.score, derivation, words: old.words.clone() });
        list.truncate(wish.best.max(1));
        decoded
    }

    /// Whether an edge's rule was added or favoured.
    fn is_correction(&self, forest: &TranslationForest, edge: EdgeId) -> bool {
        let layers = 1..self.applier.layer_count();
        matches!(self.applier.origin(forest.edge(edge).spec.rule), Origin::Rule(layer, _) if layers.contains(&layer))
    }
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
        Target::Bundle(bundle) => Some(forest.bundle(*bundle)),
        Target::Vertex(_) => None,
    });
    bundles.flatten().copied()
}
