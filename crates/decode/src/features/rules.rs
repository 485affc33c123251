//! Features of rules, of default rules, and of the input's own score.

use sylvan_base::Id;
use sylvan_forest::Target;
use sylvan_rules::Formalism;
use sylvan_rules::apply::{Applier, Origin};
use sylvan_rules::features::ORIENTATIONS;

use super::{Feature, Place, Replay, Scorer};
use crate::unseen::FEATURES;

/// Per layer of grammars: the features of its table, `rules` and `words`. Those of orientations depend on a phrase's
/// place and are told by [`ReorderingFeatures`](super::ReorderingFeatures).
#[derive(Debug)]
pub struct RuleFeatures {
    /// Whether all rules are words alone.
    phrases: bool,
    /// Numbers in the table and names.
    layers: Vec<Vec<(usize, String)>>,
}

impl RuleFeatures {
    /// The features of all layers. A sentence's own rules count as rules of the first.
    pub fn new(applier: &Applier) -> Self {
        let names = |layer| {
            let all = applier.grammar(layer).map_or(&[][..], |grammar| grammar.feature_names());
            let all = all.iter().enumerate().filter(|(_, name)| !ORIENTATIONS.contains(&name.as_str()));
            all.map(|(number, name)| (number, name.clone())).collect()
        };
        let table = applier.grammar(0);
        let phrases = table.is_some_and(|table| table.meta().formalism == Formalism::Phrase);
        Self { phrases, layers: (0..applier.weighed_count()).map(names).collect() }
    }

    /// The number of a layer's first feature.
    fn first(&self, layer: usize) -> usize {
        self.layers[..layer].iter().map(|names| names.len() + 2).sum()
    }
}

impl Scorer for RuleFeatures {
    fn features(&self) -> Vec<Feature> {
        let mut all = Vec::new();
        for (number, names) in self.layers.iter().enumerate() {
            let names = names.iter().map(|(_, name)| name.as_str()).chain(["rules", "words"]);
            all.extend(names.map(|name| {
                let start = match name {
                    // Corrections take the table's weights and are not tuned.
                    _ if number > 0 => 0.0,
                    "p_ef" | "p_fe" => 0.2,
                    "lex_ef" | "lex_fe" => 0.15,
                    "rules" => -0.1,
                    "words" => 0.5,
                    _ => 0.0,
                };
                // Where every rule has source words, a weight for that is one for every rule, which there is.
                let twice = self.phrases && name == "lexical";
                let name = format!("tm{number}.{name}");
                if number == 0 && !twice { Feature::tuned(name, start) } else { Feature::fixed(name, start) }
            }));
        }
        all
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        for (place, &edge) in replay.derivation.edges().iter().enumerate() {
            let Origin::Rule(number, rule) = replay.applier.origin(replay.forest.edge(edge).spec.rule) else {
                continue;
            };
            let layer = replay.applier.weighed_as(number);
            let (first, count) = (self.first(layer), self.layers[layer].len());
            let mut emit = |feature: usize, value: f64| {
                if value != 0.0 {
                    emit(Place::Edge(place), first + feature, value);
                }
            };
            let grammar = replay.applier.grammar(number).or(replay.own);
            // Only a damaged forest has rules that no grammar has.
            if let Some(grammar) = grammar.filter(|grammar| (rule.0 as usize) < grammar.len()) {
                let values = grammar.features(rule);
                for (feature, (number, _)) in self.layers[layer].iter().enumerate() {
                    emit(feature, values.get(*number).copied().map_or(0.0, f64::from));
                }
            }
            emit(count, 1.0);
            emit(count + 1, words(replay, place) as f64);
        }
    }
}

/// How many target words an edge of a derivation has itself.
fn words(replay: &Replay<'_>, place: usize) -> usize {
    let target = replay.forest.target(replay.derivation.edges()[place]).iter();
    let words = target.map(|symbol| match symbol {
        Target::Bundle(bundle) => replay.forest.bundle(*bundle).len(),
        Target::Vertex(_) => 0,
    });
    words.sum()
}

/// Default rules: `glue` for each, `oov` for each copied word. Over sentences without syntax, `glue` is for parts that
/// are joined in source order.
///
/// Few words of a tuning text are unknown to all rules: tuned weights would be chance, and could reward
/// copying. So these are fixed, but for `glue` where every sentence has it.
#[derive(Debug)]
pub struct DefaultRuleFeatures {
    /// What rules are applied to.
    pub formalism: Formalism,
}

impl Scorer for DefaultRuleFeatures {
    fn features(&self) -> Vec<Feature> {
        let glue = match self.formalism {
            Formalism::Hiero | Formalism::LrHiero => Feature::tuned("glue", -0.2),
            _ => Feature::fixed("glue", -2.0),
        };
        vec![glue, Feature::fixed("oov", -2.0)]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        for (place, &edge) in replay.derivation.edges().iter().enumerate() {
            let (glue, copied) = match replay.applier.origin(replay.forest.edge(edge).spec.rule) {
                Origin::Default(_) => (1, words(replay, place)),
                Origin::Glue => (1, 0),
                Origin::Copy => (0, 1),
                Origin::Rule(..) | Origin::Start => (0, 0),
            };
            for (feature, value) in [(0, glue), (1, copied)] {
                if value > 0 {
                    emit(Place::Edge(place), feature, value as f64);
                }
            }
        }
    }
}

/// What rules for words that the table does not translate have besides the features of the table (`crate::unseen`). As
/// few words are unseen while weights are tuned, these are fixed.
#[derive(Debug)]
pub struct UnseenFeatures {
    /// How many features the table has.
    pub table: usize,
}

impl Scorer for UnseenFeatures {
    fn features(&self) -> Vec<Feature> {
        FEATURES.iter().map(|&name| Feature::fixed(name, 0.3)).collect()
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        for (place, &edge) in replay.derivation.edges().iter().enumerate() {
            let origin = replay.applier.origin(replay.forest.edge(edge).spec.rule);
            let (Origin::Rule(layer, rule), Some(own)) = (origin, replay.own) else { continue };
            if layer < replay.applier.layer_count() || rule.index() >= own.len() {
                continue;
            }
            for (feature, value) in own.features(rule).into_iter().skip(self.table).enumerate() {
                if value != 0.0 {
                    emit(Place::Edge(place), feature, f64::from(value));
                }
            }
        }
    }
}

/// `parse`: the input's own score, for packed forests.
#[derive(Debug)]
pub struct ParseFeature;

impl Scorer for ParseFeature {
    fn features(&self) -> Vec<Feature> {
        vec![Feature::fixed("parse", 0.0)]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        for (place, &edge) in replay.derivation.edges().iter().enumerate() {
            let score = replay.forest.input_score(edge);
            if score != 0.0 {
                emit(Place::Edge(place), 0, score);
            }
        }
    }
}
