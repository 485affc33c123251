//! Models without syntax: every search of a chart and the search for phrases find what replaying all derivations finds,
//! with one language model and with several.
#![allow(clippy::unwrap_used)]

mod random;

use std::sync::Arc;

use random::{every_search, random_model, replayed};
use sylvan_base::{Rng, Vocab};
use sylvan_decode::{Glossary, Input, List, Model, SentenceForest, With, Worker};
use sylvan_forest::{Derivation, EdgeId};
use sylvan_rules::features::ORIENTATIONS;
use sylvan_rules::{Formalism, GrammarBuilder, Meta, Rule, Weights};
use sylvan_search::{Beam, Derivations, Limits, Search, SearchName, Stacks, Stop};
use sylvan_testkit::cases;

/// A model of a few random rules over three source words.
fn random_worker(rng: &mut Rng, formalism: Formalism) -> Worker {
    let phrases = formalism == Formalism::Phrase;
    let oriented = phrases && rng.chance(0.7);
    let mut vocab = Vocab::new();
    let names = ["score"].into_iter().chain(if oriented { ORIENTATIONS.to_vec() } else { Vec::new() });
    let orientation = (*rng.pick(&["word", "phrase", "hier"])).to_string();
    let mut builder = GrammarBuilder::with_meta(Meta { formalism, orientation, ..Meta::new(names) });
    for _ in 0..3 + rng.below(6) {
        let count = 1 + rng.below(3);
        let (mut source, mut target) = (Vec::new(), Vec::new());
        for _ in 0..count {
            if !phrases && count > 1 && target.len() < 2 && rng.chance(0.45) {
                target.push(format!("x{}", target.len() + 1));
                source.push(format!("{}:X", target[target.len() - 1]));
            } else {
                source.push((*rng.pick(&["u", "v", "w"])).to_string());
            }
        }
        rng.shuffle(&mut target);
        for _ in 0..rng.below(3) {
            target.insert(rng.below(target.len() + 1), (*rng.pick(&["a", "b", "c", "d"])).to_string());
        }
        let rule =
            Rule::parse(&format!("X({}) -> {}", source.join(" "), target.join(" ")), &mut vocab).unwrap();
        let features: Vec<f32> =
            (0..if oriented { 7 } else { 1 }).map(|_| -2.0 * rng.unit() as f32).collect();
        builder.add(&rule, &features, &vocab);
    }
    let glue = if phrases { 0.0 } else { -0.7 };
    let mut weights = Weights::of([("score", 1.0), ("words", 0.2), ("glue", glue), ("oov", -1.3)]);
    if phrases {
        weights.set("distortion", if rng.chance(0.2) { 0.0 } else { rng.unit() });
        for name in ORIENTATIONS {
            weights.set(name, rng.unit() - 0.2);
        }
    }
    let models = 1 + rng.below(3);
    for number in 0..models {
        weights.set(&format!("lm{number}"), 0.2 + rng.unit());
    }
    let models = (0..models).map(|_| random_model(rng)).collect();
    Worker::new(Arc::new(Model::from_parts(builder.finish(), models, weights, vocab).unwrap()))
}

fn random_line(rng: &mut Rng, most: usize) -> String {
    let words: Vec<&str> = (0..1 + rng.below(most)).map(|_| *rng.pick(&["u", "v", "w", "a"])).collect();
    words.join(" ")
}

#[test]
fn every_search_of_a_chart_finds_the_best_of_all_derivations() {
    let mut rng = Rng::new(51);
    let mut compared = 0;
    while compared < cases(400, 20_000) {
        let mut worker = random_worker(&mut rng, Formalism::Hiero);
        let line = random_line(&mut rng, 5);
        let sentence = worker.read(&line, Input::Text, With::default()).unwrap().unwrap();
        let forest = worker.forest(&sentence, With::default());
        let all = Derivations::of(&forest.forest);
        if all.count() > 1_000 {
            continue;
        }
        compared += 1;
        let scores = (0..all.count()).map(|number| {
            let derivation = all.get(number);
            worker.derived(&sentence, With::default(), &forest, &derivation).contributions().score()
        });
        let best = scores.fold(f64::NEG_INFINITY, f64::max);
        for search in every_search() {
            let list = List { best: 3, distinct: false };
            let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
            assert!((found.hypotheses[0].score - best).abs() < 1e-4, "{search}: {line}");
            for hypothesis in &found.hypotheses {
                let score = replayed(&worker, &sentence, With::default(), &found, hypothesis);
                assert!((score - hypothesis.score).abs() < 1e-4, "{search}: {line}");
            }
        }
        assert!(worker.model().search(Some(Search::named(SearchName::Stacks))).is_err());
    }
}

/// All chains of phrases that cover a sentence, in any order, with their replayed scores.
fn best_chain(worker: &Worker, sentence: &sylvan_decode::Sentence, all: &SentenceForest) -> f64 {
    let forest = &all.forest;
    let span = |edge: EdgeId| forest.span(forest.edge(edge).head);
    let phrases: Vec<EdgeId> =
        forest.edge_ids().filter(|&edge| forest.tails(edge).next().is_none()).collect();
    let length = forest.span(forest.goal()).len();
    let mut best = f64::NEG_INFINITY;
    let mut open: Vec<Vec<EdgeId>> = vec![Vec::new()];
    while let Some(chain) = open.pop() {
        let covered = |position: usize| chain.iter().any(|&edge| span(edge).range().contains(&position));
        if (0..length).all(covered) {
            let derivation = Derivation::new(chain);
            let derived = worker.derived(sentence, With::default(), all, &derivation);
            best = best.max(derived.contributions().score());
            continue;
        }
        for &edge in &phrases {
            if !span(edge).range().any(covered) {
                open.push([&chain[..], &[edge]].concat());
            }
        }
    }
    best
}

#[test]
fn phrases_in_any_order_are_the_best_of_all_chains() {
    let mut rng = Rng::new(53);
    let mut reordered = 0;
    for _ in 0..cases(400, 20_000) {
        let mut worker = random_worker(&mut rng, Formalism::Phrase);
        let line = random_line(&mut rng, 4);
        let sentence = worker.read(&line, Input::Text, With::default()).unwrap().unwrap();
        let forest = worker.forest(&sentence, With::default());
        let best = best_chain(&worker, &sentence, &forest);
        let search = Search::Stacks(Limits::beam(Beam::UNLIMITED), Stacks::WHOLE);
        let list = List { best: 3, distinct: false };
        let found = worker.decode(&sentence, With::default(), search, list, &Stop::NEVER);
        assert!(
            (found.hypotheses[0].score - best).abs() < 1e-4,
            "{line}: {} {best}",
            found.hypotheses[0].score
        );
        for hypothesis in &found.hypotheses {
            let score = replayed(&worker, &sentence, With::default(), &found, hypothesis);
            assert!((score - hypothesis.score).abs() < 1e-4, "{line}");
            let derived = worker.derived(&sentence, With::default(), &found.forest, &hypothesis.derivation);
            assert!((derived.contributions().score() - hypothesis.score).abs() < 1e-4, "{line}");
        }
        let starts: Vec<u32> = found.hypotheses[0]
            .derivation
            .edges()
            .iter()
            .map(|&edge| found.forest.forest.span(found.forest.forest.edge(edge).head).start)
            .collect();
        reordered += usize::from(!starts.is_sorted());
        let refused = worker.model().search(Some(Search::default())).unwrap_err().to_string();
        assert!(refused.contains("stacks"), "{refused}");
        assert_eq!(worker.model().search(None).unwrap().name(), SearchName::Stacks);
    }
    assert!(reordered > 40, "{reordered}");
}

/// Terms of one or two words hold in every search, wherever they stand, without syntax too.
#[test]
fn terms_hold_without_syntax() {
    let mut rng = Rng::new(57);
    let (mut used, mut compared) = (0, 0);
    while compared < cases(400, 20_000) {
        let formalism = if rng.chance(0.5) { Formalism::Hiero } else { Formalism::Phrase };
        let mut worker = random_worker(&mut rng, formalism);
        let term: Vec<&str> = (0..1 + rng.below(2)).map(|_| *rng.pick(&["u", "v", "w"])).collect();
        let mut glossary = Glossary::default();
        glossary.add(&term.join(" "), "T1 T2");
        let with = With { glossary: Some(&glossary), ..With::default() };
        let line = random_line(&mut rng, 5);
        let sentence = worker.read(&line, Input::Text, with).unwrap().unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        // From the left, none over another.
        let (mut places, mut at) = (0, 0);
        while at < words.len() {
            let here = words[at..].starts_with(&term);
            places += usize::from(here);
            at += if here { term.len() } else { 1 };
        }
        let forest = worker.forest(&sentence, with);
        if Derivations::of(&forest.forest).count() > 1_000 {
            continue;
        }
        compared += 1;
        used += places;
        let stacks = Search::Stacks(Limits::beam(Beam::UNLIMITED), Stacks::WHOLE);
        let searches = if formalism == Formalism::Phrase { vec![stacks] } else { every_search().to_vec() };
        let mut scores = Vec::new();
        for search in searches {
            let found =
                worker.decode(&sentence, with, search, List { best: 3, distinct: false }, &Stop::NEVER);
            for hypothesis in &found.hypotheses {
                let text = sentence.vocab().join(&hypothesis.words);
                assert_eq!(text.matches("T1 T2").count(), places, "{search}: {line}, {term:?}: {text}");
                let score = replayed(&worker, &sentence, with, &found, hypothesis);
                assert!((score - hypothesis.score).abs() < 1e-4, "{search}: {line}");
            }
            scores.push(found.hypotheses[0].score);
        }
        assert!(scores.iter().all(|score| (score - scores[0]).abs() < 1e-4), "{scores:?}: {line}");
    }
    assert!(used > compared / 3, "{used} of {compared}");
}
