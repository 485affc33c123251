//! Random packed forests.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub)]

use std::collections::BTreeMap;

use sylvan_base::{Rng, Span, Symbol, Vocab};
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest};

/// All binary bracketings of some words, with random scores.
pub fn random_forest(rng: &mut Rng, vocab: &mut Vocab) -> PackedForest {
    wrapped_forest(rng, vocab, false)
}

/// The same, maybe with a wrapper above several nodes over the whole sentence.
pub fn wrapped_forest(rng: &mut Rng, vocab: &mut Vocab, wrapped: bool) -> PackedForest {
    let length = 2 + rng.below(3);
    let words: Vec<Symbol> = (0..length).map(|index| vocab.intern(&format!("w{index}"))).collect();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut ids: BTreeMap<(usize, usize), Vec<NodeId>> = BTreeMap::new();
    for width in 1..=length {
        for start in 0..=length - width {
            let labels: &[&str] = if wrapped && width == length { &["A", "B-SBJ"] } else { &["A"] };
            for label in labels {
                let id = NodeId(nodes.len() as u32);
                let label = if rng.chance(0.5) { label } else { "C" };
                nodes.push((vocab.intern(label), Span::new(start, start + width)));
                let mut add = |children: Vec<Child>, rng: &mut Rng| {
                    edges.push(ForestEdge { head: id, children, score: -rng.unit() * 3.0 });
                };
                if width == 1 {
                    add(vec![Child::Leaf(start as u32)], rng);
                }
                for middle in start + 1..start + width {
                    let parts = [(start, middle), (middle, start + width)];
                    add(parts.iter().map(|part| Child::Node(ids[part][0])).collect(), rng);
                }
                ids.entry((start, start + width)).or_default().push(id);
            }
        }
    }
    if wrapped {
        let root = NodeId(nodes.len() as u32);
        nodes.push((vocab.intern("ROOT"), Span::new(0, length)));
        for &below in &ids[&(0, length)] {
            edges.push(ForestEdge { head: root, children: vec![Child::Node(below)], score: -rng.unit() });
        }
        if rng.chance(0.5) {
            let parts = [(0, 1), (1, length)].map(|part| Child::Node(ids[&part][0]));
            edges.push(ForestEdge { head: root, children: parts.to_vec(), score: -1.0 });
        }
    }
    PackedForest::new(words, &nodes, &edges).unwrap()
}
