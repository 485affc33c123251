//! Error-rate training: against climbing as its definition says, and on problems that need its restarts and its random
//! directions.

use sylvan_base::Rng;
use sylvan_testkit::cases;
use sylvan_tune::{Lists, MertConfig, Optimum, mert};

use crate::problem::{Problem, close, length, scaled};

/// Along features only, from the start only.
const PLAIN: MertConfig = MertConfig { restarts: 0, random_directions: 0, seed: 1, threads: 1 };

fn train(problem: &Problem, start: &[f64], spread: &[f64], config: &MertConfig) -> Optimum {
    mert(&Lists::new(&problem.pool(), start.len()), start, spread, config)
}

#[test]
fn climbing_along_features_is_what_its_definition_says() {
    let (mut moved, mut several, mut parted) = (0, 0, 0);
    for seed in 0..cases(1500, 50_000) as u64 {
        let mut rng = Rng::new(seed);
        let features = 1 + rng.below(4);
        // Whole numbers make ties between intervals and between directions; others need several steps.
        let problem = match seed % 2 {
            0 => Problem::with_ties(&mut rng, features),
            _ => Problem::random(&mut rng, 3, 8),
        };
        let features = problem.0[0][0].values.len();
        let start: Vec<f64> = (0..features).map(|_| (rng.below(9) as f64 - 4.0) / 4.0).collect();
        let free: Vec<bool> = (0..features).map(|_| rng.chance(0.8)).collect();
        let spread: Vec<f64> = free.iter().map(|&free| f64::from(u8::from(free))).collect();
        let found = train(&problem, &start, &spread, &PLAIN);
        let (weights, gain) = problem.climb(&start, &free);
        if !free.contains(&true) {
            assert_eq!(found, Optimum { weights: start.clone(), gain: problem.gain(&start) }, "seed {seed}");
            continue;
        }
        assert_eq!(found.gain, gain, "seed {seed}");
        let wanted = match length(&start) * length(&weights) > 0.0 {
            true => scaled(&weights, length(&start)),
            false => weights.clone(),
        };
        // Where a step ends on a tie, rounding decides how the next one sees it, and two ways up part. That is rare.
        parted += usize::from(!found.weights.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-9));
        moved += usize::from(weights != start);
        several += usize::from(weights.iter().zip(&start).filter(|(a, b)| a != b).count() > 1);
        // The metric of the weights is what was promised, and scaling changes nothing of it.
        if seed % 2 == 1 {
            assert_eq!(problem.gain(&found.weights), gain, "seed {seed}");
        }
    }
    assert!(moved > 300 && several > 50, "{moved} moved, {several} in more than one feature");
    assert!(parted <= cases(0, 5), "{parted} parted");
}

#[test]
fn weights_keep_the_length_of_the_start() {
    let mut scaled_down = 0;
    for seed in 0..50 {
        let problem = Problem::random(&mut Rng::new(seed), 5, 10);
        for start in [[0.5, -0.25, 0.5], [40.0, 0.0, -3.0], [1e-3, 2e-3, 1e-3]] {
            let config = MertConfig { seed, ..MertConfig::default() };
            let found = train(&problem, &start, &[1.0; 3], &config);
            close(&[length(&found.weights)], &[length(&start)], 1e-12);
            scaled_down += usize::from(found.weights != start);
            assert_eq!(problem.gain(&found.weights), found.gain);
            assert!(found.gain >= problem.gain(&start));
        }
        // A start without length gives none.
        let found = train(&problem, &[0.0; 3], &[1.0; 3], &PLAIN);
        close(&found.weights, &problem.climb(&[0.0; 3], &[true; 3]).0, 1e-9);
    }
    assert!(
        scaled_down > 100,
        "{scaled_down} times something was learnt, so that there was something to scale"
    );
}

/// Two features. From weights below 0 no change of one feature reaches the good translation, which wins where both
/// weights are above 0 and neither is twice the other.
fn diagonal() -> Problem {
    Problem::of(&[&[(2, 4, &[0.0, 0.0]), (0, 4, &[1.0, 1.0]), (3, 4, &[2.0, -1.0]), (3, 4, &[-1.0, 2.0])]])
}

#[test]
fn random_directions_reach_what_no_feature_reaches() {
    let (problem, start) = (diagonal(), [-3.0, -3.0]);
    // All directions of the plane.
    let circle = (0..3600).map(|step| f64::from(step).to_radians() / 10.0);
    let best =
        circle.map(|angle| problem.gain(&[angle.cos(), angle.sin()])).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best, 0.0);
    assert_eq!(problem.climb(&start, &[true; 2]).1, -0.5, "one feature at a time is stuck");
    let found = |config: &MertConfig| train(&problem, &start, &[1.0; 2], config);
    for seed in 0..20 {
        assert_eq!(found(&MertConfig { seed, ..PLAIN }).gain, -0.5);
        // Known signs stay, so restarts alone do not help.
        assert_eq!(found(&MertConfig { restarts: 20, seed, ..PLAIN }).gain, -0.5);
        let with = found(&MertConfig { random_directions: 40, seed, ..PLAIN });
        assert_eq!(with.gain, best, "seed {seed}: {with:?}");
        assert_eq!(problem.gain(&with.weights), best);
        close(&[length(&with.weights)], &[6.0], 1e-12);
    }
}

/// The same with the second feature turned round: directions must go up in one feature and down in the other.
#[test]
fn random_directions_have_both_signs() {
    let turned = [(2, 4, [0.0, 0.0]), (0, 4, [1.0, -1.0]), (3, 4, [2.0, 1.0]), (3, 4, [-1.0, -2.0])];
    let turned: Vec<(u64, u64, &[f64])> = turned.iter().map(|(a, b, values)| (*a, *b, &values[..])).collect();
    let problem = Problem::of(&[&turned[..]]);
    for seed in 0..20 {
        let config = MertConfig { random_directions: 40, seed, ..PLAIN };
        assert_eq!(train(&problem, &[-3.0, 3.0], &[1.0; 2], &config).gain, 0.0, "seed {seed}");
    }
}

#[test]
fn a_feature_without_spread_moves_in_no_direction() {
    // Only the third feature tells the translations apart, and its weight has the wrong sign.
    let problem = Problem::of(&[&[(2, 4, &[1.0, 2.0, 0.0]), (0, 4, &[1.0, 2.0, 1.0])]]);
    let start = [0.5, 0.5, -2.0];
    for config in [PLAIN, MertConfig { random_directions: 40, ..PLAIN }, MertConfig::default()] {
        assert_eq!(train(&problem, &start, &[1.0, 1.0, 0.0], &config).gain, -0.5);
        assert_eq!(train(&problem, &start, &[1.0, 1.0, 1.0], &config).gain, 0.0);
        // A feature that has no spread at all is free.
        assert_eq!(train(&problem, &start, &[1.0, 1.0], &PLAIN).gain, 0.0);
    }
    // Weights of 0 stay 0 whatever the scale, in random starts and directions, too.
    let mut others = 0;
    for seed in 0..20 {
        let problem = Problem::random(&mut Rng::new(seed), 6, 10);
        let start = [0.0, -0.2, 0.5];
        let held = train(&problem, &start, &[0.0, 1.0, 1.0], &MertConfig::default());
        assert_eq!(held.weights[0], 0.0);
        others += usize::from(train(&problem, &start, &[1.0; 3], &MertConfig::default()).weights[0] != 0.0);
    }
    assert!(others > 5, "a feature with a spread moved {others} times of 20");
}

/// Directions on a grid over the part of a sphere where all three weights are above 0, as hypotheses: that wins which
/// is next to the weights. One is perfect, the one at the start is fair, all others are poor.
fn sphere() -> (Problem, [f64; 3], Vec<[f64; 3]>) {
    const STEPS: i32 = 7;
    let grid: Vec<[i32; 3]> =
        (0..=STEPS).flat_map(|x| (0..=STEPS - x).map(move |y| [x, y, STEPS - x - y])).collect();
    let direction = |point: &[i32; 3]| {
        let point = point.map(|part| f64::from(part) + 0.25);
        let norm = point.iter().map(|part| part * part).sum::<f64>().sqrt();
        point.map(|part| part / norm)
    };
    let (good, fair) = ([5, 1, 1], [1, 1, 5]);
    let edits = |point: [i32; 3]| {
        if point == good {
            0
        } else if point == fair {
            1
        } else {
            3
        }
    };
    let all: Vec<[f64; 3]> = grid.iter().map(direction).collect();
    let list: Vec<(u64, u64, &[f64])> =
        grid.iter().zip(&all).map(|(point, values)| (edits(*point), 4, &values[..])).collect();
    (Problem::of(&[&list]), direction(&fair), all)
}

#[test]
fn restarts_reach_what_climbing_from_the_start_does_not() {
    let (problem, start, all) = sphere();
    let best = all.iter().map(|point| problem.gain(point)).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best, 0.0);
    assert_eq!(problem.climb(&start, &[true; 3]).1, -0.25, "the start is the best along each feature");
    for seed in 0..20 {
        let found = |restarts| train(&problem, &start, &[1.0; 3], &MertConfig { restarts, seed, ..PLAIN });
        assert_eq!(found(0).gain, -0.25);
        let with = found(100);
        assert_eq!((with.gain, problem.gain(&with.weights)), (best, best), "seed {seed}");
        close(&[length(&with.weights)], &[length(&start)], 1e-12);
    }
    // How many are needed depends on the seed; each number of them is used.
    let needed = |seed| {
        let gain =
            |restarts| train(&problem, &start, &[1.0; 3], &MertConfig { restarts, seed, ..PLAIN }).gain;
        (0..100).find(|&restarts| gain(restarts) == best).unwrap()
    };
    let needed: Vec<usize> = (0..10).map(needed).collect();
    assert!(needed.iter().all(|&restarts| restarts > 0), "{needed:?}");
    assert!(needed.iter().any(|&restarts| restarts != needed[0]), "{needed:?}");
}

#[test]
fn of_equally_good_starts_the_first_one_counts() {
    // One translation: all weights are equally good, and the given ones stay.
    let problem = Problem::of(&[&[(1, 4, &[1.0, -2.0])]]);
    let start = [0.25, -0.5];
    for seed in 0..5 {
        let found = train(&problem, &start, &[1.0; 2], &MertConfig { seed, ..MertConfig::default() });
        assert_eq!(found, Optimum { weights: start.to_vec(), gain: -0.25 });
    }
}

#[test]
fn a_start_with_a_direction_that_is_equal_elsewhere_stays_on_the_first_one() {
    // Either feature alone gains the same; the first one moves.
    let problem = Problem::of(&[&[(2, 4, &[0.0, 0.0]), (1, 4, &[1.0, 0.0]), (1, 4, &[0.0, 1.0])]]);
    let start = [-1.0, -1.0];
    let found = train(&problem, &start, &[1.0; 2], &PLAIN);
    close(&found.weights, &scaled(&[0.1, -1.0], 2.0), 1e-12);
}

#[test]
fn threads_change_nothing_and_seeds_change_something() {
    let (problem, start, _) = sphere();
    let found = |threads, seed| {
        train(&problem, &start, &[1.0; 3], &MertConfig { threads, seed, ..MertConfig::default() })
    };
    let one = found(1, 1);
    assert_eq!(one, found(3, 1));
    assert_eq!(one, found(1, 1));
    assert!((2..6).any(|seed| found(1, seed) != one));
}

#[test]
fn the_defaults_are_those_that_are_documented() {
    let MertConfig { restarts, random_directions, seed, threads } = MertConfig::default();
    assert_eq!((restarts, random_directions, seed, threads), (12, 6, 1, 1));
}
