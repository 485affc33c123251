//! A sentence that a correction gives a translation for has that translation, whatever rules and models say.
//!
//! The rule of the correction is the whole sentence. No search decides whether it is best: it is the answer, with or
//! without time to search. Other translations come after it.

use std::sync::Arc;

use sylvan_forest::{Derivation, EdgeId, TranslationForest};
use sylvan_rules::RuleId;
use sylvan_rules::apply::{Applier, Origin};
use sylvan_search::{Search, Stop};

use super::{Decoded, SentenceForest, With, Worker};
use crate::hypotheses::{Hypothesis, List, put_first};
use crate::sentence::{Sentence, Syntax};

impl Worker {
    /// The translation that corrections give for a sentence; the forest if they give none.
    pub(super) fn given(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        forest: SentenceForest,
        search: Search,
        list: List,
        stop: &Stop,
    ) -> Result<Decoded, Box<SentenceForest>> {
        let model = Arc::clone(&self.model);
        let applier = &with.rules(&model).applier;
        let is_flat = matches!(sentence.syntax, Syntax::Words(_));
        let Some((edge, rule)) = given_edge(applier, &forest.forest, is_flat) else {
            return Err(Box::new(forest));
        };
        // The only derivation with this edge, whatever rules are applied to.
        let joins = |other: EdgeId| {
            let origin = applier.origin(forest.forest.edge(other).spec.rule);
            matches!(origin, Origin::Start | Origin::Glue)
        };
        let only = forest.forest.only(|other| other == edge || joins(other));
        let only = SentenceForest {
            forest: only,
            ids: forest.ids.clone(),
            read: forest.read.clone(),
            opinion: forest.opinion.clone(),
        };
        let alone = self.search(sentence, with, only, search, List::default(), &Stop::NEVER);
        let Some(first) = alone.hypotheses.first() else { return Err(Box::new(forest)) };
        let mut decoded = match list.best {
            0 | 1 => Decoded { hypotheses: Vec::new(), forest, ..alone.clone() },
            _ => self.search(sentence, with, forest, search, list, stop),
        };
        // A search may have numbered things anew.
        let again = given_edge(applier, &decoded.forest.forest, is_flat);
        let edges = first.derivation.edges().len();
        let derivation = again.and_then(|(edge, _)| of_one_rule(&decoded.forest.forest, edge, edges));
        let Some(derivation) = derivation else { return Err(Box::new(decoded.forest)) };
        let first = Hypothesis { derivation, ..first.clone() };
        decoded.searched = first.score;
        put_first(&mut decoded.hypotheses, first, list);
        decoded.given = Some(rule);
        Ok(decoded)
    }
}

/// The derivation of a rule that is the whole sentence: itself, or what the sentence begins with and itself.
fn of_one_rule(forest: &TranslationForest, edge: EdgeId, edges: usize) -> Option<Derivation> {
    if edges == 1 {
        return Some(Derivation::new(vec![edge]));
    }
    let head = forest.edge(edge).head;
    let start = forest.edges(forest.goal()).find(|&start| forest.tails(start).eq([head]))?;
    Some(Derivation::new(vec![start, edge]))
}

/// The edge of the rule that is given for the whole sentence, if there is one, and the part of the corrections that it
/// is in. Of several, the one that was given last.
fn given_edge(
    applier: &Applier,
    forest: &TranslationForest,
    is_flat: bool,
) -> Option<(EdgeId, (usize, RuleId))> {
    let (overlay, goal) = (applier.overlay()?, forest.goal());
    let whole = |vertex| vertex == goal || is_flat && forest.span(vertex) == forest.span(goal);
    let edges = forest.vertices().filter(|&vertex| whole(vertex)).flat_map(|vertex| forest.edges(vertex));
    let given = edges.filter_map(|edge| {
        let Origin::Rule(layer, rule) = applier.origin(forest.edge(edge).spec.rule) else { return None };
        let part = applier.part(layer)?;
        overlay.is_given(part, rule).then_some((edge, (part, rule)))
    });
    given.max_by_key(|&(edge, rule)| (rule, forest.edge(edge).head == goal))
}
