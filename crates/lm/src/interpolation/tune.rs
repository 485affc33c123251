//! Weights that make a held-out text most likely, by expectation maximisation (Dempster et al. 1977):
//!
//! ```text
//! lambda_i <- mean over all words of  lambda_i p_i(w | h) / sum_j lambda_j p_j(w | h)
//! ```
//!
//! Words that no model knows say nothing about the weights and are left out.

use sylvan_base::Result;
use sylvan_store::TextReader;

use super::Mixture;
use crate::{BEGIN, END, State, UNKNOWN, WordId};

/// How surprised a model is by a text.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Perplexity {
    /// Words and sentence ends.
    pub tokens: u64,
    /// How many of them the model does not know.
    pub unknown: u64,
    /// ln p of all of them, and of those that are known.
    sum: f64,
    known_sum: f64,
}

impl Perplexity {
    fn add(&mut self, ln: f64, is_known: bool) {
        self.tokens += 1;
        self.sum += ln;
        if is_known {
            self.known_sum += ln;
        } else {
            self.unknown += 1;
        }
    }

    /// The perplexity over all words.
    pub fn with_unknown(&self) -> f64 {
        libm::exp(-self.sum / self.tokens as f64)
    }

    /// The perplexity over the words that are known.
    pub fn without_unknown(&self) -> f64 {
        libm::exp(-self.known_sum / (self.tokens - self.unknown) as f64)
    }
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// Of the models one by one.
    pub models: Vec<Perplexity>,
    /// Of the mixture.
    pub mixture: Perplexity,
    /// Rounds of expectation maximisation.
    pub rounds: usize,
}

/// At most this many rounds; far fewer are usual.
const ROUNDS: usize = 500;
/// No weight changes by more in the last round.
const CLOSE: f64 = 1e-7;

/// p(word) by the models, for each word of a text in turn. Unknown words are 0 in the first list;
/// the second has the probabilities of unknown words for them.
struct Observed {
    known: Vec<f64>,
    unknown: Vec<f64>,
}

impl Mixture {
    /// Measures a text, after moving the weights to where it is most likely if `moves`. The text must have words
    /// that some model knows; otherwise the weights stay.
    pub fn tune(&mut self, text: &mut TextReader, moves: bool) -> Result<Tuned> {
        let observed = self.observe(text)?;
        let rounds = if moves { self.maximise(&observed) } else { 0 };
        let count = self.models.len();
        let mut models = vec![Perplexity::default(); count];
        let mut mixture = Perplexity::default();
        for (known, unknown) in observed.known.chunks_exact(count).zip(observed.unknown.chunks_exact(count)) {
            for (model, perplexity) in models.iter_mut().enumerate() {
                let is_known = known[model] > 0.0;
                perplexity.add(libm::log(if is_known { known[model] } else { unknown[model] }), is_known);
            }
            let is_known = known.iter().any(|&p| p > 0.0);
            let mixed = self.mixed(if is_known { known } else { unknown });
            mixture.add(libm::log(mixed), is_known);
        }
        Ok(Tuned { models, mixture, rounds })
    }

    fn mixed(&self, probs: &[f64]) -> f64 {
        probs.iter().zip(&self.weights).map(|(p, weight)| p * weight).sum()
    }

    fn observe(&self, text: &mut TextReader) -> Result<Observed> {
        let mut observed = Observed { known: Vec::new(), unknown: Vec::new() };
        while let Some(line) = text.next_line()? {
            let mut states: Vec<State> = self.models.iter().map(crate::Lm::begin).collect();
            let words =
                line.split([' ', '\t']).filter(|word| !word.is_empty() && *word != BEGIN && *word != END);
            for word in words.chain([END]) {
                for (model, state) in self.models.iter().zip(&mut states) {
                    let id = model.word(word);
                    let (ln, next) = model.score(state, id);
                    // Unknown words may already be marked in the text.
                    let is_known = id != WordId(0) && word != UNKNOWN;
                    let p = libm::exp(f64::from(ln));
                    observed.known.push(if is_known { p } else { 0.0 });
                    observed.unknown.push(p);
                    *state = next;
                }
            }
        }
        Ok(observed)
    }

    /// Expectation maximisation; returns how many rounds it took. Sums run in the order of the text.
    fn maximise(&mut self, observed: &Observed) -> usize {
        let count = self.models.len();
        for round in 1..=ROUNDS {
            let mut expected = vec![0.0; count];
            let mut tokens = 0u64;
            for probs in observed.known.chunks_exact(count) {
                let mixed = self.mixed(probs);
                if mixed > 0.0 {
                    tokens += 1;
                    for ((sum, p), weight) in expected.iter_mut().zip(probs).zip(&self.weights) {
                        *sum += p * weight / mixed;
                    }
                }
            }
            if tokens == 0 {
                return round;
            }
            let new: Vec<f64> = expected.iter().map(|sum| sum / tokens as f64).collect();
            let moved = new.iter().zip(&self.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            self.weights = new;
            if moved < CLOSE {
                return round;
            }
        }
        ROUNDS
    }
}
