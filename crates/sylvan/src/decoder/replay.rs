//! Feature values of a derivation, by going through it again.
//!
//! Searches know weighted sums only. What each feature contributed is worked out afterwards, for the derivations that
//! somebody wants to see or tune on; weights times values is the model score.

use sylvan_forest::{Derivation, Layer, TranslationForest};
use sylvan_rules::{RuleId, Weights};

use super::Decoder;
use crate::NgramScorer;

/// Names and values, in a fixed order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Features(pub Vec<(String, f64)>);

impl Features {
    /// The model score that they make.
    pub fn score(&self, weights: &Weights) -> f64 {
        let named = |name: &str| weights.iter().find(|(known, _)| *known == name).map(|(_, weight)| weight);
        let weight = |name: &str| {
            // A rule feature may be weighed under its bare name, the first language model as `lm`.
            let bare = name.strip_prefix("tm0.").unwrap_or(if name == "lm0" { "lm" } else { name });
            named(name).or_else(|| named(bare)).unwrap_or(0.0)
        };
        self.0.iter().map(|(name, value)| weight(name) * value).sum()
    }

    /// `name=value` for all but zeros, separated by spaces.
    pub fn show(&self) -> String {
        let shown = self.0.iter().filter(|(_, value)| *value != 0.0);
        shown.map(|(name, value)| format!("{name}={value:.6}")).collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn features(
    decoder: &Decoder,
    scorers: &[NgramScorer<'_>],
    forest: &TranslationForest,
    derivation: &Derivation,
) -> Features {
    let grammar = decoder.grammar();
    let mut values = vec![0.0; grammar.feature_names().len()];
    let (mut rules, mut glue, mut table_words, mut copied) = (0.0, 0.0, 0.0, 0.0);
    let from_table = |edge| forest.edge(edge).spec.rule.layer == Layer::Table;
    for &edge in derivation.edges() {
        if from_table(edge) {
            rules += 1.0;
            let rule = RuleId(forest.edge(edge).spec.rule.id);
            for (sum, value) in values.iter_mut().zip(grammar.features(rule)) {
                *sum += f64::from(value);
            }
        } else {
            glue += 1.0;
        }
    }
    derivation.walk(
        forest,
        |_, _| {},
        |from, _| {
            if from_table(derivation.edges()[from]) {
                table_words += 1.0;
            } else {
                copied += 1.0;
            }
        },
    );
    let mut all: Vec<(String, f64)> = grammar
        .feature_names()
        .iter()
        .zip(values)
        .map(|(name, value)| (format!("tm0.{name}"), value))
        .collect();
    all.push(("tm0.rules".to_string(), rules));
    all.push(("tm0.words".to_string(), table_words));
    all.push(("glue".to_string(), glue));
    all.push(("oov".to_string(), copied));
    let words = derivation.words(forest);
    for (index, scorer) in scorers.iter().enumerate() {
        all.push((format!("lm{index}"), scorer.log_probability(&words)));
    }
    Features(all)
}
