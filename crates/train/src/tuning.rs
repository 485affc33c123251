//! Tuning a model: decodes a text into the n-best lists that `sylvan-tune` works on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use sylvan_base::{Id, Progress, Vocab, parallel};
use sylvan_decode::features::Features;
use sylvan_decode::{Decoded, List, Model, Sentence, With, Worker};
use sylvan_eval::Metric;
use sylvan_forest::{Derivation, EdgeId};
use sylvan_rules::Weights;
use sylvan_search::{EdgeOrder, Search, SearchName, Stop};
use sylvan_tune::{
    Candidate, Decode, FeatureForest, Listed, Method, Mixture, Plan, Round, Start, Tuned, Values, tune,
};

/// Where tuning starts, and how far it may go from there. Features that start at 0 and are not tuned are left
/// out.
pub fn start_weights(features: &Features) -> Vec<Start> {
    let all = features.all().iter().filter(|feature| feature.tuned || feature.start != 0.0);
    let start = all.map(|feature| {
        let spread = if feature.tuned { f64::max(0.5, f64::abs(feature.start)) } else { 0.0 };
        Start { name: feature.name.clone(), weight: feature.start, spread }
    });
    start.collect()
}

/// Whether a name is among some, of which one that ends in `*` stands for all that begin so.
pub fn names_one_of(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    })
}

/// The search that a model is tuned with. Cube pruning keeps as much as wanted; other searches no more than usual.
pub(crate) fn tuning_search(model: &Model, beam: usize) -> Search {
    let usual = model.usual_search();
    let most = if usual.name() == SearchName::Cube { usize::MAX } else { usual.beam().0 };
    usual.with_beam(beam.min(most))
}

/// A model and the sentences of a held-out text.
pub struct Text<'d> {
    /// The model; its weights change.
    pub model: Arc<Model>,
    /// The sentences; none where there is no parse.
    pub sentences: &'d [Option<Sentence>],
    /// How to search.
    pub search: Search,
    /// How long the lists are.
    pub nbest: usize,
    /// Whether sparse features get weights as well.
    pub sparse: bool,
    /// Names of features that keep a weight of 0; one that ends in `*` stands for all that begin so.
    pub without: Vec<String>,
    /// How many threads; results do not depend on it.
    pub threads: usize,
    /// Receives the progress of decoding.
    pub progress: &'d dyn Progress,
}

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text of {} sentences", self.sentences.len())
    }
}

/// Named weights from a vector.
fn named(names: &Vocab, weights: &[f64]) -> Weights {
    Weights::of(names.iter().map(|(_, name)| name).zip(weights.iter().copied()))
}

impl Text<'_> {
    /// Tunes the model's weights; `say` gets a line for each round. Also returns the metric's name.
    pub fn tune(
        &mut self,
        metric: &Mixture,
        references: Vec<Vec<String>>,
        start: &[Start],
        method: &Method,
        plan: &Plan,
        say: &mut dyn FnMut(&str),
    ) -> (Tuned, String) {
        // BLEU alone has smaller statistics.
        match metric.only_bleu() {
            Some(bleu) => self.tune_with(&bleu, references, start, method, plan, say),
            None => self.tune_with(metric, references, start, method, plan, say),
        }
    }

    fn tune_with<M: Metric>(
        &mut self,
        metric: &M,
        references: Vec<Vec<String>>,
        start: &[Start],
        method: &Method,
        plan: &Plan,
        say: &mut dyn FnMut(&str),
    ) -> (Tuned, String) {
        let name = metric.name();
        let (mut before, mut explained) = (None, false);
        let mut told = |round: &Round| {
            let Round { number, score, promised, new, pool, best, .. } = round;
            let promised = promised.map_or(String::new(), |promised| format!(", promised {promised:.2}"));
            let best = if *best { " *" } else { "" };
            say(&format!(
                "round {number}: {name} {score:.2}{promised}; {new} new of {pool} translations{best}"
            ));
            let gain = |score| metric.better().gain(score);
            if before.is_some_and(|before| gain(*score) < gain(before)) && !explained {
                explained = true;
                say(
                    "  (that is less than before, and usual: weights are chosen on the translations seen so far, and \
                     decoding with them shows new ones that are worse; the best round counts, marked *)",
                );
            }
            before = Some(*score);
        };
        let Ok(tuned) = tune(self, metric, references, start, method, plan, &mut told);
        let (rounds, ended) = (tuned.rounds.len(), &tuned.ended);
        say(&format!("tuning ended after {rounds} rounds ({ended}): {name} {:.2}", tuned.score));
        (tuned, name)
    }

    /// Translates one sentence; a forest is made if there is a margin for it. `numbers` are those of the model's
    /// features.
    fn found(&self, worker: &mut Worker, sentence: &Sentence, forest: Option<(f64, &[usize])>) -> Found {
        let wanted = List { best: self.nbest.max(2), distinct: false };
        let decoded = worker.decode(sentence, With::default(), self.search, wanted, &Stop::NEVER);
        let list = decoded.hypotheses.iter().map(|hypothesis| {
            let derived = worker.derived(sentence, With::default(), &decoded.forest, &hypothesis.derivation);
            let mut features = derived.features();
            if self.sparse {
                features.extend(derived.sparse_features());
            }
            features.retain(|(name, _)| !names_one_of(&self.without, name));
            (sentence.vocab().join(&hypothesis.words), features)
        });
        let list = list.collect();
        let forest = forest.and_then(|(margin, numbers)| packed(worker, sentence, decoded, margin, numbers));
        Found { list, forest }
    }

    fn decode_text(&mut self, names: &mut Vocab, weights: &[f64], margin: Option<f64>) -> Vec<Listed> {
        self.model = Arc::new(self.model.with_weights(named(names, weights)));
        // Names are numbered in the order of the text, whichever thread decoded what.
        let numbers: Vec<usize> =
            self.model.features().all().iter().map(|feature| names.intern(&feature.name).index()).collect();
        let forest = margin.map(|margin| (margin, numbers.as_slice()));
        self.progress.begin("decoding the tuning text", Some(self.sentences.len() as u64));
        let done = AtomicU64::new(0);
        let worker = || Worker::new(Arc::clone(&self.model));
        let all = parallel::map(self.sentences, self.threads, worker, |worker, _, sentence| {
            let found = sentence.as_ref().map(|sentence| self.found(worker, sentence, forest));
            self.progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
            found.unwrap_or_default()
        });
        self.progress.end();
        let all = all.into_iter().map(|Found { list, forest }| {
            let list = list.into_iter().map(|(text, features)| {
                let values = features.iter().map(|(name, value)| (names.intern(name), *value));
                Candidate { text, values: Values::new(values) }
            });
            (list.collect(), forest)
        });
        all.collect()
    }
}

/// What was found for one sentence.
#[derive(Default)]
struct Found {
    list: Vec<(String, Vec<(String, f64)>)>,
    forest: Option<FeatureForest>,
}

/// The forest of what a search found, with features by number.
fn packed(
    worker: &Worker,
    sentence: &Sentence,
    decoded: Decoded,
    margin: f64,
    numbers: &[usize],
) -> Option<FeatureForest> {
    let Decoded { forest, out, .. } = decoded;
    let (out, forest) = (out?, Arc::new(forest));
    let count = numbers.iter().max().map_or(0, |most| most + 1);
    let values = |edges: &[EdgeId]| {
        let derivation = out.derivation(&forest.forest, edges.to_vec());
        let found = worker.derived(sentence, With::default(), &forest, &derivation).values();
        let mut values = vec![0.0; count];
        numbers.iter().zip(found).for_each(|(&number, value)| values[number] = value);
        values
    };
    // What the search found is large and not needed for reading.
    let (order, vocab, read) = (out.order(), sentence.vocab().clone(), Arc::clone(&forest));
    let text = move |edges: &[EdgeId]| {
        let derivation = match order {
            EdgeOrder::HeadsFirst => Derivation::new(edges.to_vec()),
            EdgeOrder::TailsFirst => Derivation::from_tails_first(&read.forest, edges),
        };
        vocab.join(&derivation.words(&read.forest))
    };
    Some(FeatureForest::new(&out, margin, values, text))
}

impl Decode for Text<'_> {
    type Error = std::convert::Infallible;

    fn progress(&self) -> &dyn Progress {
        self.progress
    }

    fn decode(&mut self, names: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
        Ok(self.decode_text(names, weights, None).into_iter().map(|(list, _)| list).collect())
    }

    fn decode_forests(
        &mut self,
        names: &mut Vocab,
        weights: &[f64],
        margin: f64,
    ) -> Result<Vec<Listed>, Self::Error> {
        Ok(self.decode_text(names, weights, Some(margin)))
    }
}

/// What each round saw, as JSON.
pub fn log(tuned: &Tuned, metric: &str) -> String {
    let weights = |weights: &[(String, f64)]| -> serde_json::Map<String, Value> {
        weights.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect()
    };
    let rounds = tuned.rounds.iter().map(|round| {
        json!({
            "round": round.number, "score": round.score, "promised": round.promised, "new": round.new,
            "pool": round.pool, "best": round.best, "weights": weights(&round.weights),
        })
    });
    let all = json!({
        "metric": metric, "score": tuned.score, "ended": tuned.ended, "weights": weights(&tuned.weights),
        "rounds": rounds.collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&all).expect("strings and numbers can be written as JSON")
}
