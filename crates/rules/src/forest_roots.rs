//! What [`Preprocessing`](crate::Preprocessing) does to packed forests: labels, scores and the outermost node.
//!
//! ```text
//! ROOT -> S    -0.1             S    with log weight -0.1 + what is below
//! ROOT -> FRAG -2.4   becomes   FRAG with log weight -2.4 + what is below
//! ```

use sylvan_base::{Id, Span, Symbol, Vocab};
use sylvan_trees::{Child, CleanUp, EdgeId, ForestEdge, FunctionTags, NodeId, PackedForest, Root};

/// Takes tags off labels and scales scores.
pub(crate) fn treat(forest: PackedForest, clean_up: CleanUp, scale: f64, vocab: &mut Vocab) -> PackedForest {
    let tags = clean_up.function_tags;
    let strips = tags == FunctionTags::Strip;
    let changes = |node: NodeId| {
        let label = vocab.text(forest.label(node));
        strips && tags.of(label).len() < label.len()
    };
    if scale == 1.0 && !forest.nodes().any(changes) {
        return forest;
    }
    let mut label = |node: NodeId| {
        let bare = tags.of(vocab.text(forest.label(node))).to_string();
        vocab.intern(&bare)
    };
    let nodes: Vec<(Symbol, Span)> = forest.nodes().map(|node| (label(node), forest.span(node))).collect();
    let edges = forest.nodes().flat_map(|node| forest.edges(node)).map(|edge| {
        let score = forest.score(edge);
        // Impossible stays so, whatever the scale.
        let score = if score == f64::NEG_INFINITY { score } else { score * scale };
        ForestEdge { head: forest.head(edge), children: forest.children(edge).to_vec(), score }
    });
    let edges: Vec<ForestEdge> = edges.collect();
    PackedForest::new(forest.words().to_vec(), &nodes, &edges).expect("nodes and edges of a forest")
}

/// Divides a forest by what is below its outermost node, if that is a wrapper that goes; log weights beside.
pub(crate) fn divide(forest: &PackedForest, root: Root, vocab: &Vocab) -> Vec<(PackedForest, f64)> {
    let inside = inside(forest);
    let is_wrapper = |node: NodeId| matches!(vocab.text(forest.label(node)), "" | "ROOT" | "TOP");
    let mut found: Vec<(NodeId, Vec<EdgeId>, f64)> = Vec::new();
    // Wrappers below wrappers go too; weights of the same node through several of them add up.
    let mut open = vec![(forest.root(), 0.0)];
    while let Some((node, above)) = open.pop() {
        let (mut kept, mut weight) = (Vec::new(), f64::NEG_INFINITY);
        for edge in forest.edges(node) {
            match *forest.children(edge) {
                [Child::Node(below)] if root == Root::Drop && is_wrapper(node) => {
                    open.push((below, above + forest.score(edge)));
                }
                _ => {
                    kept.push(edge);
                    weight = add(weight, above + weight_of(forest, edge, &inside));
                }
            }
        }
        match found.iter_mut().find(|(known, ..)| *known == node) {
            Some((_, _, sum)) => *sum = add(*sum, weight),
            None if kept.is_empty() => {}
            None => found.push((node, kept, weight)),
        }
    }
    found.sort_by_key(|(node, ..)| std::cmp::Reverse(*node));
    found.into_iter().map(|(node, kept, weight)| (below(forest, node, &kept), weight)).collect()
}

/// ln(exp a + exp b).
fn add(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if least == f64::NEG_INFINITY { most } else { most + libm::log1p(libm::exp(least - most)) }
}

/// The log weight of all trees below each node.
fn inside(forest: &PackedForest) -> Vec<f64> {
    let mut inside: Vec<f64> = Vec::with_capacity(forest.len());
    for node in forest.nodes() {
        let sum = forest
            .edges(node)
            .fold(f64::NEG_INFINITY, |sum, edge| add(sum, weight_of(forest, edge, &inside)));
        inside.push(sum);
    }
    inside
}

fn weight_of(forest: &PackedForest, edge: EdgeId, inside: &[f64]) -> f64 {
    let below = forest.children(edge).iter().map(|child| match *child {
        Child::Node(below) => inside[below.index()],
        Child::Leaf(_) => 0.0,
    });
    forest.score(edge) + below.sum::<f64>()
}

/// The part of a forest below a node, of which only some edges are taken.
fn below(forest: &PackedForest, root: NodeId, kept: &[EdgeId]) -> PackedForest {
    if root == forest.root() && kept.len() == forest.edges(root).len() {
        return forest.clone();
    }
    let edges_of = |node: NodeId| forest.edges(node).filter(move |edge| node != root || kept.contains(edge));
    let mut reached = vec![false; forest.len()];
    reached[root.index()] = true;
    for node in forest.nodes().rev().filter(|&node| node <= root) {
        if !reached[node.index()] {
            continue;
        }
        for edge in edges_of(node) {
            for child in forest.children(edge) {
                if let Child::Node(below) = child {
                    reached[below.index()] = true;
                }
            }
        }
    }
    let mut new_id = vec![NodeId(0); forest.len()];
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    for node in forest.nodes().filter(|node| reached[node.index()]) {
        new_id[node.index()] = NodeId::from_index(nodes.len());
        nodes.push((forest.label(node), forest.span(node)));
        for edge in edges_of(node) {
            let children = forest.children(edge).iter().map(|child| match *child {
                Child::Node(below) => Child::Node(new_id[below.index()]),
                Child::Leaf(position) => Child::Leaf(position),
            });
            let children = children.collect();
            edges.push(ForestEdge { head: new_id[node.index()], children, score: forest.score(edge) });
        }
    }
    PackedForest::new(forest.words().to_vec(), &nodes, &edges).expect("a part of a forest is one")
}
