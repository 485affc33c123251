//! Features of word models.

use super::{Feature, Place, Replay, Scorer};

/// A language model by its number: `lm0`, `lm1`, ..; the natural logarithm of each word's probability.
#[derive(Debug)]
pub struct LanguageModelFeature(pub usize);

impl Scorer for LanguageModelFeature {
    fn features(&self) -> Vec<Feature> {
        vec![Feature::tuned(format!("lm{}", self.0), 0.3)]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        let Some(model) = replay.models.get(self.0) else { return };
        let words = replay.derivation.tokens(replay.forest);
        for (word, value) in model.word_log_probabilities(&words).into_iter().enumerate() {
            emit(Place::Word(word), 0, value);
        }
    }
}
