//! Inputs larger than any sentence: a packed forest of 5,000 nodes, a tree of 200 words.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use sylvan_base::{Id, Rng, Span, Symbol, Vocab};
use sylvan_decode::{List, Model, Sentence, With, Worker};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Beam, Cube, Incremental, Limits, Prediction, Search, Stop, Undirected};
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest};

use random::{random_model, read_tree, replayed};

const LABELS: [&str; 2] = ["A", "B"];

fn worker(rng: &mut Rng) -> Worker {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score"]);
    let mut add = |text: String, score: f64| {
        builder.add(&Rule::parse(&text, &mut vocab).unwrap(), &[score as f32], &vocab);
    };
    for label in LABELS {
        for left in LABELS {
            for right in LABELS {
                add(format!("{label}(x1:{left} x2:{right}) -> x1 x2"), -rng.unit());
                add(format!("{label}(x1:{left} x2:{right}) -> x2 a x1"), -1.0 - rng.unit());
            }
        }
        for word in 0..10 {
            for target in ["a", "b", "c d", "d"] {
                add(format!("{label}(w{word}) -> {target}"), -2.0 * rng.unit());
            }
        }
    }
    let weights = Weights::of([("score", 1.0), ("lm", 0.7), ("words", 0.2), ("glue", -5.0), ("parse", 0.5)]);
    let model = Model::from_parts(builder.finish(), vec![random_model(rng)], weights, vocab).unwrap();
    Worker::new(Arc::new(model))
}

/// Every span of a sentence as A and as B, each with its first or last word split off and the rest as A or as B.
fn packed(words: usize, vocab: &mut Vocab, rng: &mut Rng) -> PackedForest {
    let labels: Vec<Symbol> = LABELS.iter().map(|label| vocab.intern(label)).collect();
    let sentence: Vec<Symbol> = (0..words).map(|_| vocab.intern(&format!("w{}", rng.below(10)))).collect();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut first = std::collections::BTreeMap::new();
    for length in 1..=words {
        for start in 0..=words - length {
            first.insert((start, length), nodes.len());
            let node =
                |start, length, label| Child::Node(NodeId::from_index(first[&(start, length)] + label));
            // There is one root.
            for &label in &labels[..if length == words { 1 } else { 2 }] {
                let head = NodeId::from_index(nodes.len());
                nodes.push((label, Span::new(start, start + length)));
                let ways = if length == 1 {
                    vec![vec![Child::Leaf(start as u32)]]
                } else {
                    let rest = length - 1;
                    let way = |label| {
                        let (last, other) = (node(start + rest, 1, label), node(start, 1, 1 - label));
                        [vec![node(start, rest, label), last], vec![other, node(start + 1, rest, label)]]
                    };
                    way(0).into_iter().chain(way(1)).collect()
                };
                edges.extend(ways.into_iter().map(|children| ForestEdge {
                    head,
                    children,
                    score: -rng.unit(),
                }));
            }
        }
    }
    PackedForest::new(sentence, &nodes, &edges).unwrap()
}

fn searches() -> [Search; 5] {
    let beam = Beam(20);
    [
        Search::Cube(Cube::new(beam)),
        Search::Refine(Beam(100)),
        Search::Incremental(Limits::beam(beam), Incremental::default()),
        Search::Prediction(Limits::beam(beam), Prediction::default()),
        Search::Undirected(Undirected::new(beam)),
    ]
}

/// Decodes with each search; the features of what it found must make up its score.
fn decode_all(worker: &mut Worker, sentence: &Sentence) {
    for search in searches() {
        let found = worker.decode(sentence, With::default(), search, List::default(), &Stop::NEVER);
        let best = found.hypotheses.first().unwrap_or_else(|| panic!("{search} found nothing"));
        let replayed = replayed(worker, sentence, With::default(), &found, best);
        assert!((replayed - best.score).abs() < 1e-3, "{search}: {replayed} {}", best.score);
        assert!(best.words.len() >= sentence.leaves.len() && !found.cut_short, "{search}");
    }
}

#[test]
fn a_forest_of_5000_nodes() {
    let mut rng = Rng::new(3);
    let mut worker = worker(&mut rng);
    let sentence = worker.read_forest(With::default(), |vocab| {
        let forest = packed(71, vocab, &mut rng);
        assert!(forest.len() > 5_000, "{}", forest.len());
        Ok::<_, std::convert::Infallible>(Some(forest))
    });
    decode_all(&mut worker, &sentence.unwrap().unwrap());
}

#[test]
fn a_tree_of_200_words() {
    let mut rng = Rng::new(4);
    let mut worker = worker(&mut rng);
    for deep in [false, true] {
        let mut parts: Vec<String> = (0..200).map(|_| format!("(A w{})", rng.below(10))).collect();
        while parts.len() > 1 {
            // A chain to the right, or neighbours in pairs.
            let at = if deep { parts.len() - 2 } else { rng.below(parts.len() - 1) };
            let right = parts.remove(at + 1);
            parts[at] = format!("({} {} {right})", rng.pick(&LABELS), parts[at]);
        }
        let sentence = read_tree(&mut worker, &parts[0], With::default());
        decode_all(&mut worker, &sentence);
    }
}
