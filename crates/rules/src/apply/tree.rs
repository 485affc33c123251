//! Matching rules against a source tree.
//!
//! At each node the trie of source sides and the tree are walked together: a word must be followed by itself,
//! an internal child either by a variable with its label or by its own expansion. The cost is the number of
//! partial treelets of the node that start some rule, whatever the size of the grammar.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Id, IndexVec, Vocab};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TranslationForest, VertexId};
use sylvan_trees::{Child, NodeId, Tree};

use crate::{Grammar, RuleId, Source, SourceId, TargetSide, Weights};

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

/// Calls `found` with every rule that matches at `node`, and the nodes that its variables stand for.
pub fn match_rules(grammar: &Grammar, tree: &Tree, node: NodeId, mut found: impl FnMut(RuleId, &[NodeId])) {
    struct Partial {
        at: SourceId,
        /// What is still to be matched, next last.
        agenda: Vec<Child>,
        bound: Vec<NodeId>,
    }
    let open = |node: NodeId| Source::Open(tree.label(node), tree.children(node).len() as u32);
    let Some(at) = grammar.step(Grammar::START, open(node)) else { return };
    let agenda: Vec<Child> = tree.children(node).iter().rev().copied().collect();
    let mut partials = vec![Partial { at, agenda, bound: Vec::new() }];
    while let Some(mut partial) = partials.pop() {
        match partial.agenda.pop() {
            None => {
                for &rule in grammar.ending_at(partial.at) {
                    found(rule, &partial.bound);
                }
            }
            Some(Child::Leaf(position)) => {
                let word = Source::Word(tree.words()[position as usize]);
                if let Some(at) = grammar.step(partial.at, word) {
                    partials.push(Partial { at, ..partial });
                }
            }
            Some(Child::Node(child)) => {
                if let Some(at) = grammar.step(partial.at, open(child)) {
                    let mut agenda = partial.agenda.clone();
                    agenda.extend(tree.children(child).iter().rev());
                    partials.push(Partial { at, agenda, bound: partial.bound.clone() });
                }
                if let Some(at) = grammar.step(partial.at, Source::Var(tree.label(child))) {
                    partial.bound.push(child);
                    partials.push(Partial { at, ..partial });
                }
            }
        }
    }
}

/// A grammar with weights, ready to be applied to trees.
#[derive(Debug)]
pub struct Applier<'g> {
    grammar: &'g Grammar,
    scores: IndexVec<RuleId, f64>,
    default_rules: DefaultRules,
}

impl<'g> Applier<'g> {
    /// Weighs the grammar's rules once.
    pub fn new(grammar: &'g Grammar, weights: &Weights, default_rules: DefaultRules) -> Self {
        Self { grammar, scores: grammar.scores(weights), default_rules }
    }

    /// The translation forest of a tree: one vertex per node, in post-order, and the root as goal.
    ///
    /// Words of the tree and of the grammar must come from `vocab`.
    pub fn forest(&self, tree: &Tree, vocab: &Vocab) -> TranslationForest {
        let sizes = tree.sizes();
        let mut builder = ForestBuilder::new();
        let mut parts = Vec::new();
        for node in tree.nodes() {
            builder.vertex(sizes[node], tree.span(node));
            match_rules(self.grammar, tree, node, |id, bound| {
                let rule = self.grammar.rule(id);
                parts.clear();
                parts.extend(rule.target().iter().map(|token| match *token {
                    TargetSide::Word(word) => Part::Word(word),
                    TargetSide::Var(variable) => Part::Vertex(vertex(bound[variable as usize])),
                }));
                let spec = EdgeSpec {
                    rule: RuleRef { layer: Layer::Table, id: id.0 },
                    score: self.scores[id],
                    nodes: rule.nodes(),
                    hash: self.grammar.hash(id),
                };
                builder.edge(spec, &parts);
            });
            if builder.edges_of_last() == 0 {
                self.add_default_rule(&mut builder, tree, node, vocab);
            }
        }
        builder.finish(vertex(tree.root()))
    }

    fn add_default_rule(&self, builder: &mut ForestBuilder, tree: &Tree, node: NodeId, vocab: &Vocab) {
        let DefaultRules::Missing { per_rule, per_word } = self.default_rules else { return };
        let mut score = per_rule;
        let parts: Vec<Part> = tree
            .children(node)
            .iter()
            .map(|child| match *child {
                Child::Node(child) => Part::Vertex(vertex(child)),
                Child::Leaf(position) => {
                    score += per_word;
                    Part::Word(tree.words()[position as usize])
                }
            })
            .collect();
        let label = content_hash(vocab.text(tree.label(node)).as_bytes());
        let spec = EdgeSpec {
            rule: RuleRef { layer: Layer::Sentence, id: node.0 },
            score,
            nodes: 1,
            hash: fold(label, u64::from(node.0)),
        };
        builder.edge(spec, &parts);
    }
}

/// The vertex of a tree node: both are numbered in post-order.
fn vertex(node: NodeId) -> VertexId {
    VertexId::from_index(node.index())
}
