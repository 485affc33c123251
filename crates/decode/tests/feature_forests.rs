//! Forests for tuning: what their arcs are worth by exchange adds up to what whole derivations are worth by replay, for
//! every search and every number of language models.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model, read_tree};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::{List, Model, With, Worker};
use sylvan_forest::EdgeId;
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{KBest, Search, SearchName, Stop};
use sylvan_testkit::{Instance, cases, random_instance};
use sylvan_tune::{FeatureForest, winners};

fn worker(instance: &Instance, rng: &mut Rng) -> Worker {
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score", "other"]);
    for (text, score) in &instance.rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add(&rule, &[*score as f32, rng.unit() as f32], &vocab);
    }
    let models = 1 + rng.below(3);
    let mut weights = Weights::of([("score", 1.0), ("other", -0.4), ("words", 0.3), ("glue", -3.0)]);
    (0..models).for_each(|number| weights.set(&format!("lm{number}"), 0.2 + rng.unit()));
    let models = (0..models).map(|_| random_model(rng)).collect();
    Worker::new(Arc::new(Model::from_parts(builder.finish(), models, weights, vocab).unwrap()))
}

#[test]
fn arcs_add_up_to_what_derivations_are_worth_in_every_search() {
    let mut rng = Rng::new(47);
    let (mut compared, mut changes) = (0, 0);
    while compared < cases(150, 3000) {
        let instance = random_instance(&mut rng);
        let mut worker = worker(&instance, &mut rng);
        let sentence = read_tree(&mut worker, &instance.tree, With::default());
        let narrow = SearchName::ON_FORESTS.map(|name| Search::named(name).with_beam(2 + rng.below(4)));
        for search in every_search().into_iter().chain(narrow) {
            let list = List { best: 2, distinct: false };
            let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
            let out = found.out.as_ref().unwrap();
            let all: Vec<Vec<EdgeId>> = KBest::new(out).map(|(_, edges)| edges).take(1000).collect();
            if all.len() == 1000 {
                continue;
            }
            let values = |edges: &[EdgeId]| {
                let derivation = out.derivation(&found.forest.forest, edges.to_vec());
                worker.derived(&sentence, With::default(), &found.forest, &derivation).values()
            };
            let forest = FeatureForest::new(out, f64::INFINITY, values, |_| String::new());
            let replayed: Vec<Vec<f64>> = all.iter().map(|edges| values(edges)).collect();
            let count = replayed[0].len();
            let vector = |rng: &mut Rng| (0..count).map(|_| rng.unit() * 2.0 - 1.0).collect::<Vec<f64>>();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (weights, direction) = (vector(&mut rng), vector(&mut rng));
            let all = winners(&forest, &weights, &direction);
            changes += all.len() - 1;
            for winner in &all {
                let (line, itself) = (winner.line, values(&winner.edges));
                let wanted = [dot(&itself, &direction), dot(&itself, &weights)];
                let near = |a: f64, b: f64| (a - b).abs() < 1e-4;
                assert!(
                    near(line.slope, wanted[0]) && near(line.intercept, wanted[1]),
                    "{search}: {line:?}, replayed {wanted:?}: {instance:?}"
                );
            }
            for _ in 0..10 {
                let gamma = 4.0 * rng.unit() - 2.0;
                let top = |values: &Vec<f64>| dot(values, &weights) + gamma * dot(values, &direction);
                let wanted = replayed.iter().map(top).fold(f64::NEG_INFINITY, f64::max);
                let winner = all.iter().rev().find(|winner| winner.start <= gamma).unwrap();
                let found = winner.line.intercept + gamma * winner.line.slope;
                assert!(
                    (found - wanted).abs() < 1e-4,
                    "{search}: {found}, all derivations {wanted}: {instance:?}"
                );
            }
        }
        compared += 1;
    }
    assert!(changes > 500, "{changes} changes of the winner");
}
