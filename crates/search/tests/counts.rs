//! How much work searches do: sums of all counters over random problems, frozen. What finds the same translations with
//! more look-ups, more items or more joins than before shows here, and so does what finds them with fewer: then the
//! table is to be replaced (a failing test prints the new one).
#![allow(clippy::unwrap_used)]

mod common;
#[allow(dead_code, missing_docs, unreachable_pub)]
#[path = "twin/problems.rs"]
mod problems;

use common::HashLm;
use problems::{COARSE, FINE, Shape};
use sylvan_base::Rng;
use sylvan_forest::TranslationForest;
use sylvan_search::{
    Beam, BoundaryEstimate, BoundaryWords, Counters, Cube, Effort, Future, Goals, Incremental, Limits,
    Outcome, Parents, Prediction, Progress, Signature, Stacks, Undirected, cube_pruning, exact, incremental,
    prediction, refine, stacks, undirected,
};

fn shape(rng: &mut Rng) -> Shape {
    let words = 1 + rng.below(8);
    Shape {
        words,
        rules: *rng.pick(&[(1, 3), (3, 8), (6, 12)]),
        vocabulary: *rng.pick(&[2, 4, 16]),
        grain: *rng.pick(&[FINE, COARSE]),
        scans_cover_all: rng.chance(0.5),
        chains: 0.15,
        late: *rng.pick(&[0.0, 0.3, 0.8]),
        packed: rng.chance(0.2),
        few_hashes: false,
        linked: rng.chance(0.3),
        outlooks: rng.chance(0.2),
    }
}

fn problems(count: u64, mut test: impl FnMut(&TranslationForest, &HashLm)) {
    for index in 0..count {
        let mut rng = Rng::for_item(77, index);
        let shape = shape(&mut rng);
        let forest = problems::forest(&mut rng, shape);
        let lm = HashLm::new(&forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        test(&forest, &lm);
    }
}

/// Items, recombined, pruned, words scored, edges looked at for future costs; and problems with an answer.
type Sums = [u64; 6];

fn sum(found: impl Fn(&TranslationForest, &HashLm) -> Option<Outcome>) -> Sums {
    let (mut all, mut answers) = (Counters::default(), 0);
    problems(60, |forest, lm| {
        if let Some(found) = found(forest, lm) {
            all += found.counters;
            answers += 1;
        }
    });
    [all.items, all.recombined, all.pruned, all.lm_queries, all.future_edges, answers]
}

#[track_caller]
fn check(name: &str, found: Sums, expected: Sums) -> Option<String> {
    (found != expected).then(|| format!("{name}: {found:?}, expected {expected:?}"))
}

#[test]
fn from_the_bottom_up() {
    let by = |cube: Cube| sum(|forest, lm| cube_pruning(forest, &BoundaryWords::new(lm), cube));
    let usual = Cube::new(Beam(10));
    let wrong = [
        check("10", by(usual), [6628, 4196, 733, 15352, 0, 56]),
        check("1", by(Cube::new(Beam(1))), [2223, 0, 1778, 2658, 0, 56]),
        check("pops", by(Cube { pops: 7, ..usual }), [3241, 918, 1075, 5102, 0, 56]),
        check(
            "none",
            by(Cube { boundary: BoundaryEstimate::None, ..usual }),
            [6491, 4056, 736, 15648, 0, 56],
        ),
        check(
            "local",
            by(Cube { boundary: BoundaryEstimate::Local, ..usual }),
            [6628, 4196, 733, 15352, 0, 56],
        ),
        check("plain", by(Cube { plain: true, ..Cube::new(Beam(3)) }), [8005, 5075, 1951, 21379, 0, 56]),
        check(
            "groups 3",
            sum(|forest, lm| refine(forest, &BoundaryWords::new(lm), Beam(3))),
            [2077, 349, 1607, 3990, 0, 56],
        ),
        check(
            "groups 20",
            sum(|forest, lm| refine(forest, &BoundaryWords::new(lm), Beam(20))),
            [3950, 1835, 2328, 15730, 0, 56],
        ),
    ];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_any_order() {
    let by = |config: Undirected| sum(|forest, lm| undirected(forest, &BoundaryWords::new(lm), config));
    let (paper, usual) = (Undirected::paper(Beam(4)), Undirected::new(Beam(4)));
    let wrong = [
        check("paper", by(paper), [7198, 476, 5393, 21417, 0, 56]),
        check("bounded", by(Undirected { bounded: true, ..paper }), [7198, 476, 5393, 21399, 0, 56]),
        check("new", by(Undirected { parents: Parents::New, ..paper }), [7952, 480, 6147, 22300, 0, 56]),
        check("enough", by(Undirected { enough: 1, ..paper }), [6748, 368, 4370, 19677, 0, 56]),
        check("usual", by(usual), [2161, 483, 1060, 3449, 0, 56]),
        check("40", by(Undirected::new(Beam(40))), [6544, 2610, 2542, 15474, 0, 56]),
        check(
            "even",
            by(Undirected { focus: false, ..Undirected::new(Beam(40)) }),
            [6797, 2717, 2611, 16135, 0, 56],
        ),
        check("lazier", by(Undirected { slack: 0, ..usual }), [1986, 475, 798, 2907, 0, 56]),
        check("all", by(Undirected { parents: Parents::All, ..usual }), [2814, 479, 1610, 5329, 0, 56]),
    ];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn from_left_to_right() {
    let usual = Limits::usual(Beam(5));
    let top_down =
        |limits: Limits, config: Incremental| sum(|forest, lm| incremental(forest, lm, limits, config));
    let bottom_up =
        |limits: Limits, config: Prediction| sum(|forest, lm| prediction(forest, lm, limits, config));
    let of = Incremental::default();
    let to = Prediction::default();
    let in_bins = Limits { goals: Goals::InBins, ..usual };
    let grids = Limits::grids(Beam(5), 20);
    let in_order = Stacks { limit: Some(0), ..Stacks::WHOLE };
    let in_any = Stacks::WHOLE;
    let blind = Stacks { limit: Some(2), future: false, ..Stacks::WHOLE };
    let wrong = [
        check("top-down", top_down(usual, of), [6954, 2797, 1295, 5312, 0, 56]),
        check("top-down grids", top_down(grids, of), [4358, 1529, 914, 3873, 0, 56]),
        check("top-down in bins", top_down(in_bins, of), [6954, 3757, 1362, 6497, 0, 56]),
        check("top-down work", top_down(Limits { work: 30, ..usual }, of), [2817, 840, 1016, 3257, 0, 56]),
        check(
            "top-down rough",
            top_down(usual, Incremental { future: Future::Rough, ..of }),
            [6782, 2674, 1290, 5605, 0, 56],
        ),
        check(
            "top-down none",
            top_down(usual, Incremental { future: Future::None, ..of }),
            [6862, 2793, 1273, 5617, 0, 56],
        ),
        check(
            "top-down all",
            top_down(usual, Incremental { progress: Progress::AllNodes, ..of }),
            [7695, 3129, 1312, 5419, 0, 56],
        ),
        check(
            "top-down words",
            top_down(usual, Incremental { progress: Progress::Words, ..of }),
            [7750, 3293, 1288, 5328, 0, 56],
        ),
        check(
            "top-down stack",
            top_down(usual, Incremental { signature: Signature::Stack, ..of }),
            [7000, 2421, 1436, 5194, 0, 56],
        ),
        check("prediction", bottom_up(usual, to), [7112, 3148, 900, 5323, 7212, 56]),
        check("prediction 30", bottom_up(Limits::beam(Beam(30)), to), [22098, 11945, 9626, 13969, 9007, 56]),
        check("prediction grids", bottom_up(grids, to), [4661, 1470, 1071, 4584, 6974, 56]),
        check("prediction in bins", bottom_up(in_bins, to), [6993, 3753, 965, 5999, 7191, 56]),
        check(
            "prediction none",
            bottom_up(usual, Prediction { future: false, ..to }),
            [6310, 2624, 843, 5231, 7276, 56],
        ),
        check(
            "prediction again",
            bottom_up(usual, Prediction { reevaluate: true, ..to }),
            [7112, 3148, 900, 5323, 635630, 56],
        ),
        check(
            "prediction u",
            bottom_up(usual, Prediction { prefixes: 2, options: 5, ..to }),
            [2062, 533, 320, 2790, 5055, 56],
        ),
        check(
            "stacks",
            sum(|forest, lm| stacks(forest, lm, usual, Stacks { limit: Some(6), ..Stacks::default() })),
            [7079, 4321, 835, 3463, 0, 40],
        ),
        check(
            "stacks in any order",
            sum(|forest, lm| stacks(forest, lm, usual, in_any)),
            [7657, 5045, 789, 3604, 0, 40],
        ),
        check(
            "stacks without a future",
            sum(|forest, lm| stacks(forest, lm, usual, blind)),
            [3978, 2388, 332, 3371, 0, 40],
        ),
        check(
            "stacks in order",
            sum(|forest, lm| stacks(forest, lm, usual, in_order)),
            [1943, 1006, 118, 3056, 0, 40],
        ),
    ];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Joins, items, rounds, words scored, and problems that were proven; by the joins allowed.
#[test]
fn of_exact_search() {
    let expected = [
        (200, [3200, 13422, 84, 39051, 28]),
        (3_000, [13164, 18644, 137, 42272, 35]),
        (30_000, [41116, 27263, 148, 52872, 37]),
    ];
    let found = expected.map(|(joins, _)| {
        let mut sums = [0; 5];
        problems(40, |forest, lm| {
            let found = exact(forest, lm, None, Effort { joins }, &mut || false).unwrap();
            let Some(best) = &found.best else { return };
            let more =
                [found.joins, best.counters.items, found.rounds.len() as u64, best.counters.lm_queries];
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            sums[4] += u64::from(found.proven);
        });
        (joins, sums)
    });
    assert_eq!(found, expected);
}
