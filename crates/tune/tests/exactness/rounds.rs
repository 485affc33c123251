//! The loop around decoder and optimiser: what it decodes with, what it keeps, and when it ends.

use sylvan_base::{Id, Rng, Vocab};
use sylvan_eval::{Bleu, Tokenizer};
use sylvan_forest::EdgeId;
use sylvan_search::{EdgeOrder, OutForestBuilder, Words};
use sylvan_tune::{
    Candidate, Decode, FeatureForest, Forests, Lists, MertConfig, Method, MiraConfig, Optimum, Plan, Pool,
    ProConfig, Round, Start, Tuned, Values, mert, mira, pro, tune, vector,
};

use crate::forests::edges;
use crate::problem::{Edits, close, length, scaled};

/// One translation: edits of four words, and features by name.
type Told = (u64, Vec<(&'static str, f64)>);

/// A decoder that gives what it is told to, round by round, and then the last again and again.
#[derive(Default)]
struct Script {
    rounds: Vec<Vec<Vec<Told>>>,
    /// A translation and its two features, as the forest of the first sentence.
    forest: Option<(&'static str, [f64; 2])>,
    /// The weights of each call, and its margin.
    calls: Vec<(Vec<f64>, Option<f64>)>,
}

impl Script {
    /// One sentence, one translation per round, each with its own feature value.
    fn of_scores(edits: &[u64]) -> Self {
        let round = |(number, &edits): (usize, &u64)| vec![vec![(edits, vec![("a", 1.0 + number as f64)])]];
        Self { rounds: edits.iter().enumerate().map(round).collect(), ..Self::default() }
    }

    fn lists(&self, names: &mut Vocab) -> Vec<Vec<Candidate>> {
        let told = self.rounds.get(self.calls.len() - 1).or(self.rounds.last()).unwrap();
        let one = |(edits, values): &Told, names: &mut Vocab| Candidate {
            text: format!("{edits}/4"),
            values: Values::new(
                values.iter().map(|(name, value)| (names.intern(name), *value)).collect::<Vec<_>>(),
            ),
        };
        told.iter().map(|list| list.iter().map(|told| one(told, names)).collect()).collect()
    }

    fn packed(&self) -> Vec<Option<FeatureForest>> {
        let sentences = self.rounds[0].len();
        let (forest, mut out) = (edges(1), OutForestBuilder::new(1, EdgeOrder::TailsFirst));
        out.arc(0, &[], &[EdgeId::from_index(0)], Words::Around, 0.0, &forest);
        let out = out.finish(0);
        let first = self.forest.map(|(text, values)| {
            FeatureForest::new(&out, 0.0, move |_| values.to_vec(), move |_| text.to_string())
        });
        std::iter::once(first).chain((1..sentences).map(|_| None)).collect()
    }
}

impl Decode for Script {
    type Error = std::convert::Infallible;

    fn decode(&mut self, names: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
        self.calls.push((weights.to_vec(), None));
        Ok(self.lists(names))
    }

    fn decode_forests(
        &mut self,
        names: &mut Vocab,
        weights: &[f64],
        margin: f64,
    ) -> Result<Vec<(Vec<Candidate>, Option<FeatureForest>)>, Self::Error> {
        self.calls.push((weights.to_vec(), Some(margin)));
        Ok(self.lists(names).into_iter().zip(self.packed()).collect())
    }
}

fn start(weights: &[(&str, f64)]) -> Vec<Start> {
    weights.iter().map(|&(name, weight)| Start { name: name.into(), weight, spread: 1.0 }).collect()
}

fn references(count: usize) -> Vec<Vec<String>> {
    vec![vec![String::new()]; count]
}

fn run(script: &mut Script, weights: &[(&str, f64)], method: &Method, plan: &Plan) -> (Tuned, Vec<Round>) {
    let mut heard = Vec::new();
    let sentences = script.rounds[0].len();
    let hear = &mut |round: &Round| heard.push(round.clone());
    let Ok(tuned) = tune(script, &Edits, references(sentences), &start(weights), method, plan, hear);
    (tuned, heard)
}

fn plain() -> Method {
    Method::Mert(MertConfig::default())
}

/// Never ends of itself.
const ENDLESS: Plan = Plan { rounds: 1000, patience: 1000, least_change: -1.0 };

#[test]
fn the_best_round_counts_and_the_first_of_equals() {
    let mut script = Script::of_scores(&[3, 2, 4, 1, 1, 2]);
    let (tuned, heard) = run(&mut script, &[("a", 0.5)], &plain(), &Plan { rounds: 6, ..ENDLESS });
    assert_eq!(heard, tuned.rounds);
    let column = |of: &dyn Fn(&Round) -> f64| tuned.rounds.iter().map(of).collect::<Vec<f64>>();
    assert_eq!(column(&|round| round.score), [0.75, 0.5, 1.0, 0.25, 0.25, 0.5]);
    assert_eq!(column(&|round| round.number as f64), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(column(&|round| round.new as f64), [1.0; 6]);
    assert_eq!(column(&|round| round.pool as f64), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let best: Vec<bool> = tuned.rounds.iter().map(|round| round.best).collect();
    assert_eq!(best, [true, true, false, true, false, false]);
    assert_eq!((tuned.score, &tuned.weights), (0.25, &tuned.rounds[3].weights));
    assert_eq!(tuned.ended, "6 rounds");
    for (round, (weights, margin)) in tuned.rounds.iter().zip(&script.calls) {
        assert_eq!((&round.weights, *margin), (&vec![("a".to_string(), weights[0])], None));
    }
    // What is promised is a score, not a gain.
    assert_eq!(tuned.rounds[0].promised, None);
    assert!(tuned.rounds[1..].iter().all(|round| round.promised.is_some_and(|score| score >= 0.0)));
}

#[test]
fn when_it_ends() {
    let ended = |edits: &[u64], plan: &Plan| {
        let mut script = Script::of_scores(edits);
        let (tuned, _) = run(&mut script, &[("a", 0.5)], &plain(), plan);
        assert_eq!(script.calls.len(), tuned.rounds.len());
        (tuned.rounds.len(), tuned.ended)
    };
    let ends = |rounds: usize, why: &str| (rounds, why.to_string());
    let falling = [1, 2, 2, 3, 3, 4, 4, 4, 4];
    for rounds in 1..4 {
        assert_eq!(ended(&falling, &Plan { rounds, ..ENDLESS }), ends(rounds, &format!("{rounds} rounds")));
    }
    for patience in 1..4 {
        let why = format!("{patience} rounds without a better score");
        assert_eq!(ended(&falling, &Plan { patience, ..ENDLESS }), ends(1 + patience, &why));
        // Counted from the best round.
        let late = [4, 3, 1, 2, 2, 2, 2, 2];
        assert_eq!(ended(&late, &Plan { patience, ..ENDLESS }), ends(3 + patience, &why));
    }
    // The fourth round repeats the third.
    assert_eq!(ended(&[3, 2, 1], &ENDLESS), ends(4, "no new translations"));
    assert_eq!(Plan::default(), Plan { rounds: 15, patience: 4, least_change: 1e-4 });
}

#[test]
fn it_ends_when_weights_change_less_than_wanted() {
    // The second translation is the better one; its feature must lose half its weight, so the change is known.
    let told = vec![vec![vec![(3, vec![("a", 1.0)]), (1, vec![("b", 1.0)])]]];
    let weights = [("a", 0.75), ("b", 0.25)];
    let mut script = Script { rounds: told.clone(), ..Script::default() };
    let one = Method::Mert(MertConfig { restarts: 0, random_directions: 0, ..MertConfig::default() });
    let (tuned, _) = run(&mut script, &weights, &one, &Plan { rounds: 2, ..ENDLESS });
    let change: f64 =
        tuned.rounds[1].weights.iter().zip(weights).map(|((_, new), (_, old))| (new - old).abs()).sum();
    assert!(change > 0.1, "{tuned:?}");
    for (least_change, wanted) in
        [(change * 1.001, "the weights stay as they are"), (change * 0.999, "2 rounds")]
    {
        let mut script = Script { rounds: told.clone(), ..Script::default() };
        // One more translation in the second round, so that it is not this that ends the loop.
        script.rounds.push(vec![vec![(4, vec![("a", 3.0)])]]);
        let plan = Plan { rounds: 2, least_change, ..ENDLESS };
        assert_eq!(run(&mut script, &weights, &one, &plan).0.ended, wanted);
        // As a share of the length: the same with all weights ten times as large.
        let mut script = Script { rounds: script.rounds, ..Script::default() };
        let large = weights.map(|(name, weight)| (name, weight * 10.0));
        let ten = run(&mut script, &large, &one, &plan).0;
        assert!(ten.rounds.len() <= 2, "{ten:?}");
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

pub fn toy(method: &Method, seed: u64) -> Tuned {
    let (mut toy, references) = Toy::new(seed, 30);
    let bleu = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    // The third feature is not known in advance.
    let start = start(&[("a", 0.1), ("b", 0.1)]);
    tune(&mut toy, &bleu, references, &start, method, &Plan::default(), &mut |_| {}).unwrap()
}

#[test]
fn every_method_learns_the_hidden_weights_of_a_toy() {
    let methods = [
        Method::Mert(MertConfig::default()),
        // A decoder without forests.
        Method::ForestMert { mert: MertConfig::default(), margin: 1.0 },
        Method::Mira(MiraConfig { step: 0.1, ..MiraConfig::default() }),
        Method::Pro(ProConfig::default()),
    ];
    for method in methods {
        for seed in 0..3 {
            let tuned = toy(&method, seed);
            let first = tuned.rounds[0].score;
            assert!(first < 60.0, "{method:?}: too easy, {first}");
            let Tuned { score, weights, .. } = &tuned;
            assert!(*score > 90.0, "{method:?}, seed {seed}: {first} to {score}: {weights:?}");
            let best = tuned.rounds.iter().map(|round| round.score).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(*score, best, "the best round counts");
            for round in &tuned.rounds {
                let weights: Vec<f64> = round.weights.iter().map(|(_, weight)| *weight).collect();
                close(&[length(&weights)], &[0.2], 1e-9);
            }
        }
    }
}

/// The weights of each round are what the optimiser makes of all that the rounds before it found.
#[test]
fn each_round_decodes_with_what_the_optimiser_found() {
    let methods = [
        Method::Mert(MertConfig { seed: 7, ..MertConfig::default() }),
        Method::ForestMert { mert: MertConfig { seed: 7, ..MertConfig::default() }, margin: 2.5 },
        Method::Mira(MiraConfig { step: 0.3, passes: 3, seed: 7 }),
        Method::Pro(ProConfig { least: 0.001, penalty: 0.1, ..ProConfig::default() }),
    ];
    let mut rng = Rng::new(5);
    for method in &methods {
        for _ in 0..5 {
            // Three rounds of two sentences; `c` is new, and the second sentence has none at first.
            let list = |rng: &mut Rng, count: usize| -> Vec<Told> {
                let value = |rng: &mut Rng| rng.below(65) as f64 / 16.0 - 2.0;
                let one = |rng: &mut Rng| {
                    let values = ["a", "b", "c"].map(|name| (name, value(rng))).to_vec();
                    (rng.below(5) as u64, values)
                };
                (0..count).map(|_| one(rng)).collect()
            };
            let rounds: Vec<Vec<Vec<Told>>> =
                (0..3).map(|round| vec![list(&mut rng, 4), list(&mut rng, 3 * round)]).collect();
            let forest = Some(("0/4", [rng.unit() - 0.5, rng.unit() - 0.5]));
            let mut script = Script { rounds, forest, calls: Vec::new() };
            let given = [("a", 0.5), ("b", -1.0)];
            let (tuned, _) = run(&mut script, &given, method, &Plan { rounds: 3, ..ENDLESS });
            // The same by hand.
            let mut names = Vocab::of(["a", "b", "c"]);
            let mut pool = Pool::new(&Edits, references(2));
            let mut weights = vec![0.5, -1.0, 0.0];
            let forests = script.packed();
            let decoded = Script { rounds: script.rounds, calls: Vec::new(), ..Script::default() };
            let mut decoded = decoded;
            for (number, round) in tuned.rounds.iter().enumerate() {
                close(&vector(&names, &round.weights), &weights, 1e-9);
                let (mut call, margin) = script.calls[number].clone();
                call.resize(3, 0.0);
                close(&call, &weights, 1e-9);
                assert_eq!(margin, matches!(method, Method::ForestMert { .. }).then_some(2.5));
                let lists = decoded.decode(&mut names, &weights).unwrap();
                let (mut edits, mut words) = (0, 0);
                for (sentence, list) in lists.into_iter().enumerate() {
                    // A sentence without a translation counts as an empty one.
                    if let Some(first) = list.first() {
                        edits += first.text[..1].parse::<u64>().unwrap();
                        words += 4;
                    }
                    pool.add(sentence, list);
                }
                assert_eq!(round.score, edits as f64 / words as f64);
                // Features that nobody knew start close to 0.
                let spread = [1.0, 1.0, 0.1];
                let seeded =
                    |config: &MertConfig| MertConfig { seed: 7001 + number as u64, ..config.clone() };
                let Optimum { weights: next, gain } = match method {
                    Method::Mert(config) => mert(&Lists::new(&pool, 3), &weights, &spread, &seeded(config)),
                    Method::ForestMert { mert: config, .. } => {
                        mert(&Forests::new(&pool, &forests, 3), &weights, &spread, &seeded(config))
                    }
                    // From the weights of the best round, the first of equals.
                    Method::Mira(config) => {
                        let best = tuned.rounds[..=number].iter().min_by(|a, b| a.score.total_cmp(&b.score));
                        let config = MiraConfig { seed: 7001 + number as u64, ..config.clone() };
                        mira(&pool, &vector(&names, &best.unwrap().weights), &config)
                    }
                    Method::Pro(config) => pro(&pool, &weights, config),
                };
                weights = scaled(&next, 1.5);
                if let Some(after) = tuned.rounds.get(number + 1) {
                    assert_eq!(after.promised, Some(-gain));
                }
            }
        }
    }
}

#[test]
fn forests_are_asked_for_and_used() {
    // Each list has a bad translation only, the forest has a good one that no weights of lists would choose.
    let rounds = vec![vec![vec![(4, vec![("a", 1.0)])]], vec![vec![(3, vec![("a", 2.0)])]]];
    let promised = |method: &Method, forest| {
        let mut script = Script { rounds: rounds.clone(), forest, ..Script::default() };
        run(&mut script, &[("a", 1.0), ("b", 1.0)], method, &Plan { rounds: 2, ..ENDLESS }).0.rounds[1]
            .promised
    };
    let (lists, forests) = (plain(), Method::ForestMert { mert: MertConfig::default(), margin: 0.0 });
    let good = Some(("0/4", [-5.0, -5.0]));
    assert_eq!(promised(&lists, good), Some(1.0));
    assert_eq!(promised(&forests, None), Some(1.0));
    assert_eq!(promised(&forests, good), Some(0.0));
}

#[test]
fn lines_beyond_the_references_do_not_count() {
    let mut script = Script::of_scores(&[1, 2]);
    script.rounds.iter_mut().for_each(|round| round.push(vec![(4, vec![("a", 9.0)])]));
    let plan = Plan { rounds: 2, ..ENDLESS };
    let Ok(tuned) =
        tune(&mut script, &Edits, references(1), &start(&[("a", 1.0)]), &plain(), &plan, &mut |_| {});
    assert_eq!(tuned.rounds[0].score, 0.25);
    assert_eq!(tuned.rounds[1].pool, 2);
}

#[test]
fn threads_change_nothing_and_seeds_change_something_in_whole_runs() {
    let config = |threads, seed| Method::Mert(MertConfig { threads, seed, ..MertConfig::default() });
    let bytes = |method: &Method| format!("{:?}", toy(method, 7));
    let one = bytes(&config(1, 1));
    assert_eq!(one, bytes(&config(3, 1)));
    assert_eq!(one, bytes(&config(1, 1)));
    assert_ne!(one, bytes(&config(1, 2)));
}
