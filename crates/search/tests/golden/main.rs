//! What each search finds of one committed problem, setting by setting and beam by beam: scores and numbers of items.
//!
//! The optimum is the same for all; what is found with a small beam is not, so a change of an estimate, of a bin or of
//! a unit shows here even where both the search and what it is compared with in other tests change alike. Where a
//! change is meant, the test's message is the new table.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

use common::{HashLm, Problem};
use sylvan_forest::TranslationForest;
use sylvan_search::{
    Beam, BoundaryEstimate, BoundaryWords, Counters, Cube, Effort, Future, Incremental, LanguageModel,
    Limits, Outcome, Prediction, Progress, Round, Search, Signature, cube_pruning, exact, incremental,
    prediction, refine,
};

/// The tree, then one rule per line with its score.
const PROBLEM: &str = include_str!("problem.txt");
/// Setting, beam, score; items made, recombined and pruned.
const EXPECTED: &str = include_str!("expected.tsv");

/// Rounds of exact search.
const EXACT: &str = include_str!("exact.tsv");

const BEAMS: [usize; 6] = [1, 2, 5, 10, 20, 50];

fn problem() -> Problem {
    let (tree, rules) = PROBLEM.split_once('\n').unwrap();
    let rules: Vec<(&str, &str, f64)> = rules
        .lines()
        .map(|line| {
            let (score, rule) = line.split_once('\t').unwrap();
            ("", rule, score.parse().unwrap())
        })
        .collect();
    Problem::new(tree, &rules)
}

/// All settings at one beam, with their names.
fn settings(beam: Beam) -> Vec<(String, Search)> {
    let mut all: Vec<(String, Search)> = vec![("cube".into(), Search::Cube(Cube::new(beam)))];
    for pops in [5, 20] {
        all.push((format!("cube, {pops} pops"), Search::Cube(Cube { pops, ..Cube::new(beam) })));
    }
    all.push(("refine".into(), Search::Refine(beam)));
    for (name, boundary) in [("no", BoundaryEstimate::None), ("local", BoundaryEstimate::Local)] {
        all.push((format!("cube, {name} boundary"), Search::Cube(Cube { boundary, ..Cube::new(beam) })));
    }
    let limits = Limits::beam(beam);
    let stacks = Incremental { signature: Signature::Stack, ..Incremental::default() };
    all.push(("incremental, stacks".into(), Search::Incremental(limits, stacks)));
    for future in [Future::Inside, Future::Rough, Future::None] {
        for progress in [Progress::Nodes, Progress::AllNodes, Progress::Words] {
            let search =
                Search::Incremental(limits, Incremental { future, progress, ..Incremental::default() });
            all.push((format!("incremental, {future:?}, {progress:?}"), search));
        }
    }
    let usual = Prediction::default();
    for (name, config) in [
        ("prediction", usual),
        ("prediction, no future", Prediction { future: false, ..usual }),
        ("prediction, u = 1", Prediction { prefixes: 1, ..usual }),
        ("prediction, u = 2", Prediction { prefixes: 2, ..usual }),
        ("prediction, u = 5", Prediction { prefixes: 5, ..usual }),
        ("prediction, 1 option", Prediction { options: 1, ..usual }),
        ("prediction, 2 options", Prediction { options: 2, ..usual }),
        ("prediction, 5 options", Prediction { options: 5, ..usual }),
    ] {
        all.push((name.into(), Search::Prediction(limits, config)));
    }
    for (name, limits) in [
        ("margin 0", Limits { margin: 0, ..limits }),
        ("margin 20", Limits { margin: 20, ..limits }),
        ("usual margin", Limits::usual(beam)),
        ("5 pops", Limits::grids(beam, 5)),
        ("20 pops", Limits { pops: 20, ..limits }),
        ("work 200", Limits { work: 200, ..limits }),
    ] {
        all.push((format!("incremental, {name}"), Search::Incremental(limits, Incremental::default())));
        all.push((format!("prediction, {name}"), Search::Prediction(limits, usual)));
    }
    all
}

fn run<L: LanguageModel>(search: Search, forest: &TranslationForest, lm: &L) -> Option<Outcome> {
    match search {
        Search::Cube(limits) => cube_pruning(forest, &BoundaryWords::new(lm), limits),
        Search::Refine(beam) => refine(forest, &BoundaryWords::new(lm), beam),
        Search::Incremental(limits, config) => incremental(forest, lm, limits, config),
        Search::Prediction(limits, config) => prediction(forest, lm, limits, config),
        _ => None,
    }
}

#[test]
fn searches_find_what_they_always_found() {
    let problem = problem();
    let forest = &problem.forest;
    let lm = HashLm::new(forest, 3, 1, 0.77);
    let mut found = String::from("setting\tbeam\tscore\titems\trecombined\tpruned\n");
    for setting in 0..settings(Beam(1)).len() {
        for beam in BEAMS {
            let (name, search) = settings(Beam(beam)).swap_remove(setting);
            let Outcome { score, counters, .. } = run(search, forest, &lm).unwrap();
            let Counters { items, recombined, pruned, .. } = counters;
            found += &format!("{name}\t{beam}\t{score:.6}\t{items}\t{recombined}\t{pruned}\n");
        }
    }
    let differences: Vec<String> = found
        .lines()
        .zip(EXPECTED.lines())
        .filter(|(found, expected)| found != expected)
        .map(|(found, expected)| format!("found {found}, expected {expected}"))
        .collect();
    assert!(found == EXPECTED, "{}\n\nAll of it:\n{found}", differences.join("\n"));
}

/// What exact search proves is the optimum whatever it looks at; how much it looks at shows whether its bounds are as
/// tight as they were: rounds, thresholds, bounds, items and joins, for models of four orders and several starts.
#[test]
fn exact_search_proves_it_with_the_work_that_it_always_needed() {
    let problem = problem();
    let forest = &problem.forest;
    let mut found = String::from("order\tstart\tround\tknown\tthreshold\tbound\titems\tjoins\n");
    for order in 1..=4 {
        let lm = HashLm::new(forest, order, 1, 0.77);
        // With four, the others take seconds.
        for start in [1, 5, 50].into_iter().take(if order < 4 { 3 } else { 1 }) {
            let beam = Cube { pops: start, ..Cube::new(Beam(start)) };
            let known = cube_pruning(forest, &BoundaryWords::new(&lm), beam).unwrap().derivation;
            let certified = exact(forest, &lm, Some(known), Effort::UNLIMITED, &mut || false).unwrap();
            for (number, round) in certified.rounds.iter().enumerate() {
                let Round { known, threshold, bound, items, joins } = *round;
                let bound = bound.map_or("none".into(), |bound| format!("{bound:.6}"));
                found += &format!(
                    "{order}\t{start}\t{number}\t{known}\t{threshold:.6}\t{bound}\t{items}\t{joins}\n"
                );
            }
            let (joins, score) = (certified.joins, certified.best.unwrap().score);
            found += &format!("{order}\t{start}\tall\t\t\t{score:.6}\t\t{joins}\n");
        }
    }
    assert!(found == EXACT, "Found:\n{found}");
}

/// The model has no better guess than the local one; the usual margin is 20; and where bins count words, all items of a bin have the same rough future.
const SAME: [(&str, &str); 4] = [
    ("cube", "cube, local boundary"),
    ("incremental, margin 20", "incremental, usual margin"),
    ("prediction, margin 20", "prediction, usual margin"),
    ("incremental, Rough, Words", "incremental, None, Words"),
];

/// The table shows a change only if settings differ in it.
#[test]
fn the_table_tells_settings_apart() {
    let mut by_setting: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in EXPECTED.lines().skip(1) {
        let (name, rest) = line.split_once('\t').unwrap();
        match by_setting.last_mut() {
            Some((last, lines)) if *last == name => lines.push(rest),
            _ => by_setting.push((name, vec![rest])),
        }
    }
    for (place, (name, lines)) in by_setting.iter().enumerate() {
        assert_eq!(lines.len(), BEAMS.len(), "{name}");
        for (other, others) in &by_setting[..place] {
            let are_same = SAME.contains(&(*other, *name));
            assert!(are_same || lines != others, "{other} and {name}");
        }
    }
}
