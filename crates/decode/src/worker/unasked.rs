//! What the rest of a model would choose if its network were not asked.

use std::sync::Arc;

use sylvan_forest::Derivation;
use sylvan_search::{Found, Search, Stop};

use super::{COMPARED, SentenceForest, With, Worker, asks_inside};
use crate::features::NeuralFeature;
use crate::hypotheses::{List, list as list_of};
use crate::model::Weighed;
use crate::sentence::Sentence;

impl Worker {
    /// The best translation of a forest by everything but the network, as a derivation of the forest that comes with it.
    pub(crate) fn without_network(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        mut forest: SentenceForest,
        search: Search,
        stop: &Stop,
    ) -> Option<(SentenceForest, Derivation)> {
        let model = Arc::clone(&self.model);
        let &Weighed { structured, .. } = with.rules(&model);
        // Of a parser that is asked later, whole translations are compared, as in any search.
        let is_later = structured != 0.0 && !asks_inside(search);
        let asked = if is_later { 0.0 } else { structured };
        let list = List { best: if structured == 0.0 { 1 } else { COMPARED }, distinct: true };
        let found = self.find(&forest, [asked, 0.0], search, list.best > 1, stop);
        let Found { best, out, grown, .. } = found?;
        forest.forest.grow(grown);
        let score = |derivation: &Derivation| {
            let parts = self.derived(sentence, with, &forest, derivation).contributions().totals();
            parts
                .iter()
                .filter(|part| part.feature != NeuralFeature::NAME)
                .map(|part| part.score)
                .sum::<f64>()
        };
        let listed = list_of(&forest.forest, best, out.as_ref(), list).into_iter();
        let listed = listed.map(|one| (score(&one.derivation), one.derivation));
        let (_, best) = listed.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
        Some((forest, best))
    }
}
