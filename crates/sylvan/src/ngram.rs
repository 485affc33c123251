//! An n-gram model of `sylvan-lm` as the searches want it: weighted, and over the forest's words.

use sylvan_base::{Id, Symbol, Vocab};
use sylvan_lm::{Lm, State, WordId};
use sylvan_search::LanguageModel;

/// An n-gram model with its weight and the map from the target vocabulary to the model's own.
#[derive(Debug)]
pub struct NgramScorer<'m> {
    lm: &'m Lm,
    weight: f64,
    /// Indexed by symbol. Symbols past the end came later, so the model does not know them.
    words: Vec<WordId>,
    unknown: WordId,
}

impl<'m> NgramScorer<'m> {
    /// Maps all words of `vocab`. `weight` multiplies natural logs.
    pub fn new(lm: &'m Lm, weight: f64, vocab: &Vocab) -> Self {
        let words = vocab.iter().map(|(_, text)| lm.word(text)).collect();
        Self { lm, weight, words, unknown: lm.word("<unk>") }
    }

    #[inline]
    fn word(&self, symbol: Symbol) -> WordId {
        self.words.get(symbol.index()).copied().unwrap_or(self.unknown)
    }
}

impl LanguageModel for NgramScorer<'_> {
    type State = State;

    fn order(&self) -> usize {
        self.lm.order()
    }
    fn begin(&self) -> State {
        self.lm.begin()
    }
    fn null(&self) -> State {
        self.lm.null()
    }
    fn score(&self, state: State, word: Symbol) -> (f64, State) {
        let (score, next) = self.lm.score(&state, self.word(word));
        (f64::from(score) * self.weight, next)
    }
    fn end(&self, state: State) -> f64 {
        f64::from(self.lm.end(&state)) * self.weight
    }
}
