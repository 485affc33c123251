//! Whole models: every search with a structured language model that weighs something, or nothing.

use std::sync::Arc;

use sylvan_base::{Rng, Vocab};
use sylvan_decode::{Input, List, Model, Sentence, With, Worker};
use sylvan_parse::structured::{Generative, GenerativeEstimator, StructuredLm};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Beam, Derivations, Incremental, Limits, Prediction, Search, SearchName, Stop, Ways};
use sylvan_testkit::{Instance, cases, random_instance};

#[path = "../random/mod.rs"]
mod random;

use random::random_model;

/// A model of random trees over the words of random instances.
fn random_structured(rng: &mut Rng) -> Generative {
    let tags: Vec<String> = ["N", "V"].map(String::from).to_vec();
    let mut estimator = GenerativeEstimator::new(&tags, 1 + rng.below(2));
    for _ in 0..10 {
        let length = 1 + rng.below(5);
        let words: Vec<&str> = (0..length).map(|_| *rng.pick(&["a", "b", "c", "d"])).collect();
        let tags: Vec<u8> = (0..length).map(|_| rng.below(2) as u8).collect();
        // All words hang on one.
        let root = rng.below(length);
        let heads: Vec<Option<u32>> = (0..length).map(|word| (word != root).then_some(root as u32)).collect();
        estimator.add(&words, &tags, &heads);
    }
    estimator.finish(Vec::new())
}

fn worker(instance: &Instance, weight: Option<f64>, seed: u64) -> Worker {
    let mut rng = Rng::new(seed);
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score"]);
    for (text, score) in &instance.rules {
        let rule = Rule::parse(text, &mut vocab).unwrap();
        builder.add(&rule, &[*score as f32], &vocab);
    }
    let mut weights = Weights::of([("tm0.score", 1.0), ("glue", -3.0), ("oov", -2.0), ("lm0", 0.7)]);
    let models = vec![random_model(&mut rng)];
    let structured = random_structured(&mut rng);
    if let Some(weight) = weight {
        weights.set("slm", weight);
    }
    let model = Model::from_parts(builder.finish(), models, weights, vocab).unwrap();
    let model = match weight {
        Some(_) => model.with_structured(StructuredLm::Generative(Box::new(structured))),
        None => model,
    };
    Worker::new(Arc::new(model))
}

fn read(worker: &mut Worker, instance: &Instance) -> Sentence {
    worker.read(&instance.tree, Input::Tree, With::default()).unwrap().unwrap()
}

fn wide(ways: Ways, shortlist: Option<usize>) -> Limits {
    Limits { ways, shortlist, parses: usize::MAX, ..Limits::beam(Beam(100_000)) }
}

/// Left to right inside, whatever the way; bottom-up by comparing the whole list, which is long enough.
#[test]
fn searches_find_the_best_of_all_derivations() {
    let mut rng = Rng::new(51);
    let (mut compared, mut searched, mut above) = (0, 0, 0);
    while compared < cases(60, 3_000) {
        let instance = random_instance(&mut rng);
        let mut worker = worker(&instance, Some(0.4), rng.next_u64());
        let sentence = read(&mut worker, &instance);
        let forest = worker.forest(&sentence, With::default());
        let all = Derivations::of(&forest.forest);
        let longest = (0..all.count().min(60)).map(|index| all.get(index).tokens(&forest.forest).len()).max();
        if all.count() > 60 || longest.unwrap_or(0) > 6 {
            continue;
        }
        compared += 1;
        let score = |index| {
            let derivation = all.get(index);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        };
        let best = (0..all.count()).map(score).fold(f64::NEG_INFINITY, f64::max);
        let mut searches = vec![Search::named(SearchName::Refine).with_beam(100_000)];
        for ways in [Ways::Packed, Ways::All, Ways::Groups(usize::MAX), Ways::Later] {
            for shortlist in [None, Some(1)] {
                let limits = wide(ways, shortlist);
                searches.push(Search::Incremental(limits, Incremental::default()));
                searches.push(Search::Prediction(limits, Prediction::default()));
            }
        }
        for search in searches {
            for best_of in [1, 5] {
                let list = List { best: best_of, distinct: false };
                let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
                let first = &found.hypotheses[0];
                assert!((first.score - best).abs() < 1e-4, "{search:?}: {} for {best}", first.score);
                // What it found on the way is no worse, and rarely better: whole translations have fewer parses.
                let is_inside = search.limits().is_some_and(|limits| limits.ways != Ways::Later);
                assert!(
                    !is_inside || found.searched > best - 1e-4,
                    "{search:?}: {} for {best}",
                    found.searched
                );
                above += usize::from(is_inside && found.searched > best + 1e-4);
                searched += usize::from(is_inside);
                assert!(found.hypotheses.len() <= best_of);
                for hypothesis in &found.hypotheses {
                    let derived =
                        worker.derived(&sentence, With::default(), &found.forest, &hypothesis.derivation);
                    assert!((derived.contributions().score() - hypothesis.score).abs() < 1e-9);
                }
            }
        }
    }
    assert!(100 * above <= searched, "{above} of {searched}");
}

/// A weight of 0 is no model at all, to the last bit.
#[test]
fn a_weight_of_nothing_changes_nothing() {
    let mut rng = Rng::new(52);
    for _ in 0..cases(40, 1_000) {
        let instance = random_instance(&mut rng);
        let seed = rng.next_u64();
        let (mut without, mut with) = (worker(&instance, None, seed), worker(&instance, Some(0.0), seed));
        let (a, b) = (read(&mut without, &instance), read(&mut with, &instance));
        assert_eq!(without.model().usual_search(), with.model().usual_search());
        for ways in [Ways::Packed, Ways::All, Ways::Best, Ways::Groups(5), Ways::Later] {
            let limits = Limits { ways, ..Limits::usual(Beam(1 + rng.below(5))) };
            for search in [
                Search::Incremental(limits, Incremental::default()),
                Search::Prediction(limits, Prediction::default()),
                Search::default(),
            ] {
                let list = List { best: 1 + rng.below(4), distinct: false };
                let one = without.decode(&a, With::default(), search, list, &Stop::NEVER);
                let two = with.decode(&b, With::default(), search, list, &Stop::NEVER);
                assert_eq!(one.counters, two.counters);
                assert!((one.searched - one.hypotheses[0].score).abs() < 1e-9);
                assert_eq!(one.hypotheses.len(), two.hypotheses.len());
                for (one, two) in one.hypotheses.iter().zip(&two.hypotheses) {
                    assert_eq!((one.score.to_bits(), &one.words), (two.score.to_bits(), &two.words));
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_proven_is_refused() {
    let instance = random_instance(&mut Rng::new(53));
    let exact = Some(Search::named(SearchName::Exact));
    assert!(worker(&instance, Some(0.0), 1).model().search(exact).is_ok());
    let told = worker(&instance, Some(0.3), 1).model().search(exact).unwrap_err().to_string();
    assert!(told.contains("structured language model"), "{told}");
    assert_eq!(worker(&instance, Some(0.3), 1).model().usual_search().name(), SearchName::Incremental);
}
