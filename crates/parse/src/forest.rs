//! The trees that a beam holds as one packed forest.
//!
//! A node is a label over a span, numbered where a unary chain has the same one several times. The score of an edge is
//! its log-probability among the edges of its node, when the trees are as probable as a softmax of their scores makes
//! them. So the best tree of the forest need not be the best of the beam, but forests can be compared and mixed.

use std::collections::BTreeMap;

use sylvan_base::{Id, Span, Symbol};
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest, Tree};

use crate::parse::Parsed;

/// A node of the forest: span, how many nodes of its chain lie below it, label. In this order children come before
/// their parents when shorter spans come first.
type Key = (u32, u32, u32, Symbol);

/// How much better in score is e times as probable: about two decisions.
const TEMPERATURE: f64 = 512.0 * 4.0;

/// Packs trees of one sentence, best first; `None` without trees.
pub fn pack(parsed: &[Parsed]) -> Option<PackedForest> {
    let best = parsed.first()?;
    let words = best.tree.words().to_vec();
    // A forest has one root: trees with another one, or a chain of another height above it, are left out.
    let top = keys_of(&best.tree).pop()?;
    // Per node its weight; per edge its weight, and an edge is a node and its children.
    let mut nodes: BTreeMap<Key, f64> = BTreeMap::new();
    let mut edges: BTreeMap<(Key, Vec<Part>), f64> = BTreeMap::new();
    for parsed in parsed {
        let keys = keys_of(&parsed.tree);
        if keys.last() != Some(&top) {
            continue;
        }
        let weight = ((parsed.score - best.score) as f64 / TEMPERATURE).exp();
        for node in parsed.tree.nodes() {
            let children = parsed.tree.children(node).iter().map(|&child| match child {
                Child::Leaf(position) => Part::Leaf(position),
                Child::Node(below) => Part::Node(keys[below.index()]),
            });
            *nodes.entry(keys[node.index()]).or_default() += weight;
            *edges.entry((keys[node.index()], children.collect())).or_default() += weight;
        }
    }
    let ids: BTreeMap<Key, NodeId> =
        nodes.keys().enumerate().map(|(index, &key)| (key, NodeId::from_index(index))).collect();
    let list: Vec<(Symbol, Span)> = nodes
        .keys()
        .map(|&(width, start, _, label)| (label, Span::new(start as usize, (start + width) as usize)))
        .collect();
    let edges: Vec<ForestEdge> = edges
        .into_iter()
        .map(|((head, parts), weight)| ForestEdge {
            head: ids[&head],
            children: parts
                .into_iter()
                .map(|part| match part {
                    Part::Leaf(position) => Child::Leaf(position),
                    Part::Node(key) => Child::Node(ids[&key]),
                })
                .collect(),
            score: (weight / nodes[&head]).ln(),
        })
        .collect();
    Some(PackedForest::new(words, &list, &edges).expect("nodes and edges of whole trees are a forest"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Leaf(u32),
    Node(Key),
}

/// The key of each node of a tree, in the order of its nodes.
fn keys_of(tree: &Tree) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let height = match *tree.children(node) {
            [Child::Node(below)] => keys[below.index()].2 + 1,
            _ => 0,
        };
        let span = tree.span(node);
        keys.push((span.len() as u32, span.start, height, tree.label(node)));
    }
    keys
}
