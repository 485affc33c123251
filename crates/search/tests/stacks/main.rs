//! Phrase-based search: brute force over all orders of all segmentations, and a slow twin where beams are finite.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod slow;

use common::{HashLm, close};
use slow::Problem;
use sylvan_base::{Rng, Span, Symbol};
use sylvan_forest::{
    EdgeId, EdgeSpec, ForestBuilder, Layer, Neighbour, Orientations, Part, RuleRef, TranslationForest,
    VertexId,
};
use sylvan_search::{
    Beam, Derivations, Engine, KBest, LanguageModel, Limits, Run, Stacks, brute_force, placed, rescore,
    stack_search, stacks,
};
use sylvan_testkit::cases;

fn spec(rng: &mut Rng) -> EdgeSpec {
    let rule = RuleRef { layer: Layer::Grammar, id: rng.below(1 << 30) as u32 };
    EdgeSpec { rule, score: -3.0 * rng.unit(), nodes: 1, hash: rng.next_u64() }
}

/// Phrases of up to three words over a short sentence, with or without a view of their neighbours. The goal is a vertex
/// over all words that glues phrases in source order, as in a chart.
fn random_phrases(rng: &mut Rng, longest: usize) -> TranslationForest {
    let length = 1 + rng.below(longest);
    let mut builder = ForestBuilder::new();
    let per_word = if rng.chance(0.3) { 0.0 } else { -rng.unit() };
    let neighbour = if rng.chance(0.5) { Neighbour::Block } else { Neighbour::Phrase };
    builder.reordering(per_word, neighbour);
    let oriented = rng.chance(0.7);
    let mut glued: Vec<Option<VertexId>> = vec![None; length + 1];
    for end in 1..=length {
        let mut ending = Vec::new();
        for start in (end.saturating_sub(3)..end).rev() {
            if rng.chance(if end - start > 1 { 0.5 } else { 0.1 }) {
                continue;
            }
            ending.push((start, builder.vertex(1, Span::new(start, end))));
            for _ in 0..1 + rng.below(2) {
                let words: Vec<Part> =
                    (0..rng.below(3)).map(|_| Part::word(Symbol(rng.below(4) as u32))).collect();
                builder.edge(spec(rng), &words);
                // Some phrases know nothing of their neighbours.
                if oriented && rng.chance(0.8) {
                    let mut three = || [-2.0 * rng.unit(), -2.0 * rng.unit(), -2.0 * rng.unit()];
                    builder.orientations(Orientations { before: three(), after: three() });
                }
            }
        }
        glued[end] = Some(builder.vertex(1, Span::new(0, end)));
        for (start, phrase) in ending {
            let glue = EdgeSpec { score: 0.0, ..spec(rng) };
            match glued[start] {
                Some(before) => builder.edge(glue, &[Part::Vertex(before), Part::Vertex(phrase)]),
                None if start == 0 => builder.edge(glue, &[Part::Vertex(phrase)]),
                None => {}
            }
        }
    }
    builder.finish(glued[length].unwrap())
}

fn random_limit(rng: &mut Rng) -> Option<u32> {
    if rng.chance(0.3) { None } else { Some(rng.below(5) as u32) }
}

/// The score of a finished derivation by its parts, as features are replayed.
fn replayed<L: LanguageModel>(forest: &TranslationForest, lm: &L, phrases: &[EdgeId]) -> f64 {
    let spans: Vec<Span> = phrases.iter().map(|&edge| forest.span(forest.edge(edge).head)).collect();
    let reordering = forest.reordering().unwrap();
    let derivation = sylvan_forest::Derivation::new(phrases.to_vec());
    let mut score = rescore(forest, lm, &derivation);
    for (place, phrase) in placed(&spans, reordering.neighbour).iter().enumerate() {
        score += reordering.per_word * f64::from(phrase.jump);
        score += forest.orientations(phrases[place]).before[phrase.before as usize];
        if let Some(after) = phrase.after {
            score += forest.orientations(phrases[place - 1]).after[after as usize];
        }
    }
    score
}

/// Segmentations and orders within the limit: 20,000 sentences in the full suite.
#[test]
fn without_a_beam_it_is_the_best_of_all_orders() {
    let mut rng = Rng::new(7);
    let (mut found_some, mut reordered) = (0, 0);
    for _ in 0..cases(1_500, 20_000) {
        let forest = random_phrases(&mut rng, 5);
        let lm = HashLm::new(&forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        let limit = random_limit(&mut rng);
        let mut problem = Problem { limit, ..problem_of(&forest, &lm) };
        if !coverable(&forest, &lm) {
            assert!(stacks(&forest, &lm, Beam::UNLIMITED, Stacks::default()).is_none());
            continue;
        }
        let expected = raise(&mut problem, &mut 0, |problem| {
            Some(problem.best()).filter(|best| *best > f64::NEG_INFINITY)
        })
        .unwrap();
        let limits = Limits::beam(Beam::UNLIMITED);
        for future in [true, false] {
            let run = Run { out_forest: true, ..Run::new(&lm) };
            let config = Stacks { limit, future, ..Stacks::WHOLE };
            let found = stack_search(&mut Engine::default(), &forest, run, limits, config, None).unwrap();
            assert!(close(found.score, expected), "{} {expected}", found.score);
            let phrases = found.derivation.edges();
            assert!(problem.covered(phrases).iter().all(|&done| done));
            assert!(close(replayed(&forest, &lm, phrases), found.score));
            reordered += usize::from(
                phrases.windows(2).any(|pair| problem.span(pair[0]).start > problem.span(pair[1]).start),
            );
            found_some += 1;
            let out = found.out_forest.as_ref().unwrap();
            for (score, edges) in KBest::new(out).take(4) {
                let listed = out.derivation(&forest, edges);
                assert!(close(replayed(&forest, &lm, listed.edges()), score));
            }
        }
    }
    assert!(found_some > 1_000 && reordered > 200, "{found_some} {reordered}");
}

/// With a wider limit as long as nothing can be completed: no way back is short enough where words have no phrase of
/// their own.
fn raise<'f>(
    problem: &mut Problem<'f, HashLm>,
    raised: &mut usize,
    search: impl Fn(&Problem<'f, HashLm>) -> Option<f64>,
) -> Option<f64> {
    loop {
        if let Some(found) = search(problem) {
            return Some(found);
        }
        // A beam can also keep nothing but what leaves such words out.
        let limit = problem.limit.filter(|limit| (*limit as usize) < problem.length())?;
        problem.limit = Some(limit + 2);
        *raised += 1;
    }
}

/// Whether phrases cover the sentence at all.
fn coverable(forest: &TranslationForest, lm: &HashLm) -> bool {
    let problem = problem_of(forest, lm);
    problem.future(&problem.covered(&[])) > f64::NEG_INFINITY
}

fn problem_of<'f>(forest: &'f TranslationForest, lm: &'f HashLm) -> Problem<'f, HashLm> {
    Problem { forest, lm, limit: None, options: usize::MAX, future: true }
}

/// Stacks of every size, cells best first, with and without future costs.
#[test]
fn with_a_beam_it_keeps_what_the_slow_twin_keeps() {
    let mut rng = Rng::new(12);
    let (mut lossy, mut cut, mut raised) = (0, 0, 0);
    for _ in 0..cases(600, 6_000) {
        let forest = random_phrases(&mut rng, 6);
        let lm = HashLm::new(&forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        let (limit, future) = (random_limit(&mut rng), rng.chance(0.7));
        let options = if rng.chance(0.5) { usize::MAX } else { 1 + rng.below(2) };
        let mut problem = Problem { limit, options, future, ..problem_of(&forest, &lm) };
        let beam = 1 + rng.below(12);
        let pops = if rng.chance(0.5) { usize::MAX } else { 1 + rng.below(30) };
        let limits = Limits { pops, ..Limits::beam(Beam(beam)) };
        if !coverable(&forest, &lm) {
            continue;
        }
        let expected = raise(&mut problem, &mut raised, |problem| problem.beam_search(beam, pops));
        let found = stacks(&forest, &lm, limits, Stacks { limit, options, future });
        assert_eq!(found.is_some(), expected.is_some());
        let (Some(found), Some(expected)) = (found, expected) else { continue };
        assert!(close(found.score, expected), "{} {expected} beam {beam} pops {pops}", found.score);
        let best =
            stacks(&forest, &lm, Beam::UNLIMITED, Stacks { limit: problem.limit, options, future }).unwrap();
        lossy += usize::from(found.score < best.score - 1e-9);
        cut += usize::from(pops < 30);
    }
    assert!(lossy > 10 && cut > 100 && raised > 0, "{lossy} {cut} {raised}");
}

/// With a limit of 0 phrases stay in source order, which is what other searches do with the same forest.
#[test]
fn with_a_limit_of_nothing_it_is_monotone_translation() {
    let mut rng = Rng::new(13);
    for _ in 0..cases(300, 3_000) {
        let forest = random_phrases(&mut rng, 6);
        let lm = HashLm::new(&forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        if forest.is_dead() {
            continue;
        }
        let found =
            stacks(&forest, &lm, Beam::UNLIMITED, Stacks { limit: Some(0), ..Stacks::WHOLE }).unwrap();
        let mut best = f64::NEG_INFINITY;
        let all = Derivations::of(&forest);
        for derivation in (0..all.count()).map(|number| all.get(number)) {
            let is_phrase = |edge: &EdgeId| forest.tails(*edge).next().is_none();
            let phrases: Vec<EdgeId> = derivation.edges().iter().copied().filter(is_phrase).collect();
            best = best.max(replayed(&forest, &lm, &phrases));
        }
        assert!(close(found.score, best), "{} {best}", found.score);
        if !forest.reordering().unwrap().is_oriented() {
            let other = brute_force(&forest, &lm, u64::MAX).unwrap();
            assert!(close(found.score, other.score));
        }
    }
}
