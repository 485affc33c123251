//! Features of the order in which phrases are translated: jumps, and what phrases think of their neighbours.

use sylvan_base::Span;
use sylvan_forest::{EdgeId, Neighbour, jumped};
use sylvan_rules::Formalism;
use sylvan_rules::apply::{Applier, Origin};
use sylvan_rules::features::ORIENTATIONS;
use sylvan_search::{oriented, placed};

use super::{Feature, Place, Replay, Scorer};

/// Per layer of grammars the features `msd.` of its table, and for phrase pairs `distortion`.
#[derive(Debug)]
pub struct ReorderingFeatures {
    /// Whether phrases are put in any order.
    free: bool,
    /// By layer: the numbers of the six features in the table, if it has them.
    layers: Vec<Option<[usize; 6]>>,
}

impl ReorderingFeatures {
    /// Those of a model of phrase pairs, or of rules that translate from left to right; others have none.
    pub fn new(applier: &Applier) -> Option<Self> {
        let free = match applier.grammar(0)?.meta().formalism {
            Formalism::Phrase => true,
            Formalism::LrHiero => false,
            _ => return None,
        };
        let numbers = |layer| {
            let names = applier.grammar(layer)?.feature_names();
            let numbers = ORIENTATIONS.map(|wanted| names.iter().position(|name| name == wanted));
            numbers.iter().all(Option::is_some).then(|| numbers.map(Option::unwrap_or_default))
        };
        Some(Self { free, layers: (0..applier.weighed_count()).map(numbers).collect() })
    }

    /// The number of a layer's first feature.
    fn first(&self, layer: usize) -> usize {
        usize::from(self.free) + ORIENTATIONS.len() * self.layers[..layer].iter().flatten().count()
    }
}

impl Scorer for ReorderingFeatures {
    fn features(&self) -> Vec<Feature> {
        let mut all = Vec::new();
        if self.free {
            all.push(Feature::tuned("distortion", 0.1));
        }
        for (layer, _) in self.layers.iter().enumerate().filter(|(_, numbers)| numbers.is_some()) {
            all.extend(ORIENTATIONS.map(|name| {
                let name = format!("tm{layer}.{name}");
                // As with other features of rules, corrections take the table's weights.
                if layer == 0 { Feature::tuned(name, 0.1) } else { Feature::fixed(name, 0.0) }
            }));
        }
        all
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        let Some(reordering) = replay.forest.reordering() else { return };
        if matches!(reordering.neighbour, Neighbour::Recent | Neighbour::Late) {
            self.replay_steps(replay, reordering.neighbour, emit);
            if !self.free {
                return;
            }
        }
        let is_phrase = |edge: &EdgeId| replay.forest.tails(*edge).next().is_none();
        let phrases: Vec<(usize, EdgeId)> = replay
            .derivation
            .edges()
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, edge)| is_phrase(edge))
            .collect();
        let spans: Vec<Span> =
            phrases.iter().map(|&(_, edge)| replay.forest.span(replay.forest.edge(edge).head)).collect();
        let mut emit = |place: usize, feature: usize, value: f64| {
            if value != 0.0 {
                emit(Place::Edge(phrases[place].0), feature, value);
            }
        };
        for (place, step) in placed(&spans, reordering.neighbour).into_iter().enumerate() {
            emit(place, 0, -f64::from(step.jump));
            if matches!(reordering.neighbour, Neighbour::Recent | Neighbour::Late) {
                continue;
            }
            if let Some((feature, value)) = self.value(replay, phrases[place].1, step.before as usize) {
                emit(place, feature, value);
            }
            // What the phrase before thinks of this one is said when this one is chosen.
            if let Some(after) = step.after
                && let Some((feature, value)) = self.value(replay, phrases[place - 1].1, 3 + after as usize)
            {
                emit(place - 1, feature, value);
            }
        }
    }
}

/// Left to right with gaps: `distortion`, the source words that rules jump over, `glue_distortion`, those that glue does,
/// and `crossing`, the gaps that cross constituents of a tree; all count downwards.
#[derive(Debug)]
pub struct JumpFeatures;

impl JumpFeatures {
    /// Those of a model of left-to-right rules; others have none.
    pub fn new(applier: &Applier) -> Option<Self> {
        (applier.grammar(0)?.meta().formalism == Formalism::LrHiero).then_some(Self)
    }
}

impl Scorer for JumpFeatures {
    fn features(&self) -> Vec<Feature> {
        vec![
            Feature::tuned("distortion", 0.02),
            Feature::tuned("glue_distortion", 0.02),
            Feature::tuned("crossing", 0.02),
        ]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        let forest = replay.forest;
        for (place, &edge) in replay.derivation.edges().iter().enumerate() {
            let is_glue = replay.applier.origin(forest.edge(edge).spec.rule) == Origin::Glue;
            // The first part of glue is its phrase, which is no gap.
            let gaps: Vec<Span> =
                forest.tails(edge).skip(usize::from(is_glue)).map(|tail| forest.span(tail)).collect();
            let value = jumped(forest.span(forest.edge(edge).head), &gaps);
            if value > 0 {
                emit(Place::Edge(place), usize::from(is_glue), -f64::from(value));
            }
            let crossings = forest.gap_costs().map_or(0, |costs| costs.crossings(&gaps));
            if crossings > 0 {
                emit(Place::Edge(place), 2, -f64::from(crossings));
            }
        }
    }
}

impl ReorderingFeatures {
    /// Orientations that a step model counts.
    fn replay_steps(
        &self,
        replay: &Replay<'_>,
        neighbour: Neighbour,
        emit: &mut dyn FnMut(Place, usize, f64),
    ) {
        for step in oriented(replay.forest, replay.derivation, neighbour) {
            let edge = replay.derivation.edges()[step.place];
            for which in [step.before as usize, 3 + step.after as usize] {
                if let Some((feature, value)) = self.value(replay, edge, which) {
                    emit(Place::Edge(step.place), feature, value);
                }
            }
        }
    }

    /// The number and the value of one of an edge's six.
    fn value(&self, replay: &Replay<'_>, edge: EdgeId, which: usize) -> Option<(usize, f64)> {
        let Origin::Rule(number, rule) = replay.applier.origin(replay.forest.edge(edge).spec.rule) else {
            return None;
        };
        let layer = replay.applier.weighed_as(number);
        let numbers = self.layers.get(layer).copied().flatten()?;
        let grammar = replay.applier.grammar(number).or(replay.own)?;
        if rule.0 as usize >= grammar.len() {
            return None;
        }
        let value = grammar.features(rule).get(numbers[which]).copied()?;
        Some((self.first(layer) + which, f64::from(value)))
    }
}
