//! Mixing models: p(w | h) = sum_i lambda_i p_i(w | h) (Jelinek & Mercer 1980).
//!
//! ```text
//! models, held-out text --Mixture::tune--> weights lambda, perplexities
//! models, weights --Mixture::write_arpa--> one back-off model
//! ```
//!
//! A word that a model does not know has the probability 0 in it; the model's mass for unknown words goes to the
//! unknown word of the mixture. So the mixture sums to 1 over the words of all models.
//!
//! *Useful for* a large general text and a small one of the right domain. *Not useful for* models that are
//! together larger than memory.

mod fixed;
mod tune;

pub use tune::{Perplexity, Tuned};

use sylvan_base::{Progress, Result, Vocab};
use sylvan_store::Output;

use crate::{BEGIN, END, Lm, UNKNOWN, WordId};

/// The ids of the marks in the joint vocabulary.
const UNKNOWN_ID: u32 = 0;
const BEGIN_ID: u32 = 1;

/// Several models with a joint vocabulary and a weight for each.
#[derive(Debug)]
pub struct Mixture {
    models: Vec<Lm>,
    weights: Vec<f64>,
    vocab: Vocab,
    /// `words[i]` has for each word of the joint vocabulary the word of model i, or `None` if it has none.
    words: Vec<Vec<Option<WordId>>>,
}

impl Mixture {
    /// A mixture of models with equal weights; `None` without models.
    pub fn new(models: Vec<Lm>) -> Option<Self> {
        let share = 1.0 / models.len() as f64;
        if models.is_empty() {
            return None;
        }
        let mut vocab = Vocab::of([UNKNOWN, BEGIN, END]);
        for model in &models {
            for word in (0..model.vocab_len() as u32).map(WordId) {
                vocab.intern(model.text(word));
            }
        }
        let words = models.iter().map(|model| {
            let find = |text: &str| {
                let word = model.word(text);
                (word.0 != 0 || text == UNKNOWN).then_some(word)
            };
            vocab.iter().map(|(_, text)| find(text)).collect()
        });
        let words = words.collect();
        Some(Self { weights: vec![share; models.len()], models, vocab, words })
    }

    /// Sets the weights, which are scaled to sum to 1. `None` if they do not fit the models.
    #[must_use]
    pub fn with_weights(mut self, weights: &[f64]) -> Option<Self> {
        let sum: f64 = weights.iter().sum();
        let sound = weights.iter().all(|&weight| weight >= 0.0) && sum > 0.0 && sum.is_finite();
        if weights.len() != self.models.len() || !sound {
            return None;
        }
        self.weights = weights.iter().map(|weight| weight / sum).collect();
        Some(self)
    }

    /// The weights, which sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Writes the mixture as one back-off model in ARPA text. The output must still be finished.
    pub fn write_arpa(&self, out: &mut Output, threads: usize, progress: &dyn Progress) -> Result<Vec<u64>> {
        fixed::write(self, out, threads, progress)
    }
}
