//! Exact search: what is proven is the optimum, and what is not is bounded.
#![allow(clippy::unwrap_used)]

mod common;

use common::{HashLm, Problem};
use sylvan_base::Rng;
use sylvan_forest::TokenId;
use sylvan_search::{
    Certified, Derivations, Effort, LanguageModel, NoBounds, NoLanguageModel, brute_force, exact, rescore,
};
use sylvan_testkit::{cases, random_instance};

const LIMIT: u64 = 4_000;

fn random_problems(seed: u64, count: usize, mut test: impl FnMut(&Problem, &str, &mut Rng)) {
    let mut rng = Rng::new(seed);
    let mut done = 0;
    while done < count {
        let instance = random_instance(&mut rng);
        let rules: Vec<(&str, &str, f64)> =
            instance.rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
        let problem = Problem::new(&instance.tree, &rules);
        if Derivations::of(&problem.forest).count() <= LIMIT {
            test(&problem, &format!("{instance:?}"), &mut rng);
            done += 1;
        }
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs())
}

fn run<L: LanguageModel>(problem: &Problem, lm: &L, joins: u64) -> Certified {
    exact(&problem.forest, lm, None, Effort { joins }, &mut || false).unwrap()
}

/// A random derivation, to start from something bad.
fn any_derivation(problem: &Problem, rng: &mut Rng) -> Option<sylvan_forest::Derivation> {
    let all = Derivations::of(&problem.forest);
    (all.count() > 0).then(|| all.get(rng.below(all.count() as usize) as u64))
}

#[test]
fn unlimited_effort_proves_what_brute_force_finds() {
    let mut ambiguous = 0;
    random_problems(21, cases(4_000, 40_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let forest = &problem.forest;
        let best = brute_force(forest, &lm, LIMIT);
        let start = any_derivation(problem, rng).filter(|_| rng.chance(0.7));
        let found = exact(forest, &lm, start, Effort::UNLIMITED, &mut || false).unwrap();
        assert!(found.proven, "{shown}");
        match (&best, &found.best) {
            (None, None) => assert_eq!(found.upper_bound, f64::NEG_INFINITY),
            (Some(best), Some(certified)) => {
                assert!(
                    close(best.score, certified.score),
                    "{} not {}: {shown}",
                    certified.score,
                    best.score
                );
                assert!(close(rescore(forest, &lm, &certified.derivation), certified.score), "{shown}");
                assert_eq!(found.upper_bound, certified.score, "{shown}");
                assert_eq!(found.gap(), 0.0);
                ambiguous += usize::from(Derivations::of(forest).count() > 10);
            }
            _ => panic!("derivable or not: {shown}"),
        }
    });
    assert!(ambiguous > 500, "only {ambiguous} problems had much to choose from");
}

#[test]
fn any_limit_leaves_a_true_bound() {
    let (mut stopped, mut early) = (0, 0);
    random_problems(22, cases(3_000, 30_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 2 + rng.below(3), rng.next_u64(), 1.0);
        let Some(best) = brute_force(&problem.forest, &lm, LIMIT) else { return };
        for joins in [0, 3, 10, 30, 100, 300] {
            let start = any_derivation(problem, rng);
            let found = exact(&problem.forest, &lm, start, Effort { joins }, &mut || false).unwrap();
            let score = found.best.as_ref().unwrap().score;
            assert!(score <= best.score + 1e-6 * (1.0 + score.abs()), "{shown}");
            assert!(
                found.upper_bound >= best.score - 1e-6 * (1.0 + best.score.abs()),
                "bound {} below {} after {joins} joins: {shown}",
                found.upper_bound,
                best.score
            );
            assert!(found.gap() >= 0.0);
            // What was tried in vain is a bound.
            for (place, round) in found.rounds.iter().enumerate() {
                let in_vain = found.rounds[place + 1..].iter().any(|later| later.known <= round.known);
                let bound = round.threshold.max(score) + rounding(score);
                assert!(!in_vain || found.upper_bound <= bound, "{round:?} {}: {shown}", found.upper_bound);
            }
            if found.proven {
                assert!(close(score, best.score), "{score} proven but {} is there: {shown}", best.score);
                early += 1;
            } else {
                assert!(found.joins > joins, "stopped for no reason: {shown}");
                stopped += 1;
            }
        }
    });
    assert!(stopped > 1_000 && early > 1_000, "{stopped} stopped, {early} proven");
}

#[test]
fn bounds_fall_from_round_to_round_and_never_below_the_optimum() {
    random_problems(23, cases(1_000, 10_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let Some(best) = brute_force(&problem.forest, &lm, LIMIT) else { return };
        let found = run(problem, &lm, u64::MAX);
        for round in &found.rounds {
            let slack = 1e-6 * (1.0 + best.score.abs());
            match round.bound {
                Some(bound) if round.threshold <= best.score => {
                    assert!(bound >= best.score - slack, "{round:?} {shown}");
                }
                None => assert!(round.threshold >= best.score - slack, "{round:?} {shown}"),
                _ => {}
            }
        }
    });
}

/// How far two scores may differ by rounding.
fn rounding(score: f64) -> f64 {
    1e-6 * (1.0 + score.abs())
}

/// No level is tried again once a derivation reached its threshold, and none at all once the bound is reached.
#[test]
fn nothing_is_done_after_the_proof() {
    let (mut early, mut tried_again) = (0, 0);
    random_problems(25, cases(1_500, 15_000), |problem, shown, rng| {
        let order = 1 + rng.below(4);
        let lm = HashLm::new(&problem.forest, order, rng.next_u64(), 1.0);
        let from = |start| exact(&problem.forest, &lm, start, Effort::UNLIMITED, &mut || false).unwrap();
        let found = from(any_derivation(problem, rng));
        let Some(best) = &found.best else { return };
        for (place, round) in found.rounds.iter().enumerate() {
            let again = found.rounds[place + 1..].iter().any(|later| later.known <= round.known);
            tried_again += usize::from(again);
            let reached = best.score >= round.threshold - rounding(round.threshold);
            assert!(!(again && reached), "{round:?} of {:?}: {shown}", found.rounds);
        }
        // Levels follow each other one by one, and thresholds are never below what is known.
        let known: Vec<usize> = found.rounds.iter().map(|round| round.known).collect();
        assert!(known[0] == 0 && known.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{known:?}");
        assert!(known.iter().all(|&known| known < order));
        // Whoever knows the optimum has nothing to do but prove it.
        let sure = from(Some(best.derivation.clone()));
        let mut upper = f64::INFINITY;
        for (place, round) in sure.rounds.iter().enumerate() {
            let closed = upper <= best.score + rounding(best.score);
            assert!(!closed, "round {place} of {:?}: {shown}", sure.rounds);
            upper = upper.min(round.bound.unwrap_or(round.threshold).max(round.threshold));
        }
        early += usize::from(sure.rounds.last().is_some_and(|round| round.known + 1 < order));
        let (items, joins) = sure.rounds.iter().fold((0, 0), |(i, j), r| (i + r.items as u64, j + r.joins));
        assert_eq!(sure.joins, joins);
        assert_eq!(sure.best.unwrap().counters.items, items);
    });
    assert!(
        early > 200 && tried_again > 50,
        "{early} proofs before the last level, {tried_again} tries failed"
    );
}

#[test]
fn the_clock_can_stop_it() {
    let rules: Vec<(String, f64)> = ["a", "b", "c", "d"]
        .iter()
        .flat_map(|x| {
            ["a", "b", "c", "d"].map(|y| (format!("A(a) -> {x} {y}"), -0.1 * f64::from(x.as_bytes()[0] % 7)))
        })
        .chain([(
            "S(x1:A x2:A x3:A x4:A x5:A x6:A x7:A x8:A x9:A) -> x1 x2 x3 x4 x5 x6 x7 x8 x9".to_string(),
            0.0,
        )])
        .collect();
    let rules: Vec<(&str, &str, f64)> =
        rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
    let problem = Problem::new("(S (A a) (A a) (A a) (A a) (A a) (A a) (A a) (A a) (A a))", &rules);
    let lm = HashLm::new(&problem.forest, 4, 5, 1.0);
    let full = run(&problem, &lm, u64::MAX);
    assert!(full.proven && full.joins > 40_000, "{} joins", full.joins);
    // It is asked every 20,000 joins, or a little later where one step makes many.
    let mut questions = 0;
    let mut listen = || {
        questions += 1;
        false
    };
    let heard = exact(&problem.forest, &lm, None, Effort::UNLIMITED, &mut listen).unwrap();
    assert_eq!(heard.joins, full.joins);
    assert!(questions >= full.joins / 21_000 && questions <= full.joins / 20_000, "{questions} questions");
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        asked == 1
    };
    let halted = exact(&problem.forest, &lm, None, Effort::UNLIMITED, &mut stop).unwrap();
    assert!(!halted.proven && halted.joins < full.joins && asked == 1);
    assert!(halted.upper_bound >= full.upper_bound && halted.gap() > 0.0);
    // The same effort gives the same answer.
    let again = |joins| {
        let found = run(&problem, &lm, joins);
        (found.joins, found.upper_bound, found.rounds, found.best.unwrap().derivation)
    };
    assert_eq!(again(25_000), again(25_000));
}

#[test]
fn no_model_at_all_is_exact_too() {
    random_problems(24, cases(300, 3_000), |problem, shown, rng| {
        let best = brute_force(&problem.forest, &NoLanguageModel, LIMIT);
        let start = any_derivation(problem, rng);
        let found =
            exact(&problem.forest, &NoLanguageModel, start, Effort::UNLIMITED, &mut || false).unwrap();
        assert!(found.proven);
        let scores = (best.map(|best| best.score), found.best.map(|best| best.score));
        assert!(matches!(scores, (None, None) | (Some(_), Some(_))), "{shown}");
        assert!(close(scores.0.unwrap_or(0.0), scores.1.unwrap_or(0.0)), "{shown}");
    });
}

#[test]
fn a_model_without_bounds_is_refused_with_a_reason() {
    struct Boundless;
    impl LanguageModel for Boundless {
        type State = ();
        fn order(&self) -> usize {
            2
        }
        fn begin(&self) {}
        fn null(&self) {}
        fn score(&self, (): (), _word: TokenId) -> (f64, ()) {
            (-1.0, ())
        }
        fn end(&self, (): ()) -> f64 {
            -1.0
        }
    }
    let (problem, _) = common::toy_a();
    let refused = exact(&problem.forest, &Boundless, None, Effort::UNLIMITED, &mut || false);
    assert_eq!(refused.unwrap_err(), NoBounds);
    assert!(NoBounds.to_string().contains("needs upper bounds"));
}

#[test]
fn the_papers_toys() {
    let (a, lm) = common::toy_a();
    let found = run(&a, &lm, u64::MAX);
    common::assert_close(found.best.unwrap().score, -8.6);
    let (b, lm) = common::toy_b_plus();
    let found = run(&b, &lm, u64::MAX);
    assert_eq!(b.text(&found.best.as_ref().unwrap().derivation), "Bush held talks with Sharon");
    common::assert_close(found.upper_bound, -5.9);
}
