//! One sentence from its tree to its translation: rules, forest, search.

use sylvan_base::{Symbol, Vocab};
use sylvan_forest::{Derivation, Layer, TranslationForest};
use sylvan_rules::RuleId;
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_search::{
    Beam, Counters, Cube, Future, Limits, Outcome, Prediction, cube_pruning, incremental, prediction, refine,
};
use sylvan_trees::Tree;

use crate::{Model, NgramScorer};

/// Which search, and how wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// Bottom-up with cube pruning (Chiang 2007).
    CubePruning(Cube),
    /// Bottom-up, refining groups of items (Heafield, Koehn & Lavie 2013); the items made per vertex.
    Refine(Beam),
    /// Left to right, top-down (Huang & Mi 2010).
    Incremental(Limits, Future),
    /// Left to right, bottom-up (Feng et al. 2012).
    Prediction(Limits, Prediction),
}

impl Default for Search {
    fn default() -> Self {
        Self::Incremental(Limits::beam(Beam(100)), Future::Inside)
    }
}

/// A model made ready to translate trees.
#[derive(Debug)]
pub struct Translator<'m> {
    model: &'m Model,
    applier: Applier<'m>,
    scorer: NgramScorer<'m>,
}

/// A translation and where it came from.
#[derive(Debug, Clone)]
pub struct Translation {
    /// The target words.
    pub words: Vec<Symbol>,
    /// The model score.
    pub score: f64,
    /// The rules used.
    pub derivation: Derivation,
    /// All that could have been used.
    pub forest: TranslationForest,
    /// What the search cost.
    pub counters: Counters,
}

impl<'m> Translator<'m> {
    /// Weighs the rules and maps the vocabularies.
    pub fn new(model: &'m Model) -> Self {
        let defaults = DefaultRules::weighted(&model.weights);
        Self::with_defaults(model, defaults)
    }

    /// With default rules other than the usual ones. They must make every node translatable.
    pub fn with_defaults(model: &'m Model, defaults: DefaultRules) -> Self {
        let applier = Applier::new(&model.grammar, &model.weights, defaults);
        let scorer = NgramScorer::new(&model.lm, model.weights.get("lm"), &model.vocab);
        Self { model, applier, scorer }
    }

    /// All derivations of a tree.
    pub fn forest(&self, tree: &Tree) -> TranslationForest {
        self.applier.forest(tree, &self.model.vocab)
    }

    /// The language model as the searches see it.
    pub fn scorer(&self) -> &NgramScorer<'m> {
        &self.scorer
    }

    /// Translates a tree.
    pub fn translate(&self, tree: &Tree, search: Search) -> Translation {
        let forest = self.forest(tree);
        let outcome = self.search(&forest, search);
        let Outcome { derivation, score, counters } = outcome;
        Translation { words: derivation.words(&forest), score, derivation, forest, counters }
    }

    /// Searches a forest made by [`forest`](Self::forest).
    pub fn search(&self, forest: &TranslationForest, search: Search) -> Outcome {
        let found = match search {
            Search::CubePruning(limits) => cube_pruning(forest, &self.scorer, limits),
            Search::Refine(beam) => refine(forest, &self.scorer, beam),
            Search::Incremental(limits, future) => incremental(forest, &self.scorer, limits, future),
            Search::Prediction(limits, config) => prediction(forest, &self.scorer, limits, config),
        };
        found.expect("default rules give every tree a derivation, and a beam of one keeps one")
    }

    /// The derivation, one rule per line, indented by depth.
    pub fn show(&self, translation: &Translation) -> String {
        let (vocab, forest) = (&self.model.vocab, &translation.forest);
        let mut out = String::new();
        let on_edge = |depth: usize, edge| {
            let rule = forest.edge(edge).spec.rule;
            let shown = match rule.layer {
                Layer::Table => self.model.grammar.rule(RuleId(rule.id)).show(vocab),
                Layer::Sentence => "(no rule matches: words copied, parts in source order)".to_string(),
            };
            out.push_str(&format!("{:width$}{shown}\n", "", width = 2 * depth));
        };
        translation.derivation.walk(forest, on_edge, |_, _| {});
        out
    }
}

impl Translation {
    /// The target words, separated by spaces.
    pub fn text(&self, vocab: &Vocab) -> String {
        vocab.join(&self.words)
    }
}
