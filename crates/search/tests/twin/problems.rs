//! Random forests and language models for the twin.
//!
//! All scores are multiples of a power of two, the *grain*, so that sums are exact in any order of summation and no
//! comparison depends on rounding. With a fine grain ties are rare; with a coarse one they are everywhere.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Rng, Span, Symbol};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TokenId, TranslationForest, VertexId};
use sylvan_search::LanguageModel;

/// Ties are rare.
pub const FINE: f64 = 1.0 / (1 << 20) as f64;
/// Ties are common.
pub const COARSE: f64 = 0.25;

/// A model of any order up to 4 whose scores, from -4 to 0, are a hash of history and word.
#[derive(Debug)]
pub struct GrainLm {
    pub order: usize,
    pub seed: u64,
    pub grain: f64,
    /// The words of the forest's tokens.
    tokens: Vec<Symbol>,
}

/// The last words, newest first; how many are known.
type History = ([u32; 3], usize);

const BEGIN: u32 = u32::MAX;
const END: u32 = u32::MAX - 1;

impl GrainLm {
    pub fn new(forest: &TranslationForest, order: usize, seed: u64, grain: f64) -> Self {
        Self { order, seed, grain, tokens: forest.tokens().iter().map(|token| token.word).collect() }
    }

    fn value(&self, (words, known): History, word: u32) -> f64 {
        let hash = words[..known].iter().fold(self.seed, |hash, &word| fold(hash, u64::from(word)));
        let hash = content_hash(&fold(fold(hash, known as u64), u64::from(word)).to_le_bytes());
        let values = (4.0 / self.grain) as u64;
        -((hash % values) as f64 + 1.0) * self.grain
    }
}

impl LanguageModel for GrainLm {
    type State = History;
    fn order(&self) -> usize {
        self.order
    }
    fn begin(&self) -> History {
        let mut words = [0; 3];
        words[..self.order - 1].fill(BEGIN);
        (words, self.order - 1)
    }
    fn null(&self) -> History {
        ([0; 3], 0)
    }
    fn score(&self, state: History, token: TokenId) -> (f64, History) {
        let word = self.tokens[token.0 as usize].0;
        let (mut words, known) = state;
        words.copy_within(0..2, 1);
        words[0] = word;
        words[self.order - 1..].fill(0);
        (self.value(state, word), (words, (known + 1).min(self.order - 1)))
    }
    fn end(&self, state: History) -> f64 {
        self.value(state, END)
    }
}

/// What a random forest is like.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Source words.
    pub words: usize,
    /// Rules per node, at least and at most.
    pub rules: (usize, usize),
    /// Different target words.
    pub vocabulary: usize,
    pub grain: f64,
    /// Whether each rule with source words has target words, so that no source word is covered without a scan.
    pub scans_cover_all: bool,
    /// How often a node has one child, which covers the same words.
    pub chains: f64,
    /// How often target words come last in their rules.
    pub late: f64,
    /// Two trees over the same words, packed.
    pub packed: bool,
    /// Only a few different hashes of rules, so that content does not decide all ties.
    pub few_hashes: bool,
    /// Rules say which of their bundles covers which source word.
    pub linked: bool,
    /// Estimates see other numbers than the scores.
    pub outlooks: bool,
}

enum Child {
    Word,
    Node(Node),
}

struct Node {
    span: Span,
    children: Vec<Child>,
    /// Nodes below it, itself included.
    nodes: u32,
    vertex: VertexId,
}

#[derive(Default)]
struct Treelet {
    nodes: u32,
    words: u32,
    variables: Vec<VertexId>,
}

/// A random forest.
pub fn forest(rng: &mut Rng, shape: Shape) -> TranslationForest {
    let mut making = Making { rng, shape, builder: ForestBuilder::new() };
    let whole = Span::new(0, shape.words);
    let mut trees = vec![making.tree(whole)];
    if shape.packed {
        trees.push(making.tree(whole));
    }
    for tree in &mut trees {
        for child in &mut tree.children {
            if let Child::Node(node) = child {
                making.vertices(node);
            }
        }
    }
    let goal = making.builder.vertex(trees[0].nodes, whole);
    for tree in &trees {
        making.edges(tree);
    }
    making.builder.finish(goal)
}

struct Making<'r> {
    rng: &'r mut Rng,
    shape: Shape,
    builder: ForestBuilder,
}

impl Making<'_> {
    fn tree(&mut self, span: Span) -> Node {
        let mut children = Vec::new();
        if self.rng.chance(self.shape.chains) {
            children.push(Child::Node(self.tree(span)));
        } else if span.len() == 1 {
            children.push(Child::Word);
        } else {
            let mut start = span.start as usize;
            let mut parts = 2 + self.rng.below(2.min(span.len() - 1));
            while parts > 0 {
                let left = span.end as usize - start;
                let width = if parts == 1 { left } else { 1 + self.rng.below(left - parts + 1) };
                children.push(match width == 1 && self.rng.chance(0.2) {
                    true => Child::Word,
                    false => Child::Node(self.tree(Span::new(start, start + width))),
                });
                start += width;
                parts -= 1;
            }
        }
        let below = children.iter().map(|child| if let Child::Node(node) = child { node.nodes } else { 0 });
        let nodes = 1 + below.sum::<u32>();
        Node { span, children, nodes, vertex: VertexId(u32::MAX) }
    }

    /// Declares the vertices of a tree and their edges, children first.
    fn vertices(&mut self, node: &mut Node) {
        for child in &mut node.children {
            if let Child::Node(child) = child {
                self.vertices(child);
            }
        }
        node.vertex = self.builder.vertex(node.nodes, node.span);
        // Now and then a node lives only inside larger rules.
        if !self.rng.chance(0.05) {
            self.edges(node);
        }
    }

    fn edges(&mut self, node: &Node) {
        let (least, most) = self.shape.rules;
        for _ in 0..least + self.rng.below(most - least + 1) {
            let mut treelet = Treelet::default();
            self.treelet(node, &mut treelet);
            let Treelet { nodes, words, variables } = treelet;
            let mut target: Vec<Part> = variables.into_iter().map(Part::Vertex).collect();
            if self.rng.chance(0.4) {
                self.rng.shuffle(&mut target);
            }
            let least = usize::from(self.shape.scans_cover_all && words > 0);
            for _ in 0..least.max(*self.rng.pick(&[0, 0, 1, 1, 1, 2, 3])) {
                let word = Part::word(Symbol(self.rng.below(self.shape.vocabulary) as u32));
                let last = target.len();
                let at = if self.rng.chance(self.shape.late) { last } else { self.rng.below(last + 1) };
                target.insert(at, word);
            }
            let steps = (3.5 / self.shape.grain) as usize;
            let score = 0.5 - self.rng.below(steps) as f64 * self.shape.grain;
            let hash = if self.shape.few_hashes { self.rng.below(4) as u64 } else { self.rng.next_u64() };
            let rule = RuleRef { layer: Layer::Grammar, id: 0 };
            self.builder.edge(EdgeSpec { rule, score, nodes, hash }, &target);
            if self.shape.outlooks {
                self.builder.outlook(-(self.rng.below(steps) as f64) * self.shape.grain);
            }
            if self.shape.linked {
                let inside = |part: &&[Part]| matches!(part[0], Part::Word(_));
                let same_kind = |a: &Part, b: &Part| matches!((a, b), (Part::Word(_), Part::Word(_)));
                let bundles = target.chunk_by(same_kind).filter(inside).count().max(1);
                self.builder.owners((0..words).map(|_| self.rng.below(bundles) as u8).collect());
            }
        }
    }

    /// A source side: each node below is a variable or expanded.
    fn treelet(&mut self, node: &Node, treelet: &mut Treelet) {
        treelet.nodes += 1;
        for child in &node.children {
            match child {
                Child::Word => treelet.words += 1,
                Child::Node(child) if self.rng.chance(0.7) => treelet.variables.push(child.vertex),
                Child::Node(child) => self.treelet(child, treelet),
            }
        }
    }
}
