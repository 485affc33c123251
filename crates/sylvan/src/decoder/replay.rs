//! Feature values of a derivation, by going through it again.
//!
//! Searches know weighted sums only. What each feature contributed is worked out afterwards, for the derivations that
//! somebody wants to see or tune on; weights times values is the model score.

use std::collections::BTreeMap;

use sylvan_base::Vocab;
use sylvan_forest::{Derivation, TranslationForest};
use sylvan_rules::apply::{Applier, Origin};
use sylvan_rules::{Grammar, Sparse, Weights};

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
            let of_layer = name.strip_prefix("tm").and_then(|name| name.split_once('.'));
            let bare = of_layer.map_or(if name == "lm0" { "lm" } else { name }, |(_, bare)| bare);
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

/// What the rules of one layer add up to.
#[derive(Debug, Clone, Default)]
struct LayerSums {
    values: Vec<f64>,
    rules: f64,
    words: f64,
}

pub(super) fn features(
    applier: &Applier<'_>,
    own: Option<&Grammar>,
    scorers: &[NgramScorer<'_>],
    forest: &TranslationForest,
    derivation: &Derivation,
) -> Features {
    let (mut glue, mut copied, mut parse) = (0.0, 0.0, 0.0);
    let count = applier.layer_count();
    // The sentence's own rules are behind all layers, and weighed as the first.
    let layer = |number: usize| if number < count { number } else { 0 };
    let names = |number| applier.grammar(number).map_or(&[][..], |grammar| grammar.feature_names());
    let mut layers: Vec<LayerSums> = (0..count)
        .map(|number| LayerSums { values: vec![0.0; names(number).len()], ..LayerSums::default() })
        .collect();
    let origin = |edge| applier.origin(forest.edge(edge).spec.rule);
    for &edge in derivation.edges() {
        parse += forest.input_score(edge);
        match origin(edge) {
            Origin::Rule(number, rule) => {
                let sums = &mut layers[layer(number)];
                sums.rules += 1.0;
                if let Some(grammar) = applier.grammar(number).or(own) {
                    for (sum, value) in sums.values.iter_mut().zip(grammar.features(rule)) {
                        *sum += f64::from(value);
                    }
                }
            }
            Origin::Default(_) => glue += 1.0,
        }
    }
    derivation.walk(
        forest,
        |_, _| {},
        |from, _| match origin(derivation.edges()[from]) {
            Origin::Rule(number, _) => layers[layer(number)].words += 1.0,
            Origin::Default(_) => copied += 1.0,
        },
    );
    let mut all: Vec<(String, f64)> = Vec::new();
    for (number, sums) in layers.into_iter().enumerate() {
        all.extend(
            names(number).iter().zip(sums.values).map(|(name, value)| (format!("tm{number}.{name}"), value)),
        );
        all.push((format!("tm{number}.rules"), sums.rules));
        all.push((format!("tm{number}.words"), sums.words));
    }
    all.push(("glue".to_string(), glue));
    all.push(("oov".to_string(), copied));
    all.push(("parse".to_string(), parse));
    let words = derivation.words(forest);
    for (index, scorer) in scorers.iter().enumerate() {
        all.push((format!("lm{index}"), scorer.log_probability(&words)));
    }
    Features(all)
}

pub(super) fn sparse<'g>(
    applier: &Applier<'_>,
    grammars: impl Fn(usize) -> Option<&'g Grammar>,
    vocab: &Vocab,
    forest: &TranslationForest,
    derivation: &Derivation,
) -> Features {
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for &edge in derivation.edges() {
        let Origin::Rule(layer, rule) = applier.origin(forest.edge(edge).spec.rule) else { continue };
        for feature in grammars(layer).map_or(Vec::new(), |grammar| Sparse::of_rule(grammar, rule)) {
            *counts.entry(feature.name(vocab)).or_default() += 1.0;
        }
    }
    Features(counts.into_iter().collect())
}
