//! A grammar with weights, applied to trees and packed forests.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Id, Vocab};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TranslationForest, VertexId};
use sylvan_trees::{Child, NodeId};

use super::input::{Input, sizes};
use super::matching::{Match, Matcher};
use crate::{Grammar, TargetSide, Weights};

/// What happens at a node where no rule matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultRules {
    /// Its words are copied and its children translated in source order. `per_rule` and `per_word` are the
    /// scores of such a rule and of each copied word.
    Missing {
        /// Added once per default rule.
        per_rule: f64,
        /// Added per copied word.
        per_word: f64,
    },
    /// Nothing: the node has no translation of its own.
    Never,
}

impl DefaultRules {
    /// The usual default rule: the weights named `glue` and `oov`.
    pub fn weighted(weights: &Weights) -> Self {
        Self::Missing { per_rule: weights.get("glue"), per_word: weights.get("oov") }
    }
}

/// The weights of one grammar's features.
#[derive(Debug, Clone)]
struct RuleWeights {
    features: Vec<f64>,
    per_rule: f64,
    per_word: f64,
}

/// A grammar with weights, ready to be applied.
#[derive(Debug)]
pub struct Applier<'g> {
    grammar: &'g Grammar,
    weights: RuleWeights,
    parse: f64,
    default_rules: DefaultRules,
}

/// Memory that is used again from sentence to sentence; one per thread.
#[derive(Debug, Default)]
pub struct Workspace {
    matcher: Matcher,
    sizes: Vec<u32>,
    parts: Vec<Part>,
}

impl<'g> Applier<'g> {
    /// A grammar whose features are weighed by their names, with or without the prefix `tm0.`; `rules` and `words`
    /// weigh each rule and each target word, `parse` the scores of a packed forest.
    pub fn new(grammar: &'g Grammar, weights: &Weights, default_rules: DefaultRules) -> Self {
        let features = grammar.feature_names().iter().map(|name| weights.of_layer(0, name)).collect();
        let (per_rule, per_word) = (weights.of_layer(0, "rules"), weights.of_layer(0, "words"));
        let weights_of_rules = RuleWeights { features, per_rule, per_word };
        Self { grammar, weights: weights_of_rules, parse: weights.get("parse"), default_rules }
    }

    /// The translation forest of a tree or packed forest: one vertex per node, in the same order, and the root as
    /// goal. Symbols of the input and of the grammar must come from `vocab`.
    pub fn forest<I: Input>(&self, input: &I, vocab: &Vocab) -> TranslationForest {
        self.forest_in(input, vocab, &mut Workspace::default())
    }

    /// Like [`forest`](Self::forest), with memory to use again.
    pub fn forest_in<I: Input>(&self, input: &I, vocab: &Vocab, work: &mut Workspace) -> TranslationForest {
        let Workspace { matcher, sizes: node_sizes, parts } = work;
        sizes(input, node_sizes);
        matcher.prepare(self.grammar, input);
        let mut builder = ForestBuilder::new();
        for node in (0..input.node_count()).map(NodeId::from_index) {
            builder.vertex(node_sizes[node.index()], input.span(node));
            matcher.at(self.grammar, input, node, |matched| self.add(&mut builder, node, &matched, parts));
            if builder.edges_of_last() == 0 {
                self.add_default_rules(&mut builder, input, node, vocab);
            }
        }
        builder.finish(VertexId::from_index(input.node_count() - 1))
    }

    /// All rules of a source side that matches.
    #[inline]
    fn add(&self, builder: &mut ForestBuilder, node: NodeId, matched: &Match<'_>, parts: &mut Vec<Part>) {
        // Ties are decided by what is applied where, not by the order in which rules were loaded.
        let place =
            matched.bound.iter().fold(fold(1, u64::from(node.0)), |hash, node| fold(hash, u64::from(node.0)));
        let parse = self.parse * matched.score;
        let grammar = self.grammar;
        grammar.each_rule(matched.source, grammar.hot_at(matched.at), |rule| {
            parts.clear();
            let (mut words, mut hash) = (0u32, place);
            for symbol in rule.symbols() {
                parts.push(match symbol {
                    TargetSide::Word(word) => {
                        words += 1;
                        hash = fold(hash, grammar.symbol_hash(word));
                        Part::Word(word)
                    }
                    TargetSide::Var(variable) => {
                        // Only a damaged table has variables that the source side lacks.
                        let Some(&bound) = matched.bound.get(variable as usize) else { return };
                        hash = fold(hash, 2 + u64::from(variable));
                        Part::Vertex(vertex(bound))
                    }
                });
            }
            let mut score = self.weights.per_rule + self.weights.per_word * f64::from(words) + parse;
            grammar.feature_values(&rule, |feature, value| {
                score += self.weights.features[feature] * f64::from(value);
            });
            let rule = RuleRef { layer: Layer::Table, id: rule.id.0 };
            builder.edge(EdgeSpec { rule, score, nodes: matched.nodes, hash }, parts);
        });
    }

    fn add_default_rules<I: Input>(
        &self,
        builder: &mut ForestBuilder,
        input: &I,
        node: NodeId,
        vocab: &Vocab,
    ) {
        let DefaultRules::Missing { per_rule, per_word } = self.default_rules else { return };
        let label = content_hash(vocab.text(input.label(node)).as_bytes());
        for way in input.ways(node) {
            let mut score = per_rule + self.parse * input.score(way);
            let children = input.children(way).iter();
            let parts: Vec<Part> = children
                .map(|child| match *child {
                    Child::Node(child) => Part::Vertex(vertex(child)),
                    Child::Leaf(position) => {
                        score += per_word;
                        Part::Word(input.words()[position as usize])
                    }
                })
                .collect();
            let spec = EdgeSpec {
                rule: RuleRef { layer: Layer::Sentence, id: way },
                score,
                nodes: 1,
                hash: fold(label, u64::from(way)),
            };
            builder.edge(spec, &parts);
        }
    }
}

/// The vertex of a node: both are numbered in post-order.
fn vertex(node: NodeId) -> VertexId {
    VertexId::from_index(node.index())
}
