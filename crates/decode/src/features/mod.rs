//! Features: what the parts of a model say about a derivation, by name.
//!
//! Searches know weighted sums only. What each feature contributed is worked out afterwards by going through the
//! derivation again (*replay*), for translations that are tuned on, listed or explained. Each part of a model is a
//! [`Scorer`]: it names its features, says where tuning starts, and replays its values place by place. Everything else
//! (n-best lists, tuning, explanations) reads these, so that weights times values is the model score for any
//! combination of parts.

mod neural;
mod order;
mod rules;
mod sparse;
mod structured;
mod words;

use serde::Serialize;
use sylvan_forest::{Derivation, TranslationForest};
use sylvan_rules::apply::Applier;
use sylvan_rules::{Grammar, Weights};

pub use neural::NeuralFeature;
pub use order::{JumpFeatures, ReorderingFeatures};
pub use rules::{DefaultRuleFeatures, ParseFeature, RuleFeatures, UnseenFeatures};
pub use sparse::{sparse_contributions, sparse_values};
pub use structured::StructuredFeature;
pub use words::LanguageModelFeature;

use crate::models::Ngram;
use crate::models::neural::Opinion;
use crate::models::structured::Read;

/// A feature as tuning and lists see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Feature {
    /// Its name: `tm0.p_ef`, `lm0`, `glue`.
    pub name: String,
    /// The weight that tuning starts from.
    pub start: f64,
    /// Whether tuning may change it.
    pub tuned: bool,
}

impl Feature {
    /// A feature that is tuned, starting from a weight.
    pub fn tuned(name: impl Into<String>, start: f64) -> Self {
        Self { name: name.into(), start, tuned: true }
    }

    /// A feature whose weight stays as given.
    pub fn fixed(name: impl Into<String>, start: f64) -> Self {
        Self { name: name.into(), start, tuned: false }
    }
}

/// Where in a derivation a value belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// To an edge, by its place in the derivation.
    Edge(usize),
    /// To a target word, by its place; the end of the sentence comes after the last.
    Word(usize),
}

/// A derivation to replay, and what it was made with.
#[derive(Debug, Clone, Copy)]
pub struct Replay<'a> {
    /// The grammars.
    pub applier: &'a Applier,
    /// The sentence's own rules.
    pub own: Option<&'a Grammar>,
    /// The language models over the sentence.
    pub models: &'a [Ngram<'a>],
    /// How the structured language model reads the sentence's tokens, if there is one.
    pub(crate) read: Option<&'a Read>,
    /// What the network says of the sentence's translations, if there is one.
    pub(crate) opinion: Option<&'a Opinion>,
    /// The forest.
    pub forest: &'a TranslationForest,
    /// The derivation.
    pub derivation: &'a Derivation,
}

/// A part of a model that scores derivations.
pub trait Scorer: std::fmt::Debug + Send + Sync {
    /// Its features, in the order of their numbers.
    fn features(&self) -> Vec<Feature>;
    /// Calls `emit` with a place, the number of a feature and a value, for all values that are not 0. Values of one
    /// feature add up.
    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64));
}

/// The features of a model with their weights, in a fixed order.
#[derive(Debug)]
pub struct Features {
    scorers: Vec<Box<dyn Scorer>>,
    /// The number of each scorer's first feature.
    first: Vec<usize>,
    all: Vec<Feature>,
    weights: Vec<f64>,
}

impl Features {
    /// The features of some parts of a model. Weights may be given under bare names (`p_ef`, `lm`).
    pub fn new(scorers: Vec<Box<dyn Scorer>>, weights: &Weights) -> Self {
        let (mut first, mut all) = (Vec::new(), Vec::new());
        for scorer in &scorers {
            first.push(all.len());
            all.extend(scorer.features());
        }
        let weights = all.iter().map(|feature| weight_of(weights, &feature.name)).collect();
        Self { scorers, first, all, weights }
    }

    /// All features.
    pub fn all(&self) -> &[Feature] {
        &self.all
    }

    /// Their weights, in the same order.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn replay(&self, replay: &Replay<'_>, mut emit: impl FnMut(Place, usize, f64)) {
        for (scorer, first) in self.scorers.iter().zip(&self.first) {
            scorer.replay(replay, &mut |place, feature, value| emit(place, first + feature, value));
        }
    }

    /// The value of each feature over a whole derivation.
    pub fn values(&self, replay: &Replay<'_>) -> Vec<f64> {
        let mut values = vec![0.0; self.all.len()];
        self.replay(replay, |_, feature, value| values[feature] += value);
        values
    }

    /// Names and values over a whole derivation.
    pub fn named_values(&self, replay: &Replay<'_>) -> Vec<(String, f64)> {
        self.all.iter().map(|feature| feature.name.clone()).zip(self.values(replay)).collect()
    }

    /// The score of a derivation taken apart: what each feature adds at each place.
    pub fn contributions(&self, replay: &Replay<'_>) -> Contributions {
        let (edges, words) = (replay.derivation.edges().len(), replay.derivation.tokens(replay.forest).len());
        let mut parts = Contributions { rules: vec![Vec::new(); edges], words: vec![Vec::new(); words + 1] };
        self.replay(replay, |place, feature, value| {
            let list = match place {
                Place::Edge(edge) => &mut parts.rules[edge],
                Place::Word(word) => &mut parts.words[word],
            };
            list.push(Contribution::new(self.all[feature].name.as_str(), value, self.weights[feature]));
        });
        parts
    }
}

/// The weight of a feature: under its full name, or under its bare one.
pub fn weight_of(weights: &Weights, name: &str) -> f64 {
    let named = |name: &str| weights.iter().find(|(known, _)| *known == name).map(|(_, weight)| weight);
    // The weight of a rule feature may have its bare name, that of the first language model `lm`.
    let of_layer = name.strip_prefix("tm").and_then(|name| name.split_once('.'));
    let bare = of_layer.map_or(if name == "lm0" { "lm" } else { name }, |(_, bare)| bare);
    named(name).or_else(|| named(bare)).unwrap_or(0.0)
}

/// `name=value` for all but zeros, separated by spaces.
pub fn show_values(values: &[(String, f64)]) -> String {
    let shown = values.iter().filter(|(_, value)| *value != 0.0);
    shown.map(|(name, value)| format!("{name}={value:.6}")).collect::<Vec<_>>().join(" ")
}

/// What one feature adds to a score: its value times its weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// The feature, as in n-best lists.
    pub feature: String,
    /// Its value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
    /// The product.
    pub score: f64,
}

impl Contribution {
    pub(crate) fn new(feature: impl Into<String>, value: f64, weight: f64) -> Self {
        Self { feature: feature.into(), value, weight, score: value * weight }
    }
}

/// The parts of a derivation's score.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contributions {
    /// Those of each rule, in the order of the derivation's edges.
    pub rules: Vec<Vec<Contribution>>,
    /// Those of each target word in its place, one per language model; the last are those of the sentence's end.
    pub words: Vec<Vec<Contribution>>,
}

impl Contributions {
    /// Each feature once, with the sum of its values, in a fixed order: rules first, then language models.
    pub fn totals(&self) -> Vec<Contribution> {
        let mut totals: Vec<Contribution> = Vec::new();
        for part in self.rules.iter().chain(&self.words).flatten() {
            match totals.iter_mut().find(|total| total.feature == part.feature) {
                Some(total) => {
                    total.value += part.value;
                    total.score += part.score;
                }
                None => totals.push(part.clone()),
            }
        }
        totals.sort_by_cached_key(|total| (total.feature.starts_with("lm"), total.feature.clone()));
        totals
    }

    /// All parts together: the model score.
    pub fn score(&self) -> f64 {
        self.rules.iter().chain(&self.words).flatten().map(|part| part.score).sum()
    }
}
