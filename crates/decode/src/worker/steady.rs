//! Corrections change the sentences that they are about and no others.
//!
//! A beam search may change its answer because an option that it did not take is gone: other items get the
//! room. So a sentence that corrections touch is searched without them as well, and that answer stays if it
//! is still possible, unless the new one uses a rule that was added or favoured and scores more.

use std::sync::Arc;

use sylvan_base::Symbol;
use sylvan_forest::{Derivation, EdgeId, Growing, Target, TranslationForest, VertexId};
use sylvan_rules::apply::{Applier, Origin};
use sylvan_search::{Search, Stop};

use super::{Decoded, SentenceForest, With, Worker};
use crate::hypotheses::{Hypothesis, List, put_first};
use crate::sentence::Sentence;

impl Worker {
    /// Searches a forest of corrected rules.
    pub(super) fn steady(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        forest: SentenceForest,
        search: Search,
        list: List,
        stop: &Stop,
    ) -> Decoded {
        let model = Arc::clone(&self.model);
        let before = self.forest_with(model.rules(), sentence);
        let count = |forest: &SentenceForest| forest.forest.edge_ids().len();
        let applier = &with.rules(&model).applier;
        let mut edges = forest.forest.edge_ids();
        if count(&before) == count(&forest) && !edges.any(|edge| is_correction(applier, &forest.forest, edge))
        {
            return self.search(sentence, with, forest, search, list, stop);
        }
        let plain = With { corrections: None, ..with };
        let before = self.search(sentence, plain, before, search, List::default(), stop);
        let mut decoded = self.search(sentence, with, forest, search, list, stop);
        decoded.counters += before.counters;
        let Some(old) = before.hypotheses.first() else { return decoded };
        let Some(derivation) =
            carried_over(&before.forest.forest, &old.derivation, &mut decoded.forest.forest)
        else {
            return decoded;
        };
        let now = &decoded.forest.forest;
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

/// A derivation of one forest in another over the same input, if all its rules are there with the same scores. Glue that
/// it needs is made.
fn carried_over(
    from: &TranslationForest,
    derivation: &Derivation,
    to: &mut TranslationForest,
) -> Option<Derivation> {
    let mut growing = Growing::new(to);
    let mut edges = Vec::with_capacity(derivation.edges().len());
    for &old in derivation.edges() {
        let head = same_vertex(from, from.edge(old).head, &mut growing)?;
        let tails: Option<Vec<VertexId>> =
            from.tails(old).map(|tail| same_vertex(from, tail, &mut growing)).collect();
        edges.push(match from.glue().filter(|glue| glue.rule == from.edge(old).spec.rule) {
            Some(_) => same_glue(head, &tails?, &mut growing)?,
            None => same_edge(from, old, (head, &tails?), growing.base())?,
        });
    }
    let grown = growing.grown();
    to.grow(grown);
    Some(Derivation::new(edges))
}

/// Where glue is made on demand, vertices are the same if their spans are, and if both stand for phrases or neither.
fn same_vertex(from: &TranslationForest, vertex: VertexId, to: &mut Growing<'_>) -> Option<VertexId> {
    let (Some(glue), Some(other)) = (from.glue(), to.base().glue()) else { return Some(vertex) };
    let span = from.span(vertex);
    if glue.is_whole(span, vertex) { Some(to.vertex(span)) } else { other.phrase_at(span) }
}

/// The edge that glues these parts, if it may.
fn same_glue(head: VertexId, tails: &[VertexId], to: &mut Growing<'_>) -> Option<EdgeId> {
    let (&phrase, gaps) = tails.split_first()?;
    let is_allowed = to.base().glue()?.phrases(to.span(head)).any(|(_, other)| other == phrase);
    let turned = gaps.windows(2).any(|pair| to.span(pair[0]).start > to.span(pair[1]).start);
    if is_allowed { to.glue(head, phrase, turned) } else { None }
}

/// The edge with the same rule, score and words.
fn same_edge(
    from: &TranslationForest,
    old: EdgeId,
    (head, tails): (VertexId, &[VertexId]),
    to: &TranslationForest,
) -> Option<EdgeId> {
    let spec = from.edge(old).spec;
    // With glue, vertices have other numbers if rules are added, and these are part of the hash.
    let same_places = head == from.edge(old).head && from.tails(old).eq(tails.iter().copied());
    let mut edges = Growing::new(to).edges(head);
    edges.find(|&new| {
        let other = to.edge(new).spec;
        (other.hash == spec.hash || !same_places)
            && other.score == spec.score
            && other.rule.layer == spec.rule.layer
            && tails.iter().copied().eq(to.tails(new))
            && words(from, old).eq(words(to, new))
    })
}

fn words(forest: &TranslationForest, edge: EdgeId) -> impl Iterator<Item = Symbol> + '_ {
    let bundles = forest.target(edge).iter().filter_map(|symbol| match symbol {
        Target::Bundle(bundle) => Some(forest.bundle_words(*bundle)),
        Target::Vertex(_) => None,
    });
    bundles.flatten()
}
