//! A forest in which some words are translated in one way only.
//!
//! Each source word is translated by one edge of a derivation: it stands below the edge's head and below none of its
//! tails. So it is enough to drop every edge that translates a held word itself and is not chosen, and every edge that
//! uses a part of the chosen derivation without its top: whatever is left holds the choice.

use sylvan_base::{HashSet, Span, Symbol};
use sylvan_forest::{EdgeId, TranslationForest, VertexId};

use super::Held;
use super::forced::saying;

/// The vertex that stands for some leaves: the highest of them, or the highest with a label.
pub fn place(forest: &TranslationForest, span: Span, label: Option<Symbol>) -> Option<VertexId> {
    let goal = forest.goal();
    // Phrases are put together in any order: what joins them says nothing about their words.
    let is_free = forest.reordering().is_some() && forest.gap_costs().is_none();
    if label.is_none() && span == forest.span(goal) && !is_free {
        return Some(goal);
    }
    let has_label = |vertex: VertexId| label.is_none() || forest.label(vertex) == label;
    let fits = |vertex: &VertexId| {
        forest.span(*vertex) == span && has_label(*vertex) && forest.edges(*vertex).len() > 0
    };
    let mut found = forest.vertices().rev().filter(fits).peekable();
    let highest = found.peek().copied();
    // What only begins a sentence is no constituent of a larger one.
    found.find(|&vertex| !forest.begins(vertex)).or(highest.filter(|_| !is_free))
}

/// The forest with all of these held. It has no derivation if that is not possible.
pub fn hold(forest: TranslationForest, held: &[Held]) -> TranslationForest {
    if held.is_empty() {
        return forest;
    }
    let mut forest = if forest.glue().is_some() { forest.with_all_glue() } else { forest };
    for Held { span, label, words } in held {
        forest = match place(&forest, *span, *label) {
            Some(vertex) => hold_at(&forest, vertex, words),
            None => forest.only(|_| false),
        };
    }
    forest
}

/// The forest whose derivations all have this vertex, and say these words there.
pub fn hold_at(forest: &TranslationForest, vertex: VertexId, words: &[Symbol]) -> TranslationForest {
    let chosen: HashSet<EdgeId> = saying(forest, vertex, words).into_iter().flatten().collect();
    let span = forest.span(vertex);
    // Of vertices with the same words those above it come later.
    let is_above = |other: VertexId| forest.span(other) == span && other >= vertex;
    let is_part = |tail: VertexId| span.covers(forest.span(tail)) && !is_above(tail);
    forest.only(|edge| {
        if chosen.contains(&edge) || chosen.is_empty() {
            return !chosen.is_empty();
        }
        let head = forest.edge(edge).head;
        head != vertex && !translates(forest, edge, span) && !forest.tails(edge).any(is_part)
    })
}

/// Whether an edge translates some of these leaves itself.
fn translates(forest: &TranslationForest, edge: EdgeId, leaves: Span) -> bool {
    let shared = |other: Span| {
        let (start, end) = (leaves.start.max(other.start), leaves.end.min(other.end));
        end.saturating_sub(start)
    };
    let below: u32 = forest.tails(edge).map(|tail| shared(forest.span(tail))).sum();
    shared(forest.span(forest.edge(edge).head)) > below
}
