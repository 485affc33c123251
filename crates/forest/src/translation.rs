//! Vertices, edges and bundles in flat arrays.

use sylvan_base::{Id, IndexVec, Span, Symbol};

use crate::{
    BundleId, EdgeId, EdgeSpec, GapCosts, Glue, Orientations, Reordering, Target, Token, TokenId, VertexId,
};

/// A rule application: the CFG projection of a matched rule (Huang & Mi 2010).
#[derive(Debug, Clone)]
pub struct Edge {
    /// Where it applies.
    pub head: VertexId,
    /// See [`EdgeSpec`].
    pub spec: EdgeSpec,
    pub(crate) target: std::ops::Range<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Vertex {
    pub(crate) edges: std::ops::Range<u32>,
    pub(crate) nodes: u32,
    pub(crate) span: Span,
}

/// All derivations of one input.
///
/// Edges are grouped by head, vertices are in topological order, target sides alternate between vertices and
/// maximal bundles and are never empty (a rule without target words has the one symbol
/// [`BundleId::EMPTY`]). Edges that cannot be completed are gone: see
/// [`ForestBuilder::finish`](crate::ForestBuilder::finish).
#[derive(Debug, Clone)]
pub struct TranslationForest {
    pub(crate) vertices: IndexVec<VertexId, Vertex>,
    pub(crate) edges: IndexVec<EdgeId, Edge>,
    pub(crate) targets: Vec<Target>,
    pub(crate) bundle_ends: Vec<u32>,
    pub(crate) words: Vec<TokenId>,
    pub(crate) tokens: IndexVec<TokenId, Token>,
    /// The label of each vertex; empty if vertices have none.
    pub(crate) labels: Vec<Symbol>,
    /// The input's own score of each edge; empty if it has none.
    pub(crate) inputs: Vec<f64>,
    /// What estimates see of each edge's score; empty if they see all of it.
    pub(crate) outlooks: Vec<f64>,
    /// Per edge, which of its bundles each of its own source words belongs to; empty if links were not asked for.
    pub(crate) owners: Vec<Box<[u8]>>,
    /// Which vertices begin the sentence in every derivation; empty if that is known of none.
    pub(crate) begins: Vec<bool>,
    /// What another order costs; `None` where target sides are the order.
    pub(crate) reordering: Option<Box<Reordering>>,
    /// What gaps cost, where rules translate from left to right.
    pub(crate) gap_costs: Option<Box<GapCosts>>,
    /// What can be glued on demand.
    pub(crate) glue: Option<Box<Glue>>,
    pub(crate) uneven: bool,
    pub(crate) goal: VertexId,
}

impl TranslationForest {
    /// The vertex that stands for the whole input.
    pub fn goal(&self) -> VertexId {
        self.goal
    }

    /// Whether derivations of one vertex cover different numbers of input nodes, as over packed trees of different
    /// sizes. Then nodes do not measure progress, but source words do.
    pub fn is_uneven(&self) -> bool {
        self.uneven
    }

    /// Whether the goal is known to have no derivation at all. With glue, only a search finds out.
    pub fn is_dead(&self) -> bool {
        self.glue.is_none() && self.vertices[self.goal].edges.is_empty()
    }

    /// All vertices, tails before heads.
    pub fn vertices(&self) -> impl DoubleEndedIterator<Item = VertexId> + ExactSizeIterator + use<> {
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

    /// What estimates of the future see of an edge's score: all of it, unless the forest was made otherwise
    /// ([`ForestBuilder::outlook`](crate::ForestBuilder::outlook)).
    #[inline]
    pub fn outlook(&self, edge: EdgeId) -> f64 {
        self.outlooks.get(edge.index()).copied().unwrap_or(self.edges[edge].spec.score)
    }

    /// Whether estimates see something else than the edges' scores.
    pub fn has_outlooks(&self) -> bool {
        !self.outlooks.is_empty()
    }

    /// Which of an edge's bundles, by place among them, each of its own source words belongs to by the rule's links:
    /// the words below its head and below none of its tails, in order. `None` if links were not asked for.
    pub fn owners(&self, edge: EdgeId) -> Option<&[u8]> {
        self.owners.get(edge.index()).map(|owners| &**owners)
    }

    /// Whether a vertex, wherever it is used, begins the sentence: its first word comes after `<s>`.
    #[inline]
    pub fn begins(&self, vertex: VertexId) -> bool {
        self.begins.get(vertex.index()).copied().unwrap_or(false)
    }

    /// What gaps cost, where rules translate from left to right.
    pub fn gap_costs(&self) -> Option<&GapCosts> {
        self.gap_costs.as_deref()
    }

    /// What another order than that of the source costs, where the order is free.
    pub fn reordering(&self) -> Option<&Reordering> {
        self.reordering.as_deref()
    }

    /// What an edge thinks of its neighbours in the target; nothing if nothing is known.
    #[inline]
    pub fn orientations(&self, edge: EdgeId) -> Orientations {
        let known = self.reordering.as_ref().and_then(|reordering| reordering.edges.get(edge.index()));
        known.copied().unwrap_or_default()
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

    /// The target words of the sentence, each once; their ids are dense.
    pub fn tokens(&self) -> &[Token] {
        self.tokens.as_slice()
    }

    /// A target word of the sentence.
    #[inline]
    pub fn token(&self, token: TokenId) -> Token {
        self.tokens[token]
    }

    /// The label of a vertex, if vertices have labels.
    pub fn label(&self, vertex: VertexId) -> Option<Symbol> {
        self.labels.get(vertex.index()).copied()
    }

    /// The words of a bundle as symbols.
    pub fn bundle_words(&self, bundle: BundleId) -> impl ExactSizeIterator<Item = Symbol> + '_ {
        self.bundle(bundle).iter().map(|&token| self.token(token).word)
    }

    /// A bundle's words.
    #[inline]
    pub fn bundle(&self, bundle: BundleId) -> &[TokenId] {
        let index = bundle.index();
        let start = if index == 0 { 0 } else { self.bundle_ends[index - 1] as usize };
        &self.words[start..self.bundle_ends[index] as usize]
    }

    /// How many distinct bundles there are; their ids are dense.
    pub fn bundle_count(&self) -> usize {
        self.bundle_ends.len()
    }

    /// The forest with only some of its edges, without those that then cannot be completed. Vertices and
    /// bundles keep their ids, edges do not.
    pub fn only(&self, keep: impl Fn(EdgeId) -> bool) -> TranslationForest {
        self.clone().retain(keep)
    }

    pub(crate) fn retain(mut self, keep: impl Fn(EdgeId) -> bool) -> TranslationForest {
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
        let outlooks = std::mem::take(&mut self.outlooks);
        let mut owners = std::mem::take(&mut self.owners);
        let oriented = self
            .reordering
            .as_mut()
            .map(|reordering| std::mem::take(&mut reordering.edges))
            .unwrap_or_default();
        for vertex in self.vertices() {
            let start = self.edges.len() as u32;
            for edge in self.edges(vertex).filter(|edge| kept[edge.index()]) {
                self.edges.push(edges[edge].clone());
                if !inputs.is_empty() {
                    self.inputs.push(inputs.get(edge.index()).copied().unwrap_or(0.0));
                }
                self.outlooks.extend(outlooks.get(edge.index()));
                self.owners.extend(owners.get_mut(edge.index()).map(std::mem::take));
                if let (Some(reordering), false) = (&mut self.reordering, oriented.is_empty()) {
                    reordering.edges.push(oriented.get(edge.index()).copied().unwrap_or_default());
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
