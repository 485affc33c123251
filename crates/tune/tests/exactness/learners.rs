//! MIRA and PRO against slow twins that are written from their definitions.

use std::collections::BTreeSet;

use sylvan_base::Rng;
use sylvan_testkit::cases;
use sylvan_tune::{MiraConfig, Optimum, Pool, ProConfig, mira, pro};

use crate::problem::{Edits, Hypothesis, Problem, close, first_of_best, length, scaled};

/// Features as small as the differences that the metric makes, many of them 0. Now and then a sentence has no
/// translation.
fn random(rng: &mut Rng, sentences: usize, features: usize) -> Problem {
    let one = |rng: &mut Rng| {
        let value = |rng: &mut Rng| (rng.below(2001) as f64 - 1000.0) / 16384.0;
        let values = (0..features).map(|_| if rng.chance(0.3) { 0.0 } else { value(rng) }).collect();
        Hypothesis { edits: rng.below(8) as u64, words: 4 + rng.below(4) as u64, values }
    };
    let list = |rng: &mut Rng| {
        let count = if rng.chance(0.1) { 0 } else { 1 + rng.below(6) };
        let mut list: Vec<Hypothesis> = Vec::new();
        for _ in 0..count {
            // A pool has each translation once.
            let new = one(rng);
            if !list.contains(&new) {
                list.push(new);
            }
        }
        list
    };
    Problem((0..sentences).map(|_| list(rng)).collect())
}

/// A translation for each sentence that has any.
#[derive(Clone)]
struct Chosen<'p> {
    problem: &'p Problem,
    chosen: Vec<Option<usize>>,
}

impl<'p> Chosen<'p> {
    fn by(problem: &'p Problem, weights: &[f64]) -> Self {
        let best = |list: &Vec<Hypothesis>| first_of_best(list.iter().map(|h| h.score(weights)));
        let chosen = problem.0.iter().map(|list| (!list.is_empty()).then(|| best(list))).collect();
        Self { problem, chosen }
    }

    fn gain(&self) -> f64 {
        let all =
            self.problem.0.iter().zip(&self.chosen).filter_map(|(list, chosen)| Some(&list[(*chosen)?]));
        let (edits, words) = all.fold((0, 0), |(edits, words), h| (edits + h.edits, words + h.words));
        -(edits as f64 / words.max(1) as f64)
    }

    /// What each translation of a sentence would make of the text, a hundredth of the metric per sentence.
    fn worth(&self, sentence: usize) -> Vec<f64> {
        let size = self.chosen.iter().flatten().count() as f64;
        let with = |index| {
            let mut other = self.clone();
            other.chosen[sentence] = Some(index);
            other.gain() / 100.0 * size
        };
        (0..self.problem.0[sentence].len()).map(with).collect()
    }
}

/// Batch MIRA, step by step; also how many steps were cut short.
fn slow_mira(problem: &Problem, start: &[f64], config: &MiraConfig) -> (Optimum, [usize; 3]) {
    let (mut weights, mut sum, mut seen) = (start.to_vec(), vec![0.0; start.len()], 0.0);
    let mut best = Optimum { weights: start.to_vec(), gain: Chosen::by(problem, start).gain() };
    let mut text = Chosen::by(problem, start);
    let mut order: Vec<usize> = (0..problem.0.len()).filter(|&s| !problem.0[s].is_empty()).collect();
    let mut rng = Rng::new(config.seed);
    let mut counts = [0; 3];
    for _ in 0..config.passes {
        rng.shuffle(&mut order);
        for &sentence in &order {
            let list = &problem.0[sentence];
            let scores: Vec<f64> = list.iter().map(|h| h.score(&weights)).collect();
            let worth = text.worth(sentence);
            let hope = first_of_best((0..list.len()).map(|i| scores[i] + worth[i]));
            let fear = first_of_best((0..list.len()).map(|i| scores[i] - worth[i]));
            let missing = (worth[hope] - worth[fear]) - (scores[hope] - scores[fear]);
            let difference: Vec<f64> =
                list[hope].values.iter().zip(&list[fear].values).map(|(a, b)| a - b).collect();
            let distance: f64 = difference.iter().map(|d| d * d).sum();
            if missing > 0.0 && distance > 0.0 {
                let step = f64::min(config.step, missing / distance);
                counts[usize::from(step < config.step)] += 1;
                weights.iter_mut().zip(&difference).for_each(|(weight, d)| *weight += step * d);
            }
            counts[2] += usize::from(missing > 0.0 && distance == 0.0);
            text.chosen[sentence] = Some(first_of_best(scores.iter().copied()));
            sum.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
            seen += 1.0;
        }
        let mean: Vec<f64> = sum.iter().map(|sum| sum / f64::max(seen, 1.0)).collect();
        let gain = Chosen::by(problem, &mean).gain();
        if gain > best.gain {
            best = Optimum { weights: mean, gain };
        }
    }
    (best, counts)
}

fn pool_of(problem: &Problem) -> Pool<'static, Edits> {
    problem.pool()
}

#[test]
fn mira_is_what_its_definition_says() {
    let (mut improved, mut counts) = (0, [0; 3]);
    let mut ignored = [0; 3];
    for seed in 0..cases(150, 3000) as u64 {
        let mut rng = Rng::new(seed);
        let problem = random(&mut rng, 6, 4);
        let start: Vec<f64> = (0..4).map(|_| rng.below(9) as f64 / 4.0 - 1.0).collect();
        let pool = pool_of(&problem);
        let config = MiraConfig { passes: 1 + rng.below(8), step: [0.5, 3.0, 20.0][rng.below(3)], seed };
        let found = mira(&pool, &start, &config);
        let (wanted, steps) = slow_mira(&problem, &start, &config);
        assert_eq!(found.gain, wanted.gain, "seed {seed}");
        close(&found.weights, &wanted.weights, 1e-9);
        assert!(found.gain >= Chosen::by(&problem, &start).gain());
        improved += usize::from(found.weights != start);
        counts.iter_mut().zip(steps).for_each(|(sum, count)| *sum += count);
        // Each setting matters.
        let others = [
            MiraConfig { passes: config.passes + 20, ..config.clone() },
            MiraConfig { step: config.step * 7.0, ..config.clone() },
            MiraConfig { seed: seed + 1, ..config.clone() },
        ];
        for (count, other) in ignored.iter_mut().zip(others) {
            let other = mira(&pool, &start, &other);
            *count += usize::from(other.weights != found.weights);
        }
    }
    assert!(improved > 30, "{improved} times better than the start");
    assert!(
        counts[0] > 100 && counts[1] > 100,
        "{counts:?} steps of full length, shorter, and without a distance"
    );
    assert!(ignored.iter().all(|&count| count > 8), "{ignored:?} results changed with passes, step and seed");
    assert_eq!(MiraConfig::default(), MiraConfig { passes: 60, step: 0.01, seed: 1 });
}

/// One or two sentences: the mean of a pass is that of one or two weights.
#[test]
fn mira_of_few_sentences_is_what_its_definition_says() {
    let mut improved = 0;
    for seed in 0..cases(900, 9000) as u64 {
        let mut rng = Rng::new(500 + seed);
        let count = 1 + rng.below(2);
        let problem = random(&mut rng, count, 3);
        let start: Vec<f64> = (0..3).map(|_| rng.below(9) as f64 / 4.0 - 1.0).collect();
        let config = MiraConfig { passes: 1 + rng.below(3), step: 3.0, seed };
        let found = mira(&pool_of(&problem), &start, &config);
        let (wanted, _) = slow_mira(&problem, &start, &config);
        assert_eq!(found.gain, wanted.gain, "seed {seed}");
        close(&found.weights, &wanted.weights, 1e-9);
        improved += usize::from(found.weights != start);
    }
    assert!(improved > 30, "{improved} times better than the start");
}

#[test]
fn mira_without_passes_or_sentences_stays_where_it_is() {
    let problem = random(&mut Rng::new(1), 6, 2);
    let start = [0.5, -0.25];
    let config = MiraConfig { passes: 0, ..MiraConfig::default() };
    let found = mira(&pool_of(&problem), &start, &config);
    assert_eq!(found, Optimum { weights: start.to_vec(), gain: Chosen::by(&problem, &start).gain() });
    let none = Problem(vec![Vec::new(); 2]);
    let found = mira(&pool_of(&none), &start, &MiraConfig::default());
    assert_eq!((found.weights.as_slice(), found.gain), (&start[..], -0.0));
}

/// The pairs that PRO learns from, as differences of features.
fn slow_pairs(problem: &Problem, start: &[f64], config: &ProConfig) -> Vec<Vec<f64>> {
    let text = Chosen::by(problem, start);
    let mut pairs = Vec::new();
    for (sentence, list) in problem.0.iter().enumerate().filter(|(_, list)| list.len() > 1) {
        let worth = text.worth(sentence);
        let mut rng = Rng::for_item(config.seed, sentence as u64);
        let mut drawn = BTreeSet::new();
        for _ in 0..config.drawn {
            let (a, b) = (rng.below(list.len()), rng.below(list.len()));
            let (better, worse) = if worth[a] > worth[b] { (a, b) } else { (b, a) };
            if worth[better] - worth[worse] >= config.least {
                drawn.insert((better, worse));
            }
        }
        let mut drawn: Vec<(usize, usize)> = drawn.into_iter().collect();
        // Those that differ most; the order of equals is that of their numbers.
        drawn.sort_by(|x, y| (worth[y.0] - worth[y.1]).total_cmp(&(worth[x.0] - worth[x.1])));
        drawn.truncate(config.kept);
        pairs.extend(drawn.iter().map(|&(better, worse)| {
            let values = list[better].values.iter().zip(&list[worse].values);
            values.map(|(a, b)| a - b).collect::<Vec<f64>>()
        }));
    }
    pairs
}

/// The optimum of logistic regression by Newton's method.
fn newton(pairs: &[Vec<f64>], penalty: f64) -> Vec<f64> {
    let size = pairs[0].len();
    let mut weights = vec![0.0; size];
    for _ in 0..200 {
        let mut system: Vec<Vec<f64>> = (0..size)
            .map(|row| {
                let mut equation: Vec<f64> =
                    (0..size).map(|column| if row == column { penalty } else { 0.0 }).collect();
                equation.push(-penalty * weights[row]);
                equation
            })
            .collect();
        for pair in pairs {
            let margin: f64 = pair.iter().zip(&weights).map(|(d, w)| d * w).sum();
            let lost = 1.0 / (1.0 + margin.exp()) / pairs.len() as f64;
            let bend = lost * (1.0 - 1.0 / (1.0 + margin.exp()));
            for row in 0..size {
                (0..size).for_each(|column| system[row][column] += bend * pair[row] * pair[column]);
                system[row][size] += lost * pair[row];
            }
        }
        let step = solve(system);
        // Damped, so that it cannot jump away.
        let scale = f64::min(1.0, 5.0 / length(&step).max(1e-300));
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += scale * step);
        if length(&step) < 1e-13 {
            break;
        }
    }
    weights
}

/// Gauss, with the largest pivot.
fn solve(mut system: Vec<Vec<f64>>) -> Vec<f64> {
    let size = system.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()))
            .unwrap();
        system.swap(column, pivot);
        let top = system[column].clone();
        for (row, equation) in system.iter_mut().enumerate() {
            if row != column {
                let factor = equation[column] / top[column];
                equation.iter_mut().zip(&top).for_each(|(value, top)| *value -= factor * top);
            }
        }
    }
    (0..size).map(|row| system[row][size] / system[row][row]).collect()
}

fn slow_pro(problem: &Problem, start: &[f64], config: &ProConfig) -> Vec<f64> {
    let pairs = slow_pairs(problem, start, config);
    let learnt = if pairs.is_empty() { start.to_vec() } else { newton(&pairs, config.penalty) };
    let learnt = scaled(&learnt, length(start).max(1e-3));
    start.iter().zip(&learnt).map(|(old, new)| old + config.mixing * (new - old)).collect()
}

/// Features of the usual size.
fn wide(rng: &mut Rng) -> Problem {
    let mut problem = random(rng, 5, 3);
    problem.0.iter_mut().flatten().flat_map(|h| &mut h.values).for_each(|value| *value *= 32.0);
    problem
}

#[test]
fn pro_is_what_its_definition_says() {
    let base = ProConfig { drawn: 40, kept: 5, least: 0.002, mixing: 0.7, penalty: 0.05, seed: 1 };
    let configs = [
        base.clone(),
        ProConfig { drawn: 3, ..base.clone() },
        ProConfig { kept: 1, ..base.clone() },
        ProConfig { least: 0.02, ..base.clone() },
        ProConfig { mixing: 0.2, ..base.clone() },
        ProConfig { mixing: 1.0, ..base.clone() },
        ProConfig { penalty: 1.0, ..base.clone() },
        ProConfig { seed: 2, drawn: 3, ..base.clone() },
    ];
    let mut differ = [0; 8];
    let runs = cases(60, 1000);
    for seed in 0..runs as u64 {
        let mut rng = Rng::new(seed);
        let problem = wide(&mut rng);
        let start: Vec<f64> = (0..3).map(|_| rng.unit() * 2.0 - 1.0).collect();
        let pool = pool_of(&problem);
        let mut first: Vec<Vec<f64>> = Vec::new();
        for (number, config) in configs.iter().enumerate() {
            let found = pro(&pool, &start, config);
            close(&found.weights, &slow_pro(&problem, &start, config), 2e-3);
            assert_eq!(found.gain, Chosen::by(&problem, &found.weights).gain(), "seed {seed}");
            // The last is like the second but for its seed.
            let other = first.get(if number == 7 { 1 } else { 0 });
            let far = |other: &Vec<f64>| other.iter().zip(&found.weights).any(|(a, b)| (a - b).abs() > 0.02);
            differ[number] += usize::from(other.is_some_and(far));
            first.push(found.weights);
        }
    }
    assert!(differ[1..].iter().all(|&count| count > runs / 4), "{differ:?} of {runs} results changed");
    let defaults = ProConfig { drawn: 5000, kept: 50, least: 0.05, mixing: 0.5, penalty: 1e-4, seed: 1 };
    assert_eq!(ProConfig::default(), defaults);
}

#[test]
fn pro_finds_the_optimum_of_features_of_very_different_size() {
    // Steepest descent would need thousands of steps here.
    for seed in 0..cases(20, 200) as u64 {
        let mut rng = Rng::new(seed);
        let mut problem = wide(&mut rng);
        for hypothesis in problem.0.iter_mut().flatten() {
            hypothesis.values.iter_mut().zip([1.0, 64.0, 0.25]).for_each(|(value, factor)| *value *= factor);
        }
        let start = [0.5, 0.01, -0.5];
        let config = ProConfig {
            drawn: 100,
            kept: 50,
            least: 0.0005,
            mixing: 1.0,
            penalty: 0.01,
            ..ProConfig::default()
        };
        let found = pro(&pool_of(&problem), &start, &config).weights;
        let wanted = slow_pro(&problem, &start, &config);
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 0.02 * wanted.abs() + 1e-4, "seed {seed}: {found} {wanted}");
        }
    }
}

/// Translations that differ by exactly what is asked for are a pair.
#[test]
fn pro_learns_from_pairs_at_the_limit() {
    let problem = Problem::of(&[&[(0, 4, &[1.0, 0.0]), (2, 4, &[0.0, 1.0])]]);
    let start = [0.5, 0.5];
    for (least, moves) in [(0.5 / 100.0, true), (0.004, true), (0.006, false)] {
        let config = ProConfig { least, mixing: 1.0, penalty: 0.05, ..ProConfig::default() };
        let found = pro(&pool_of(&problem), &start, &config).weights;
        assert_eq!(found != start, moves, "{least}: {found:?}");
        assert_eq!(found[0] > found[1], moves);
    }
}

#[test]
fn pro_without_pairs_or_length() {
    let problem = wide(&mut Rng::new(3));
    let pool = pool_of(&problem);
    let start = [0.5, -0.25, 1.0];
    // Nothing differs that much.
    let none = ProConfig { least: 9.0, ..ProConfig::default() };
    close(&pro(&pool, &start, &none).weights, &start, 1e-12);
    let still = ProConfig { mixing: 0.0, least: 0.001, ..ProConfig::default() };
    assert_eq!(pro(&pool, &start, &still).weights, start);
    let all = ProConfig { mixing: 1.0, least: 0.001, penalty: 0.05, ..ProConfig::default() };
    close(&[length(&pro(&pool, &start, &all).weights)], &[1.75], 1e-12);
    // Weights that have no length yet get a short one.
    close(&[length(&pro(&pool, &[0.0; 3], &all).weights)], &[1e-3], 1e-12);
}

/// The way of the regression, not only its end: weights to ten digits, as they were when the tests above first held.
#[test]
fn pro_goes_the_way_that_it_always_went() {
    let config = ProConfig { drawn: 60, kept: 20, least: 0.001, mixing: 1.0, penalty: 0.01, seed: 1 };
    let frozen = [
        [-0.451282999376, -0.846689735738, 0.452027264886],
        [0.288744158870, 0.793128508094, 0.668127333035],
        [-0.335431411225, 0.153553368093, 1.261015220683],
        [-0.875019453281, 0.375732931796, -0.499247614923],
        [-0.208223952475, -1.126894067576, 0.414881979949],
        [-0.577589277459, 0.068523179294, -1.103887543247],
    ];
    for (seed, wanted) in frozen.iter().enumerate() {
        let problem = wide(&mut Rng::new(100 + seed as u64));
        let found = pro(&pool_of(&problem), &[0.5, -1.0, 0.25], &config).weights;
        close(&found, wanted, 1e-10);
    }
}
