//! The papers' worked examples, by the names of their figures.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Problem, assert_close, toy_a, toy_b, toy_b_plus};
use sylvan_forest::{Target, TokenId};
use sylvan_search::{
    Beam, BoundaryWords, Cube, Derivations, Future, LanguageModel, Step, brute_force, cube_pruning,
    incremental, incremental_traced, inside_estimate, rescore,
};

/// A closed item as `bin / score / future / residual / words`.
fn row(problem: &Problem, step: &Step) -> String {
    let residual: Vec<String> = step
        .residual
        .iter()
        .map(|symbol| match symbol {
            Target::Vertex(vertex) => problem.vertex(*vertex),
            Target::Bundle(bundle) => problem.words(*bundle),
        })
        .collect();
    let number = |value: f64| format!("{value:.1}").replace("-0.0", "0.0");
    format!(
        "{} / {} / {} / {} / {}",
        step.bin,
        number(step.score),
        number(step.future),
        residual.join(" "),
        problem.token_text(&step.words)
    )
}

fn rows<L: LanguageModel>(problem: &Problem, lm: &L) -> Vec<String> {
    let mut rows = Vec::new();
    incremental_traced(&problem.forest, lm, Beam::UNLIMITED, Future::Inside, |step| {
        rows.push(row(problem, step));
    });
    rows
}

#[test]
fn feng_2012_figure_1_has_five_derivations() {
    let (problem, lm) = toy_a();
    let all = Derivations::of(&problem.forest);
    let mut found: Vec<(f64, f64, String, String)> = (0..all.count())
        .map(|index| {
            let derivation = all.get(index);
            let (total, local) =
                (rescore(&problem.forest, &lm, &derivation), derivation.local_score(&problem.forest));
            (total, local, problem.text(&derivation), problem.rule_names(&derivation))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let result = "the result of the vote was released at night";
    let night = "was released at night the result of the vote";
    let expected = [
        (-8.6, -2.6, result, "r6 r4 r2 r5"),
        (-8.7, -2.7, result, "r7 r2 r5"),
        (-9.4, -3.4, result, "r6 r3 r2 r1 r5"),
        (-12.9, -4.0, night, "r8 r5 r4 r2"),
        (-13.7, -4.8, night, "r8 r5 r3 r2 r1"),
    ];
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_close(found.0, expected.0);
        assert_close(found.1, expected.1);
        assert_eq!((found.2.as_str(), found.3.as_str()), (expected.2, expected.3));
    }
}

#[test]
fn static_estimates_of_the_toys() {
    let check = |problem: &Problem, lm: &common::TableLm, expected: &[(&str, f64)]| {
        let estimate = inside_estimate(&problem.forest, lm);
        for &(name, value) in expected {
            let found = estimate.vertex(problem.find(name));
            assert!(found == value || (found - value).abs() < 1e-5, "{name}: {found}");
        }
    };
    let dead = f64::NEG_INFINITY;
    let (a, lm) = toy_a();
    let token = |word: &str| {
        let symbol = a.vocab.get(word).unwrap();
        TokenId(a.forest.tokens().iter().position(|token| token.word == symbol).unwrap() as u32)
    };
    let words = |text: &str| text.split(' ').map(token).collect::<Vec<_>>();
    for (text, local) in [
        ("the vote", -1.9),
        ("the result", -1.7),
        ("of", -1.2),
        ("of the vote", -2.4),
        ("was released at night", -3.5),
    ] {
        assert_close(lm.local(&words(text)), local);
    }
    check(
        &a,
        &lm,
        &[
            ("NN1@1.1", -2.5),
            ("NN2@1.2", -2.2),
            ("NP@1", -5.3),
            ("NT@2.1", dead),
            ("VV@2.2", dead),
            ("VP@2", -4.7),
            ("IP@ε", -10.2),
        ],
    );
    let (b, lm) = toy_b();
    check(
        &b,
        &lm,
        &[
            ("NP@1", -2.2),
            ("NP@2.1.2", -2.3),
            ("NP@2.2.3", -2.5),
            ("VP@2", -9.0),
            ("IP@ε", -11.3),
            ("PP@2.1", dead),
            ("VP@2.2", dead),
        ],
    );
    let (b_plus, lm) = toy_b_plus();
    let more = [("NP@2.2.3", -2.1), ("PP@2.1", -3.8), ("VP@2.2", -4.3), ("VP@2", -8.5), ("IP@ε", -10.8)];
    check(&b_plus, &lm, &more);
}

#[test]
fn huang_mi_2010_figure_4_closed_items_and_bins() {
    let (problem, lm) = toy_b();
    let expected = [
        "0 / 0.0 / -12.3 / IP@ε / ",
        "1 / -0.1 / -12.2 / NP@1 VP@2 / ",
        "2 / -0.9 / -10.0 / VP@2 / Bush",
        "8 / -2.8 / -7.0 / NP@2.2.3 with NP@2.1.2 / Bush held",
        "9 / -4.6 / -3.3 / NP@2.1.2 / Bush held talks with",
        "10 / -6.0 / 0.0 /  / Bush held talks with Sharon",
    ];
    assert_eq!(rows(&problem, &lm), expected);
}

#[test]
fn incremental_search_merges_equal_residuals_on_toy_b_plus() {
    let (problem, lm) = toy_b_plus();
    let expected = [
        "0 / 0.0 / -11.8 / IP@ε / ",
        "1 / -0.1 / -11.7 / NP@1 VP@2 / ",
        "2 / -0.9 / -9.5 / VP@2 / Bush",
        "3 / -1.3 / -9.1 / VP@2.2 PP@2.1 / Bush",
        "3 / -1.8 / -9.1 / PP@2.1 VP@2.2 / Bush",
        "5 / -4.0 / -7.6 / NP@2.1.2 VP@2.2 / Bush with",
        "6 / -2.4 / -6.9 / NP@2.2.3 PP@2.1 / Bush held",
        "6 / -5.1 / -5.3 / VP@2.2 / Bush with Sharon",
        "7 / -3.6 / -4.8 / PP@2.1 / Bush held talks",
        "7 / -3.8 / -4.8 / PP@2.1 / Bush held a meeting",
        "8 / -2.8 / -6.6 / NP@2.2.3 with NP@2.1.2 / Bush held",
        "9 / -4.5 / -3.3 / NP@2.1.2 / Bush held talks with",
        "9 / -7.1 / -3.1 / NP@2.2.3 / Bush with Sharon held",
        "10 / -5.9 / 0.0 /  / Bush held talks with Sharon",
    ];
    assert_eq!(rows(&problem, &lm), expected);
    let found = incremental(&problem.forest, &lm, Beam::UNLIMITED, Future::Inside).unwrap();
    assert_eq!(found.counters.items, 18, "expansions with residual signatures");
    assert_eq!(problem.rule_names(&found.derivation), "r1 r2 s1 s4 r4 s3 r5");
}

#[test]
fn feng_2012_figure_2_top_down_bins() {
    let (problem, lm) = toy_a();
    // Scores of the closed items, bin by bin.
    let mut bins: Vec<(u32, String)> = Vec::new();
    incremental_traced(&problem.forest, &lm, Beam::UNLIMITED, Future::Inside, |step| {
        bins.push((step.bin, format!("{:.1}", step.score)));
    });
    bins.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let found: Vec<String> = bins.iter().map(|(bin, score)| format!("{bin}:{score}")).collect();
    let expected = [
        "0:0.0", "1:-0.2", "1:-1.6", "2:-1.1", "3:-0.9", "3:-3.2", "4:-4.2", "4:-6.8", "5:-7.7", "6:-10.8",
        "6:-7.5", "7:-8.6",
    ];
    assert_eq!(found, expected);
    let found = incremental(&problem.forest, &lm, Beam::UNLIMITED, Future::Inside).unwrap();
    assert_eq!(found.counters.items, 15);
}

#[test]
fn small_beams_on_the_toys() {
    let (a, lm_a) = toy_a();
    assert_close(
        cube_pruning(&a.forest, &BoundaryWords::new(&lm_a), Cube::new(Beam(1))).unwrap().score,
        -8.6,
    );
    assert_close(incremental(&a.forest, &lm_a, Beam(1), Future::Inside).unwrap().score, -8.6);
    let (b, lm_b) = toy_b_plus();
    // The boundary estimate prefers "a meeting" before the context is known.
    let one = cube_pruning(&b.forest, &BoundaryWords::new(&lm_b), Cube::new(Beam(1))).unwrap();
    assert_close(one.score, -6.0);
    assert_eq!(b.text(&one.derivation), "Bush held a meeting with Sharon");
    assert_close(
        cube_pruning(&b.forest, &BoundaryWords::new(&lm_b), Cube::new(Beam(2))).unwrap().score,
        -5.9,
    );
    for beam in [Beam(1), Beam(2), Beam::UNLIMITED] {
        assert_close(incremental(&b.forest, &lm_b, beam, Future::Inside).unwrap().score, -5.9);
    }
    let best = brute_force(&b.forest, &lm_b, 1000).unwrap();
    assert_close(best.score, -5.9);
    assert_eq!(b.text(&best.derivation), "Bush held talks with Sharon");
}
