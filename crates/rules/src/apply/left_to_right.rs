//! Left-to-right Hiero: the forest of all ways to translate a sentence from left to right (Watanabe, Tsukada & Isozaki
//! 2006; Siahbani, Sankaran & Sarkar 2013).
//!
//! ```text
//! X[i,j]   a rule whose target words come before its variables and whose source side spans i to j, at most `max_span`
//!          words; or lexicalised glue ([`Glue`])
//! P[a,b]   a rule without variables, or a word that is copied: the phrases that glue joins with the rest of a span
//! ```
//!
//! Every part of a sentence can be translated by glue, so variables stand for any span. Within `max_span`, glue gives way
//! to rules with the same words and gaps.

use sylvan_base::{HashSet, Id, Span, Symbol};
use sylvan_forest::{ForestBuilder, Glue, Layer, RuleRef, TranslationForest, VertexId, own_words};
use sylvan_trees::NodeId;

use super::applier::{Applied, Applier, GLUE, RuleLayer, SentenceRules};
use super::chart::Chart;
use super::matching::Match;

/// What a sentence is translated with.
pub(super) struct Used<'a> {
    pub(super) chart: &'a Chart,
    /// Which words are copied.
    pub(super) copied: &'a [bool],
    pub(super) words: &'a [Symbol],
    pub(super) layers: &'a [&'a RuleLayer],
    pub(super) given: SentenceRules<'a>,
}

impl Used<'_> {
    fn is_copied(&self, span: Span) -> bool {
        span.len() == 1 && self.copied[span.start as usize]
    }

    /// The spans of P and of X, shortest first, P before X.
    fn places(&self, goal: Span) -> Vec<(Span, bool)> {
        let (mut whole, mut phrases) = (HashSet::default(), HashSet::default());
        whole.insert(goal);
        for (span, found) in self.chart.all() {
            let span = Span { start: span.0, end: span.1 };
            for found in found {
                whole.insert(span);
                if found.is_lexical() {
                    phrases.insert(span);
                }
                whole.extend(self.chart.parts_of(found).iter().map(|&(start, end)| Span { start, end }));
            }
        }
        let words = (0..goal.end).map(|start| Span { start, end: start + 1 });
        for word in words.filter(|&word| self.is_copied(word)) {
            whole.insert(word);
            phrases.insert(word);
        }
        let all =
            phrases.into_iter().map(|span| (span, false)).chain(whole.into_iter().map(|span| (span, true)));
        let mut places: Vec<(Span, bool)> = all.collect();
        places.sort_unstable_by_key(|&(span, is_whole)| (span.len(), span.start, is_whole));
        places
    }
}

impl Applier {
    /// The forest of a chart in which every span is taken for a part.
    pub(super) fn left_to_right_forest(&self, used: &Used<'_>, label: Symbol) -> TranslationForest {
        let goal = Span::new(0, used.words.len());
        let rule = RuleRef { layer: Layer::Default, id: GLUE };
        let [costs, glue_costs] = self.gap_costs(used.given);
        let mut glue = Glue::new(rule, label, self.per_default(), glue_costs, used.words.len());
        let mut builder = ForestBuilder::new();
        if let Some(neighbour) = self.left_to_right_orientation() {
            builder.reordering(0.0, neighbour);
        }
        let mut spans: Vec<Span> = Vec::new();
        let mut vertices = sylvan_base::HashMap::default();
        let (mut parts, mut top) = (Vec::new(), VertexId(0));
        for (span, is_whole) in used.places(goal) {
            let vertex = builder.vertex(1, span);
            builder.label(label);
            spans.push(span);
            if is_whole {
                vertices.insert((span.start, span.end), vertex);
                glue.whole(span, vertex);
            } else {
                glue.phrase(span, vertex);
            }
            if span == goal && is_whole {
                builder.begins();
                top = vertex;
            }
            let found = used.chart.found((span.start, span.end));
            for found in found.iter().filter(|found| is_whole || found.is_lexical()) {
                let gaps = used.chart.parts_of(found);
                if is_whole && let Some(phrase) = phrase_of(span, gaps) {
                    glue.take(span, phrase);
                }
                let bound: Vec<NodeId> = gaps.iter().map(|gap| NodeId(vertices[gap].0)).collect();
                let matched = Match { bound: &bound, ..found.matched() };
                let node = NodeId::from_index(spans.len() - 1);
                let span = |node: NodeId| spans[node.index()];
                let corrected = self.corrected(found.layer(), used.given.number);
                let place = Applied { span, node, matched: &matched, corrected, costs: Some(&costs) };
                self.add(&mut builder, used.layers[found.layer()], &place, &mut parts);
            }
            if used.is_copied(span) {
                self.add_copy(&mut builder, used.words, span.start);
            }
        }
        builder.glue(glue);
        builder.finish(top)
    }
}

/// The words of a rule with gaps, if they are one phrase: glue could do the same.
fn phrase_of(span: Span, gaps: &[(u32, u32)]) -> Option<Span> {
    let gaps: Vec<Span> = gaps.iter().map(|&(start, end)| Span { start, end }).collect();
    let mut runs = Vec::new();
    own_words(span, &gaps, |run| runs.push(run));
    match runs[..] {
        [run] if !gaps.is_empty() => Some(run),
        _ => None,
    }
}
