//! Reordering models of rules with gaps: the specification's examples step by step, and every derivation of random
//! sentences against positions alone.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Span, Symbol};
use sylvan_forest::Orientation::{Disc, Mono, Swap};
use sylvan_forest::{
    Derivation, EdgeId, EdgeSpec, ForestBuilder, Layer, Neighbour, Orientation, Orientations, Part, RuleRef,
    TranslationForest, VertexId,
};
use sylvan_search::{
    Beam, Incremental, Limits, NoLanguageModel, OrientedStep, Stacks, incremental, oriented, placed, stacks,
};
use sylvan_testkit::cases;

/// A rule in its place: the words that it translates, and what it leaves, in target order.
#[derive(Debug, Clone)]
struct Used {
    words: Vec<u32>,
    gaps: Vec<Used>,
}

fn used(words: &[u32], gaps: Vec<Used>) -> Used {
    Used { words: words.to_vec(), gaps }
}

impl Used {
    fn span(&self) -> Span {
        let gaps = self.gaps.iter().map(Used::span);
        let own = self.words.iter().map(|&word| Span { start: word, end: word + 1 });
        let all: Vec<Span> = own.chain(gaps).collect();
        let (start, end) = (all.iter().map(|s| s.start).min(), all.iter().map(|s| s.end).max());
        Span { start: start.unwrap(), end: end.unwrap() }
    }

    /// Adds vertices and edges, parts first; the edges in target order, heads first.
    fn add(
        &self,
        builder: &mut ForestBuilder,
        next: &mut u32,
        scores: &mut dyn FnMut() -> Orientations,
    ) -> (VertexId, Vec<EdgeId>) {
        let below: Vec<(VertexId, Vec<EdgeId>)> =
            self.gaps.iter().map(|gap| gap.add(builder, next, scores)).collect();
        let vertex = builder.vertex(1, self.span());
        let rule = RuleRef { layer: Layer::Grammar, id: *next };
        let parts = below.iter().map(|&(vertex, _)| Part::Vertex(vertex));
        let parts: Vec<Part> = std::iter::once(Part::word(Symbol(*next))).chain(parts).collect();
        builder.edge(EdgeSpec { rule, score: 0.0, nodes: 1, hash: u64::from(*next) }, &parts);
        builder.orientations(scores());
        let mut edges = vec![EdgeId(*next)];
        *next += 1;
        edges.extend(below.into_iter().flat_map(|(_, edges)| edges));
        (vertex, edges)
    }

    fn forest(
        &self,
        neighbour: Neighbour,
        scores: &mut dyn FnMut() -> Orientations,
    ) -> (TranslationForest, Derivation) {
        let mut builder = ForestBuilder::new();
        builder.reordering(0.0, neighbour);
        let (goal, edges) = self.add(&mut builder, &mut 0, scores);
        (builder.finish(goal), Derivation::new(edges))
    }

    fn steps(&self, neighbour: Neighbour) -> Vec<OrientedStep> {
        let (forest, derivation) = self.forest(neighbour, &mut Orientations::default);
        oriented(&forest, &derivation, neighbour)
    }
}

fn check(derivation: &Used, orientations: &[Orientation], recent: &[(i64, i64)]) {
    let steps = derivation.steps(Neighbour::Recent);
    assert_eq!(steps.iter().map(|step| step.before).collect::<Vec<_>>(), orientations);
    assert_eq!(steps.iter().map(|step| step.recent).collect::<Vec<_>>(), recent);
}

/// The derivation of figure 2 of Siahbani & Sarkar 2017 and the recent span of figure 3.
#[test]
fn siahbani_2017_figure_3() {
    let condition = used(&[6, 8], vec![used(&[7], vec![]), used(&[9], vec![])]);
    let figure = used(&[0, 1, 2, 3], vec![used(&[4, 5], vec![condition])]);
    check(&figure, &[Mono; 5], &[(-1, 3), (-1, 5), (-1, 8), (-1, 8), (-1, 9)]);
    // The fourth rule is in a hole of the third, and the word behind it is translated already.
    let after: Vec<Orientation> = figure.steps(Neighbour::Recent).iter().map(|step| step.after).collect();
    assert_eq!(after, [Mono, Mono, Disc, Disc, Mono]);
}

/// Vectors B, C and F of the specification.
#[test]
fn vectors_of_the_specification() {
    let hole = used(&[2, 5], vec![used(&[3], vec![used(&[4], vec![])]), used(&[6], vec![])]);
    check(&used(&[0, 1], vec![hole]), &[Mono; 5], &[(-1, 1), (-1, 5), (-1, 5), (-1, 5), (-1, 6)]);
    let left = used(&[2], vec![used(&[0, 1], vec![])]);
    let right = used(&[4], vec![used(&[6], vec![used(&[5], vec![])])]);
    check(
        &used(&[3], vec![left, right]),
        &[Disc, Swap, Swap, Mono, Disc, Swap],
        &[(3, 3), (2, 3), (0, 3), (0, 4), (6, 6), (5, 6)],
    );
    let middle = used(&[3], vec![used(&[1], vec![used(&[2], vec![])]), used(&[4], vec![])]);
    check(
        &used(&[0], vec![middle]),
        &[Mono, Disc, Disc, Mono, Disc],
        &[(-1, 0), (3, 3), (1, 1), (1, 2), (4, 4)],
    );
    // A stack of blocks joins what one span forgets.
    let words = [0, 3, 1, 2, 4].map(|start| Span { start, end: start + 1 });
    let blocks = placed(&words, Neighbour::Block);
    assert_eq!(blocks[4].before, Mono);
}

/// A random rule over a span and what it leaves.
fn random_used(rng: &mut Rng, span: Span) -> Used {
    let length = span.end - span.start;
    let mut own: Vec<u32> = (span.start..span.end).filter(|_| rng.chance(0.4)).collect();
    if own.is_empty() {
        own.push(span.start + rng.below(length as usize) as u32);
    }
    let mut gaps: Vec<Span> = Vec::new();
    for word in (span.start..span.end).filter(|word| !own.contains(word)) {
        match gaps.last_mut() {
            Some(gap) if gap.end == word => gap.end += 1,
            _ => gaps.push(Span { start: word, end: word + 1 }),
        }
    }
    // Rules have two gaps at most; what is between others is their own.
    while gaps.len() > 2 {
        let gap = gaps.remove(rng.below(gaps.len()));
        own.extend(gap.start..gap.end);
    }
    own.sort_unstable();
    rng.shuffle(&mut gaps);
    let gaps = gaps.into_iter().map(|gap| random_used(rng, gap)).collect();
    Used { words: own, gaps }
}

/// What a derivation scores by its positions.
fn expected(forest: &TranslationForest, derivation: &Derivation, neighbour: Neighbour) -> f64 {
    let steps = oriented(forest, derivation, neighbour).into_iter();
    let score = steps.map(|step| {
        let scores = forest.orientations(derivation.edges()[step.place]);
        scores.before[step.before as usize] + scores.after[step.after as usize]
    });
    score.sum()
}

/// The search, which knows the recent span or levels alone, counts what positions say.
#[test]
fn constant_memory_is_enough() {
    let mut rng = Rng::new(31);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..cases(500, 20_000) {
        let length = 1 + rng.below(9) as u32;
        let derivation = random_used(&mut rng, Span { start: 0, end: length });
        for neighbour in [Neighbour::Recent, Neighbour::Late] {
            let mut scores = || Orientations {
                before: [(); 3].map(|()| -rng.unit()),
                after: [(); 3].map(|()| -rng.unit()),
            };
            let (forest, derivation) = derivation.forest(neighbour, &mut scores);
            let config = Incremental::default();
            let found =
                incremental(&forest, &NoLanguageModel, Limits::beam(Beam::UNLIMITED), config).unwrap();
            let score = expected(&forest, &derivation, neighbour);
            assert!(
                (found.score - score).abs() < 1e-9,
                "{neighbour:?} {} {score} {derivation:?}",
                found.score
            );
            let steps = oriented(&forest, &derivation, neighbour);
            let is_late = neighbour == Neighbour::Late;
            seen.extend(
                steps.iter().flat_map(|step| [(is_late, false, step.before), (is_late, true, step.after)]),
            );
        }
    }
    assert_eq!(seen.len(), 12, "all orientations of both models: {seen:?}");
}

/// Phrases in any order are steps, too: the recent span serves them as it serves rules with gaps.
#[test]
fn phrases_have_a_recent_span() {
    let mut rng = Rng::new(32);
    for _ in 0..cases(200, 20_000) {
        let length = 1 + rng.below(5) as u32;
        let mut builder = ForestBuilder::new();
        builder.reordering(0.0, Neighbour::Recent);
        for word in 0..length {
            builder.vertex(1, Span { start: word, end: word + 1 });
            let rule = RuleRef { layer: Layer::Grammar, id: word };
            builder.edge(
                EdgeSpec { rule, score: 0.0, nodes: 1, hash: u64::from(word) },
                &[Part::word(Symbol(word))],
            );
            let scores = |rng: &mut Rng| [(); 3].map(|()| -rng.unit());
            builder.orientations(Orientations { before: scores(&mut rng), after: scores(&mut rng) });
        }
        let goal = builder.vertex(1, Span { start: 0, end: length });
        let parts: Vec<Part> = (0..length).map(|word| Part::Vertex(VertexId(word))).collect();
        let rule = RuleRef { layer: Layer::Default, id: 0 };
        builder.edge(EdgeSpec { rule, score: 0.0, nodes: 1, hash: 99 }, &parts);
        let forest = builder.finish(goal);
        let found = stacks(&forest, &NoLanguageModel, Limits::beam(Beam::UNLIMITED), Stacks::WHOLE).unwrap();
        let mut best = f64::NEG_INFINITY;
        let mut order: Vec<u32> = (0..length).collect();
        permutations(&mut order, 0, &mut |order| {
            let derivation = Derivation::new(order.iter().map(|&word| EdgeId(word)).collect());
            best = f64::max(best, expected(&forest, &derivation, Neighbour::Recent));
        });
        assert!((found.score - best).abs() < 1e-9, "{} {best}", found.score);
    }
}

fn permutations(order: &mut Vec<u32>, from: usize, each: &mut dyn FnMut(&[u32])) {
    if from == order.len() {
        return each(order);
    }
    for place in from..order.len() {
        order.swap(from, place);
        permutations(order, from + 1, each);
        order.swap(from, place);
    }
}
