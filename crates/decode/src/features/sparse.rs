//! Sparse features of a derivation: very many, named after rules' words, scored only where they have a
//! weight.

use std::collections::BTreeMap;

use sylvan_base::Vocab;
use sylvan_rules::apply::Origin;
use sylvan_rules::{Sparse, Weights};

use super::{Contribution, Contributions, Replay};

/// The sparse features of each edge.
fn of_edge(replay: &Replay<'_>, place: usize) -> Vec<Sparse> {
    let rule = replay.forest.edge(replay.derivation.edges()[place]).spec.rule;
    let Origin::Rule(layer, rule) = replay.applier.origin(rule) else { return Vec::new() };
    let grammar = replay.applier.grammar(layer).or(replay.own);
    grammar.map_or(Vec::new(), |grammar| Sparse::of_rule(grammar, rule))
}

/// Names and values over a whole derivation, in the order of names.
pub fn sparse_values(replay: &Replay<'_>, vocab: &Vocab) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for place in 0..replay.derivation.edges().len() {
        for feature in of_edge(replay, place) {
            *counts.entry(feature.name(vocab)).or_default() += 1.0;
        }
    }
    counts.into_iter().collect()
}

/// Adds what sparse features with weights contribute to each rule.
pub fn sparse_contributions(
    replay: &Replay<'_>,
    vocab: &Vocab,
    weights: &Weights,
    parts: &mut Contributions,
) {
    // Few models have any, and finding out what a rule has takes longer than all else.
    if !weights.iter().any(|(name, weight)| weight != 0.0 && Sparse::is_name(name)) {
        return;
    }
    for (place, parts) in parts.rules.iter_mut().enumerate() {
        for feature in of_edge(replay, place) {
            let name = feature.name(vocab);
            let weight = weights.get(&name);
            if weight != 0.0 {
                parts.push(Contribution::new(name, 1.0, weight));
            }
        }
    }
}
