//! What the integration tests share: random trees, the invariants of a tree, and where real data is.
#![allow(dead_code)] // Each test binary uses its part.

use std::io::Write;
use std::path::PathBuf;

use proptest::prelude::*;
use sylvan_base::{Id, Rng, Symbol, Vocab};
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest, Tree, TreeBuilder};

/// `quick`, or `full` if the environment asks for it with `SYLVAN_TESTS=full`.
pub(crate) fn times(quick: usize, full: usize) -> usize {
    if std::env::var("SYLVAN_TESTS").is_ok_and(|value| value == "full") { full } else { quick }
}

/// A file of the real data, or `None` with a loud note.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("SYLVAN_DATA").map(|folder| PathBuf::from(folder).join(name));
    match path {
        Some(path) if path.exists() => Some(path),
        _ => {
            // libtest captures print!, not this. One write, so that tests at the same time do not mix their lines.
            let note = format!("SKIPPED: no {name} below SYLVAN_DATA\n");
            let _ = std::io::stderr().write_all(note.as_bytes());
            None
        }
    }
}

/// Panics unless the arrays of a tree are what its documentation promises.
pub(crate) fn check_tree(tree: &Tree) {
    let mut parents = vec![0; tree.len()];
    let mut covered = vec![0; tree.words().len()];
    for node in tree.nodes() {
        let mut at = tree.span(node).start;
        assert!(!tree.children(node).is_empty());
        for &child in tree.children(node) {
            match child {
                Child::Leaf(position) => {
                    assert_eq!(position, at, "words stand in order");
                    covered[position as usize] += 1;
                    at += 1;
                }
                Child::Node(below) => {
                    assert!(below < node, "children come before their parent");
                    assert_eq!(tree.span(below).start, at, "children tile the span");
                    parents[below.index()] += 1;
                    at = tree.span(below).end;
                }
            }
        }
        assert_eq!(at, tree.span(node).end);
    }
    assert!(covered.iter().all(|&count| count == 1));
    let (root, others) = parents.split_last().unwrap();
    assert!(*root == 0 && others.iter().all(|&count| count == 1));
    assert_eq!(tree.span(tree.root()).range(), 0..tree.words().len());
}

/// A tree in an easily shrunk form: a list of openings, words and closings, made well-formed by `grow`.
pub(crate) type Seed = Vec<(u8, String)>;

/// Seeds of trees with these labels and words.
pub(crate) fn seeds(
    text: impl Strategy<Value = String> + 'static,
    size: usize,
) -> impl Strategy<Value = Seed> {
    prop::collection::vec((0u8..3, text), 0..size)
}

/// Any token: letters of all scripts, spaces that do not separate, and what the formats use themselves.
pub(crate) fn any_token() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[^\\p{C}\\s()]{1,4}",
        1 => "[A-Z]{1,2}",
        1 => "[a-c\u{a0}\u{2009}'#\\[\\],\\-=0-9]{1,4}",
        1 => prop::sample::select(vec!["|||", "=>", "''", "-LRB", "x[0,1]", "NP#2", "_", "sentence"]).prop_map(String::from),
    ]
}

pub(crate) fn grow(seed: &Seed, vocab: &mut Vocab) -> Tree {
    let mut builder = TreeBuilder::new();
    builder.open(vocab.intern(seed.first().map_or("R", |(_, text)| text)));
    for (kind, text) in seed {
        match kind {
            0 => builder.open(vocab.intern(text)),
            1 => builder.leaf(vocab.intern(text)),
            _ if builder.has_children() && builder.open_nodes() > 1 => builder.close(),
            _ => {}
        }
    }
    while builder.open_nodes() > 0 {
        if !builder.has_children() {
            builder.leaf(vocab.intern("w"));
        }
        builder.close();
    }
    let tree = builder.finish().unwrap();
    check_tree(&tree);
    tree
}

/// A random forest of up to 6 words: per span up to two nodes, each with up to three edges.
pub(crate) fn random_forest(rng: &mut Rng, vocab: &mut Vocab) -> PackedForest {
    let words: Vec<Symbol> =
        (0..1 + rng.below(6)).map(|_| vocab.intern(rng.pick::<&str>(&["a", "b", "x[0,0]"]))).collect();
    let labels: Vec<Symbol> = ["X", "Y", "Z", "#", "Z#1"].iter().map(|label| vocab.intern(label)).collect();
    let count = words.len() as u32;
    let mut nodes: Vec<(Symbol, sylvan_base::Span)> = Vec::new();
    let mut edges: Vec<ForestEdge> = Vec::new();
    for width in 1..=count {
        for start in 0..=count - width {
            let end = start + width;
            let is_root = width == count;
            for _ in 0..if is_root { 1 + rng.below(2) } else { rng.below(3) } {
                let head = NodeId::from_index(nodes.len());
                for _ in 0..1 + rng.below(3) {
                    let mut children = Vec::new();
                    let mut at = start;
                    while at < end {
                        let fitting: Vec<usize> = (0..nodes.len())
                            .filter(|&n| nodes[n].1.start == at && nodes[n].1.end <= end)
                            .collect();
                        if fitting.is_empty() || rng.chance(0.2) {
                            children.push(Child::Leaf(at));
                            at += 1;
                        } else {
                            let below = *rng.pick(&fitting);
                            children.push(Child::Node(NodeId::from_index(below)));
                            at = nodes[below].1.end;
                        }
                    }
                    let score = -(rng.below(1000) as f64) / 64.0;
                    edges.push(ForestEdge { head, children, score });
                }
                nodes.push((*rng.pick(&labels), sylvan_base::Span { start, end }));
            }
        }
    }
    only_reachable(words, &nodes, &edges)
}

fn only_reachable(
    words: Vec<Symbol>,
    nodes: &[(Symbol, sylvan_base::Span)],
    edges: &[ForestEdge],
) -> PackedForest {
    let mut used = vec![false; nodes.len()];
    used[nodes.len() - 1] = true;
    for edge in edges.iter().rev().filter(|edge| edge.head.index() < nodes.len()) {
        if used[edge.head.index()] {
            for child in &edge.children {
                if let Child::Node(below) = child {
                    used[below.index()] = true;
                }
            }
        }
    }
    let new_id = |old: NodeId| NodeId::from_index(used[..old.index()].iter().filter(|&&used| used).count());
    let nodes: Vec<_> = nodes.iter().zip(&used).filter(|(_, used)| **used).map(|(node, _)| *node).collect();
    let edges: Vec<_> = edges
        .iter()
        .filter(|edge| used[edge.head.index()])
        .map(|edge| ForestEdge {
            head: new_id(edge.head),
            children: edge
                .children
                .iter()
                .map(|&child| if let Child::Node(below) = child { Child::Node(new_id(below)) } else { child })
                .collect(),
            score: edge.score,
        })
        .collect();
    PackedForest::new(words, &nodes, &edges).unwrap()
}
