//! What a search asks of a language model.

use std::fmt::Debug;
use std::hash::Hash;

use sylvan_base::Symbol;

/// A language model as the searches see it: words come one at a time from left to right, scores are natural
/// logs and already weighted, words are symbols of the target vocabulary.
///
/// A state stands for everything of the past that can still matter: at most the last `order() - 1` words.
/// Equal states must score every continuation equally.
pub trait LanguageModel {
    /// The state after some words.
    type State: Copy + Eq + Hash + Debug;

    /// How many words one score can look at, the scored one included; at least 1.
    fn order(&self) -> usize;
    /// The state at the start of a sentence.
    fn begin(&self) -> Self::State;
    /// The state when nothing is known about what came before. No back-off is charged from it: scores are
    /// estimates.
    fn null(&self) -> Self::State;
    /// The score of `word` after `state`, and the state after it.
    fn score(&self, state: Self::State, word: Symbol) -> (f64, Self::State);
    /// The score of the end of the sentence after `state`.
    fn end(&self, state: Self::State) -> f64;

    /// The score of words without their left context: what estimates use, never final scores.
    fn local(&self, words: &[Symbol]) -> f64 {
        self.run(self.null(), words).0
    }

    /// Scores words one after the other from `state`.
    fn run(&self, mut state: Self::State, words: &[Symbol]) -> (f64, Self::State) {
        let mut total = 0.0;
        for &word in words {
            let (score, next) = self.score(state, word);
            total += score;
            state = next;
        }
        (total, state)
    }

    /// The score of a whole sentence, `</s>` included.
    fn sentence(&self, words: &[Symbol]) -> f64 {
        let (score, state) = self.run(self.begin(), words);
        score + self.end(state)
    }
}

/// Scores everything 0: what is left is the grammar's own choice.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLanguageModel;

impl LanguageModel for NoLanguageModel {
    type State = ();
    fn order(&self) -> usize {
        1
    }
    fn begin(&self) {}
    fn null(&self) {}
    fn score(&self, _state: (), _word: Symbol) -> (f64, ()) {
        (0.0, ())
    }
    fn end(&self, _state: ()) -> f64 {
        0.0
    }
}
