//! Slow twins of the left-to-right engine and of cube pruning: at every beam, margin, kind of bin and number of pops
//! they keep exactly the items that the real searches keep.
//!
//! With unlimited beams every search finds the optimum whatever its estimates, bins and limits are; these tests are
//! for all that only matters when something is pruned. All scores are exact, and each definition says how ties end, so
//! nothing is tolerated: the same items in the same order with the same numbers, or it fails.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod compare;
mod cube;
mod engine;
mod estimate;
mod prediction;
mod problems;
mod top_down;

use common::Problem;
use compare::Difference;
use engine::Tally;
use problems::{COARSE, FINE, GrainLm, Shape};
use sylvan_base::Rng;
use sylvan_forest::TranslationForest;
use sylvan_search::{
    Beam, BoundaryEstimate, BoundaryWords, Cube, Derivations, Future, Goals, Incremental, Limits, Losers,
    Prediction, Progress, Search, Signature,
};
use sylvan_testkit::{cases, random_instance};

const BEAMS: [usize; 12] = [1, 2, 2, 3, 4, 5, 6, 8, 10, 20, 30, 50];

fn limits(rng: &mut Rng) -> Limits {
    let none = usize::MAX;
    Limits {
        beam: Beam(*rng.pick(&BEAMS)),
        pops: *rng.pick(&[none, none, none, none, none, none, 1, 2, 5, 10, 50, 200]),
        margin: *rng.pick(&[0, 1, 20, 200, 1000, u32::MAX]),
        diversity: 0,
        work: *rng.pick(&[u64::MAX, u64::MAX, u64::MAX, u64::MAX, 10, 100]),
        goals: *rng.pick(&[Goals::Free, Goals::Free, Goals::Free, Goals::InBins]),
        ..Limits::beam(Beam(1))
    }
}

fn any_search(rng: &mut Rng) -> Search {
    let limits = limits(rng);
    if rng.chance(0.5) {
        let limits = Limits { diversity: *rng.pick(&[0, 0, 1, 2, 5, 100]), ..limits };
        let future = *rng.pick(&[Future::Inside, Future::Inside, Future::Rough, Future::None]);
        let progress = *rng.pick(&[Progress::Nodes, Progress::AllNodes, Progress::Words]);
        let signature = *rng.pick(&[Signature::Residual, Signature::Residual, Signature::Stack]);
        Search::Incremental(limits, Incremental { future, progress, signature, ..Incremental::default() })
    } else {
        let [prefixes, options] = [(); 2].map(|()| {
            let limit = *rng.pick(&[1, 2, 3, 5, 10]);
            if rng.chance(0.2) { limit } else { usize::MAX }
        });
        let (future, reevaluate) = (rng.chance(0.75), rng.chance(0.2));
        Search::Prediction(limits, Prediction { future, prefixes, options, reevaluate })
    }
}

/// How many source words. A rough future divides by them, which is exact only for powers of two.
fn words(rng: &mut Rng, search: &Search) -> usize {
    match search {
        Search::Incremental(_, config) if config.future == Future::Rough => *rng.pick(&[1, 2, 4, 8, 8, 8]),
        _ if rng.chance(0.3) => 1 + rng.below(5),
        _ => 6 + rng.below(9),
    }
}

fn shape(rng: &mut Rng, words: usize) -> Shape {
    let is_short = words < 6;
    Shape {
        words,
        rules: *rng.pick(if is_short { &[(1, 3), (3, 8), (10, 20)] } else { &[(3, 8), (6, 8), (6, 12)] }),
        vocabulary: *rng.pick(&[2, 4, 8, 16]),
        grain: *rng.pick(&[FINE, FINE, COARSE]),
        scans_cover_all: rng.chance(0.5),
        chains: if is_short { *rng.pick(&[0.15, 0.7]) } else { 0.15 },
        late: *rng.pick(&[0.0, 0.3, 0.8]),
        packed: rng.chance(0.2),
        few_hashes: rng.chance(0.2),
        linked: rng.chance(0.3),
        outlooks: rng.chance(0.2),
    }
}

/// A forest of the kind that other tests use, made from text.
fn small_forest(rng: &mut Rng) -> TranslationForest {
    let instance = random_instance(rng);
    let exact = |score: f64| (score / FINE).floor() * FINE;
    let rules: Vec<(&str, &str, f64)> =
        instance.rules.iter().map(|(text, score)| ("", text.as_str(), exact(*score))).collect();
    Problem::new(&instance.tree, &rules).forest
}

/// Runs a left-to-right search and its twin.
fn compare(
    forest: &TranslationForest,
    lm: &GrainLm,
    search: Search,
    out_forest: bool,
) -> Result<Tally, Difference> {
    match search {
        Search::Incremental(limits, config) => {
            compare::incremental(forest, lm, limits, config, out_forest, 0.0)
        }
        Search::Prediction(limits, config) => {
            compare::prediction(forest, lm, limits, config, out_forest, 0.0)
        }
        _ => unreachable!("other searches have no bins"),
    }
}

/// In how many of the runs that have a limit it made a difference.
#[derive(Debug, Default)]
struct Share {
    runs: usize,
    bound: usize,
}

impl Share {
    fn add(&mut self, applies: bool, times: usize) {
        self.runs += usize::from(applies);
        self.bound += usize::from(applies && times > 0);
    }

    /// At least one run in `parts`.
    #[track_caller]
    fn assert(&self, name: &str, parts: usize) {
        assert!(self.bound * parts > self.runs, "{name} made a difference in only {self:?}");
    }
}

#[test]
fn left_to_right_searches_keep_what_their_twins_keep() {
    let mut all = Tally::default();
    let [mut beam, mut bar, mut margin, mut pops, mut prefixes] = [(); 5].map(|()| Share::default());
    for index in 0..cases(1_500, 20_000) {
        let mut rng = Rng::for_item(1, index as u64);
        let mut search = any_search(&mut rng);
        let words = words(&mut rng, &search);
        let shape = shape(&mut rng, words);
        let is_small = rng.chance(0.15);
        let forest = if is_small { small_forest(&mut rng) } else { problems::forest(&mut rng, shape) };
        if let Search::Incremental(_, config) = &mut search
            && config.future == Future::Rough
            && !forest.span(forest.goal()).len().is_power_of_two()
        {
            config.future = Future::Inside;
        }
        if forest.is_dead() {
            continue;
        }
        let lm = GrainLm::new(&forest, 1 + rng.below(4), rng.next_u64(), shape.grain);
        // Searches that keep all ways make an item for each sequence of completes, of which chains have too many.
        let out_forest = shape.chains < 0.5 && shape.rules.1 <= 8 && rng.chance(0.2);
        let tally = compare(&forest, &lm, search, out_forest)
            .unwrap_or_else(|difference| panic!("problem {index}, {search:?}, {shape:?}: {difference}"));
        all += tally;
        let limits = *search.limits_mut().unwrap();
        beam.add(true, tally.dropped);
        bar.add(true, tally.turned_away);
        margin.add(limits.pops == usize::MAX && limits.margin < u32::MAX, tally.skipped);
        pops.add(limits.pops < usize::MAX, tally.unpopped);
        let is_limited = |config: Prediction| config.prefixes.min(config.options) < usize::MAX;
        prefixes.add(matches!(search, Search::Prediction(_, config) if is_limited(config)), tally.left_out);
    }
    println!("beam {beam:?}, bar {bar:?}, margin {margin:?}, pops {pops:?}, prefixes {prefixes:?}; {all:?}");
    beam.assert("the beam", 2);
    bar.assert("the bar", 8);
    margin.assert("the margin", 5);
    pops.assert("pops", 2);
    prefixes.assert("u", 2);
    let rare = [all.later_rounds, all.again, all.returned, all.by_content, all.by_age];
    assert!(rare.iter().all(|&times| times > 100), "{all:?}");
}

/// Chains of rules with words at their ends: all but the first words come when the source is covered, so the last bin
/// fills up while the first sentences are complete.
#[test]
fn complete_items_compete_in_no_bin() {
    let mut bar = Share::default();
    for index in 0..cases(1_000, 10_000) {
        let mut rng = Rng::for_item(2, index as u64);
        let shape = Shape {
            words: 1 + rng.below(2),
            rules: (4, 12),
            vocabulary: 8,
            grain: FINE,
            scans_cover_all: true,
            chains: 0.6,
            late: 0.8,
            packed: false,
            few_hashes: false,
            linked: false,
            outlooks: false,
        };
        let forest = problems::forest(&mut rng, shape);
        if forest.is_dead() {
            continue;
        }
        let lm = GrainLm::new(&forest, 2 + rng.below(3), rng.next_u64(), shape.grain);
        let limits = Limits::beam(Beam(1 + rng.below(4)));
        let tally = compare(&forest, &lm, Search::Prediction(limits, Prediction::default()), false)
            .unwrap_or_else(|difference| panic!("problem {index}, {limits:?}: {difference}"));
        bar.add(true, tally.turned_away);
    }
    println!("bar {bar:?}");
    bar.assert("the bar", 5);
}

/// Prefixes that very many rules begin with have an index of their own.
#[test]
fn prefixes_of_many_rules_are_treated_like_others() {
    for index in 0..cases(12, 400) {
        let mut rng = Rng::for_item(4, index as u64);
        let shape = Shape {
            words: 2 + rng.below(3),
            rules: (140, 180),
            vocabulary: 3,
            grain: *rng.pick(&[FINE, COARSE]),
            scans_cover_all: rng.chance(0.5),
            chains: 0.2,
            late: *rng.pick(&[0.3, 0.8]),
            packed: false,
            few_hashes: rng.chance(0.2),
            linked: rng.chance(0.3),
            outlooks: rng.chance(0.2),
        };
        let forest = problems::forest(&mut rng, shape);
        if forest.is_dead() {
            continue;
        }
        let lm = GrainLm::new(&forest, 1 + rng.below(3), rng.next_u64(), shape.grain);
        let limits = Limits { goals: Goals::Free, ..Limits::beam(Beam(1 + rng.below(6))) };
        let search = Search::Prediction(limits, Prediction::default());
        compare(&forest, &lm, search, false)
            .unwrap_or_else(|difference| panic!("problem {index}, {limits:?}, {shape:?}: {difference}"));
    }
}

#[test]
fn cube_pruning_keeps_what_its_twin_keeps() {
    let (mut beam, mut pops) = (Share::default(), Share::default());
    for index in 0..cases(1_500, 20_000) {
        let mut rng = Rng::for_item(3, index as u64);
        let words = 1 + rng.below(12);
        let shape = shape(&mut rng, words);
        let forest = problems::forest(&mut rng, shape);
        let lm = GrainLm::new(&forest, 1 + rng.below(4), rng.next_u64(), shape.grain);
        let usual = Cube::new(Beam(*rng.pick(&BEAMS)));
        let (none, local, rest) = (BoundaryEstimate::None, BoundaryEstimate::Local, BoundaryEstimate::Rest);
        let limits = Cube {
            pops: *rng.pick(&[usual.pops, usual.pops, 1, 2, 5, 10, 50, 200]),
            boundary: *rng.pick(&[rest, rest, local, none]),
            // All combinations of many items are too many.
            plain: words <= 4 && usual.beam.0 <= 5 && rng.chance(0.5),
            ..usual
        };
        // Gaps are found by looking at all derivations.
        let few = (1..=2_000).contains(&Derivations::of(&forest).count());
        let focus = few && !limits.plain && rng.chance(0.5);
        let limits = Cube { focus, ..limits };
        let losers = if rng.chance(0.2) { Losers::Keep } else { Losers::Forget };
        let bound = compare::cube_pruning(&forest, &BoundaryWords::new(&lm), limits, losers, 0.0)
            .unwrap_or_else(|difference| panic!("problem {index}, {limits:?}, {shape:?}: {difference}"));
        beam.add(true, bound.beam);
        pops.add(limits.pops < 1000 && !limits.plain, bound.pops);
    }
    println!("beam {beam:?}, pops {pops:?}");
    beam.assert("the beam", 5);
    pops.assert("pops", 5);
}

#[test]
fn a_beam_of_cube_pruning_has_a_thousand_pops_or_its_own_number() {
    for (beam, pops) in [(1, 1000), (1000, 1000), (2500, 2500)] {
        assert_eq!(Cube::new(Beam(beam)).pops, pops);
    }
}
