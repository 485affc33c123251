//! Bottom-up search with n-gram models, whose states keep only what matters, against brute force.
#![allow(clippy::unwrap_used)]

#[path = "../../search/tests/common/mod.rs"]
mod common;

use common::Problem;
use sylvan_base::Rng;
use sylvan_decode::Ngram;
use sylvan_lm::{EstimateConfig, Estimator, Lm, WordId};
use sylvan_search::{Beam, Cube, Derivations, brute_force, cube_pruning, refine, rescore};
use sylvan_testkit::{cases, random_instance};

/// A model of random sentences over the words of the random rules.
fn random_model(rng: &mut Rng) -> Lm {
    let order = 1 + rng.below(5);
    let mut estimator = Estimator::new(EstimateConfig { order, ..EstimateConfig::default() }).unwrap();
    for _ in 0..40 {
        let words: Vec<&str> = (0..1 + rng.below(7)).map(|_| ["a", "b", "c", "e"][rng.below(4)]).collect();
        estimator.add(&words.join(" ")).unwrap();
    }
    estimator.finish().unwrap()
}

#[test]
fn minimal_states_lose_nothing() {
    let mut rng = Rng::new(11);
    let mut ambiguous = 0;
    let count = cases(3_000, 30_000);
    let mut lm = random_model(&mut rng);
    for case in 0..count {
        if case % 20 == 0 {
            lm = random_model(&mut rng);
        }
        let instance = random_instance(&mut rng);
        let rules: Vec<(&str, &str, f64)> =
            instance.rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
        let problem = Problem::new(&instance.tree, &rules);
        let forest = &problem.forest;
        if forest.is_dead() || Derivations::of(forest).count() > 2_000 {
            continue;
        }
        ambiguous += usize::from(Derivations::of(forest).count() > 1);
        let ids: Vec<WordId> =
            forest.tokens().iter().map(|token| lm.word(problem.vocab.text(token.word))).collect();
        let scorer = Ngram::new(&lm, &ids, 0.7);
        let best = brute_force(forest, &scorer, 2_000).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (1.0 + a.abs());
        for beam in [Beam(1), Beam(4), Beam::UNLIMITED] {
            for (name, found) in [
                ("cube pruning", cube_pruning(forest, &scorer, Cube::new(beam)).unwrap()),
                ("refine", refine(forest, &scorer, beam).unwrap()),
            ] {
                let again = rescore(forest, &scorer, &found.derivation);
                assert!(close(found.score, again), "{name} says {} for {again}: {instance:?}", found.score);
                if beam == Beam::UNLIMITED {
                    assert!(
                        close(found.score, best.score),
                        "{name}: {} not {}: {instance:?}",
                        found.score,
                        best.score
                    );
                }
            }
        }
    }
    assert!(ambiguous > count / 4, "{ambiguous} of {count} say something");
}
