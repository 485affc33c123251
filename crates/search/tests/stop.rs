//! Deadlines, work limits and cancelling: an answer that is a best effort, and says so, or none at all.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::{HashLm, close, random_problems};
use sylvan_forest::TranslationForest;
use sylvan_search::{
    Agenda, Beam, BoundaryWords, Cube, CubePruning, Engine, Incremental, Limits, Losers, Prediction, Refine,
    Run, Stop, Undirected, incremental_search, prediction_search, rescore,
};
use sylvan_testkit::cases;

/// Score, derivation, whether it was cut short, and items made; `None` if there is no answer.
type Answer = Option<(f64, sylvan_forest::Derivation, bool, u64)>;

fn all(forest: &TranslationForest, lm: &HashLm, stop: &Stop) -> Vec<(&'static str, Answer)> {
    let two_sided = BoundaryWords::new(lm);
    let (mut cube, mut groups) = (CubePruning::default(), Refine::default());
    let limits = Limits::beam(Beam(20));
    let run = || Run { stop, ..Run::new(lm) };
    let found = cube.search(forest, &two_sided, Cube::new(Beam(20)), Losers::Forget, stop);
    let by_cube = found.map(|f| (f.score, f.derivation, cube.chart().was_cut_short(), f.counters.items));
    let found = groups.search(forest, &two_sided, Beam(20), Losers::Forget, stop);
    let by_groups = found.map(|f| (f.score, f.derivation, groups.chart().was_cut_short(), f.counters.items));
    let mut agenda = Agenda::default();
    let found = agenda.search(forest, &two_sided, Undirected::paper(Beam(20)), stop, None);
    let by_agenda = found.map(|f| (f.score, f.derivation, agenda.was_cut_short(), f.counters.items));
    let top_down =
        incremental_search(&mut Engine::default(), forest, run(), limits, Incremental::default(), None);
    let bottom_up =
        prediction_search(&mut Engine::default(), forest, run(), limits, Prediction::default(), None);
    vec![
        ("cube", by_cube),
        ("refine", by_groups),
        ("incremental", top_down.map(|f| (f.score, f.derivation, f.cut_short, f.counters.items))),
        ("undirected", by_agenda),
        ("prediction", bottom_up.map(|f| (f.score, f.derivation, f.cut_short, f.counters.items))),
    ]
}

#[test]
fn a_deadline_that_has_passed_leaves_an_answer() {
    let past = Instant::now() - Duration::from_secs(1);
    let due = Stop { deadline: Some(past), ..Stop::NEVER };
    let mut fewer = [0; 5];
    random_problems(41, cases(300, 3_000), |problem, shown, rng| {
        let forest = &problem.forest;
        let lm = HashLm::new(forest, 2, rng.next_u64(), 1.0);
        let calm = all(forest, &lm, &Stop::NEVER);
        for (place, ((name, hurried), (_, calm))) in all(forest, &lm, &due).into_iter().zip(calm).enumerate()
        {
            let (Some(hurried), Some(calm)) = (&hurried, &calm) else {
                assert_eq!(hurried.is_some(), calm.is_some(), "{name}: {shown}");
                continue;
            };
            assert!(!calm.2, "{name} was in no hurry: {shown}");
            assert!(hurried.2, "{name} was cut short: {shown}");
            let again = rescore(forest, &lm, &hurried.1);
            assert!(close(again, hurried.0) && hurried.3 <= calm.3, "{name}: {shown}");
            fewer[place] += usize::from(hurried.3 < calm.3);
        }
    });
    assert!(fewer.iter().all(|&times| times > 20), "{fewer:?}");
}

#[test]
fn a_cancelled_search_has_no_answer_from_left_to_right() {
    let cancel = Some(std::sync::Arc::new(AtomicBool::new(true)));
    let stop = Stop { cancel, ..Stop::NEVER };
    random_problems(42, cases(50, 500), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 2, rng.next_u64(), 1.0);
        for (name, found) in all(&problem.forest, &lm, &stop).into_iter().skip(2) {
            assert!(found.is_none(), "{name}: {shown}");
        }
    });
}
