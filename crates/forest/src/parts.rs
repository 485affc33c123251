//! What forests are made of: places, rules, target sides.

use sylvan_base::{Symbol, define_id};

use crate::Token;

define_id!(
    /// A place in the input: tree node or span. Tails always have smaller ids than heads.
    VertexId
);
define_id!(
    /// A rule application.
    EdgeId
);
define_id!(
    /// A run of target words. Equal runs have equal ids within one forest; [`BundleId::EMPTY`] has no words.
    BundleId
);

impl BundleId {
    /// The bundle without words: the target side of a rule that translates to nothing.
    pub const EMPTY: BundleId = BundleId(0);
}

/// Whether an edge's rule is one of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// A rule of a grammar: learnt, added by a correction, or made for this input.
    Grammar,
    /// The default rule of a place where no rule matches.
    Default,
}

/// A rule: its layer, and its number in the numbering of that layer's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleRef {
    /// Which layer.
    pub layer: Layer,
    /// Which rule of it.
    pub id: u32,
}

/// One symbol of an edge's target side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Words to emit.
    Bundle(BundleId),
    /// A place to translate.
    Vertex(VertexId),
}

/// What [`ForestBuilder::edge`](crate::ForestBuilder::edge) takes: a target side word by word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A target word.
    Word(Token),
    /// A place to translate; must have been declared before the head.
    Vertex(VertexId),
}

impl Part {
    /// A target word that is affiliated with no source word.
    pub fn word(word: Symbol) -> Self {
        Self::Word(Token::from(word))
    }
}

/// What describes an edge besides its target side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeSpec {
    /// The rule.
    pub rule: RuleRef,
    /// Weighted sum of all features that need no context.
    pub score: f64,
    /// How many input nodes the rule's source side covers: |C(r)| of Huang & Mi 2010. Over a tree, the nodes
    /// below the head are these and those below the tails.
    pub nodes: u32,
    /// Hash of the rule's content, for ties: must not depend on the order in which rules were loaded.
    pub hash: u64,
}
