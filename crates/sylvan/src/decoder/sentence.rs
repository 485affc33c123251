//! What is translated: a tree or a packed forest, prepared as the table's trees were, with its terms compiled in.

use sylvan_base::{Id, Span, Symbol};
use sylvan_forest::VertexId;
use sylvan_rules::{Grammar, Preprocessing, RuleId};
use sylvan_trees::{CleanUp, NodeId, PackedForest, Tree};

use super::Decoder;
use super::borrowed::borrow;
use super::glossary::Occurrence;

/// The syntax of a sentence.
#[derive(Debug, Clone)]
pub enum Syntax {
    /// One tree.
    Tree(Tree),
    /// Many trees.
    Forest(PackedForest),
}

impl Syntax {
    /// The label of a vertex of the translation forest: its vertices are numbered like the nodes.
    pub(super) fn label(&self, vertex: VertexId) -> Symbol {
        let node = NodeId::from_index(vertex.index());
        match self {
            Syntax::Tree(tree) => tree.label(node),
            Syntax::Forest(forest) => forest.label(node),
        }
    }
}

/// A sentence that is ready to be translated.
#[derive(Debug)]
pub struct Sentence {
    /// Its number, counted from 1; overlays know sentences by it.
    pub number: Option<u64>,
    /// The syntax that rules are matched against.
    pub syntax: Syntax,
    /// Which words of the sentence each leaf stands for.
    pub leaves: Vec<Span>,
    /// Rules for this sentence alone, and of each the rule of the table that it was made of.
    pub own: Option<Grammar>,
    pub(super) borrowed: Vec<Option<RuleId>>,
    /// Terms that are in every translation.
    pub terms: Vec<Occurrence>,
    /// Terms that overlap others and are translated freely.
    pub missed: Vec<Occurrence>,
}

impl Sentence {
    /// A sentence without terms, its syntax as it is.
    pub fn new(syntax: Syntax) -> Self {
        let words = match &syntax {
            Syntax::Tree(tree) => tree.words().len(),
            Syntax::Forest(forest) => forest.words().len(),
        };
        let leaves = (0..words).map(|position| Span::new(position, position + 1)).collect();
        Self {
            number: None,
            syntax,
            leaves,
            own: None,
            borrowed: Vec::new(),
            terms: Vec::new(),
            missed: Vec::new(),
        }
    }
}

impl Decoder {
    /// Prepares a tree; `None` if nothing is left of it.
    pub fn sentence(&mut self, tree: Tree) -> Option<Sentence> {
        let preprocessing = self.grammar.meta().preprocessing;
        // Terms are words of the sentence without traces, and brackets go before nodes are divided.
        let cleaned = preprocessing.clean_up.apply(tree, &mut self.vocab)?;
        let divide = Preprocessing { clean_up: CleanUp::as_is(), ..preprocessing };
        let (terms, missed) = self.glossary.find(cleaned.words());
        if terms.is_empty() {
            return Some(Sentence::new(Syntax::Tree(divide.apply(cleaned, &mut self.vocab)?)));
        }
        let leaves = leaves(cleaned.words().len(), &terms);
        let tree = divide.apply(self.glossary.compile(&cleaned, &terms), &mut self.vocab)?;
        let before = divide.apply(cleaned, &mut self.vocab)?;
        let allowed = |rule| self.overlay.as_ref().is_none_or(|overlay| overlay.allows(rule, None));
        let around = borrow(&self.grammar, &self.weights, allowed, &before, &self.glossary.borrowing(&terms));
        let (own, borrowed) = self.glossary.rules(&tree, &around, &self.grammar, &self.vocab);
        let syntax = Syntax::Tree(tree);
        Some(Sentence { number: None, syntax, leaves, own: Some(own), borrowed, terms, missed })
    }

    /// Prepares a packed forest. If it holds terms of the glossary, its best tree is taken: terms cut through
    /// brackets, which a forest has too many of.
    pub fn forest_sentence(&mut self, forest: PackedForest) -> Option<Sentence> {
        if self.glossary.find(forest.words()).0.is_empty() {
            let preprocessing = self.grammar.meta().preprocessing;
            return Some(Sentence::new(Syntax::Forest(preprocessing.apply_forest(forest, &mut self.vocab))));
        }
        self.sentence(forest.best().0)
    }
}

/// One span per leaf: that of a term, or one word.
fn leaves(words: usize, terms: &[Occurrence]) -> Vec<Span> {
    let mut leaves = Vec::new();
    let mut at = 0;
    for term in terms {
        leaves.extend((at..term.span.start as usize).map(|position| Span::new(position, position + 1)));
        leaves.push(term.span);
        at = term.span.end as usize;
    }
    leaves.extend((at..words).map(|position| Span::new(position, position + 1)));
    leaves
}
