//! The prediction decoder's future cost in closed form equals re-evaluating the forest of still applicable rules
//! after each action, as Feng et al. 2012 describe it.
#![allow(clippy::unwrap_used)]

mod common;
#[allow(dead_code, missing_docs, unreachable_pub)]
#[path = "twin/problems.rs"]
mod problems;

use common::{HashLm, Problem, close, random_problems};
use problems::{FINE, GrainLm, Shape};
use sylvan_base::{HashMap, Rng};
use sylvan_forest::{Target, TranslationForest, VertexId};
use sylvan_search::{
    Beam, Deduction, Estimate, Future, Incremental, ListId, Prediction, PredictionStep, PredictionTables,
    PrefixId, TopDown, inside_estimate, prediction_traced,
};
use sylvan_testkit::cases;

/// The value of an edge whose first `from` symbols cost nothing any more.
fn rest(forest: &TranslationForest, estimate: &Estimate, edge: sylvan_forest::EdgeId, from: usize) -> f64 {
    let symbols = forest.target(edge)[from..].iter();
    forest.edge(edge).spec.score + symbols.map(|&symbol| estimate.symbol(symbol)).sum::<f64>()
}

/// The best value of `goal` in the forest that is left when `prefix` has been recognised: bottom-up over all
/// vertices, each of which either starts with the prefix or with a vertex that does.
fn re_evaluate(
    forest: &TranslationForest,
    tables: &PredictionTables<'_>,
    goal: VertexId,
    (prefix, length): (PrefixId, usize),
    must_grow: bool,
) -> f64 {
    let estimate = tables.estimate();
    let mut open: HashMap<VertexId, f64> = HashMap::default();
    for vertex in forest.vertices() {
        let mut best = f64::NEG_INFINITY;
        for edge in forest.edges(vertex) {
            let target = forest.target(edge);
            if tables.edges_starting_with(prefix).contains(&edge) && (target.len() > length || !must_grow) {
                best = best.max(rest(forest, estimate, edge, length));
            }
            if let Target::Vertex(first) = target[0] {
                best = best.max(open[&first] + rest(forest, estimate, edge, 1));
            }
        }
        open.insert(vertex, best);
    }
    open[&goal]
}

fn literal(forest: &TranslationForest, tables: &PredictionTables<'_>, step: &PredictionStep) -> f64 {
    let mut total = 0.0;
    for (index, (goal, symbols)) in step.frames.iter().enumerate() {
        let prefix = step.prefixes[index];
        total += match step.frames.get(index + 1) {
            None => re_evaluate(forest, tables, *goal, (prefix, symbols.len()), true),
            Some((pending, _)) => {
                let grown = tables.grown(prefix, *pending).unwrap();
                re_evaluate(forest, tables, *goal, (grown, symbols.len() + 1), false)
            }
        };
    }
    total
}

#[test]
fn closed_form_equals_literal_re_evaluation() {
    let mut states = 0;
    random_problems(21, cases(2_000, 20_000), |problem: &Problem, shown, rng| {
        let lm = HashLm::new(&problem.forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        let forest = &problem.forest;
        if forest.is_dead() {
            return;
        }
        let tables = PredictionTables::new(forest, &lm);
        prediction_traced(forest, &lm, Beam(20), Prediction::default(), |step| {
            if !step.frames.is_empty() {
                states += 1;
                let expected = literal(forest, &tables, step);
                assert!(close(step.future, expected), "{} not {expected}: {shown}", step.future);
            }
        });
    });
    assert!(states > 3_000, "{states} states");
}

/// The same where prefixes have very many edges, and where left corners lie far from the first vertex: all scores are
/// multiples of a power of two, so that nothing has to be tolerated.
#[test]
fn closed_form_equals_re_evaluation_in_wide_and_in_long_forests() {
    let (mut many, mut finite) = (0, 0);
    for (index, (words, rules)) in [(2, (200, 240)), (4, (150, 180)), (30, (70, 90)), (60, (20, 30))]
        .into_iter()
        .cycle()
        .take(cases(8, 80))
        .enumerate()
    {
        let mut rng = Rng::for_item(31, index as u64);
        let shape = Shape {
            words,
            rules,
            vocabulary: 2,
            grain: FINE,
            scans_cover_all: rng.chance(0.5),
            chains: 0.3,
            late: 0.8,
            packed: false,
            few_hashes: false,
            linked: false,
            outlooks: false,
        };
        let forest = problems::forest(&mut rng, shape);
        let lm = GrainLm::new(&forest, 2, rng.next_u64(), FINE);
        let tables = PredictionTables::new(&forest, &lm);
        let vertices: Vec<VertexId> = forest.vertices().collect();
        let edges: Vec<_> = forest.edge_ids().collect();
        for _ in 0..150 {
            let target = forest.target(*rng.pick(&edges));
            // Of bundles with the same words the first is meant, which not all target sides go on from.
            let Some(prefix) = tables.prefix(&target[..rng.below(target.len() + 1)]) else { continue };
            let nearby = tables.edges_starting_with(prefix);
            many += usize::from(nearby.len() > 64);
            // The head of such an edge, a vertex shortly above it, or any.
            let head = forest.edge(*rng.pick(nearby)).head.0 as usize;
            let near = (head + rng.below(4)).min(vertices.len() - 1);
            let goals = [head, near, rng.below(vertices.len())];
            let goal = *rng.pick(&goals);
            let goal = vertices[goal];
            for (grows, found) in
                [(false, tables.finish(goal, prefix)), (true, tables.finish_growing(goal, prefix))]
            {
                assert_eq!(
                    found,
                    tables.reevaluate(goal, prefix, grows),
                    "{words} words, {goal:?}, {prefix:?}"
                );
                finite += usize::from(found.is_finite());
            }
        }
    }
    assert!(many > 200 && finite > 400, "{many} prefixes of many edges, {finite} that can be finished");
}

/// Huang & Mi 2010 and their ablations: what an option is expected to cost holds nothing of an ablated future.
#[test]
fn options_of_top_down_search_see_only_the_future_that_they_may_see() {
    random_problems(22, cases(500, 5_000), |problem: &Problem, shown, rng| {
        let forest = &problem.forest;
        if forest.is_dead() {
            return;
        }
        let lm = HashLm::new(forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        let inside = inside_estimate(forest, &lm);
        let goal = forest.goal();
        let per_word = inside.vertex(goal) / forest.span(goal).len() as f64;
        for future in [Future::None, Future::Rough, Future::Inside] {
            let mut deduction = TopDown::new(forest, &inside, Incremental::from(future));
            for vertex in forest.vertices() {
                let mut options = Vec::new();
                deduction.options(ListId(vertex.0), &mut options);
                for (option, edge) in options.iter().zip(forest.edges(vertex)) {
                    let mut expected = forest.edge(edge).spec.score;
                    let mut at_once = true;
                    for &symbol in forest.target(edge) {
                        at_once &= matches!(symbol, Target::Bundle(_));
                        expected += match (future, symbol) {
                            (_, Target::Bundle(bundle)) if at_once => inside.bundle(bundle),
                            (Future::Inside, symbol) => inside.symbol(symbol),
                            (Future::Rough, Target::Vertex(tail)) => {
                                per_word * forest.span(tail).len() as f64
                            }
                            _ => 0.0,
                        };
                    }
                    assert!(close(option.estimate, expected), "{future:?} {shown}");
                }
            }
        }
    });
}
