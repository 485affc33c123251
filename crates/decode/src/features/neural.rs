//! The feature of a network.

use super::{Feature, Place, Replay, Scorer};

/// `neural`: the logarithm of the probability that a network gives a translation, word by word.
#[derive(Debug)]
pub struct NeuralFeature;

impl NeuralFeature {
    /// Its name.
    pub const NAME: &'static str = "neural";
}

impl Scorer for NeuralFeature {
    fn features(&self) -> Vec<Feature> {
        vec![Feature::tuned(Self::NAME, 0.2)]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        let Some(opinion) = replay.opinion else { return };
        let words = replay.derivation.tokens(replay.forest);
        opinion.of(&words).iter().enumerate().for_each(|(word, &value)| emit(Place::Word(word), 0, value));
    }
}
