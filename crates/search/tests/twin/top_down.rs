//! Incremental decoding (Huang & Mi 2010) from its definition: stacks of dotted rules; predict, scan, complete.
//!
//! ```text
//! bottom of the stack   [. goal]
//! predict               push [. target(e)] for an edge e of the vertex after the topmost dot; charges e
//! scan                  the topmost dot moves over words
//! complete              a rule with its dot at the end is popped; the dot below moves over its vertex
//! ```
//!
//! - *Signature*: the residual, the symbols right of the dots from the top down; of lower rules those right of the
//!   vertex that is being worked on. Or the stack itself.
//! - *Bin*, from the edges predicted: `Nodes`, the nodes of their source sides without words and variables; `AllNodes`,
//!   all nodes in them with words and variables, each counted once; `Words`, the words in their source sides.
//!   Where packed trees differ in size, words are always counted.
//! - *Future*, of the residual: `None`, nothing; `Rough`, f(goal) / n for each source word below its vertices;
//!   `Inside`, f of its vertices and the local scores of its words.
//! - *Estimate* of an option: the edge's score, the local scores of the words before its first vertex, and of its
//!   other symbols what the future says of them.

use sylvan_forest::{EdgeId, Target, TokenId, TranslationForest, VertexId};
use sylvan_search::{Future, Incremental, LanguageModel, Progress, Signature};

use super::engine::{Choice, Decoder, Stepped};
use super::estimate::{Estimate, lexical};

/// A rule with a dot in its target side; no edge stands for the bottom of the stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dotted {
    edge: Option<EdgeId>,
    dot: usize,
}

pub struct TopDown<'f> {
    forest: &'f TranslationForest,
    estimate: Estimate<'f>,
    config: Incremental,
}

impl<'f> TopDown<'f> {
    pub fn new<L: LanguageModel>(forest: &'f TranslationForest, lm: &L, config: Incremental) -> Self {
        Self { forest, estimate: Estimate::new(forest, lm), config }
    }

    fn target(&self, rule: &Dotted) -> Vec<Target> {
        rule.edge.map_or(vec![Target::Vertex(self.forest.goal())], |edge| self.forest.target(edge).to_vec())
    }

    /// The symbols still to be produced, first to last.
    pub fn residual(&self, stack: &[Dotted]) -> Vec<Target> {
        let mut symbols = Vec::new();
        for (height, rule) in stack.iter().enumerate().rev() {
            let done = if height + 1 == stack.len() { rule.dot } else { rule.dot + 1 };
            symbols.extend_from_slice(&self.target(rule)[done..]);
        }
        symbols
    }

    /// The vertex after the topmost dot.
    fn next(&self, stack: &[Dotted]) -> VertexId {
        match self.residual(stack)[0] {
            Target::Vertex(vertex) => vertex,
            Target::Bundle(_) => panic!("words are scanned before a step ends"),
        }
    }

    /// What an edge adds to what its bin counts.
    fn progress(&self, edge: EdgeId) -> usize {
        let nodes = self.forest.edge(edge).spec.nodes as usize;
        let words = lexical(self.forest, edge).len();
        let counted = if self.forest.is_uneven() { Progress::Words } else { self.config.progress };
        match counted {
            Progress::Nodes => nodes,
            Progress::Words => words,
            Progress::AllNodes => {
                // The edge's root was counted with the edge above it, as one of its variables.
                let root_is_new = usize::from(self.forest.edge(edge).head == self.forest.goal());
                nodes - 1 + words + self.forest.tails(edge).count() + root_is_new
            }
        }
    }

    /// What the future says of a symbol.
    fn value(&self, symbol: Target) -> f64 {
        match (self.config.future, symbol) {
            (Future::None, _) | (Future::Rough, Target::Bundle(_)) => 0.0,
            (Future::Inside | Future::Phrases, symbol) => self.estimate.symbol(symbol),
            (Future::Rough, Target::Vertex(vertex)) => {
                let goal = self.forest.goal();
                let words = self.forest.span(goal).len() as f64;
                self.estimate.vertex(goal) / words * self.forest.span(vertex).len() as f64
            }
        }
    }

    fn values(&self, symbols: &[Target]) -> f64 {
        symbols.iter().map(|&symbol| self.value(symbol)).sum()
    }
}

impl Decoder for TopDown<'_> {
    type Stack = Vec<Dotted>;
    type Signature = (Vec<Target>, Vec<Dotted>);
    type Class = VertexId;
    type Move = EdgeId;

    fn axiom(&self) -> Vec<Dotted> {
        vec![Dotted { edge: None, dot: 0 }]
    }

    fn is_complete(&self, stack: &Vec<Dotted>) -> bool {
        self.residual(stack).is_empty()
    }

    fn signature(&self, stack: &Vec<Dotted>) -> (Vec<Target>, Vec<Dotted>) {
        match self.config.signature {
            Signature::Residual => (self.residual(stack), Vec::new()),
            Signature::Stack => (Vec::new(), stack.clone()),
        }
    }

    fn class(&self, stack: &Vec<Dotted>) -> VertexId {
        self.next(stack)
    }

    fn bin(&self, _stack: &Vec<Dotted>, edges: &[EdgeId]) -> usize {
        edges.iter().map(|&edge| self.progress(edge)).sum()
    }

    fn future(&self, stack: &Vec<Dotted>) -> f64 {
        self.values(&self.residual(stack))
    }

    fn rest(&self, stack: &Vec<Dotted>) -> f64 {
        self.values(&self.residual(stack)[1..])
    }

    fn options(&self, stack: &Vec<Dotted>) -> Vec<Choice<EdgeId>> {
        let choice = |edge| {
            let target = self.forest.target(edge);
            let first_vertex = target.iter().position(|symbol| matches!(symbol, Target::Vertex(_)));
            let (at_once, later) = target.split_at(first_vertex.unwrap_or(target.len()));
            let words: f64 = at_once.iter().map(|&symbol| self.estimate.symbol(symbol)).sum();
            let estimate = self.forest.edge(edge).spec.score + words + self.values(later);
            Choice { estimate, advance: self.progress(edge), take: edge }
        };
        self.forest.edges(self.next(stack)).map(choice).collect()
    }

    fn step(&self, stack: &Vec<Dotted>, edge: &EdgeId) -> Stepped<Vec<Dotted>> {
        let mut stack = stack.clone();
        let mut words: Vec<TokenId> = Vec::new();
        stack.push(Dotted { edge: Some(*edge), dot: 0 });
        while let Some(top) = stack.last_mut() {
            match self.target(top).get(top.dot) {
                Some(Target::Vertex(_)) => break,
                Some(Target::Bundle(bundle)) => {
                    words.extend_from_slice(self.forest.bundle(*bundle));
                    top.dot += 1;
                }
                None if stack.len() == 1 => break,
                None => {
                    stack.pop();
                    let below = stack.last_mut().expect("the bottom is never popped");
                    below.dot += 1;
                }
            }
        }
        Stepped { words, successors: vec![(stack, vec![*edge])] }
    }
}
