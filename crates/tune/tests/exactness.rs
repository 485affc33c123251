//! Line searches against a scan of all intervals, forests against full lists, and runs against themselves.
#![allow(clippy::unwrap_used)]

use std::ops::{AddAssign, SubAssign};

use proptest::prelude::*;
use sylvan_base::{Rng, Span, Symbol, Vocab};
use sylvan_eval::{Better, Bleu, Metric, Tokenizer, Workspace};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TranslationForest};
use sylvan_search::{EdgeOrder, KBest, OutForest, OutForestBuilder};
use sylvan_testkit::cases;
use sylvan_tune::{
    Candidate, Decode, Direction, FeatureForest, Forests, Judge, Line, Lists, MertConfig, Method, MiraConfig,
    Mixture, Plan, Pool, ProConfig, Space, Start, Tuned, Values, curve, line_search, mert, mira, pro, tune,
    upper_envelope,
};

/// Edits per reference word; a translation is written as `edits/words`.
#[derive(Debug)]
struct Edits;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct EditStats {
    edits: u64,
    words: u64,
}

impl AddAssign for EditStats {
    fn add_assign(&mut self, other: Self) {
        self.edits += other.edits;
        self.words += other.words;
    }
}

impl SubAssign for EditStats {
    fn sub_assign(&mut self, other: Self) {
        self.edits -= other.edits;
        self.words -= other.words;
    }
}

impl Metric for Edits {
    type Stats = EditStats;
    fn name(&self) -> String {
        "edits".into()
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn line(&self, hypothesis: &str, _: &[&str], _: &mut Workspace) -> EditStats {
        let (edits, words) = hypothesis.split_once('/').unwrap();
        EditStats { edits: edits.parse().unwrap(), words: words.parse().unwrap() }
    }
    fn value(&self, total: &EditStats) -> f64 {
        total.edits as f64 / total.words.max(1) as f64
    }
    fn signature(&self, _: usize) -> String {
        String::new()
    }
}

fn candidate(text: String, values: &[f64]) -> Candidate {
    let named = values.iter().enumerate().map(|(number, &value)| (Symbol(number as u32), value));
    Candidate { text, values: Values::new(named) }
}

fn pool(sentences: &[Vec<(u64, u64, Vec<f64>)>]) -> Pool<'static, Edits> {
    let mut pool = Pool::new(&Edits, sentences.iter().map(|_| vec![String::new()]).collect());
    for (number, sentence) in sentences.iter().enumerate() {
        let list = sentence.iter().map(|(e, w, values)| candidate(format!("{e}/{w}"), values));
        pool.add(number, list.collect());
    }
    pool
}

/// The two sentences of the worked example: edits, reference words, features.
fn example() -> Pool<'static, Edits> {
    pool(&[
        vec![(1, 4, vec![2.0, -1.0]), (0, 4, vec![0.5, -0.2]), (3, 4, vec![3.0, -2.5])],
        vec![(2, 5, vec![1.0, -1.0]), (1, 5, vec![2.0, -1.5]), (4, 5, vec![0.0, 0.5])],
    ])
}

#[test]
fn the_worked_example_of_a_line_search() {
    let pool = example();
    let lists = Lists::new(&pool, 2);
    let start = [0.2, 1.0];
    let point = line_search(&lists, &lists.prepare(&start), &Direction::Axis(0));
    assert!((point.gain + 2.0 / 9.0).abs() < 1e-12, "{point:?}");
    assert!((point.gamma - 1.05).abs() < 1e-6, "{point:?}");
    // The same line as a vector.
    let same = line_search(&lists, &lists.prepare(&start), &Direction::Vector(vec![1.0, 0.0]));
    assert_eq!(point, same);
}

#[test]
fn the_worked_example_of_envelopes() {
    // The Minkowski sum of two envelopes and an edge, by way of a forest with two leaves below one arc.
    let sum: Vec<Line> =
        [(1.5, 0.4), (3.0, -0.1), (5.0, -1.7)].map(|(slope, intercept)| Line { slope, intercept }).to_vec();
    let mut segments = Vec::new();
    upper_envelope(&sum, &mut segments);
    let starts: Vec<f64> = segments.iter().map(|segment| segment.start).collect();
    assert!((starts[1] - 1.0 / 3.0).abs() < 1e-12 && (starts[2] - 0.8).abs() < 1e-12);
}

/// The best value of the metric over all intervals, by trying a point in each.
fn scan(pool: &Pool<'_, Edits>, start: &[f64], direction: &[f64]) -> f64 {
    let mut crossings = vec![0.0];
    for sentence in 0..pool.len() {
        let lines: Vec<(f64, f64)> =
            pool.entries(sentence).iter().map(|e| (e.values.dot(direction), e.values.dot(start))).collect();
        for a in &lines {
            for b in &lines {
                if a.0 != b.0 {
                    crossings.push((b.1 - a.1) / (a.0 - b.0));
                }
            }
        }
    }
    crossings.sort_by(f64::total_cmp);
    let mut tries = vec![crossings[0] - 1.0, crossings[crossings.len() - 1] + 1.0];
    tries.extend(crossings.windows(2).filter(|w| w[1] - w[0] > 1e-9).map(|w| f64::midpoint(w[0], w[1])));
    tries.into_iter().map(|gamma| at(pool, start, direction, gamma)).fold(f64::NEG_INFINITY, f64::max)
}

fn at(pool: &Pool<'_, Edits>, start: &[f64], direction: &[f64], gamma: f64) -> f64 {
    pool.gain(&start.iter().zip(direction).map(|(w, d)| w + gamma * d).collect::<Vec<_>>())
}

fn random_pool(rng: &mut Rng, sentences: usize, most: usize) -> Pool<'static, Edits> {
    let value = |rng: &mut Rng| (rng.below(2001) as f64 - 1000.0) / 64.0;
    let all: Vec<_> = (0..sentences)
        .map(|_| {
            (0..1 + rng.below(most))
                .map(|_| (rng.below(6) as u64, 5, vec![value(rng), value(rng), value(rng)]))
                .collect()
        })
        .collect();
    pool(&all)
}

#[test]
fn a_line_search_finds_what_a_scan_of_all_intervals_finds() {
    for seed in 0..cases(300, 5000) as u64 {
        let mut rng = Rng::new(seed);
        let pool = random_pool(&mut rng, 4, 8);
        let start: Vec<f64> = (0..3).map(|_| rng.unit() * 2.0 - 1.0).collect();
        let direction: Vec<f64> = (0..3).map(|_| rng.unit() * 2.0 - 1.0).collect();
        let lists = Lists::new(&pool, 3);
        let point = line_search(&lists, &lists.prepare(&start), &Direction::Vector(direction.clone()));
        let wanted = scan(&pool, &start, &direction);
        assert!((point.gain - wanted).abs() < 1e-12, "seed {seed}: {point:?}, the scan found {wanted}");
        let there = at(&pool, &start, &direction, point.gamma);
        assert!((point.gain - there).abs() < 1e-12, "seed {seed}: {point:?}, but {there} in that place");
        assert!(point.gain >= at(&pool, &start, &direction, 0.0), "seed {seed}: worse than standing still");
    }
}

proptest! {
    #[test]
    fn the_same_line_added_to_all_translations_changes_nothing(seed in 0u64..10_000, more in -50i32..50) {
        let mut rng = Rng::new(seed);
        let pool = random_pool(&mut rng, 3, 6);
        let shifted: Vec<Vec<(u64, u64, Vec<f64>)>> = (0..3).map(|sentence| {
            pool.entries(sentence).iter().map(|entry| {
                let mut values = vec![0.0; 3];
                entry.values.iter().for_each(|(number, value)| values[number] = value);
                values[1] += f64::from(more);
                (entry.stats.edits, entry.stats.words, values)
            }).collect()
        }).collect();
        let shifted = self::pool(&shifted);
        let start = [0.5, 0.25, -0.125];
        let (a, b) = (Lists::new(&pool, 3), Lists::new(&shifted, 3));
        let (x, y) = (
            line_search(&a, &a.prepare(&start), &Direction::Axis(1)),
            line_search(&b, &b.prepare(&start), &Direction::Axis(1)),
        );
        prop_assert!((x.gain - y.gain).abs() < 1e-12 && (x.gamma - y.gamma).abs() < 1e-6);
    }
}

/// A random out-forest of a few nodes with two features per arc.
fn random_forest(rng: &mut Rng) -> (OutForest, Vec<Vec<f64>>) {
    let mut builder = ForestBuilder::new();
    let vertex = builder.vertex(1, Span::new(0, 1));
    let rule = RuleRef { layer: Layer::Grammar, id: 0 };
    builder.edge(EdgeSpec { rule, score: 0.0, nodes: 1, hash: 1 }, &[Part::word(Symbol(0))]);
    let forest: TranslationForest = builder.finish(vertex);
    let nodes = 4 + rng.below(3);
    let mut out = OutForestBuilder::new(nodes, EdgeOrder::HeadsFirst);
    let mut values = Vec::new();
    for node in 0..nodes {
        for _ in 0..1 + rng.below(3) {
            let tails: Vec<u32> =
                if node < 2 { vec![] } else { (0..rng.below(3)).map(|_| rng.below(node) as u32).collect() };
            out.arc(node, &tails, &[], 0.0, &forest);
            let value = |rng: &mut Rng| (rng.below(1 << 16) as f64 - 32768.0) / 1024.0;
            values.push(vec![value(rng), value(rng)]);
        }
    }
    (out.finish(nodes - 1), values)
}

/// What a derivation is worth depends on its arcs in an arbitrary way.
struct Hashed;

impl Judge<EditStats> for Hashed {
    fn stats(&self, sentence: usize, _: usize, arcs: &[usize]) -> EditStats {
        EditStats { edits: worth(sentence, arcs), words: 7 }
    }
}

fn worth(sentence: usize, arcs: &[usize]) -> u64 {
    let mut sorted = arcs.to_vec();
    sorted.sort_unstable();
    sorted.iter().fold(sentence as u64, |hash, &arc| sylvan_base::hash::fold(hash, arc as u64)) % 8
}

/// All derivations of a node, as lists of arcs.
fn derivations(out: &OutForest, node: usize) -> Vec<Vec<usize>> {
    let first: usize = (0..node).map(|node| out.arcs(node).len()).sum();
    let mut all = Vec::new();
    for (index, arc) in out.arcs(node).iter().enumerate() {
        let mut partial = vec![vec![first + index]];
        for &tail in out.tails(arc) {
            let below = derivations(out, tail as usize);
            partial = partial
                .iter()
                .flat_map(|one| below.iter().map(|b| [one.clone(), b.clone()].concat()))
                .collect();
        }
        all.extend(partial);
    }
    all
}

#[test]
fn forests_give_what_lists_of_all_derivations_give() {
    let mut several = 0;
    for seed in 0..cases(200, 3000) as u64 {
        let mut rng = Rng::new(seed);
        let sentences: Vec<(OutForest, Vec<Vec<f64>>)> = (0..3).map(|_| random_forest(&mut rng)).collect();
        let mut pool = Pool::new(&Edits, vec![vec![String::new()]; 3]);
        let mut forests = Vec::new();
        for (number, (out, values)) in sentences.iter().enumerate() {
            let all = derivations(out, out.goal());
            several += usize::from(all.len() > 3);
            let list = all.iter().map(|arcs| {
                let sum = |feature: usize| arcs.iter().map(|&arc| values[arc][feature]).sum::<f64>();
                candidate(format!("{}/7", worth(number, arcs)), &[sum(0), sum(1)])
            });
            pool.add(number, list.collect());
            assert_eq!(KBest::new(out).count(), all.len(), "the same derivations");
            let named = |arc: usize| candidate(String::new(), &values[arc]).values;
            forests.push(vec![FeatureForest::new(out, f64::INFINITY, named)]);
        }
        let (lists, forests) = (Lists::new(&pool, 2), Forests::new(&Edits, &Hashed, 2, &forests));
        for direction in [Direction::Axis(0), Direction::Axis(1), Direction::Vector(vec![0.3, -0.7])] {
            let start = [rng.unit(), -rng.unit()];
            let a = line_search(&lists, &lists.prepare(&start), &direction);
            let b = line_search(&forests, &forests.prepare(&start), &direction);
            assert!((a.gain - b.gain).abs() < 1e-12, "seed {seed}: {a:?} {b:?}");
            assert!((a.gamma - b.gamma).abs() < 1e-3 * (1.0 + a.gamma.abs()), "seed {seed}: {a:?} {b:?}");
        }
        if seed < 20 {
            let config = MertConfig { restarts: 3, ..MertConfig::default() };
            let a = mert(&lists, &[0.5, 0.5], &[1.0, 1.0], &config);
            let b = mert(&forests, &[0.5, 0.5], &[1.0, 1.0], &config);
            assert!((a.gain - b.gain).abs() < 1e-12, "seed {seed}: {a:?} {b:?}");
        }
    }
    assert!(several > 100, "the forests are too small to show anything");
}

#[test]
fn a_margin_drops_arcs_of_bad_derivations_alone() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let (out, values) = random_forest(&mut rng);
        let named = |arc: usize| candidate(String::new(), &values[arc]).values;
        // All arcs score 0 here, so no margin drops any, and a negative one keeps none.
        let whole = FeatureForest::new(&out, f64::INFINITY, named).arcs();
        assert_eq!(FeatureForest::new(&out, 0.0, named).arcs(), whole);
        assert_eq!(FeatureForest::new(&out, -1.0, named).arcs(), 0);
    }
}

/// A decoder that knows all translations of its sentences: sequences of words with three features.
struct Toy {
    sentences: Vec<Vec<(String, [f64; 3])>>,
}

impl Toy {
    /// The reference is the translation with the highest score under hidden weights.
    fn new(seed: u64, count: usize) -> (Self, Vec<Vec<String>>) {
        let mut rng = Rng::new(seed);
        let hidden = [0.7, -0.2, 0.4];
        let (mut sentences, mut references) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let all: Vec<(String, [f64; 3])> = (0..40)
                .map(|_| {
                    let words: Vec<String> = (0..6).map(|_| rng.below(9).to_string()).collect();
                    (words.join(" "), [rng.unit() * 4.0, rng.unit() * 4.0, rng.unit() * 4.0])
                })
                .collect();
            let score = |v: &[f64; 3]| v.iter().zip(hidden).map(|(v, w)| v * w).sum::<f64>();
            let best = all.iter().max_by(|a, b| score(&a.1).total_cmp(&score(&b.1))).unwrap();
            references.push(vec![best.0.clone()]);
            sentences.push(all);
        }
        (Self { sentences }, references)
    }
}

impl Decode for Toy {
    type Error = std::convert::Infallible;
    fn decode(&mut self, names: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
        let numbers = ["a", "b", "c"].map(|name| names.intern(name));
        let lists = self.sentences.iter().map(|all| {
            let mut list: Vec<Candidate> = all
                .iter()
                .map(|(text, values)| Candidate {
                    text: text.clone(),
                    values: Values::new(numbers.into_iter().zip(*values)),
                })
                .collect();
            list.sort_by(|x, y| y.values.dot(weights).total_cmp(&x.values.dot(weights)));
            list.truncate(5);
            list
        });
        Ok(lists.collect())
    }
}

fn start() -> Vec<Start> {
    // The third feature is not known in advance.
    [("a", 0.1), ("b", 0.1)].map(|(name, weight)| Start { name: name.into(), weight, spread: 1.0 }).to_vec()
}

fn run(method: &Method, seed: u64) -> Tuned {
    let (mut toy, references) = Toy::new(seed, 30);
    let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    tune(&mut toy, &bleu, references, &start(), method, &Plan::default(), &mut |_| {}).unwrap()
}

#[test]
fn every_method_learns_the_hidden_weights_of_a_toy() {
    let methods = [
        Method::Mert(MertConfig::default()),
        Method::Mira(MiraConfig { step: 0.1, ..MiraConfig::default() }),
        Method::Pro(ProConfig::default()),
    ];
    for method in methods {
        for seed in 0..3 {
            let tuned = run(&method, seed);
            let first = tuned.rounds[0].score;
            assert!(first < 60.0, "{method:?}: too easy, {first}");
            assert!(
                tuned.score > 90.0,
                "{method:?}, seed {seed}: {first} to {}: {:?}",
                tuned.score,
                tuned.weights
            );
            let best = tuned.rounds.iter().map(|round| round.score).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(tuned.score, best, "the best round counts");
        }
    }
}

#[test]
fn threads_change_nothing_and_seeds_change_something() {
    let config = |threads, seed| Method::Mert(MertConfig { threads, seed, ..MertConfig::default() });
    let bytes = |method: &Method| format!("{:?}", run(method, 7));
    let one = bytes(&config(1, 1));
    assert_eq!(one, bytes(&config(3, 1)));
    assert_eq!(one, bytes(&config(1, 1)));
    assert_ne!(one, bytes(&config(1, 2)));
}

#[test]
fn optimisers_are_never_worse_than_where_they_began() {
    for seed in 0..20 {
        let pool = random_pool(&mut Rng::new(seed), 6, 10);
        let start = [0.3, -0.2, 0.5];
        let before = pool.gain(&start);
        let found = mert(&Lists::new(&pool, 3), &start, &[1.0; 3], &MertConfig::default());
        assert!(found.gain >= before && (pool.gain(&found.weights) - found.gain).abs() < 1e-12);
        assert!(mira(&pool, &start, &MiraConfig::default()).gain >= before);
        let mixed = pro(&pool, &start, &ProConfig { mixing: 0.0, ..ProConfig::default() });
        assert_eq!(mixed.weights, start, "without mixing nothing moves");
    }
}

#[test]
fn a_feature_without_spread_is_left_alone() {
    let mut moved = 0;
    for seed in 0..20 {
        let pool = random_pool(&mut Rng::new(seed), 6, 10);
        let start = [0.0, -0.2, 0.5];
        let lists = Lists::new(&pool, 3);
        let held = mert(&lists, &start, &[0.0, 1.0, 1.0], &MertConfig::default());
        assert_eq!(held.weights[0], 0.0);
        let free = mert(&lists, &start, &[1.0; 3], &MertConfig::default());
        assert!(free.gain >= held.gain - 1e-9 || free.weights[0] != 0.0);
        moved += usize::from(free.weights[0] != 0.0);
    }
    assert!(moved > 10, "a feature with spread moved {moved} times of 20");
}

#[test]
fn a_mixture_is_the_weighted_mean_of_its_parts() {
    let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    let mixture = Mixture::parse("bleu:3,ter", Tokenizer::None).unwrap();
    assert_eq!(Mixture::parse("bleu", Tokenizer::None).unwrap().only_bleu(), Some(bleu));
    assert_eq!(mixture.only_bleu(), None);
    for wrong in ["blue", "bleu:", "bleu:-1", "", "ter,"] {
        assert!(Mixture::parse(wrong, Tokenizer::None).is_err(), "{wrong}");
    }
    let mut workspace = Workspace::default();
    let (hypothesis, reference) = ("a b c d e f", "a b c d f g");
    let stats = mixture.line(hypothesis, &[reference], &mut workspace);
    let bleu_value = bleu.value(&bleu.line(hypothesis, &[reference], &mut workspace));
    let ter = mixture.ter.0;
    let ter_value = ter.value(&ter.line(hypothesis, &[reference], &mut workspace));
    let wanted = (3.0 * bleu_value + 100.0 - ter_value) / 4.0;
    assert!((mixture.value(&stats) - wanted).abs() < 1e-9);
    assert_eq!(mixture.name(), "3 BLEU + 1 TER");
    let mut twice = stats;
    twice += stats;
    twice -= stats;
    assert_eq!(twice, stats);
}

#[test]
fn the_curve_shows_all_rounds() {
    let tuned = run(&Method::Mert(MertConfig::default()), 3);
    let picture = curve(&tuned.rounds, "BLEU <none>");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("BLEU &lt;none&gt;"));
    let points = picture.rsplit("points=\"").next().unwrap().split('"').next().unwrap();
    assert_eq!(points.split(' ').count(), tuned.rounds.len());
}
