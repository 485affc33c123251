//! Envelopes and line searches against scans of all intervals.

use proptest::prelude::*;
use sylvan_base::Rng;
use sylvan_testkit::cases;
use sylvan_tune::{Direction, Line, Lists, Point, Segment, Space, line_search, upper_envelope};

use crate::problem::{Problem, close, crossings, first_of_best, inside};

fn envelope(lines: &[(f64, f64)]) -> Vec<(f64, usize)> {
    let lines: Vec<Line> = lines.iter().map(|&(slope, intercept)| Line { slope, intercept }).collect();
    // What was there before is gone.
    let mut segments = vec![Segment { start: 7.0, line: 99 }];
    upper_envelope(&lines, &mut segments);
    segments.iter().map(|segment| (segment.start, segment.line)).collect()
}

/// Which line is on top between any two crossings.
fn scanned(lines: &[(f64, f64)]) -> Vec<(f64, usize)> {
    let mut ends = crossings(lines);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    ends.push(f64::INFINITY);
    let mut found: Vec<(f64, usize)> = Vec::new();
    let mut start = f64::NEG_INFINITY;
    for end in ends {
        let at = inside(start, end);
        let top = first_of_best(lines.iter().map(|(slope, intercept)| slope * at + intercept));
        if found.last().is_none_or(|&(_, line)| line != top) {
            found.push((start, top));
        }
        start = end;
    }
    found
}

#[test]
fn an_envelope_is_what_is_on_top_between_all_crossings() {
    let (mut hidden, mut equal, mut parallel) = (0, 0, 0);
    for seed in 0..cases(3000, 100_000) as u64 {
        let mut rng = Rng::new(seed);
        // One in ten has many lines, of which most are left out before any are sorted.
        let most = if rng.chance(0.1) { 100 } else { 8 };
        let lines: Vec<(f64, f64)> = (0..1 + rng.below(most))
            .map(|_| (rng.below(7) as f64 - 3.0, (rng.below(13) as f64 - 6.0) / 2.0))
            .collect();
        let found = envelope(&lines);
        assert_eq!(found, scanned(&lines), "seed {seed}: {lines:?}");
        hidden += usize::from(found.len() < lines.len());
        let pairs: Vec<_> = (0..lines.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let any = |test: &dyn Fn((f64, f64), (f64, f64)) -> bool| {
            usize::from(pairs.iter().any(|&(a, b)| test(lines[a], lines[b])))
        };
        equal += any(&|a, b| a == b);
        parallel += any(&|a, b| a.0 == b.0 && a.1 != b.1);
    }
    assert!(hidden > 1000 && equal > 100 && parallel > 1000, "{hidden} {equal} {parallel}");
    assert!(envelope(&[]).is_empty());
}

/// Numbers of all sizes, and many lines that are nearly parallel or nearly on a chord.
#[test]
fn the_line_on_top_at_any_point_is_on_the_envelope() {
    let (mut many, mut few) = (0, 0);
    for seed in 0..cases(1000, 50_000) as u64 {
        let mut rng = Rng::new(seed);
        let scale = 10f64.powi(rng.below(9) as i32 - 4);
        let bend = [0.0, 1e-12, 1e-6, 0.1, 1.0][rng.below(5)];
        let lines: Vec<(f64, f64)> = (0..20 + rng.below(200))
            .map(|_| {
                let slope = 2.0 * rng.unit() - 1.0;
                let noise = if rng.chance(0.3) { 0.0 } else { rng.unit() * scale };
                (slope * scale, 3.0 * slope - bend * slope * slope - noise)
            })
            .collect();
        let found = envelope(&lines);
        many += usize::from(found.len() > 20);
        few += usize::from(found.len() < 5);
        for at in (0..50).map(|_| (20.0 * rng.unit() - 10.0) / scale) {
            let height = |line: usize| lines[line].0 * at + lines[line].1;
            let top = (0..lines.len()).map(height).fold(f64::NEG_INFINITY, f64::max);
            let named = found.iter().rev().find(|(start, _)| *start <= at).expect("one is first").1;
            assert!(top - height(named) <= 1e-9 * (1.0 + top.abs()), "seed {seed} at {at}: {named}");
        }
    }
    assert!(many > 100 && few > 10, "{many} {few}");
}

#[test]
fn lines_that_are_parallel_but_for_rounding_never_meet() {
    let near = 1.0 + 1e-14;
    for (lines, top) in [
        ([(1.0, 0.0), (near, 5.0)], 1),
        ([(1.0, 5.0), (near, 0.0)], 0),
        ([(near, 0.0), (1.0, 5.0)], 1),
        ([(-near, 5.0), (-1.0, 0.0)], 0),
        ([(1e6, 5.0), (1e6 * near, 0.0)], 0),
    ] {
        assert_eq!(envelope(&lines), [(f64::NEG_INFINITY, top)], "{lines:?}");
    }
    // Many, all parallel: the highest is there.
    let all: Vec<(f64, f64)> = (0..40).map(|line| (2.0, f64::from((line * 7) % 40))).collect();
    assert_eq!(envelope(&all), [(f64::NEG_INFINITY, 17)]);
    // A true difference counts, however small.
    assert_eq!(envelope(&[(0.0, 1e-6), (1e-6, 0.0)]), [(f64::NEG_INFINITY, 0), (1.0, 1)]);
    // The higher of two parallel lines hides what the lower one would have shown beside.
    assert_eq!(
        envelope(&[(0.0, 0.0), (1.0, 0.0), (near, 9.0)]),
        [(f64::NEG_INFINITY, 0), (-9.0 / near, 2)],
        "the lower of two parallel lines is gone, with its crossing"
    );
}

/// The two sentences of the worked example: edits, reference words, features.
fn example() -> Problem {
    Problem::of(&[
        &[(1, 4, &[2.0, -1.0]), (0, 4, &[0.5, -0.2]), (3, 4, &[3.0, -2.5])],
        &[(2, 5, &[1.0, -1.0]), (1, 5, &[2.0, -1.5]), (4, 5, &[0.0, 0.5])],
    ])
}

#[test]
fn the_worked_example_of_a_line_search() {
    let (problem, start) = (example(), [0.2, 1.0]);
    let all = problem.intervals(&start, &[1.0, 0.0]);
    let flat: Vec<f64> =
        all.iter().flat_map(|i| [i.start, i.end, -i.gain]).filter(|v| v.is_finite()).collect();
    let third = 1.0 / 3.0;
    let wanted = [third, 4.0 / 9.0, third, 0.8, 5.0 / 9.0, 0.8, 1.3, 2.0 / 9.0, 1.3, 4.0 / 9.0];
    close(&flat, &wanted, 1e-12);
    let pool = problem.pool();
    let lists = Lists::new(&pool, 2);
    let point = line_search(&lists, &lists.prepare(&start), &Direction::Axis(0));
    assert!((point.gain + 2.0 / 9.0).abs() < 1e-12, "{point:?}");
    // Features are kept in single precision.
    assert!((point.gamma - 1.05).abs() < 1e-7, "{point:?}");
    // The same line as a vector.
    let same = line_search(&lists, &lists.prepare(&start), &Direction::Vector(vec![1.0, 0.0]));
    assert_eq!(point, same);
}

/// One sentence whose best translation changes at whole numbers: `edits[n]` between `n - 1` and `n`, the outer ones
/// without end. The line starts at `zero`.
fn stairs(edits: &[u64], zero: f64) -> Point {
    // Slope n, and where it takes over from slope n - 1: 0, 1, 2, ..
    let mut list = Vec::new();
    let mut intercept = 0.0;
    for (n, &edits) in edits.iter().enumerate() {
        if n > 0 {
            intercept -= n as f64 - 1.0;
        }
        list.push((edits, 4, [n as f64, intercept]));
    }
    let list: Vec<(u64, u64, &[f64])> = list.iter().map(|(e, w, v)| (*e, *w, &v[..])).collect();
    let problem = Problem::of(&[&list]);
    let pool = problem.pool();
    let lists = Lists::new(&pool, 2);
    let start = [zero, 1.0];
    let point = line_search(&lists, &lists.prepare(&start), &Direction::Axis(0));
    assert_eq!((point.gamma, point.gain), problem.line_search(&start, &[1.0, 0.0]), "{edits:?} from {zero}");
    assert_eq!(problem.gain(&[zero + point.gamma, 1.0]), point.gain);
    point
}

#[test]
fn which_interval_of_equals_and_which_point_of_it() {
    // The middle of the only best one; from a point inside it, from its ends, and from outside.
    assert_eq!(stairs(&[2, 1, 2], 0.75).gamma, -0.25);
    assert_eq!(stairs(&[2, 1, 2], 0.0).gamma, 0.5);
    assert_eq!(stairs(&[2, 1, 2], 1.0).gamma, -0.5);
    assert_eq!(stairs(&[2, 1, 2], 9.0).gamma, -8.5);
    // Of two equal ones that which holds the start, though the other one is wider, on either side.
    assert_eq!(stairs(&[1, 2, 1, 2], 1.25).gamma, 0.25);
    assert_eq!(stairs(&[2, 1, 2, 1], 0.25).gamma, 0.25);
    // On a step no interval holds the start, so the wider one of two equals is taken.
    assert_eq!(stairs(&[1, 2, 1, 2], 1.0).gamma, -1.1);
    assert_eq!(stairs(&[1, 2, 1, 2], 2.0).gamma, -2.1);
    // Without end and with the start well inside: stay; else move there.
    assert_eq!(stairs(&[1, 2, 2], -3.0).gamma, 0.0);
    assert_eq!(stairs(&[1, 2, 2], -0.0625).gamma, 0.0625 - 0.1);
    assert_eq!(stairs(&[1, 2, 2], 0.0).gamma, -0.1);
    assert_eq!(stairs(&[1, 2, 2], 5.0).gamma, -5.1);
    assert_eq!(stairs(&[2, 2, 1], 3.0).gamma, 0.0);
    assert_eq!(stairs(&[2, 2, 1], 1.0625).gamma, 0.1 - 0.0625);
    assert_eq!(stairs(&[2, 2, 1], 1.0).gamma, 0.1);
    assert_eq!(stairs(&[2, 2, 1], -5.0).gamma, 6.1);
    assert_eq!(stairs(&[1, 1], 0.0).gamma, -0.1);
    // Neither holds the start: the wider one, else the one to the left.
    assert_eq!(stairs(&[2, 1, 2, 1], 1.5).gamma, 0.6);
    assert_eq!(stairs(&[1, 2, 1, 2], 5.0).gamma, -5.1);
    assert_eq!(stairs(&[2, 1, 2, 1, 2], 9.0).gamma, -8.5);
    assert_eq!(stairs(&[2, 1, 2, 1, 2], -9.0).gamma, 9.5);
    assert_eq!(stairs(&[1, 2, 1], 0.5).gamma, -0.6);
    // Neighbours with the same metric are two intervals: different translations win there.
    assert_eq!(stairs(&[2, 1, 1, 2], 1.5).gamma, 0.0);
    assert_eq!(stairs(&[2, 1, 1, 2], 9.0).gamma, -8.5);
    // Everything is equal, or there is one translation only.
    assert_eq!(stairs(&[3, 3, 3], 0.25).gamma, 0.25);
    assert_eq!(stairs(&[3], 0.25).gamma, 0.0);
}

#[test]
fn a_line_search_with_ties_takes_the_interval_and_the_point_that_it_says() {
    let (mut tied, mut at_zero) = (0, 0);
    for seed in 0..cases(4000, 100_000) as u64 {
        let mut rng = Rng::new(seed);
        let features = 1 + rng.below(3);
        let problem = Problem::with_ties(&mut rng, features);
        let mut vector = || (0..features).map(|_| (rng.below(9) as f64 - 4.0) / 2.0).collect::<Vec<f64>>();
        let (start, direction) = (vector(), vector());
        let wanted = problem.line_search(&start, &direction);
        let pool = problem.pool();
        let lists = Lists::new(&pool, features);
        let prepared = lists.prepare(&start);
        let found = line_search(&lists, &prepared, &Direction::Vector(direction.clone()));
        assert_eq!((found.gamma, found.gain), wanted, "seed {seed}: {problem:?} {start:?} {direction:?}");
        for axis in 0..features {
            let unit: Vec<f64> = (0..features).map(|f| if f == axis { 1.0 } else { 0.0 }).collect();
            let found = line_search(&lists, &prepared, &Direction::Axis(axis));
            assert_eq!((found.gamma, found.gain), problem.line_search(&start, &unit), "seed {seed}");
        }
        let all = problem.intervals(&start, &direction);
        tied += usize::from(all.iter().filter(|interval| interval.gain == wanted.1).count() > 1);
        at_zero += usize::from(all.iter().any(|interval| interval.start == 0.0));
    }
    assert!(tied > 500 && at_zero > 500, "{tied} lines with equal intervals, {at_zero} that break in 0");
}

#[test]
fn a_line_search_finds_what_a_scan_of_all_intervals_finds() {
    for seed in 0..cases(300, 5000) as u64 {
        let mut rng = Rng::new(seed);
        let problem = Problem::random(&mut rng, 4, 8);
        let mut vector = || (0..3).map(|_| rng.unit() * 2.0 - 1.0).collect::<Vec<f64>>();
        let (start, direction) = (vector(), vector());
        let pool = problem.pool();
        let lists = Lists::new(&pool, 3);
        let point = line_search(&lists, &lists.prepare(&start), &Direction::Vector(direction.clone()));
        let (gamma, gain) = problem.line_search(&start, &direction);
        close(&[point.gamma, point.gain], &[gamma, gain], 1e-9);
        let there: Vec<f64> = start.iter().zip(&direction).map(|(w, d)| w + point.gamma * d).collect();
        assert_eq!(point.gain, problem.gain(&there), "seed {seed}");
        assert_eq!(pool.gain(&there), point.gain, "seed {seed}");
        assert!(point.gain >= problem.gain(&start), "seed {seed}: worse than standing still");
    }
}

#[test]
fn breaks_that_differ_by_rounding_are_one() {
    // Between 1/3 and the next number above it the metric is perfect, but nobody could stand there.
    let above = f64::from_bits((1.0f64 / 3.0).to_bits() + 1);
    let problem = |second: f64| {
        Problem::of(&[
            &[(2, 4, &[0.0, 1.0 / 3.0][..]), (0, 4, &[1.0, 0.0])],
            &[(0, 4, &[0.0, second][..]), (2, 4, &[1.0, 0.0])],
        ])
    };
    let found = |problem: &Problem| {
        let space = Wide(problem.clone());
        line_search(&space, &space.prepare(&[0.0, 1.0]), &Direction::Axis(0)).gain
    };
    assert_eq!(found(&problem(above)), -0.25);
    assert_eq!(found(&problem(1.0 / 3.0)), -0.25);
    assert_eq!(found(&problem(1.0 / 3.0 + 1e-6)), 0.0);
}

/// A problem as a space, features in double precision.
struct Wide(Problem);

impl Space for Wide {
    type Metric = crate::problem::Edits;
    type Prepared = Vec<f64>;
    fn metric(&self) -> &Self::Metric {
        &crate::problem::Edits
    }
    fn sentences(&self) -> usize {
        self.0.0.len()
    }
    fn dimensions(&self) -> usize {
        2
    }
    fn prepare(&self, weights: &[f64]) -> Vec<f64> {
        weights.to_vec()
    }
    fn winners(
        &self,
        sentence: usize,
        weights: &Vec<f64>,
        direction: &Direction,
        out: &mut Vec<(Segment, crate::problem::EditStats)>,
    ) {
        let direction = [direction.of(0), direction.of(1)];
        let list = &self.0.0[sentence];
        let lines: Vec<(f64, f64)> = list.iter().map(|h| (h.score(&direction), h.score(weights))).collect();
        out.extend(scanned(&lines).into_iter().map(|(start, line)| {
            let (edits, words) = (list[line].edits, list[line].words);
            (Segment { start, line }, crate::problem::EditStats { edits, words })
        }));
    }
}

proptest! {
    #[test]
    fn the_same_line_added_to_all_translations_changes_nothing(seed in 0u64..10_000, more in -50i32..50) {
        let problem = Problem::random(&mut Rng::new(seed), 3, 6);
        let mut shifted = problem.clone();
        shifted.0.iter_mut().flatten().for_each(|hypothesis| hypothesis.values[1] += f64::from(more));
        let start = [0.5, 0.25, -0.125];
        let (a, b) = (problem.pool(), shifted.pool());
        let (a, b) = (Lists::new(&a, 3), Lists::new(&b, 3));
        let (x, y) = (
            line_search(&a, &a.prepare(&start), &Direction::Axis(1)),
            line_search(&b, &b.prepare(&start), &Direction::Axis(1)),
        );
        prop_assert!((x.gain - y.gain).abs() < 1e-12 && (x.gamma - y.gamma).abs() < 1e-9);
    }
}
