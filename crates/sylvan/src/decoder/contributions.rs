//! A score taken apart: what each feature of each rule and each word of a derivation adds to it.
//!
//! Where [`Features`](super::Features) sums over a derivation, this keeps the parts, so that a word or a rule can be
//! asked what it cost. All parts together are the model score.

use serde::Serialize;
use sylvan_forest::{Derivation, EdgeId, TranslationForest};
use sylvan_rules::apply::Origin;
use sylvan_rules::{Grammar, RuleId, Sparse};

use super::{Ready, Sentence};

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
    fn new(feature: impl Into<String>, value: f64, weight: f64) -> Self {
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

/// Where the rule of an edge comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// It was learnt.
    Table,
    /// An overlay added or favoured it.
    Overlay,
    /// A glossary, or text that must go through as it is, asks for it.
    Term,
    /// No rule matched: words are copied, parts stay in source order.
    Copy,
}

impl<'d> Ready<'d> {
    /// Takes the score of a derivation apart. Features without a value are left out.
    pub fn contributions(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        derivation: &Derivation,
    ) -> Contributions {
        let rules = derivation.edges().iter().map(|&edge| self.edge_contributions(sentence, forest, edge));
        let words = derivation.words(forest);
        let mut of_words: Vec<Vec<Contribution>> = vec![Vec::new(); words.len() + 1];
        for (index, scorer) in self.scorers.iter().enumerate() {
            let (name, weight) = (format!("lm{index}"), self.decoder.lm_weight(index));
            for (parts, value) in of_words.iter_mut().zip(scorer.word_log_probabilities(&words)) {
                parts.push(Contribution::new(name.as_str(), value, weight));
            }
        }
        Contributions { rules: rules.collect(), words: of_words }
    }

    fn edge_contributions(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        edge: EdgeId,
    ) -> Vec<Contribution> {
        let weights = &self.decoder.weights;
        let words: usize = forest
            .target(edge)
            .iter()
            .map(|symbol| match symbol {
                sylvan_forest::Target::Bundle(bundle) => forest.bundle(*bundle).len(),
                sylvan_forest::Target::Vertex(_) => 0,
            })
            .sum();
        let mut parts = Vec::new();
        match self.applier.origin(forest.edge(edge).spec.rule) {
            Origin::Rule(layer, rule) => {
                // The sentence's own rules are weighed as those of the first layer.
                let weighed = if layer < self.applier.layer_count() { layer } else { 0 };
                let of_layer = |name: &str, value: f64| {
                    Contribution::new(format!("tm{weighed}.{name}"), value, weights.of_layer(weighed, name))
                };
                if let Some(grammar) = self.grammar_of(sentence, layer, rule) {
                    let values = grammar.features(rule);
                    let named = grammar.feature_names().iter().zip(values);
                    parts.extend(named.map(|(name, value)| of_layer(name, f64::from(value))));
                    for sparse in Sparse::of_rule(grammar, rule) {
                        let name = sparse.name(&self.decoder.vocab);
                        let weight = weights.get(&name);
                        if weight != 0.0 {
                            parts.push(Contribution::new(name, 1.0, weight));
                        }
                    }
                }
                parts.push(of_layer("rules", 1.0));
                parts.push(of_layer("words", words as f64));
            }
            Origin::Default(_) => {
                parts.push(Contribution::new("glue", 1.0, weights.get("glue")));
                parts.push(Contribution::new("oov", words as f64, weights.get("oov")));
            }
        }
        parts.push(Contribution::new("parse", forest.input_score(edge), weights.get("parse")));
        parts.retain(|part| part.value != 0.0);
        parts
    }

    /// The grammar that a rule of a layer is in: one of all sentences, or the sentence's own.
    fn grammar_of<'g>(&'g self, sentence: &'g Sentence, layer: usize, rule: RuleId) -> Option<&'g Grammar> {
        let grammar = self.applier.grammar(layer).or(sentence.own.as_ref());
        grammar.filter(|grammar| (rule.0 as usize) < grammar.len())
    }

    /// Where an edge's rule comes from, and which rule of the table it is or stands for.
    pub fn rule_of(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        edge: EdgeId,
    ) -> (RuleKind, Option<RuleId>) {
        match self.applier.origin(forest.edge(edge).spec.rule) {
            Origin::Default(_) => (RuleKind::Copy, None),
            Origin::Rule(0, rule) => (RuleKind::Table, Some(rule)),
            Origin::Rule(layer, rule) if layer < self.applier.layer_count() => {
                let overlay = self.decoder.overlay.as_ref();
                (RuleKind::Overlay, overlay.and_then(|overlay| overlay.instead_of(rule)))
            }
            Origin::Rule(_, rule) => {
                (RuleKind::Term, sentence.borrowed.get(rule.0 as usize).copied().flatten())
            }
        }
    }

    /// An edge's rule in the notation of rule tables.
    pub fn edge_text(&self, sentence: &Sentence, forest: &TranslationForest, edge: EdgeId) -> String {
        self.rule_text(sentence, forest.edge(edge).spec.rule)
    }
}
