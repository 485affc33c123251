//! A network beside the other parts of a model: it chooses among whole translations, says the same whichever of them are
//! asked about together, and changes nothing if it weighs nothing.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model, read_tree};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::{Input, List, Model, Request, With, Worker};
use sylvan_neural::{NeuralModel, Reader, Size, Units};
use sylvan_rules::{GrammarBuilder, Rule, Weights};
use sylvan_search::{Beam, Derivations, Incremental, Limits, Network, Prediction, Search, SearchName, Stop};
use sylvan_testkit::{Instance, cases, random_instance};

const SMALL: Size = Size { width: 8, inner: 12, heads: 2, encoder: 1, decoder: 2 };

/// A network that knows most of the words of random instances, some of them only as parts.
fn random_network(rng: &mut Rng) -> NeuralModel {
    let words = ["a", "b", "c", "ab", "x", "y", "xy", "yx"];
    let mut units = || Units::learn(words.map(|word| (word, 1 + rng.below(5) as u64)), 8 + rng.below(6));
    let units = [units(), units()];
    NeuralModel::untrained(SMALL, units, rng.next_u64())
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
    let network = random_network(&mut rng);
    if let Some(weight) = weight {
        weights.set("neural", weight);
    }
    let model = Model::from_parts(builder.finish(), models, weights, vocab).unwrap();
    Worker::new(Arc::new(match weight {
        Some(_) => model.with_neural(network),
        None => model,
    }))
}

/// By comparing the whole list, which is long enough.
#[test]
fn searches_find_the_best_of_all_derivations() {
    let mut rng = Rng::new(61);
    let (mut compared, mut overruled) = (0, 0);
    while compared < cases(60, 3_000) {
        let instance = random_instance(&mut rng);
        let seed = rng.next_u64();
        let mut with = worker(&instance, Some(1.5), seed);
        let sentence = read_tree(&mut with, &instance.tree, With::default());
        let forest = with.forest(&sentence, With::default());
        let all = Derivations::of(&forest.forest);
        if all.count() > 60 {
            continue;
        }
        compared += 1;
        // The network once more, one translation after the other, from its text.
        let network = {
            let mut rng = Rng::new(seed);
            random_model(&mut rng);
            Arc::new(Reader::new(Arc::new(random_network(&mut rng))))
        };
        let text = |symbols: &mut dyn Iterator<Item = sylvan_base::Symbol>| {
            symbols.map(|symbol| sentence.vocab().text(symbol)).collect::<Vec<_>>().join(" ")
        };
        let source = sentence.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let mut best = f64::NEG_INFINITY;
        for index in 0..all.count() {
            let derivation = all.get(index);
            let derived = with.derived(&sentence, With::default(), &forest, &derivation);
            let said = network.score(&source, &text(&mut derivation.words(&forest.forest).into_iter()));
            let features = derived.features();
            let named = |wanted: &str| features.iter().find(|(name, _)| name == wanted).unwrap().1;
            assert!((named("neural") - said.iter().sum::<f64>()).abs() < 1e-9, "{source}");
            best = best.max(derived.contributions().score());
        }
        let mut without = worker(&instance, None, seed);
        let plain = read_tree(&mut without, &instance.tree, With::default());
        // Inside a search that keeps different words apart, it is as good as afterwards.
        let inside = [None, Some(1)].into_iter().flat_map(|shortlist| {
            let limits = Limits { network: Network::Apart, shortlist, ..Limits::beam(Beam(100_000)) };
            [
                Search::Incremental(limits, Incremental::default()),
                Search::Prediction(limits, Prediction::default()),
            ]
        });
        for search in every_search().into_iter().chain(inside) {
            if search.name() == SearchName::Exact {
                continue;
            }
            for best_of in [1, 5] {
                let list = List { best: best_of, distinct: false };
                let found = with.decode(&sentence, With::default(), search, list, &Stop::NEVER);
                let first = &found.hypotheses[0];
                assert!((first.score - best).abs() < 1e-4, "{search:?}: {} for {best}", first.score);
                assert!(found.hypotheses.len() <= best_of);
                if search.limits().is_some_and(|limits| limits.network == Network::Apart) {
                    assert!(
                        (found.searched - best).abs() < 1e-4,
                        "{search:?}: {} for {best}",
                        found.searched
                    );
                }
                for hypothesis in &found.hypotheses {
                    let derived =
                        with.derived(&sentence, With::default(), &found.forest, &hypothesis.derivation);
                    assert!((derived.contributions().score() - hypothesis.score).abs() < 1e-9);
                }
                let other = without.decode(&plain, With::default(), search, list, &Stop::NEVER);
                overruled += usize::from(other.hypotheses[0].words != first.words);
            }
        }
    }
    assert!(overruled > 20, "the network never changes anything: {overruled}");
}

/// What a search that merges histories says of its answer is what the whole translation scores, and that is no less than
/// what the answer of the same search without the network scores, most of the time.
#[test]
fn inside_a_narrow_search() {
    let mut rng = Rng::new(64);
    let (mut better, mut worse) = (0, 0);
    for _ in 0..cases(300, 10_000) {
        let instance = random_instance(&mut rng);
        let seed = rng.next_u64();
        let (mut without, mut with) = (worker(&instance, None, seed), worker(&instance, Some(1.5), seed));
        let [a, b] =
            [&mut without, &mut with].map(|worker| read_tree(worker, &instance.tree, With::default()));
        let limits = Limits { network: Network::Inside, ..Limits::usual(Beam(1 + rng.below(4))) };
        let search = Search::Incremental(limits, Incremental::default());
        let blind = without.decode(&a, With::default(), search, List::default(), &Stop::NEVER);
        let found = with.decode(&b, With::default(), search, List::default(), &Stop::NEVER);
        let inside = found.hypotheses[0].score;
        assert!((found.searched - inside).abs() < 1e-4, "{}, {inside}", found.searched);
        let other = with.derived(&b, With::default(), &found.forest, &blind.hypotheses[0].derivation);
        let blind = other.contributions().score();
        better += usize::from(inside > blind + 1e-6);
        worse += usize::from(inside < blind - 1e-6);
    }
    assert!(better > 20 && better > 3 * worse, "{better} better, {worse} worse");
}

/// An explanation says what the model would have said without the network, where that is something else.
#[test]
fn what_the_network_overruled() {
    let mut rng = Rng::new(65);
    let (mut same, mut other) = (0, 0);
    for _ in 0..cases(120, 3_000) {
        let instance = random_instance(&mut rng);
        let seed = rng.next_u64();
        let (mut without, mut with) = (worker(&instance, None, seed), worker(&instance, Some(1.5), seed));
        let mut request = Request::default();
        (request.input, request.search) = (Input::Tree, Some(Search::named(SearchName::Refine)));
        let words =
            |worker: &mut Worker| worker.translate(&instance.tree, &request).unwrap().best[0].words.clone();
        let (blind, seeing) = (words(&mut without), words(&mut with));
        assert!(without.explain(&instance.tree, &request).unwrap().unwrap().overruled.is_none());
        let told = with.explain(&instance.tree, &request).unwrap().unwrap();
        assert_eq!(told.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>(), seeing);
        let Some(overruled) = told.overruled else {
            assert_eq!(blind, seeing);
            same += 1;
            continue;
        };
        other += 1;
        assert_eq!(overruled.words, blind);
        // What is not marked is common to both, in its order.
        let unmarked = |words: &[String], marks: &[u32]| {
            let left = words.iter().zip(0..).filter(|(_, place)| !marks.contains(place));
            left.map(|(word, _)| word.clone()).collect::<Vec<_>>()
        };
        assert_eq!(unmarked(&seeing, &overruled.put_in), unmarked(&blind, &overruled.left_out));
        let difference: f64 = overruled.decided.iter().map(|one| one.difference).sum();
        assert!((overruled.network + overruled.others - difference).abs() < 1e-9);
        assert!(difference > -1e-9 && overruled.network > 0.0 && overruled.others < 1e-9, "{overruled:?}");
    }
    assert!(same > 10 && other > 10, "{same}, {other}");
}

/// A weight of 0 is no network at all, to the last bit.
#[test]
fn a_weight_of_nothing_changes_nothing() {
    let mut rng = Rng::new(62);
    for _ in 0..cases(40, 1_000) {
        let instance = random_instance(&mut rng);
        let seed = rng.next_u64();
        let (mut without, mut with) = (worker(&instance, None, seed), worker(&instance, Some(0.0), seed));
        let [a, b] =
            [&mut without, &mut with].map(|worker| read_tree(worker, &instance.tree, With::default()));
        assert_eq!(without.model().usual_search(), with.model().usual_search());
        for search in
            [Search::default(), Search::named(SearchName::Prediction), Search::named(SearchName::Exact)]
        {
            let list = List { best: 1 + rng.below(4), distinct: rng.chance(0.5) };
            let one = without.decode(&a, With::default(), search, list, &Stop::NEVER);
            let two = with.decode(&b, With::default(), search, list, &Stop::NEVER);
            assert_eq!((one.counters, one.hypotheses.len()), (two.counters, two.hypotheses.len()));
            for (one, two) in one.hypotheses.iter().zip(&two.hypotheses) {
                assert_eq!((one.score.to_bits(), &one.words), (two.score.to_bits(), &two.words));
            }
        }
    }
}

#[test]
fn what_cannot_be_proven_is_refused() {
    let instance = random_instance(&mut Rng::new(63));
    let exact = Some(Search::named(SearchName::Exact));
    assert!(worker(&instance, Some(0.0), 1).model().search(exact).is_ok());
    let told = worker(&instance, Some(0.3), 1).model().search(exact).unwrap_err().to_string();
    assert!(told.contains("a network"), "{told}");
}
