//! The feature of a structured language model.

use super::{Feature, Place, Replay, Scorer};

/// `slm`: the score of the best dependency tree of a translation, word by word.
#[derive(Debug)]
pub struct StructuredFeature;

impl StructuredFeature {
    /// Its name.
    pub const NAME: &'static str = "slm";
}

impl Scorer for StructuredFeature {
    fn features(&self) -> Vec<Feature> {
        vec![Feature::tuned(Self::NAME, 0.1)]
    }

    fn replay(&self, replay: &Replay<'_>, emit: &mut dyn FnMut(Place, usize, f64)) {
        let Some(read) = replay.read else { return };
        let words = replay.derivation.tokens(replay.forest);
        let Some(parsed) = read.parse(&words) else { return };
        let values = parsed.parse.words.iter().chain([&parsed.parse.end]);
        values.enumerate().for_each(|(word, &value)| emit(Place::Word(word), 0, value));
    }
}
