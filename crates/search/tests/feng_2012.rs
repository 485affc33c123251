//! Feng et al. 2012: the prediction decoder's worked example, table by table.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Problem, TableLm, assert_close, toy_a, toy_b, toy_b_plus};
use sylvan_forest::{Target, VertexId};
use sylvan_search::{
    Beam, Limits, Prediction, PredictionStep, PredictionTables, PrefixId, prediction, prediction_traced,
};

/// The prefix of symbols written as `NN2@1.2` or as words between quotes.
fn prefix(problem: &Problem, tables: &PredictionTables<'_>, symbols: &[&str]) -> PrefixId {
    let targets: Vec<Target> = symbols
        .iter()
        .map(|symbol| {
            if symbol.contains('@') {
                return Target::Vertex(problem.find(symbol));
            }
            let words: Vec<_> = symbol.split(' ').map(|word| problem.vocab.get(word).unwrap()).collect();
            let bundles = (0..problem.forest.bundle_count() as u32).map(sylvan_forest::BundleId);
            Target::Bundle(
                bundles
                    .into_iter()
                    .find(|&bundle| problem.forest.bundle_words(bundle).eq(words.iter().copied()))
                    .unwrap(),
            )
        })
        .collect();
    tables.prefix(&targets).unwrap()
}

fn row(problem: &Problem, step: &PredictionStep) -> String {
    let show = |symbol: &Target| match symbol {
        Target::Vertex(vertex) => problem.vertex(*vertex).split('@').next().unwrap().to_string(),
        Target::Bundle(bundle) => format!("\"{}\"", problem.words(*bundle)),
    };
    let frames: Vec<String> = step
        .frames
        .iter()
        .map(|(goal, symbols)| {
            let symbols: Vec<String> = symbols.iter().map(show).collect();
            let goal = problem.vertex(*goal);
            format!("[{}: {}]", goal.split('@').next().unwrap(), symbols.join(" "))
        })
        .collect();
    format!("{}.{} {} {:.1}/{:.1}", step.bin, step.round, frames.concat(), step.score, step.future)
}

fn rows(problem: &Problem, lm: &TableLm) -> Vec<String> {
    let mut rows = Vec::new();
    let on_step = |step: &PredictionStep| rows.push(row(problem, step));
    prediction_traced(&problem.forest, lm, Beam::UNLIMITED, Prediction::default(), on_step);
    rows
}

#[test]
fn table_2_viable_prefixes_and_left_corners() {
    let (problem, lm) = toy_a();
    let tables = PredictionTables::new(&problem.forest, &lm);
    let viable = |name: &str| -> Vec<String> {
        let mut all: Vec<String> = tables
            .viable_prefixes(problem.find(name))
            .iter()
            .map(|bundle| format!("{} {:?}", problem.words(bundle.words), bundle.covers))
            .collect();
        all.sort();
        all
    };
    let (vote, result, night) = ("the vote [0]", "the result [1]", "was released at night [2, 3]");
    assert_eq!(viable("NN1@1.1"), [vote]);
    assert_eq!(viable("NN2@1.2"), [result]);
    assert!(viable("NT@2.1").is_empty() && viable("VV@2.2").is_empty());
    assert_eq!(viable("NP@1"), [result]);
    assert_eq!(viable("VP@2"), [night]);
    assert_eq!(viable("IP@ε"), [result, night]);
    let corners = |name: &str| -> Vec<String> {
        let goal = problem.find(name);
        let all: Vec<VertexId> = problem.forest.vertices().collect();
        all.into_iter().filter(|&v| tables.is_left_corner(goal, v)).map(|v| problem.vertex(v)).collect()
    };
    assert_eq!(corners("NP@1"), ["NN2@1.2", "NP@1"]);
    assert_eq!(corners("IP@ε"), ["NN2@1.2", "NP@1", "VP@2", "IP@ε"]);
    assert_eq!(corners("VP@2"), ["VP@2"]);
}

#[test]
fn figure_4_future_costs_in_closed_form() {
    let (problem, lm) = toy_a();
    let tables = PredictionTables::new(&problem.forest, &lm);
    let v = |name: &str| problem.find(name);
    for (goal, corner, value) in [
        ("IP@ε", "NN2@1.2", -8.0),
        ("NP@1", "NN2@1.2", -3.1),
        ("IP@ε", "NP@1", -4.9),
        ("IP@ε", "VP@2", -6.9),
        ("IP@ε", "IP@ε", 0.0),
    ] {
        assert_close(tables.climb(v(goal), v(corner)), value);
    }
    for (goal, symbols, value) in [
        ("IP@ε", &["the result"][..], -8.5),
        ("IP@ε", &["was released at night"][..], -8.1),
        ("IP@ε", &["NN2@1.2", "of"][..], -8.3),
        ("IP@ε", &["NN2@1.2", "of", "NN1@1.1"][..], -5.8),
        ("IP@ε", &["NN2@1.2", "of the vote"][..], -5.6),
        ("IP@ε", &["NP@1", "VP@2"][..], -0.2),
        ("NP@1", &["NN2@1.2"][..], -3.1),
    ] {
        assert_close(tables.finish(v(goal), prefix(&problem, &tables, symbols)), value);
    }
    // Kept for r7 alone once r4 has completed.
    let kept = prefix(&problem, &tables, &["NN2@1.2", "of the vote"]);
    assert_close(tables.finish_growing(v("IP@ε"), kept), -5.7);
}

#[test]
fn figure_3_items_bin_by_bin() {
    let (problem, lm) = toy_a();
    let expected = [
        "0.0  0.0/-10.2",
        "1.0 [IP: NN2] -1.7/-8.0",
        "1.1 [IP: NN2 \"of\"] -2.1/-8.3",
        "2.0 [IP: NP] -4.0/-4.9",
        "2.0 [IP: NN2 \"of the vote\"] -3.3/-5.7",
        "2.0 [IP: VP] -5.2/-6.9",
        "3.0 [IP: VP][NP: NN2] -7.9/-4.7",
        "3.1 [IP: VP][NP: NN2 \"of\"] -8.3/-5.0",
        "4.0  -8.6/0.0",
    ];
    assert_eq!(rows(&problem, &lm), expected);
    let found = prediction(&problem.forest, &lm, Beam::UNLIMITED, Prediction::default()).unwrap();
    assert_eq!(problem.rule_names(&found.derivation), "r6 r4 r2 r5");
}

#[test]
fn toy_b_by_prediction() {
    let (problem, lm) = toy_b();
    let expected = [
        "0.0  0.0/-11.3",
        "1.0 [IP: NP] -0.8/-9.1",
        "4.0 [IP: NP][VP: \"held\"] -1.3/-7.5",
        "5.0 [IP: NP][VP: \"held\" NP] -2.5/-5.0",
        "5.1 [IP: NP][VP: \"held\" NP \"with\"] -3.1/-3.8",
        "6.0  -6.0/0.0",
    ];
    assert_eq!(rows(&problem, &lm), expected);
}

#[test]
fn toy_b_plus_by_prediction() {
    let (problem, lm) = toy_b_plus();
    let tables = PredictionTables::new(&problem.forest, &lm);
    let v = |name: &str| problem.find(name);
    assert_close(tables.climb(v("VP@2"), v("PP@2.1")), -5.2);
    assert_close(tables.climb(v("VP@2"), v("VP@2.2")), -4.2);
    let held = tables.viable_prefixes(v("VP@2"));
    let mut covers: Vec<Vec<u32>> = held.iter().map(|bundle| bundle.covers.clone()).collect();
    covers.sort();
    assert_eq!(covers, [vec![1], vec![1, 3, 4], vec![3, 4]]);
    for beam in [Beam(1), Beam(2), Beam::UNLIMITED] {
        let found = prediction(&problem.forest, &lm, beam, Prediction::default()).unwrap();
        assert_close(found.score, -5.9);
        assert_eq!(problem.rule_names(&found.derivation), "r1 r2 s1 s4 r4 s3 r5");
    }
    // Table 5's ablation, in small: without future cost a small beam goes wrong.
    let blind = Prediction { future: false, ..Prediction::default() };
    assert_close(prediction(&problem.forest, &lm, Beam(1), blind).unwrap().score, -6.0);
    let (a, lm_a) = toy_a();
    assert_close(prediction(&a.forest, &lm_a, Beam(1), Prediction::default()).unwrap().score, -8.6);
    assert_close(prediction(&a.forest, &lm_a, Beam(1), blind).unwrap().score, -8.7);
}

/// Items made without limits, counted with another implementation; and what limits leave of them.
#[test]
fn items_of_the_toys_are_counted() {
    let (a, lm_a) = toy_a();
    let made = |limits: Limits, config: Prediction| {
        prediction(&a.forest, &lm_a, limits, config).unwrap().counters.items
    };
    assert_eq!(made(Beam::UNLIMITED.into(), Prediction::default()), 12);
    let (problem, lm) = toy_b_plus();
    let run = |limits: Limits, config: Prediction| prediction(&problem.forest, &lm, limits, config).unwrap();
    let all = run(Beam::UNLIMITED.into(), Prediction::default());
    assert_eq!(all.counters.items, 18);
    // One cell per round is a single path: at every step what looks best without its neighbours.
    let narrow = run(Limits::grids(Beam::UNLIMITED, 1), Prediction::default());
    assert_close(narrow.score, -6.0);
    assert_eq!(problem.text(&narrow.derivation), "Bush held a meeting with Sharon");
    // With the best prefix of every vertex alone "talks" is never begun.
    let one = run(Beam::UNLIMITED.into(), Prediction { prefixes: 1, ..Prediction::default() });
    assert_close(one.score, -6.0);
}
