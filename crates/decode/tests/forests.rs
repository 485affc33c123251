//! Packed forests of trees of different sizes: every search is defined on them, and finds what is best over all of the
//! trees that they hold.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model};
use sylvan_base::{Id, Rng, Span, Symbol, Vocab};
use sylvan_decode::{List, Model, With, Worker};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Derivations, Search, SearchName, Stop};
use sylvan_testkit::cases;
use sylvan_trees::{Child, ForestEdge, NodeId, PackedForest};

const LABELS: [&str; 3] = ["A", "B", "C"];

fn worker(rng: &mut Rng) -> Worker {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score"]);
    for _ in 0..12 + rng.below(20) {
        let label = *rng.pick(&LABELS);
        let child = |rng: &mut Rng, number: usize| match rng.below(3) {
            0 => (format!("w{}", rng.below(4)), None),
            _ => (format!("x{number}:{}", rng.pick(&LABELS)), Some(format!("x{number}"))),
        };
        let (mut source, mut target) = (Vec::new(), vec![rng.pick(&["a", "b", "c d", ""]).to_string()]);
        for _ in 0..1 + rng.below(3) {
            let (token, variable) =
                child(rng, 1 + target.iter().filter(|part| part.starts_with('x')).count());
            source.push(token);
            target.extend(variable);
        }
        rng.shuffle(&mut target);
        let inner = source.join(" ");
        let text = format!("{label}({inner}) -> {}", target.join(" "));
        let Ok(rule) = Rule::parse(&text, &mut vocab) else { continue };
        builder.add(&rule, &[-2.0 * rng.unit() as f32], &vocab);
    }
    let weights = Weights::of([
        ("score", 1.0),
        ("lm", 0.3 + rng.unit()),
        ("words", 0.2),
        ("glue", -1.0),
        ("oov", -1.0),
        ("parse", 0.5),
    ]);
    let model = Model::from_parts(builder.finish(), vec![random_model(rng)], weights, vocab).unwrap();
    Worker::new(Arc::new(model))
}

/// Random spans of a sentence with random labels; ways of one, two or three parts, so that trees differ in size.
fn random_forest(vocab: &mut Vocab, rng: &mut Rng) -> Option<PackedForest> {
    let words = 1 + rng.below(4);
    let sentence: Vec<Symbol> = (0..words).map(|_| vocab.intern(&format!("w{}", rng.below(5)))).collect();
    let labels: Vec<Symbol> = LABELS.iter().map(|label| vocab.intern(label)).collect();
    let (mut nodes, mut edges): (Vec<(Symbol, Span)>, Vec<ForestEdge>) = (Vec::new(), Vec::new());
    for length in 1..=words {
        for start in 0..=words - length {
            let root = length == words;
            for level in 0..1 + rng.below(3) {
                let below = nodes.len();
                let span = Span::new(start, start + length);
                let mut ways: Vec<Vec<Child>> = Vec::new();
                for _ in 0..1 + rng.below(3) {
                    // Parts of random lengths; a part is a node over it, or a word.
                    let (mut children, mut at) = (Vec::new(), start);
                    while at < start + length {
                        let part = 1 + rng.below(start + length - at);
                        let over: Vec<usize> =
                            (0..below).filter(|&node| nodes[node].1 == Span::new(at, at + part)).collect();
                        // A node over the same words as its head stands alone: a chain.
                        let fits = part < length || level > 0;
                        match over.get(rng.below(over.len().max(1))) {
                            Some(&node) if fits && rng.chance(0.8) => {
                                children.push(Child::Node(NodeId::from_index(node)));
                            }
                            _ if part == 1 => children.push(Child::Leaf(at as u32)),
                            _ => break,
                        }
                        at += part;
                    }
                    if at == start + length && !children.is_empty() && !ways.contains(&children) {
                        ways.push(children);
                    }
                }
                if ways.is_empty() {
                    continue;
                }
                let head = NodeId::from_index(nodes.len());
                nodes.push((*rng.pick(&labels), span));
                let edge = |children| ForestEdge { head, children, score: -rng.unit() };
                edges.extend(ways.into_iter().map(edge));
                if root {
                    // There is one root, over everything.
                    return PackedForest::new(sentence, &nodes, &edges).ok();
                }
            }
        }
    }
    None
}

#[test]
fn every_search_is_exact_over_trees_of_different_sizes() {
    let mut rng = Rng::new(61);
    let (mut compared, mut uneven) = (0, 0);
    while compared < cases(800, 10_000) {
        let mut worker = worker(&mut rng);
        let sentence = worker.read_forest(With::default(), |vocab| {
            Ok::<_, std::convert::Infallible>(random_forest(vocab, &mut rng))
        });
        let Some(sentence) = sentence.unwrap() else { continue };
        let forest = worker.forest(&sentence, With::default());
        let all = Derivations::of(&forest.forest);
        if all.count() == 0 || all.count() > 800 {
            continue;
        }
        compared += 1;
        uneven += usize::from(forest.forest.is_uneven());
        let scores = (0..all.count()).map(|index| {
            let derivation = all.get(index);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        });
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        let narrow = SearchName::ON_FORESTS.map(|name| Search::named(name).with_beam(1 + rng.below(5)));
        for search in every_search().into_iter().chain(narrow) {
            let found = worker.decode(&sentence, With::default(), search, List::default(), &Stop::NEVER);
            let score = found.hypotheses[0].score;
            assert!(score <= best + 1e-4, "{search}: {score} {best}");
            if search.beam().0 >= 100_000 {
                assert!((score - best).abs() < 1e-4, "{search}: {score} {best} of {} trees", all.count());
            }
        }
    }
    assert!(uneven > compared / 10, "{uneven} of {compared} forests hold trees of different sizes");
}
