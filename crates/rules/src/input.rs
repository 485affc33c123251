//! What rules are matched against: a tree, or a packed forest of trees.

use sylvan_base::{Id, Span, Symbol};
use sylvan_trees::{Child, EdgeId, NodeId, PackedForest, Tree};

/// A source sentence with its syntax. Nodes are numbered children first; each node can be divided in one or more
/// *ways* (a tree: one; a packed forest: its edges), which are numbered across all nodes.
pub trait Input {
    /// How many nodes there are; the root is the last.
    fn node_count(&self) -> usize;
    /// How many ways there are.
    fn way_count(&self) -> usize;
    /// The label of a node.
    fn label(&self, node: NodeId) -> Symbol;
    /// The words below a node.
    fn span(&self, node: NodeId) -> Span;
    /// The sentence.
    fn words(&self) -> &[Symbol];
    /// The ways to divide a node.
    fn ways(&self, node: NodeId) -> std::ops::Range<u32>;
    /// The children of a way.
    fn children(&self, way: u32) -> &[Child];
    /// The parser's score of a way.
    fn score(&self, way: u32) -> f64;
}

impl Input for Tree {
    fn node_count(&self) -> usize {
        self.len()
    }
    fn way_count(&self) -> usize {
        self.len()
    }
    #[inline]
    fn label(&self, node: NodeId) -> Symbol {
        self.label(node)
    }
    fn span(&self, node: NodeId) -> Span {
        self.span(node)
    }
    fn words(&self) -> &[Symbol] {
        self.words()
    }
    #[inline]
    fn ways(&self, node: NodeId) -> std::ops::Range<u32> {
        node.0..node.0 + 1
    }
    #[inline]
    fn children(&self, way: u32) -> &[Child] {
        self.children(NodeId(way))
    }
    #[inline]
    fn score(&self, _way: u32) -> f64 {
        0.0
    }
}

impl Input for PackedForest {
    fn node_count(&self) -> usize {
        self.len()
    }
    fn way_count(&self) -> usize {
        self.edge_count()
    }
    #[inline]
    fn label(&self, node: NodeId) -> Symbol {
        self.label(node)
    }
    fn span(&self, node: NodeId) -> Span {
        self.span(node)
    }
    fn words(&self) -> &[Symbol] {
        self.words()
    }
    #[inline]
    fn ways(&self, node: NodeId) -> std::ops::Range<u32> {
        let mut edges = self.edges(node);
        let count = edges.len() as u32;
        edges.next().map_or(0..0, |first| first.0..first.0 + count)
    }
    #[inline]
    fn children(&self, way: u32) -> &[Child] {
        self.children(EdgeId(way))
    }
    #[inline]
    fn score(&self, way: u32) -> f64 {
        self.score(EdgeId(way))
    }
}

/// Expanded nodes below each node in the smallest tree that it holds: over a tree, the size of the subtree.
pub(crate) fn sizes<I: Input>(input: &I, sizes: &mut Vec<u32>) {
    sizes.clear();
    for node in (0..input.node_count()).map(NodeId::from_index) {
        let size_of = |way: u32| {
            let below = input.children(way).iter().map(|child| match *child {
                Child::Node(below) => sizes[below.index()],
                Child::Leaf(_) => 0,
            });
            below.fold(1u32, u32::saturating_add)
        };
        let size = input.ways(node).map(size_of).min().unwrap_or(1);
        sizes.push(size);
    }
}
