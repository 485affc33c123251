//! Tuning a decoder: its n-best lists and forests as `sylvan-tune` wants them.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use sylvan_base::{Progress, Symbol, Vocab, parallel};
use sylvan_eval::Metric;
use sylvan_rules::Weights;
use sylvan_tune::{Candidate, Decode, Method, Mixture, Plan, Round, Start, Tuned, Values, tune};

use crate::decoder::{Algorithm, Decoder, Features, Ready, Sentence, Wish, Workspace};

/// Weights to begin with for features of these names: fair for any corpus, chosen by hand.
pub fn start_weights<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Start> {
    let one = |name: &str| {
        let weight = match name {
            "tm0.p_ef" | "tm0.p_fe" => 0.2,
            "tm0.lex_ef" | "tm0.lex_fe" => 0.15,
            "tm0.rules" => -0.1,
            "tm0.words" => 0.5,
            "glue" | "oov" => -2.0,
            name if name.starts_with("lm") => 0.3,
            _ => 0.0,
        };
        // Words that no rule knows are few in a tuning text: their weights would be luck, and luck rewards copying.
        let spread = if matches!(name, "glue" | "oov") { 0.0 } else { f64::max(0.5, f64::abs(weight)) };
        Start { name: name.to_string(), weight, spread }
    };
    names.into_iter().map(one).collect()
}

/// The features that a decoder has, in the order in which it names them.
pub fn feature_names(decoder: &Decoder) -> Vec<String> {
    let rules = decoder.grammar().feature_names().iter().map(|name| format!("tm0.{name}"));
    let counts = ["tm0.rules", "tm0.words", "glue", "oov"].map(str::to_string);
    let models = (0..decoder.language_models()).map(|index| format!("lm{index}"));
    rules.chain(counts).chain(models).collect()
}

/// A decoder and the trees of a held-out text.
pub struct DecoderOnText<'d> {
    /// The decoder; its weights change.
    pub decoder: &'d mut Decoder,
    /// The sentences; none where there is no parse.
    pub sentences: &'d [Option<Sentence>],
    /// How to search.
    pub algorithm: Algorithm,
    /// How long the lists are.
    pub nbest: usize,
    /// Whether sparse features get weights, too.
    pub sparse: bool,
    /// How many threads; results do not depend on it.
    pub threads: usize,
    /// Hears how far decoding is.
    pub progress: &'d dyn Progress,
    /// How a list of words becomes the text that is scored.
    pub text: &'d (dyn Fn(&Vocab, &[Symbol]) -> String + Sync),
}

impl std::fmt::Debug for DecoderOnText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DecoderOnText of {} sentences", self.sentences.len())
    }
}

/// Named weights from a vector.
pub fn named(names: &Vocab, weights: &[f64]) -> Weights {
    Weights::of(names.iter().map(|(_, name)| name).zip(weights.iter().copied()))
}

impl DecoderOnText<'_> {
    /// Tunes the decoder, telling of each round in words. Also returns the metric's name.
    pub fn tune(
        &mut self,
        metric: &Mixture,
        references: Vec<Vec<String>>,
        start: &[Start],
        method: &Method,
        plan: &Plan,
        hear: &mut dyn FnMut(&str),
    ) -> (Tuned, String) {
        // BLEU alone has smaller statistics.
        match metric.only_bleu() {
            Some(bleu) => self.tune_with(&bleu, references, start, method, plan, hear),
            None => self.tune_with(metric, references, start, method, plan, hear),
        }
    }

    fn tune_with<M: Metric>(
        &mut self,
        metric: &M,
        references: Vec<Vec<String>>,
        start: &[Start],
        method: &Method,
        plan: &Plan,
        hear: &mut dyn FnMut(&str),
    ) -> (Tuned, String) {
        let name = metric.name();
        let mut told = |round: &Round| {
            let Round { number, score, promised, new, pool, best, .. } = round;
            let promised = promised.map_or(String::new(), |promised| format!(", promised {promised:.2}"));
            let best = if *best { " *" } else { "" };
            hear(&format!(
                "round {number}: {name} {score:.2}{promised}; {new} new of {pool} translations{best}"
            ));
        };
        let Ok(tuned) = tune(self, metric, references, start, method, plan, &mut told);
        let (rounds, ended) = (tuned.rounds.len(), &tuned.ended);
        hear(&format!("tuning ended after {rounds} rounds ({ended}): {name} {:.2}", tuned.score));
        (tuned, name)
    }

    /// The translations of one tree with their features.
    fn list<'r>(
        &self,
        ready: &Ready<'r>,
        sentence: &Sentence,
        wish: Wish,
        workspace: &mut Workspace<'r>,
    ) -> Vec<(String, Features)> {
        let decoded = ready.decode(sentence, self.algorithm, wish, workspace);
        let list = decoded.hypotheses.iter().map(|hypothesis| {
            let text = (self.text)(self.decoder.vocab(), &hypothesis.words);
            let mut features = ready.features(sentence, &decoded.forest, &hypothesis.derivation);
            if self.sparse {
                let sparse = ready.sparse_features(sentence, &decoded.forest, &hypothesis.derivation);
                features.0.extend(sparse.0);
            }
            (text, features)
        });
        list.collect()
    }
}

impl Decode for DecoderOnText<'_> {
    type Error = std::convert::Infallible;

    fn decode(&mut self, names: &mut Vocab, weights: &[f64]) -> Result<Vec<Vec<Candidate>>, Self::Error> {
        self.decoder.set_weights(named(names, weights));
        let ready = self.decoder.ready();
        let wish = Wish { best: self.nbest.max(2), distinct: false };
        self.progress.begin("decoding the tuning text", Some(self.sentences.len() as u64));
        let done = AtomicU64::new(0);
        let lists =
            parallel::map(self.sentences, self.threads, Workspace::default, |workspace, _, sentence| {
                let list = sentence.as_ref().map(|sentence| self.list(&ready, sentence, wish, workspace));
                self.progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
                list.unwrap_or_default()
            });
        self.progress.end();
        // Names are given out in the order of the text, whoever decoded what.
        let lists = lists.into_iter().map(|list| {
            let list = list.into_iter().map(|(text, features)| {
                let values = features.0.iter().map(|(name, value)| (names.intern(name), *value));
                Candidate { text, values: Values::new(values) }
            });
            list.collect()
        });
        Ok(lists.collect())
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
