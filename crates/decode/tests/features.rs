//! Weights times replayed features are the score, for every search and every combination of models; several language
//! models are searched as exactly as one.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model, read_tree, replayed};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::{List, Model, With, Worker};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Derivations, Search, SearchName, Stop};
use sylvan_testkit::{Instance, cases, random_instance};

fn worker(instance: &Instance, models: usize, rng: &mut Rng) -> Worker {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score", "other"]);
    for (text, score) in &instance.rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add(&rule, &[*score as f32, rng.unit() as f32], &vocab);
    }
    let mut weights = Weights::of([
        ("tm0.score", 1.0),
        ("other", -0.4),
        ("rules", -0.1),
        ("words", 0.3),
        ("glue", -3.0),
        ("oov", -2.0),
        ("tw.a", 0.25),
    ]);
    for number in 0..models {
        // A model that weighs nothing still has its states.
        let weight = if rng.chance(0.1) { 0.0 } else { 0.2 + rng.unit() };
        weights.set(&format!("lm{number}"), weight);
    }
    let models = (0..models).map(|_| random_model(rng)).collect();
    Worker::new(Arc::new(Model::from_parts(builder.finish(), models, weights, vocab).unwrap()))
}

#[test]
fn weights_times_features_are_the_score_with_any_number_of_models() {
    let mut rng = Rng::new(41);
    let (mut compared, mut proven) = (0, 0);
    while compared < cases(600, 20_000) {
        let instance = random_instance(&mut rng);
        let models = 1 + rng.below(3);
        let mut worker = worker(&instance, models, &mut rng);
        let sentence = read_tree(&mut worker, &instance.tree, With::default());
        let forest = worker.forest(&sentence, With::default());
        let all = Derivations::of(&forest.forest);
        if all.count() > 1_000 {
            continue;
        }
        compared += 1;
        // Brute force by replaying every derivation.
        let scores = (0..all.count()).map(|index| {
            let derivation = all.get(index);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        });
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        let narrow = SearchName::ON_FORESTS.map(|name| Search::named(name).with_beam(1 + rng.below(4)));
        for search in every_search().into_iter().chain(narrow) {
            let list = List { best: 1 + rng.below(5), distinct: rng.chance(0.5) };
            let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
            for hypothesis in &found.hypotheses {
                let derived =
                    worker.derived(&sentence, With::default(), &found.forest, &hypothesis.derivation);
                let parts = derived.contributions();
                assert!((parts.score() - hypothesis.score).abs() < 1e-4, "{search}: {instance:?}");
                // The list of features says the same, sparse ones apart.
                let sparse: f64 = derived
                    .sparse_features()
                    .iter()
                    .filter(|(name, _)| name == "tw.a")
                    .map(|(_, value)| value * 0.25)
                    .sum();
                let dense = replayed(&worker, &sentence, With::default(), &found, hypothesis);
                assert!((dense + sparse - hypothesis.score).abs() < 1e-4, "{search}: {instance:?}");
            }
            let score = found.hypotheses[0].score;
            assert!(score <= best + 1e-4, "{search} found {score}, best is {best}");
            if search.beam().0 >= 100_000 {
                assert!(
                    (score - best).abs() < 1e-4,
                    "{search}, {models} models: {score} {best} {instance:?}"
                );
                proven += usize::from(found.gap == Some(0.0));
            }
        }
    }
    assert!(proven > compared * 9 / 10, "exact search proved {proven} of {compared}");
}

#[test]
fn marks_of_a_sentence_are_words_where_a_text_holds_them() {
    let mut rng = Rng::new(43);
    let instance = Instance { tree: String::new(), rules: vec![("B(w1) -> a".to_string(), -1.0)] };
    for _ in 0..50 {
        let mut worker = worker(&instance, 2, &mut rng);
        for search in every_search() {
            let mut score = |word: &str| {
                let tree = format!("(S (B w1) (A {word}) (B w1))");
                let sentence = read_tree(&mut worker, &tree, With::default());
                let found = worker.decode(&sentence, With::default(), search, List::default(), &Stop::NEVER);
                let best = &found.hypotheses[0];
                assert_eq!(sentence.vocab().join(&best.words), format!("a {word} a"));
                best.score
            };
            let unknown = score("neverseen");
            for mark in ["<s>", "</s>", "<unk>"] {
                assert!((score(mark) - unknown).abs() < 1e-6, "{search} {mark}");
            }
        }
    }
}
