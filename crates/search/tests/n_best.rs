//! n-best lists of all searches without limits are the best derivations there are.
#![allow(clippy::unwrap_used)]

mod common;

use common::{HashLm, LIMIT, Problem, close, random_problems};
use sylvan_base::{HashSet, Symbol};
use sylvan_forest::{Derivation, TranslationForest};
use sylvan_search::{
    Agenda, Beam, BoundaryWords, Cube, CubePruning, Derivations, Engine, Incremental, KBest, LanguageModel,
    Limits, Losers, OutForest, Prediction, Progress, Run, Stop, Undirected, incremental_search,
    prediction_search, rescore,
};
use sylvan_testkit::cases;

/// Everything that is found is kept.
fn all_of(lm: &HashLm) -> Run<'_, HashLm> {
    Run { out_forest: true, ..Run::new(lm) }
}

/// The out-forests of all searches that make one.
fn explored(forest: &TranslationForest, lm: &HashLm) -> Vec<(&'static str, OutForest)> {
    let limits = Limits::beam(Beam::UNLIMITED);
    let mut engine = Engine::default();
    let mut found = Vec::new();
    for (name, progress) in [("incremental", Progress::Nodes), ("incremental, words", Progress::Words)] {
        let config = Incremental { progress, ..Incremental::default() };
        let outcome = incremental_search(&mut engine, forest, all_of(lm), limits, config, None);
        found.extend(outcome.map(|found| (name, found.out_forest.unwrap())));
    }
    let outcome = prediction_search(&mut engine, forest, all_of(lm), limits, Prediction::default(), None);
    found.extend(outcome.map(|found| ("prediction", found.out_forest.unwrap())));
    let two_sided = BoundaryWords::new(lm);
    let mut cube = CubePruning::default();
    if cube.search(forest, &two_sided, Cube::new(Beam::UNLIMITED), Losers::Keep, &Stop::NEVER).is_some() {
        found.push(("cube pruning", cube.chart().out_forest(forest, &two_sided)));
    }
    // Whatever the order, and whatever improved after others were built on it.
    let all = Beam::UNLIMITED;
    let mut agenda = Agenda::default();
    for (name, config) in [("undirected", Undirected::new(all)), ("its paper's", Undirected::paper(all))] {
        if agenda.search(forest, &two_sided, config, &Stop::NEVER, None).is_some() {
            found.push((name, agenda.out_forest(forest)));
        }
    }
    found
}

fn all_derivations<L: LanguageModel>(forest: &TranslationForest, lm: &L) -> Vec<(f64, Derivation)> {
    let all = Derivations::of(forest);
    let mut list: Vec<(f64, Derivation)> = (0..all.count())
        .map(|index| {
            let derivation = all.get(index);
            (rescore(forest, lm, &derivation), derivation)
        })
        .collect();
    list.sort_by(|a, b| b.0.total_cmp(&a.0));
    list
}

#[test]
fn a_run_keeps_what_lost_only_if_asked() {
    let (problem, lm) = common::toy_a();
    let limits = Limits::beam(Beam(5));
    let run = |run| {
        incremental_search(&mut Engine::default(), &problem.forest, run, limits, Incremental::default(), None)
    };
    assert!(run(Run::new(&lm)).unwrap().out_forest.is_none());
    assert!(run(Run { out_forest: true, ..Run::new(&lm) }).unwrap().out_forest.is_some());
}

#[test]
fn n_best_lists_equal_brute_force() {
    let mut long = 0;
    random_problems(11, cases(1_500, 20_000), |problem: &Problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let forest = &problem.forest;
        assert!(Derivations::of(forest).count() <= LIMIT);
        let expected = all_derivations(forest, &lm);
        let k = 1 + rng.below(60);
        long += usize::from(expected.len() > k);
        let found = explored(forest, &lm);
        assert_eq!(found.is_empty(), expected.is_empty(), "{shown}");
        for (name, out) in found {
            let list: Vec<(f64, Derivation)> = KBest::new(&out)
                .take(k)
                .map(|(score, edges)| (score, out.derivation(forest, edges)))
                .collect();
            assert_eq!(list.len(), expected.len().min(k), "{name}: {shown}");
            let mut seen = HashSet::default();
            for ((score, derivation), (best, _)) in list.iter().zip(&expected) {
                assert!(close(*score, *best), "{name}: {score} not {best}: {shown}");
                assert!(close(rescore(forest, &lm, derivation), *score), "{name}: {shown}");
                assert!(seen.insert(derivation.clone()), "{name}: the same derivation twice: {shown}");
            }
        }
    });
    assert!(long > 100, "{long} forests with more derivations than were asked for");
}

/// The best score of each translation, best first.
fn all_translations(forest: &TranslationForest, all: &[(f64, Derivation)]) -> Vec<(f64, Vec<Symbol>)> {
    let mut seen = HashSet::default();
    let words = all.iter().map(|(score, derivation)| (*score, derivation.words(forest)));
    words.filter(|(_, words)| seen.insert(words.clone())).collect()
}

#[test]
fn lists_of_different_translations_equal_brute_force() {
    let (mut long, mut same) = (0, 0);
    random_problems(13, cases(1_500, 20_000), |problem: &Problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let forest = &problem.forest;
        let all = all_derivations(forest, &lm);
        let expected = all_translations(forest, &all);
        let k = 1 + rng.below(60);
        long += usize::from(expected.len() > k);
        same += usize::from(expected.len() < all.len());
        for (name, out) in explored(forest, &lm) {
            let list: Vec<_> = KBest::distinct(&out, forest).take(k).collect();
            assert_eq!(list.len(), expected.len().min(k), "{name}: {shown}");
            let mut seen = HashSet::default();
            for ((score, edges), (best, _)) in list.into_iter().zip(&expected) {
                let derivation = out.derivation(forest, edges);
                assert!(close(score, *best), "{name}: {score} not {best}: {shown}");
                assert!(close(rescore(forest, &lm, &derivation), score), "{name}: {shown}");
                assert!(seen.insert(derivation.words(forest)), "{name}: the same words twice: {shown}");
            }
        }
    });
    assert!(
        long > 20 && same > 100,
        "{long} with more translations than asked for, {same} with some that are the same"
    );
}

#[test]
fn pruned_lists_hold_true_scores() {
    random_problems(12, cases(500, 5_000), |problem: &Problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 3, rng.next_u64(), 1.0);
        let forest = &problem.forest;
        let mut engine = Engine::default();
        let limits = Limits::beam(Beam(3));
        let Some(found) =
            prediction_search(&mut engine, forest, all_of(&lm), limits, Prediction::default(), None)
        else {
            return;
        };
        let out = found.out_forest.as_ref().unwrap();
        let mut before = f64::INFINITY;
        for (place, (score, edges)) in KBest::new(out).take(10).enumerate() {
            let derivation = out.derivation(forest, edges);
            assert!(close(rescore(forest, &lm, &derivation), score), "{shown}");
            assert!(score <= before, "{shown}");
            assert!(place > 0 || close(score, found.score), "{shown}");
            before = score;
        }
    });
}
