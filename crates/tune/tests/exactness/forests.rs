//! Line searches on forests against line searches on lists of all their derivations. The crate is only told what whole
//! derivations are worth; what their arcs are worth is for it to find out.

use std::collections::BTreeSet;

use sylvan_base::{Id, Rng, Span, Symbol};
use sylvan_forest::{EdgeId, EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TranslationForest};
use sylvan_search::{EdgeOrder, KBest, OutForest, OutForestBuilder, Words};
use sylvan_testkit::cases;
use sylvan_tune::{
    Direction, FeatureForest, Forests, Line, Lists, MertConfig, Pool, Space, Winner, line_search, mert,
    upper_envelope, winners,
};

use crate::problem::{Edits, Hypothesis, Problem, close};

/// An out-forest; each arc has an edge of its own, and each edge has two features.
struct Random {
    out: OutForest,
    values: Vec<[f64; 2]>,
    all: Vec<Derivation>,
}

/// A derivation: its edges, tails first, and its score.
#[derive(Debug, Clone)]
struct Derivation {
    edges: Vec<EdgeId>,
    score: f64,
}

/// Edges without tails, to make arcs of.
pub fn edges(count: u32) -> TranslationForest {
    let mut builder = ForestBuilder::new();
    let vertex = builder.vertex(1, Span::new(0, 1));
    for id in 0..count {
        let rule = RuleRef { layer: Layer::Grammar, id };
        builder.edge(EdgeSpec { rule, score: 0.0, nodes: 1, hash: u64::from(id) }, &[Part::word(Symbol(id))]);
    }
    builder.finish(vertex)
}

impl Random {
    /// Not too many derivations, as all their crossings are looked at.
    fn new(rng: &mut Rng) -> Self {
        loop {
            let random = Self::any(rng);
            if random.all.len() <= 60 {
                return random;
            }
        }
    }

    fn any(rng: &mut Rng) -> Self {
        let forest = edges(60);
        let nodes = 4 + rng.below(3);
        let mut out = OutForestBuilder::new(nodes, EdgeOrder::HeadsFirst);
        let mut next = 0;
        for node in 0..nodes {
            // A node that nothing makes may be the tail of an arc: no derivation has that arc.
            let dead = node >= 2 && node + 1 < nodes && rng.chance(0.15);
            let arcs = if dead { 0 } else { 1 + rng.below(3) };
            for _ in 0..arcs {
                let tails: Vec<u32> = if node < 2 {
                    vec![]
                } else {
                    (0..rng.below(3)).map(|_| rng.below(node) as u32).collect()
                };
                let own: Vec<EdgeId> = (next..next + 1 + rng.below(2)).map(EdgeId::from_index).collect();
                next += own.len();
                let score = -(rng.below(64) as f64) / 16.0;
                out.arc(node, &tails, &own, Words::Around, score, &forest);
            }
        }
        let value = |rng: &mut Rng| (rng.below(1 << 16) as f64 - 32768.0) / 1024.0;
        let values = (0..next).map(|_| [value(rng), value(rng)]).collect();
        let out = out.finish(nodes - 1);
        let all = derivations(&out, out.goal());
        assert_eq!(KBest::new(&out).count(), all.len(), "the same derivations");
        Self { out, values, all }
    }

    fn features(&self, edges: &[EdgeId]) -> Vec<f64> {
        let sum = |feature: usize| edges.iter().map(|edge| self.values[edge.index()][feature]).sum();
        vec![sum(0), sum(1)]
    }

    fn hypothesis(&self, sentence: usize, derivation: &Derivation) -> Hypothesis {
        let values = self.features(&derivation.edges);
        Hypothesis { edits: worth(sentence, &derivation.edges), words: 7, values }
    }

    /// The crate's forest. It may ask for nothing but derivations of the forest.
    fn pack(&self, sentence: usize, margin: f64) -> FeatureForest {
        let known: BTreeSet<Vec<EdgeId>> = self.all.iter().map(|one| one.edges.clone()).collect();
        let values = |edges: &[EdgeId]| {
            assert!(known.contains(edges), "{edges:?} is no derivation");
            self.features(edges)
        };
        FeatureForest::new(&self.out, margin, values, move |edges| format!("{}/7", worth(sentence, edges)))
    }

    /// The derivations that are made of arcs of derivations within a margin of the best alone, and the edges of these.
    fn within(&self, margin: f64) -> (Vec<Derivation>, BTreeSet<EdgeId>) {
        let best = self.all.iter().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
        let near = self.all.iter().filter(|one| one.score >= best - margin);
        let kept: BTreeSet<EdgeId> = near.flat_map(|one| one.edges.clone()).collect();
        let made = self.all.iter().filter(|one| one.edges.iter().all(|edge| kept.contains(edge)));
        (made.cloned().collect(), kept)
    }
}

/// What a derivation is worth depends on its edges and their order in an arbitrary way.
fn worth(sentence: usize, edges: &[EdgeId]) -> u64 {
    edges.iter().fold(sentence as u64, |hash, edge| sylvan_base::hash::fold(hash, u64::from(edge.0))) % 8
}

fn derivations(out: &OutForest, node: usize) -> Vec<Derivation> {
    let mut all = Vec::new();
    for arc in out.arcs(node) {
        let mut partial = vec![Derivation { edges: Vec::new(), score: arc.score }];
        for &tail in out.tails(arc) {
            let below = derivations(out, tail as usize);
            let join = |one: &Derivation, more: &Derivation| Derivation {
                edges: [one.edges.clone(), more.edges.clone()].concat(),
                score: one.score + more.score,
            };
            partial = partial.iter().flat_map(|one| below.iter().map(|more| join(one, more))).collect();
        }
        partial.iter_mut().for_each(|one| one.edges.extend_from_slice(out.edges(arc)));
        all.extend(partial);
    }
    all
}

/// A pool of three sentences without translations.
fn empty_pool() -> Pool<'static, Edits> {
    Pool::new(&Edits, vec![vec![String::new()]; 3])
}

/// Numbers that are sums of few powers of two: with these all arithmetic is exact.
fn round_number(rng: &mut Rng) -> f64 {
    (rng.below(129) as f64 - 64.0) / 64.0
}

#[test]
fn forests_give_what_lists_of_all_derivations_give() {
    let mut several = 0;
    for seed in 0..cases(300, 5000) as u64 {
        let mut rng = Rng::new(seed);
        let sentences: Vec<Random> = (0..3).map(|_| Random::new(&mut rng)).collect();
        if sentences.iter().any(|sentence| sentence.all.is_empty()) {
            continue;
        }
        several += sentences.iter().filter(|sentence| sentence.all.len() > 3).count();
        let spelt_out = sentences.iter().enumerate().map(|(number, sentence)| {
            sentence.all.iter().map(|one| sentence.hypothesis(number, one)).collect()
        });
        let problem = Problem(spelt_out.collect());
        let (pool, empty) = (problem.pool(), empty_pool());
        let packed: Vec<Option<FeatureForest>> =
            sentences.iter().enumerate().map(|(n, s)| Some(s.pack(n, f64::INFINITY))).collect();
        let lists = Lists::new(&pool, 2);
        let forests = Forests::new(&empty, &packed, 2);
        assert_eq!((forests.sentences(), forests.dimensions()), (3, 2));
        for direction in [[1.0, 0.0], [0.0, 1.0], [0.25, -0.75]] {
            let start = [round_number(&mut rng), round_number(&mut rng)];
            let wanted = problem.line_search(&start, &direction);
            let axis = direction.iter().position(|&part| part == 1.0);
            let direction = axis.map_or(Direction::Vector(direction.to_vec()), Direction::Axis);
            let a = line_search(&lists, &lists.prepare(&start), &direction);
            let b = line_search(&forests, &forests.prepare(&start), &direction);
            assert_eq!((b.gamma, b.gain), wanted, "seed {seed}");
            assert_eq!(a, b, "seed {seed}");
        }
        if seed < 40 {
            let plain = MertConfig { restarts: 0, random_directions: 0, ..MertConfig::default() };
            let (start, spread) = ([0.5, 0.5], [1.0, 1.0]);
            let (a, b) = (mert(&lists, &start, &spread, &plain), mert(&forests, &start, &spread, &plain));
            close(&b.weights, &a.weights, 1e-9);
            let all = MertConfig { restarts: 3, ..MertConfig::default() };
            let (a, b) = (mert(&lists, &start, &spread, &all), mert(&forests, &start, &spread, &all));
            assert_eq!(a.gain, b.gain, "seed {seed}");
        }
    }
    assert!(several > 200, "{several} forests had enough derivations to show anything");
}

#[test]
fn the_winners_of_a_forest_are_the_envelope_of_its_derivations() {
    let mut changes = 0;
    for seed in 0..cases(500, 10_000) as u64 {
        let mut rng = Rng::new(seed);
        let random = Random::new(&mut rng);
        let packed = random.pack(0, f64::INFINITY);
        let mut vector = || [round_number(&mut rng), round_number(&mut rng)];
        let (weights, direction) = (vector(), vector());
        let lines: Vec<Line> = random
            .all
            .iter()
            .map(|one| {
                let one = random.hypothesis(0, one);
                Line { slope: one.score(&direction), intercept: one.score(&weights) }
            })
            .collect();
        let mut segments = Vec::new();
        upper_envelope(&lines, &mut segments);
        let wanted = segments.iter().map(|segment| Winner {
            start: segment.start,
            line: lines[segment.line],
            edges: random.all[segment.line].edges.clone(),
        });
        let found = winners(&packed, &weights, &direction);
        assert_eq!(found, wanted.collect::<Vec<_>>(), "seed {seed}");
        changes += segments.len().saturating_sub(1);
        // A feature without a weight weighs nothing.
        let zeros = winners(&packed, &[weights[0], 0.0], &[direction[0], 0.0]);
        assert_eq!(winners(&packed, &weights[..1], &direction[..1]), zeros);
    }
    assert!(changes > 500, "{changes} changes of the winner");
}

#[test]
fn a_margin_keeps_the_arcs_of_derivations_within_it_and_no_others() {
    let (mut dropped, mut boundary, mut remade) = (0, 0, 0);
    for seed in 0..cases(500, 10_000) as u64 {
        let mut rng = Rng::new(seed);
        let random = Random::new(&mut rng);
        let best = random.all.iter().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
        let everything = random.within(f64::INFINITY).1;
        // Sixteenths, as scores are: some derivation is often exactly at the margin.
        for margin in [0.0, rng.below(32) as f64 / 16.0, rng.below(100) as f64 / 16.0, f64::INFINITY] {
            let (made, kept) = random.within(margin);
            let packed = random.pack(0, margin);
            let found: BTreeSet<EdgeId> = packed.arcs().flatten().copied().collect();
            assert_eq!(found, kept, "seed {seed}, margin {margin}");
            dropped += usize::from(kept.len() < everything.len());
            let far = |one: &Derivation| one.score < best - margin;
            boundary += usize::from(random.all.iter().any(|one| one.score == best - margin));
            remade += usize::from(made.iter().any(far));
            // What is left behaves as its derivations do.
            let problem = Problem(vec![made.iter().map(|one| random.hypothesis(0, one)).collect()]);
            let pool = Pool::new(&Edits, vec![vec![String::new()]]);
            let packed = [Some(packed)];
            let forests = Forests::new(&pool, &packed, 2);
            let start = [round_number(&mut rng), round_number(&mut rng)];
            if !made.is_empty() {
                let found = line_search(&forests, &forests.prepare(&start), &Direction::Axis(1));
                assert_eq!(
                    (found.gamma, found.gain),
                    problem.line_search(&start, &[0.0, 1.0]),
                    "seed {seed}"
                );
            }
        }
        // Below the best there is nothing.
        assert_eq!(random.pack(0, -0.01).arcs().len(), 0);
    }
    assert!(dropped > 300 && boundary > 300 && remade > 50, "{dropped} {boundary} {remade}");
}

#[test]
fn the_worked_example_of_a_minkowski_sum() {
    // {(.5, -.1), (2, -.6)} and {(0, .5), (2, -1.1)} below an arc (1, 0): slope and intercept as features.
    let values = [[0.5, -0.1], [2.0, -0.6], [0.0, 0.5], [2.0, -1.1], [1.0, 0.0]];
    let [a, b, c, d, top] = [0, 1, 2, 3, 4].map(EdgeId::from_index);
    let forest = edges(5);
    let mut out = OutForestBuilder::new(3, EdgeOrder::TailsFirst);
    for (node, edge) in [(0, a), (0, b), (1, c), (1, d)] {
        out.arc(node, &[], &[edge], Words::Around, 0.0, &forest);
    }
    out.arc(2, &[0, 1], &[top], Words::Around, 0.0, &forest);
    let sum = |edges: &[EdgeId]| {
        let part = |feature: usize| edges.iter().map(|edge| values[edge.index()][feature]).sum();
        vec![part(0), part(1)]
    };
    let packed = FeatureForest::new(&out.finish(2), f64::INFINITY, sum, |_| String::new());
    assert_eq!(packed.arcs().collect::<Vec<_>>(), [[a], [b], [c], [d], [top]]);
    let all = winners(&packed, &[0.0, 1.0], &[1.0, 0.0]);
    let found: Vec<f64> =
        all.iter().flat_map(|one| [one.start, one.line.slope, one.line.intercept]).skip(1).collect();
    close(&found, &[1.5, 0.4, 1.0 / 3.0, 3.0, -0.1, 0.8, 5.0, -1.7], 1e-12);
    let found: Vec<&[EdgeId]> = all.iter().map(|one| &*one.edges).collect();
    assert_eq!(found, [[a, c, top], [b, c, top], [b, d, top]]);
}

#[test]
fn lists_and_forests_compete_and_a_sentence_may_lack_either() {
    let (mut of_list, mut of_forest) = (0, 0);
    for seed in 0..cases(300, 5000) as u64 {
        let mut rng = Rng::new(seed);
        let sentences: Vec<Random> = (0..3).map(|_| Random::new(&mut rng)).collect();
        let mut pool = empty_pool();
        let mut problem = Problem(vec![Vec::new(); 3]);
        for (number, list) in problem.0.iter_mut().enumerate().skip(1) {
            let value = |rng: &mut Rng| (rng.below(1 << 16) as f64 - 32768.0) / 512.0;
            for _ in 0..1 + rng.below(4) {
                let (edits, values) = (rng.below(8) as u64, vec![value(&mut rng), value(&mut rng)]);
                list.push(Hypothesis { edits, words: 7, values });
            }
            pool.add(number, list.iter().map(Hypothesis::candidate).collect());
        }
        // The first sentence has a forest only, the second one has both, the third one a list only.
        let packed: Vec<Option<FeatureForest>> =
            (0..2).map(|number| Some(sentences[number].pack(number, f64::INFINITY))).collect();
        for (number, list) in problem.0.iter_mut().enumerate().take(2) {
            let random = &sentences[number];
            list.extend(random.all.iter().map(|one| random.hypothesis(number, one)));
        }
        if problem.0[0].is_empty() {
            continue;
        }
        let forests = Forests::new(&pool, &packed, 2);
        let none = [None, None, None];
        let (start, direction) = ([round_number(&mut rng), round_number(&mut rng)], Direction::Axis(0));
        let found = line_search(&forests, &forests.prepare(&start), &direction);
        assert_eq!((found.gamma, found.gain), problem.line_search(&start, &[1.0, 0.0]), "seed {seed}");
        let lists = Lists::new(&pool, 2);
        let listed = line_search(&lists, &lists.prepare(&start), &direction);
        let without = Forests::new(&pool, &none, 2);
        assert_eq!(line_search(&without, &without.prepare(&start), &direction), listed, "lists alone");
        let mut winners = Vec::new();
        forests.winners(1, &forests.prepare(&start), &direction, &mut winners);
        let count = pool.entries(1).len();
        of_list += winners.iter().filter(|(segment, _)| segment.line < count).count();
        of_forest += winners.iter().filter(|(segment, _)| segment.line >= count).count();
    }
    assert!(of_list > 100 && of_forest > 100, "{of_list} winners of lists, {of_forest} of forests");
}

#[test]
fn a_listed_translation_stands_for_the_same_line_of_a_forest() {
    let forest = edges(1);
    let mut out = OutForestBuilder::new(1, EdgeOrder::TailsFirst);
    out.arc(0, &[], &[EdgeId::from_index(0)], Words::Around, 0.0, &forest);
    let packed = [Some(FeatureForest::new(&out.finish(0), 0.0, |_| vec![1.0, 2.0], |_| "3/4".to_string()))];
    let mut pool = Pool::new(&Edits, vec![vec![String::new()]]);
    let gain = |pool: &Pool<'_, Edits>| {
        let forests = Forests::new(pool, &packed, 2);
        line_search(&forests, &forests.prepare(&[1.0, 1.0]), &Direction::Axis(0)).gain
    };
    assert_eq!(gain(&pool), -0.75);
    pool.add(0, vec![Hypothesis { edits: 1, words: 4, values: vec![1.0, 2.0] }.candidate()]);
    assert_eq!(gain(&pool), -0.25);
}
