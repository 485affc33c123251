//! Unlimited beams are exact: every search equals brute force on random trees, grammars and models.
#![allow(clippy::unwrap_used)]

mod common;

use common::{HashLm, LIMIT, Problem, close, random_problems};
use sylvan_forest::{BundleId, Derivation, Target, TranslationForest};
use sylvan_search::{
    Beam, BoundaryWords, Cube, CubePruning, Derivations, Future, LanguageModel, Limits, Losers,
    NoLanguageModel, Outcome, Prediction, PredictionTables, Refine, Stop, Undirected, brute_force,
    cube_pruning, incremental, prediction, refine, rescore, undirected,
};
use sylvan_testkit::cases;

type Search<L> = fn(&TranslationForest, &L, Beam) -> Option<Outcome>;

/// All searches, under the names that failures print.
fn searches<L: LanguageModel>() -> [(&'static str, Search<L>); 9] {
    [
        ("cube pruning", |forest, lm, beam| cube_pruning(forest, &BoundaryWords::new(lm), Cube::new(beam))),
        ("refine", |forest, lm, beam| refine(forest, &BoundaryWords::new(lm), beam)),
        ("incremental, inside", |forest, lm, beam| incremental(forest, lm, beam, Future::Inside)),
        ("incremental, rough", |forest, lm, beam| incremental(forest, lm, beam, Future::Rough)),
        ("prediction", |forest, lm, beam| prediction(forest, lm, beam, Prediction::default())),
        ("prediction, no future", |forest, lm, beam| {
            prediction(forest, lm, beam, Prediction { future: false, ..Prediction::default() })
        }),
        ("incremental, no future", |forest, lm, beam| incremental(forest, lm, beam, Future::None)),
        ("undirected", |forest, lm, beam| undirected(forest, &BoundaryWords::new(lm), Undirected::new(beam))),
        ("undirected, the paper's", |forest, lm, beam| {
            undirected(forest, &BoundaryWords::new(lm), Undirected::paper(beam))
        }),
    ]
}

#[test]
fn unlimited_beams_equal_brute_force() {
    let (mut derivable, mut ambiguous) = (0, 0);
    let count = cases(6_000, 60_000);
    random_problems(1, count, |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let forest = &problem.forest;
        let best = brute_force(forest, &lm, LIMIT);
        for (name, search) in searches() {
            let found = search(forest, &lm, Beam::UNLIMITED);
            match (&best, &found) {
                (None, None) => {}
                (Some(best), Some(found)) => {
                    assert!(
                        close(best.score, found.score),
                        "{name}: {} not {}: {shown}",
                        found.score,
                        best.score
                    );
                    let again = rescore(forest, &lm, &found.derivation);
                    assert!(close(again, found.score), "{name} says {} for {again}: {shown}", found.score);
                    let nodes: u32 =
                        found.derivation.edges().iter().map(|&e| forest.edge(e).spec.nodes).sum();
                    assert_eq!(nodes, forest.nodes(forest.goal()), "{name}: rules tile the tree: {shown}");
                }
                _ => panic!("{name} and brute force disagree on whether there is a derivation: {shown}"),
            }
        }
        derivable += usize::from(best.is_some());
        ambiguous += usize::from(Derivations::of(forest).count() > 1);
    });
    assert!(derivable > count / 2 && ambiguous > count / 3, "{derivable} derivable, {ambiguous} ambiguous");
}

#[test]
fn no_beam_beats_the_optimum() {
    random_problems(2, cases(1_000, 10_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let Some(best) = brute_force(&problem.forest, &lm, LIMIT) else { return };
        for beam in [1, 2, 5] {
            for (name, search) in searches() {
                if let Some(found) = search(&problem.forest, &lm, Beam(beam)) {
                    assert!(found.score <= best.score + 1e-6, "{name}, beam {beam}: {shown}");
                    assert!(
                        close(rescore(&problem.forest, &lm, &found.derivation), found.score),
                        "{name}: {shown}"
                    );
                }
            }
        }
    });
}

#[test]
fn with_no_context_in_the_model_beam_one_is_exact() {
    // Without a model, or with a unigram model, the inside estimate is the true future.
    random_problems(3, cases(1_000, 10_000), |problem, shown, rng| {
        let off = HashLm::new(&problem.forest, 1 + rng.below(4), 1, 0.0);
        let unigram = HashLm::new(&problem.forest, 1, rng.next_u64(), 1.0);
        for lm in [off, unigram] {
            let Some(best) = brute_force(&problem.forest, &lm, LIMIT) else { return };
            let found = incremental(&problem.forest, &lm, Beam(1), Future::Inside).unwrap();
            assert!(
                close(found.score, best.score),
                "incremental: {} not {}: {shown}",
                found.score,
                best.score
            );
            let found = prediction(&problem.forest, &lm, Beam(1), Prediction::default()).unwrap();
            assert!(
                close(found.score, best.score),
                "prediction: {} not {}: {shown}",
                found.score,
                best.score
            );
            let found = cube_pruning(&problem.forest, &BoundaryWords::new(&lm), Cube::new(Beam(1))).unwrap();
            assert!(
                close(found.score, best.score),
                "cube pruning: {} not {}: {shown}",
                found.score,
                best.score
            );
        }
    });
}

#[test]
fn the_order_of_the_rules_changes_nothing() {
    random_problems(4, cases(500, 5_000), |problem, shown, rng| {
        let seed = rng.next_u64();
        let mut rules: Vec<(String, f64)> = problem
            .grammar
            .rules()
            .map(|id| {
                (problem.grammar.rule(id).show(&problem.vocab), f64::from(problem.grammar.features(id)[0]))
            })
            .collect();
        rng.shuffle(&mut rules);
        let rules: Vec<(&str, &str, f64)> =
            rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
        let shuffled = Problem::new(&problem.tree.to_penn(&problem.vocab), &rules);
        let text = |problem: &Problem, outcome: Option<Outcome>| {
            outcome.map(|found| (problem.text(&found.derivation), format!("{:.9}", found.score)))
        };
        // The same model; tokens are numbered otherwise.
        let [lm, shuffled_lm] =
            [&problem.forest, &shuffled.forest].map(|forest| HashLm::new(forest, 3, seed, 1.0));
        for (name, search) in searches() {
            for beam in [Beam(1), Beam(3), Beam::UNLIMITED] {
                let before = text(problem, search(&problem.forest, &lm, beam));
                let after = text(&shuffled, search(&shuffled.forest, &shuffled_lm, beam));
                assert_eq!(before, after, "{name} {beam:?}: {shown}");
            }
        }
    });
}

#[test]
fn viable_prefixes_are_the_first_bundles_of_all_derivations() {
    random_problems(6, cases(1_000, 10_000), |problem, shown, _| {
        let forest = &problem.forest;
        if forest.is_dead() {
            return;
        }
        let tables = PredictionTables::new(forest, &NoLanguageModel);
        let all = Derivations::of(forest);
        let mut expected: Vec<BundleId> =
            (0..all.count()).map(|index| first_bundle(forest, &all.get(index))).collect();
        expected.sort();
        expected.dedup();
        let mut found: Vec<BundleId> =
            tables.viable_prefixes(forest.goal()).iter().map(|bundle| bundle.words).collect();
        found.sort();
        found.dedup();
        assert_eq!(found, expected, "{shown}");
    });
}

/// The first symbol that is no vertex, from the root down the left edge.
fn first_bundle(forest: &TranslationForest, derivation: &Derivation) -> BundleId {
    let leftmost = derivation.edges().iter().find_map(|&edge| match forest.target(edge)[0] {
        Target::Bundle(bundle) => Some(bundle),
        Target::Vertex(_) => None,
    });
    leftmost.unwrap()
}

#[test]
fn unlimited_pops_in_grids_change_nothing() {
    // With as many pops as there can be cells, taking cells best first is the same as taking all.
    random_problems(7, cases(500, 5_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 2, rng.next_u64(), 1.0);
        for beam in [Beam(2), Beam(5)] {
            let few = Limits::grids(beam, 3);
            let many = Limits::grids(beam, 1_000_000);
            let all = incremental(&problem.forest, &lm, beam, Future::Inside);
            let lazily = incremental(&problem.forest, &lm, many, Future::Inside);
            assert_eq!(
                all.as_ref().map(|f| &f.derivation),
                lazily.as_ref().map(|f| &f.derivation),
                "{shown}"
            );
            if let Some(few) = incremental(&problem.forest, &lm, few, Future::Inside) {
                let bins = u64::from(problem.forest.nodes(problem.forest.goal())) + 1;
                assert!(few.counters.items <= 3 * bins, "{shown}");
            }
        }
    });
}

#[test]
fn prefixes_with_very_many_edges_are_searched_alike() {
    // Rules without source words that all start with the same word, at several places of a tree.
    let words: Vec<String> = (0..40).map(|word| format!("w{word}")).collect();
    let mut rng = sylvan_base::Rng::new(9);
    for _ in 0..cases(20, 200) {
        let mut rules: Vec<(String, f64)> = vec![("A(a) -> a".into(), -0.1), ("A(a) -> b".into(), -0.2)];
        for (label, inner) in [("S", "x1:T x2:T"), ("T", "x1:A x2:A")] {
            for _ in 0..20 + 80 * usize::from(label == "S") {
                let (first, second) = if rng.chance(0.5) { ("x1", "x2") } else { ("x2", "x1") };
                let (word, last) = (rng.pick(&words), rng.pick(&words));
                let text = match rng.below(3) {
                    0 => format!("{label}({inner}) -> c {first} {word} {second}"),
                    1 => format!("{label}({inner}) -> c {word} {first} {second} {last}"),
                    _ => format!("{label}({inner}) -> {first} {second}"),
                };
                rules.push((text, -2.0 * rng.unit()));
            }
        }
        let rules: Vec<(&str, &str, f64)> =
            rules.iter().map(|(text, score)| ("", text.as_str(), *score)).collect();
        let problem = Problem::new("(S (T (A a) (A a)) (T (A a) (A a)))", &rules);
        let forest = &problem.forest;
        let starting = forest.edge_ids().filter(|&edge| matches!(forest.target(edge)[0], Target::Bundle(_)));
        assert!(starting.count() > 64, "more than fit a short list");
        let lm = HashLm::new(forest, 2, rng.next_u64(), 1.0);
        let best = cube_pruning(forest, &BoundaryWords::new(&lm), Cube::new(Beam::UNLIMITED)).unwrap();
        let found = prediction(forest, &lm, Beam::UNLIMITED, Prediction::default()).unwrap();
        assert!(close(found.score, best.score), "{} {}", found.score, best.score);
        for reevaluate in [false, true] {
            let config = Prediction { reevaluate, ..Prediction::default() };
            let narrow = prediction(forest, &lm, Beam(5), config).unwrap();
            assert!(close(rescore(forest, &lm, &narrow.derivation), narrow.score));
        }
    }
}

#[test]
fn one_pop_per_vertex_is_a_beam_of_one() {
    random_problems(5, cases(500, 5_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 3, rng.next_u64(), 1.0);
        let one_item = cube_pruning(&problem.forest, &BoundaryWords::new(&lm), Cube::new(Beam(1)));
        let one_pop = cube_pruning(
            &problem.forest,
            &BoundaryWords::new(&lm),
            Cube { pops: 1, ..Cube::new(Beam::UNLIMITED) },
        );
        let shape = |found: Option<Outcome>| found.map(|found| (found.derivation, found.counters.items));
        assert_eq!(shape(one_pop), shape(one_item), "{shown}");
    });
}

#[test]
fn pops_stay_limited_where_everything_recombines() {
    // One vertex with six tails of four items each, all with equal boundaries but in the middle: 4096 combinations.
    let tree = "(S (A a) (A a) (A a) (A a) (A a) (A a))";
    let rules = [
        ("", "S(x1:A x2:A x3:A x4:A x5:A x6:A) -> b x1 x2 x3 x4 x5 x6 b", -0.1),
        ("", "A(a) -> a", -0.1),
        ("", "A(a) -> b", -0.2),
        ("", "A(a) -> c", -0.3),
        ("", "A(a) -> d", -0.4),
    ];
    let problem = Problem::new(tree, &rules);
    let lm = HashLm::new(&problem.forest, 2, 4, 1.0);
    let items = |pops| {
        cube_pruning(&problem.forest, &BoundaryWords::new(&lm), Cube { pops, ..Cube::new(Beam(20)) })
            .unwrap()
            .counters
            .items
    };
    assert_eq!(items(usize::MAX), 6 * 4 + 4096, "the beam alone does not stop");
    assert!(items(100) <= 6 * 4 + 1 + 100 * 6);
}

#[test]
fn a_long_chain_is_searched_without_recursion() {
    let depth = cases(1_000, 3_000);
    let tree = format!("{}(A a){}", "(A ".repeat(depth), ")".repeat(depth));
    let rules = [("", "A(x1:A) -> x1", -0.1), ("", "A(A(x1:A)) -> x1 b", -0.2), ("", "A(a) -> a", 0.0)];
    let problem = Problem::new(&tree, &rules);
    let lm = HashLm::new(&problem.forest, 3, 9, 1.0);
    for (name, search) in searches() {
        let found = search(&problem.forest, &lm, Beam(5)).unwrap();
        assert!(close(rescore(&problem.forest, &lm, &found.derivation), found.score), "{name}");
    }
}

#[test]
fn all_derivations_can_be_read_from_a_chart_that_keeps_losers() {
    random_problems(8, cases(500, 5_000), |problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(4), rng.next_u64(), 1.0);
        let two_sided = BoundaryWords::new(&lm);
        let forest = &problem.forest;
        let (mut cube, mut groups) = (CubePruning::default(), Refine::default());
        // The memory of one search must not leak into the next.
        for keep in [Losers::Keep, Losers::Forget, Losers::Keep] {
            cube.search(forest, &two_sided, Cube::new(Beam::UNLIMITED), keep, &Stop::NEVER);
            groups.search(forest, &two_sided, Beam::UNLIMITED, keep, &Stop::NEVER);
            for chart in [cube.chart(), groups.chart()] {
                let mut ways: Vec<_> = chart.ways(forest).collect();
                // Tails have smaller numbers than the items made of them.
                ways.sort_by_key(|(item, _)| *item);
                let items = forest.vertices().map(|vertex| chart.items(vertex).len()).sum();
                let mut counts = vec![0u64; items];
                for (item, way) in &ways {
                    counts[*item as usize] +=
                        way.tails.iter().map(|&tail| counts[tail as usize]).product::<u64>();
                }
                let found: u64 = chart.items(forest.goal()).map(|item| counts[item as usize]).sum();
                match keep {
                    Losers::Keep => assert_eq!(found, Derivations::of(forest).count(), "{shown}"),
                    Losers::Forget => assert_eq!(ways.len(), items, "{shown}"),
                }
            }
        }
    });
}
