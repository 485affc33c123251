//! Vertices, edges and bundles in flat arrays.

use sylvan_base::{HashMap, Id, IndexVec, Span, Symbol, define_id};

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

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// The rule table.
    Table,
    /// Made for this input alone: a default rule for a place where no rule matches.
    Sentence,
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

/// What [`ForestBuilder::edge`] takes: a target side word by word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A target word.
    Word(Symbol),
    /// A place to translate; must have been declared before the head.
    Vertex(VertexId),
}

/// What is said about an edge beside its target side.
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

/// A rule application: the CFG projection of a matched rule (Huang & Mi 2010).
#[derive(Debug, Clone)]
pub struct Edge {
    /// Where it applies.
    pub head: VertexId,
    /// See [`EdgeSpec`].
    pub spec: EdgeSpec,
    target: std::ops::Range<u32>,
}

#[derive(Debug, Clone)]
struct Vertex {
    edges: std::ops::Range<u32>,
    nodes: u32,
    span: Span,
}

/// All derivations of one input.
///
/// Edges are grouped by head, vertices are in topological order, target sides alternate between vertices and
/// maximal bundles and are never empty (a rule without target words has the one symbol
/// [`BundleId::EMPTY`]). Edges that cannot be completed are gone: see [`ForestBuilder::finish`].
#[derive(Debug, Clone)]
pub struct TranslationForest {
    vertices: IndexVec<VertexId, Vertex>,
    edges: IndexVec<EdgeId, Edge>,
    targets: Vec<Target>,
    bundle_ends: Vec<u32>,
    words: Vec<Symbol>,
    /// Per edge the score that the input itself has there; empty if there is none.
    inputs: Vec<f64>,
    goal: VertexId,
}

impl TranslationForest {
    /// The vertex that stands for the whole input.
    pub fn goal(&self) -> VertexId {
        self.goal
    }

    /// Whether the goal has no derivation at all.
    pub fn is_dead(&self) -> bool {
        self.vertices[self.goal].edges.is_empty()
    }

    /// All vertices, tails before heads.
    pub fn vertices(&self) -> impl DoubleEndedIterator<Item = VertexId> + use<> {
        (0..self.vertices.len()).map(VertexId::from_index)
    }

    /// All edges, grouped by head.
    pub fn edge_ids(&self) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        (0..self.edges.len()).map(EdgeId::from_index)
    }

    /// The edges headed by a vertex: R(η).
    pub fn edges(
        &self,
        vertex: VertexId,
    ) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        let range = self.vertices[vertex].edges.clone();
        range.map(EdgeId)
    }

    /// An edge.
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge]
    }

    /// The parser's score of what an edge covers: 0 over a tree.
    pub fn input_score(&self, edge: EdgeId) -> f64 {
        self.inputs.get(edge.index()).copied().unwrap_or(0.0)
    }

    /// An edge's target side.
    pub fn target(&self, edge: EdgeId) -> &[Target] {
        let range = &self.edges[edge].target;
        &self.targets[range.start as usize..range.end as usize]
    }

    /// The vertices of an edge's target side, in target order.
    pub fn tails(&self, edge: EdgeId) -> impl DoubleEndedIterator<Item = VertexId> + '_ {
        self.target(edge).iter().filter_map(|&symbol| match symbol {
            Target::Vertex(vertex) => Some(vertex),
            Target::Bundle(_) => None,
        })
    }

    /// A bundle's words.
    pub fn bundle(&self, bundle: BundleId) -> &[Symbol] {
        let index = bundle.index();
        let start = if index == 0 { 0 } else { self.bundle_ends[index - 1] as usize };
        &self.words[start..self.bundle_ends[index] as usize]
    }

    /// How many distinct bundles there are; their ids are dense.
    pub fn bundle_count(&self) -> usize {
        self.bundle_ends.len()
    }

    /// The forest with some of its edges, and without those that cannot be completed then. Vertices and bundles keep
    /// their ids, edges do not.
    pub fn only(&self, keep: impl Fn(EdgeId) -> bool) -> TranslationForest {
        self.clone().retain(keep)
    }

    fn retain(mut self, keep: impl Fn(EdgeId) -> bool) -> TranslationForest {
        let mut alive = vec![false; self.vertices.len()];
        let mut kept = Vec::with_capacity(self.edges.len());
        for vertex in self.vertices() {
            for edge in self.edges(vertex) {
                let stays = keep(edge) && self.tails(edge).all(|tail| alive[tail.index()]);
                alive[vertex.index()] |= stays;
                kept.push(stays);
            }
        }
        if kept.iter().all(|&stays| stays) {
            return self;
        }
        let edges = std::mem::replace(&mut self.edges, IndexVec::new());
        let inputs = std::mem::take(&mut self.inputs);
        for vertex in self.vertices() {
            let start = self.edges.len() as u32;
            for edge in self.edges(vertex).filter(|edge| kept[edge.index()]) {
                self.edges.push(edges[edge].clone());
                if !inputs.is_empty() {
                    self.inputs.push(inputs.get(edge.index()).copied().unwrap_or(0.0));
                }
            }
            self.vertices[vertex].edges = start..self.edges.len() as u32;
        }
        self
    }

    /// Input nodes below a vertex, itself included.
    pub fn nodes(&self, vertex: VertexId) -> u32 {
        self.vertices[vertex].nodes
    }

    /// The source words below a vertex.
    pub fn span(&self, vertex: VertexId) -> Span {
        self.vertices[vertex].span
    }
}

/// Builds a [`TranslationForest`] bottom-up: declare a vertex, then its edges, then the next vertex.
#[derive(Debug, Default)]
pub struct ForestBuilder {
    vertices: IndexVec<VertexId, Vertex>,
    edges: IndexVec<EdgeId, Edge>,
    targets: Vec<Target>,
    bundle_ends: Vec<u32>,
    words: Vec<Symbol>,
    bundles: HashMap<Box<[Symbol]>, BundleId>,
    run: Vec<Symbol>,
    inputs: Vec<f64>,
}

impl ForestBuilder {
    /// An empty forest.
    pub fn new() -> Self {
        let mut builder = Self::default();
        // The empty bundle is bundle 0.
        builder.bundle();
        builder
    }

    /// Declares the next vertex, with the number of input nodes and the source words below it.
    pub fn vertex(&mut self, nodes: u32, span: Span) -> VertexId {
        let next = self.edges.len() as u32;
        self.vertices.push(Vertex { edges: next..next, nodes, span })
    }

    /// Adds an edge to the vertex declared last.
    ///
    /// # Panics
    /// If there is no vertex yet, or a tail is not below the head: the caller's error, not the user's.
    pub fn edge(&mut self, spec: EdgeSpec, target: &[Part]) {
        let head = VertexId::from_index(self.vertices.len().checked_sub(1).expect("a vertex comes first"));
        let start = self.targets.len() as u32;
        self.run.clear();
        for &part in target {
            match part {
                Part::Word(word) => self.run.push(word),
                Part::Vertex(vertex) => {
                    assert!(vertex < head, "tails come before their head");
                    self.flush_run();
                    self.targets.push(Target::Vertex(vertex));
                }
            }
        }
        self.flush_run();
        if self.targets.len() as u32 == start {
            self.targets.push(Target::Bundle(BundleId::EMPTY));
        }
        self.edges.push(Edge { head, spec, target: start..self.targets.len() as u32 });
        self.vertices[head].edges.end += 1;
    }

    /// The parser's score of what the edge added last covers; 0 unless it is said.
    pub fn input_score(&mut self, score: f64) {
        if score != 0.0 {
            self.inputs.resize(self.edges.len().saturating_sub(1), 0.0);
            self.inputs.push(score);
        }
    }

    /// How many edges the vertex declared last has so far.
    pub fn edges_of_last(&self) -> usize {
        self.vertices.last().map_or(0, |vertex| vertex.edges.len())
    }

    fn flush_run(&mut self) {
        if !self.run.is_empty() {
            let bundle = self.bundle();
            self.targets.push(Target::Bundle(bundle));
            self.run.clear();
        }
    }

    /// The id of the words in `self.run`.
    fn bundle(&mut self) -> BundleId {
        if let Some(&bundle) = self.bundles.get(self.run.as_slice()) {
            return bundle;
        }
        let bundle = BundleId::from_index(self.bundle_ends.len());
        self.words.extend_from_slice(&self.run);
        self.bundle_ends.push(self.words.len() as u32);
        self.bundles.insert(self.run.clone().into_boxed_slice(), bundle);
        bundle
    }

    /// Completes the forest and removes edges with a tail that has no derivation, so that no search starts
    /// what it cannot finish.
    pub fn finish(self, goal: VertexId) -> TranslationForest {
        let Self { vertices, edges, targets, bundle_ends, words, inputs, .. } = self;
        TranslationForest { vertices, edges, targets, bundle_ends, words, inputs, goal }.retain(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(id: u32) -> EdgeSpec {
        EdgeSpec { rule: RuleRef { layer: Layer::Table, id }, score: -1.0, nodes: 1, hash: u64::from(id) }
    }

    #[test]
    fn words_are_bundled_and_equal_bundles_shared() {
        let mut builder = ForestBuilder::new();
        let (a, b) = (Symbol(0), Symbol(1));
        let x = builder.vertex(1, Span::new(0, 1));
        builder.edge(spec(0), &[Part::Word(a), Part::Word(b)]);
        builder.edge(spec(1), &[]);
        let top = builder.vertex(2, Span::new(0, 2));
        builder.edge(spec(2), &[Part::Word(a), Part::Word(b), Part::Vertex(x), Part::Word(b)]);
        let forest = builder.finish(top);
        let edges: Vec<EdgeId> = forest.edge_ids().collect();
        let [Target::Bundle(ab)] = forest.target(edges[0]) else { panic!() };
        assert_eq!(forest.bundle(*ab), [a, b]);
        assert_eq!(forest.target(edges[1]), [Target::Bundle(BundleId::EMPTY)]);
        assert!(forest.bundle(BundleId::EMPTY).is_empty());
        let [Target::Bundle(first), Target::Vertex(v), Target::Bundle(last)] = forest.target(edges[2]) else {
            panic!()
        };
        assert_eq!((first, *v), (ab, x));
        assert_eq!(forest.bundle(*last), [b]);
    }

    #[test]
    fn edges_that_cannot_be_completed_disappear_upwards() {
        let mut builder = ForestBuilder::new();
        let dead = builder.vertex(1, Span::new(0, 1));
        let middle = builder.vertex(2, Span::new(0, 1));
        builder.edge(spec(0), &[Part::Vertex(dead)]);
        let top = builder.vertex(3, Span::new(0, 1));
        builder.edge(spec(1), &[Part::Vertex(middle)]);
        builder.edge(spec(2), &[Part::Word(Symbol(5))]);
        let forest = builder.finish(top);
        assert_eq!(forest.edges(dead).len(), 0);
        assert_eq!(forest.edges(middle).len(), 0);
        let left: Vec<u32> = forest.edges(top).map(|edge| forest.edge(edge).spec.rule.id).collect();
        assert_eq!(left, [2]);
        assert!(!forest.is_dead());
    }
}
