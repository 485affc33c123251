//! Packed forests: many trees of one sentence that share their parts (Billot & Lang 1989; Mi, Huang & Liu 2008).
//!
//! A node stands for a label over a span, an edge for one way to divide it into children. Choosing one edge for
//! the root and, in turn, for each child gives a tree; its score is the sum of the scores of its edges.
//!
//! ```text
//! node   label  span     edges
//!  0     NN     [0,1)    NN -> Leaf 0                       -0.1
//!  1     NP     [0,1)    NP -> Node 0                       -0.2
//!  2     S      [0,1)    S  -> Node 1   -0.3
//!                        S  -> Node 0   -1.5                two edges, so two trees
//! ```

use sylvan_base::{Id, Span, Symbol, define_id};

use crate::{Child, NodeId, Tree, TreeBuilder};

define_id!(
    /// An edge of a packed forest. The edges of one head have neighbouring ids.
    EdgeId
);

/// One way to divide a node into children.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestEdge {
    /// The node that is divided.
    pub head: NodeId,
    /// Its parts, left to right, at least one.
    pub children: Vec<Child>,
    /// Log-probability or any other score that adds up; never NaN.
    pub score: f64,
}

/// A packed forest. Children have smaller ids than the heads above them, the root has the largest, and every
/// node can be reached from the root and has at least one edge.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedForest {
    words: Vec<Symbol>,
    labels: Vec<Symbol>,
    spans: Vec<Span>,
    /// Where the edges of each node end; they begin where those of the node before end.
    edge_ends: Vec<u32>,
    heads: Vec<NodeId>,
    scores: Vec<f64>,
    child_ends: Vec<u32>,
    children: Vec<Child>,
}

/// Why nodes and edges are no packed forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForestError {
    /// No nodes.
    #[error("a forest without nodes")]
    Empty,
    /// The root does not cover the sentence.
    #[error("the root does not cover the sentence")]
    Root,
    /// A head that does not exist.
    #[error("edge {edge} has a head that does not exist")]
    Head {
        /// The position of the edge in the list.
        edge: usize,
    },
    /// A child that does not come before its head.
    #[error("edge {edge} has a child that does not come before its head")]
    Order {
        /// The position of the edge in the list.
        edge: usize,
    },
    /// Children that do not cover the span of the head, one after the other.
    #[error("the children of edge {edge} do not cover its head one after the other")]
    Cover {
        /// The position of the edge in the list.
        edge: usize,
    },
    /// A score that is NaN or positive infinity.
    #[error("the score of edge {edge} is not a number")]
    Score {
        /// The position of the edge in the list.
        edge: usize,
    },
    /// A node without edges.
    #[error("node {node} has no edge")]
    NoEdge {
        /// The position of the node in the list.
        node: usize,
    },
    /// A node that no edge leads to.
    #[error("node {node} cannot be reached from the root")]
    Unreachable {
        /// The position of the node in the list.
        node: usize,
    },
}

impl PackedForest {
    /// Puts a forest together from its nodes, children first and the root last, and its edges in any order.
    pub fn new(
        words: Vec<Symbol>,
        nodes: &[(Symbol, Span)],
        edges: &[ForestEdge],
    ) -> Result<Self, ForestError> {
        check(words.len(), nodes, edges)?;
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|&edge| edges[edge].head);
        let mut forest = Self {
            words,
            labels: nodes.iter().map(|node| node.0).collect(),
            spans: nodes.iter().map(|node| node.1).collect(),
            edge_ends: vec![0; nodes.len()],
            heads: Vec::with_capacity(edges.len()),
            scores: Vec::with_capacity(edges.len()),
            child_ends: Vec::with_capacity(edges.len()),
            children: Vec::new(),
        };
        for edge in order.into_iter().map(|edge| &edges[edge]) {
            forest.heads.push(edge.head);
            forest.scores.push(edge.score);
            forest.children.extend_from_slice(&edge.children);
            forest.child_ends.push(forest.children.len() as u32);
            forest.edge_ends[edge.head.index()] = forest.heads.len() as u32;
        }
        Ok(forest)
    }

    /// The forest of a single tree, with the same node ids and scores of 0.
    pub fn from_tree(tree: &Tree) -> Self {
        let mut forest = Self {
            words: tree.words().to_vec(),
            labels: tree.labels().to_vec(),
            spans: tree.nodes().map(|node| tree.span(node)).collect(),
            edge_ends: (1..=tree.len() as u32).collect(),
            heads: tree.nodes().collect(),
            scores: vec![0.0; tree.len()],
            child_ends: Vec::with_capacity(tree.len()),
            children: Vec::new(),
        };
        for node in tree.nodes() {
            forest.children.extend_from_slice(tree.children(node));
            forest.child_ends.push(forest.children.len() as u32);
        }
        forest
    }

    /// The root, which is the last id.
    pub fn root(&self) -> NodeId {
        NodeId::from_index(self.labels.len() - 1)
    }

    /// How many nodes there are, at least 1.
    #[allow(clippy::len_without_is_empty)] // A forest is never empty.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.heads.len()
    }

    /// All nodes, children first.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.labels.len()).map(NodeId::from_index)
    }

    /// The label of a node.
    pub fn label(&self, node: NodeId) -> Symbol {
        self.labels[node.index()]
    }

    /// The word positions under a node.
    pub fn span(&self, node: NodeId) -> Span {
        self.spans[node.index()]
    }

    /// The sentence.
    pub fn words(&self) -> &[Symbol] {
        &self.words
    }

    /// The same forest with other words.
    #[must_use]
    pub fn map_words(mut self, change: impl FnMut(&mut Symbol)) -> Self {
        self.words.iter_mut().for_each(change);
        self
    }

    /// The edges of a node, at least one.
    pub fn edges(&self, node: NodeId) -> impl DoubleEndedIterator<Item = EdgeId> + ExactSizeIterator + use<> {
        let index = node.index();
        let start = if index == 0 { 0 } else { self.edge_ends[index - 1] as usize };
        (start..self.edge_ends[index] as usize).map(EdgeId::from_index)
    }

    /// The node that an edge divides.
    pub fn head(&self, edge: EdgeId) -> NodeId {
        self.heads[edge.index()]
    }

    /// The score of an edge.
    pub fn score(&self, edge: EdgeId) -> f64 {
        self.scores[edge.index()]
    }

    /// The children of an edge, left to right.
    pub fn children(&self, edge: EdgeId) -> &[Child] {
        let index = edge.index();
        let start = if index == 0 { 0 } else { self.child_ends[index - 1] as usize };
        &self.children[start..self.child_ends[index] as usize]
    }

    /// How many trees the forest holds; `u64::MAX` stands for that many or more.
    pub fn tree_count(&self) -> u64 {
        let mut counts: Vec<u64> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let mut count = 0u64;
            for edge in self.edges(node) {
                let ways = self
                    .child_nodes(edge)
                    .fold(1u64, |ways, below| ways.saturating_mul(counts[below.index()]));
                count = count.saturating_add(ways);
            }
            counts.push(count);
        }
        counts[self.root().index()]
    }

    /// The tree with the highest score, and that score. Of equal ways to divide a node, the first edge wins.
    pub fn best(&self) -> (Tree, f64) {
        let mut best: Vec<(f64, EdgeId)> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let mut choice: Option<(f64, EdgeId)> = None;
            for edge in self.edges(node) {
                let score =
                    self.child_nodes(edge).fold(self.score(edge), |sum, below| sum + best[below.index()].0);
                if choice.is_none_or(|(most, _)| score > most) {
                    choice = Some((score, edge));
                }
            }
            best.push(choice.expect("every node has an edge"));
        }
        let tree = self.unfold(0, |node, _| (best[node.index()].1, None));
        (tree, best[self.root().index()].0)
    }

    /// At most `limit` trees with their scores, in the order of the edges, later children varying fastest.
    /// Costs up to `limit` entries per node: for tests and for looking, not for search.
    pub fn trees(&self, limit: usize) -> Vec<(Tree, f64)> {
        // Per node the first `limit` ways; no tree among the first `limit` needs a later one.
        let mut ways: Vec<Vec<Way>> = Vec::with_capacity(self.len());
        for node in self.nodes() {
            let mut here = Vec::new();
            for edge in self.edges(node) {
                self.ways_of_edge(edge, &ways, limit, &mut here);
            }
            ways.push(here);
        }
        let root = &ways[self.root().index()];
        let unfold = |index: usize| {
            self.unfold(index, |node, index| {
                let way = &ways[node.index()][index];
                (way.edge, Some(way.picks.as_slice()))
            })
        };
        root.iter().enumerate().map(|(index, way)| (unfold(index), way.score)).collect()
    }

    fn ways_of_edge(&self, edge: EdgeId, ways: &[Vec<Way>], limit: usize, out: &mut Vec<Way>) {
        let below: Vec<NodeId> = self.child_nodes(edge).collect();
        let mut picks = vec![0usize; below.len()];
        while out.len() < limit {
            let score = |sum: f64, (pick, node): (&usize, &NodeId)| sum + ways[node.index()][*pick].score;
            let score = picks.iter().zip(&below).fold(self.score(edge), score);
            out.push(Way { edge, picks: picks.clone(), score });
            // Count up like an odometer, the last child fastest.
            let Some(turn) = (0..picks.len()).rev().find(|&at| picks[at] + 1 < ways[below[at].index()].len())
            else {
                return;
            };
            picks[turn] += 1;
            picks[turn + 1..].fill(0);
        }
    }

    fn child_nodes(&self, edge: EdgeId) -> impl Iterator<Item = NodeId> + '_ {
        self.children(edge).iter().filter_map(|&child| match child {
            Child::Node(node) => Some(node),
            Child::Leaf(_) => None,
        })
    }

    /// The tree that `choose` describes: for a node and the pick made for it, the edge and the picks for the
    /// nodes below (0 for all of them if `None`).
    fn unfold<'a>(
        &self,
        pick: usize,
        choose: impl Fn(NodeId, usize) -> (EdgeId, Option<&'a [usize]>),
    ) -> Tree {
        enum Task {
            Enter(NodeId, usize),
            Leaf(u32),
            Leave,
        }
        let mut builder = TreeBuilder::new();
        let mut tasks = vec![Task::Enter(self.root(), pick)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Leave => builder.close(),
                Task::Leaf(position) => builder.leaf(self.words[position as usize]),
                Task::Enter(node, pick) => {
                    builder.open(self.label(node));
                    tasks.push(Task::Leave);
                    let (edge, picks) = choose(node, pick);
                    let first = tasks.len();
                    let mut nodes = 0;
                    for &child in self.children(edge) {
                        tasks.push(match child {
                            Child::Leaf(position) => Task::Leaf(position),
                            Child::Node(below) => {
                                nodes += 1;
                                Task::Enter(below, picks.map_or(0, |picks| picks[nodes - 1]))
                            }
                        });
                    }
                    tasks[first..].reverse();
                }
            }
        }
        builder.finish().expect("a forest's edges cover their heads")
    }

    /// Turns scores into log-probabilities of the edges of each node. Parsers such as Egret write how likely an
    /// edge is in the whole tree, not among its neighbours.
    pub fn normalise(&mut self) {
        for node in self.nodes() {
            let (Some(first), Some(last)) = (self.edges(node).next(), self.edges(node).next_back()) else {
                continue;
            };
            let scores = &mut self.scores[first.index()..=last.index()];
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if most == f64::NEG_INFINITY {
                continue;
            }
            let total = most + scores.iter().map(|score| (score - most).exp()).sum::<f64>().ln();
            for score in scores {
                *score -= total;
            }
        }
    }
}

/// One way to derive a node: an edge, and which way of each node below.
struct Way {
    edge: EdgeId,
    picks: Vec<usize>,
    score: f64,
}

fn check(words: usize, nodes: &[(Symbol, Span)], edges: &[ForestEdge]) -> Result<(), ForestError> {
    let Some(root) = nodes.last() else { return Err(ForestError::Empty) };
    if root.1 != (Span { start: 0, end: words as u32 }) || words == 0 {
        return Err(ForestError::Root);
    }
    let mut has_edge = vec![false; nodes.len()];
    let mut is_used = vec![false; nodes.len()];
    is_used[nodes.len() - 1] = true;
    for (index, edge) in edges.iter().enumerate() {
        let Some(&(_, span)) = nodes.get(edge.head.index()) else {
            return Err(ForestError::Head { edge: index });
        };
        has_edge[edge.head.index()] = true;
        let mut at = span.start;
        for &child in &edge.children {
            let part = match child {
                Child::Leaf(position) => Span { start: position, end: position.saturating_add(1) },
                Child::Node(below) if below < edge.head => nodes[below.index()].1,
                Child::Node(_) => return Err(ForestError::Order { edge: index }),
            };
            // No part has no width: words have one, and a node over nothing has no valid edge. So no tree can hold
            // the same node twice.
            if part.start != at {
                return Err(ForestError::Cover { edge: index });
            }
            at = part.end;
        }
        if at != span.end || edge.children.is_empty() {
            return Err(ForestError::Cover { edge: index });
        }
        if edge.score.is_nan() || edge.score == f64::INFINITY {
            return Err(ForestError::Score { edge: index });
        }
    }
    // Heads come after their children, so one pass from the root down finds all that can be reached.
    let mut by_head: Vec<usize> = (0..edges.len()).collect();
    by_head.sort_by_key(|&edge| std::cmp::Reverse(edges[edge].head));
    for edge in by_head.into_iter().map(|edge| &edges[edge]) {
        if is_used[edge.head.index()] {
            for &child in &edge.children {
                if let Child::Node(below) = child {
                    is_used[below.index()] = true;
                }
            }
        }
    }
    if let Some(node) = has_edge.iter().position(|&has| !has) {
        return Err(ForestError::NoEdge { node });
    }
    is_used.iter().position(|&used| !used).map_or(Ok(()), |node| Err(ForestError::Unreachable { node }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(start: u32, end: u32) -> (Symbol, Span) {
        (Symbol(0), Span { start, end })
    }

    fn edge(head: u32, children: &[Child], score: f64) -> ForestEdge {
        ForestEdge { head: NodeId(head), children: children.to_vec(), score }
    }

    #[test]
    fn what_is_no_forest_is_refused() {
        use Child::{Leaf, Node};
        let words = vec![Symbol(1), Symbol(2)];
        let (a, b) = (edge(0, &[Leaf(0)], 0.0), edge(1, &[Node(NodeId(0)), Leaf(1)], 0.0));
        let nodes = [node(0, 1), node(0, 2)];
        let check = |nodes: &[_], edges: &[_]| {
            PackedForest::new(words.clone(), nodes, edges).map(|forest| forest.len())
        };
        assert_eq!(check(&nodes, &[b.clone(), a.clone()]), Ok(2));
        assert_eq!(check(&[], &[]), Err(ForestError::Empty));
        assert_eq!(check(&[node(0, 1)], std::slice::from_ref(&a)), Err(ForestError::Root));
        assert_eq!(check(&nodes, &[a.clone(), edge(2, &[Leaf(0)], 0.0)]), Err(ForestError::Head { edge: 1 }));
        assert_eq!(check(&nodes, &[edge(0, &[Node(NodeId(1))], 0.0)]), Err(ForestError::Order { edge: 0 }));
        assert_eq!(check(&nodes, &[edge(0, &[Node(NodeId(0))], 0.0)]), Err(ForestError::Order { edge: 0 }));
        for parts in [&[][..], &[Leaf(1)], &[Leaf(0), Leaf(1)], &[Leaf(u32::MAX)]] {
            assert_eq!(check(&nodes, &[b.clone(), edge(0, parts, 0.0)]), Err(ForestError::Cover { edge: 1 }));
        }
        assert_eq!(check(&nodes, &[edge(0, &[Leaf(0)], f64::NAN)]), Err(ForestError::Score { edge: 0 }));
        assert_eq!(check(&nodes, std::slice::from_ref(&b)), Err(ForestError::NoEdge { node: 0 }));
        let flat = edge(1, &[Leaf(0), Leaf(1)], 0.0);
        assert_eq!(check(&nodes, &[a.clone(), flat]), Err(ForestError::Unreachable { node: 0 }));
        let nothing = [node(0, 0), node(0, 2)];
        let over_nothing = edge(1, &[Node(NodeId(0)), Leaf(0), Leaf(1)], 0.0);
        assert!(check(&nothing, &[over_nothing]).is_err());
    }

    #[test]
    fn the_first_of_equal_edges_is_the_best() {
        let nodes = [node(0, 1), node(0, 1)];
        let edges = [
            edge(0, &[Child::Leaf(0)], 0.0),
            edge(1, &[Child::Leaf(0)], -1.0),
            edge(1, &[Child::Node(NodeId(0))], -1.0),
        ];
        let forest = PackedForest::new(vec![Symbol(1)], &nodes, &edges).unwrap();
        let (tree, score) = forest.best();
        assert_eq!((tree.len(), score), (1, -1.0));
        let trees: Vec<usize> = forest.trees(9).iter().map(|(tree, _)| tree.len()).collect();
        assert_eq!(trees, [1, 2]);
        assert_eq!(forest.trees(1).len(), 1);
    }
}
