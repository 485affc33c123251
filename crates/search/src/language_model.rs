//! What a search asks of a language model.

use std::fmt::Debug;
use std::hash::Hash;

use sylvan_forest::TokenId;

use crate::Neighbours;

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
    fn score(&self, state: Self::State, word: TokenId) -> (f64, Self::State);
    /// The score of the end of the sentence after `state`.
    fn end(&self, state: Self::State) -> f64;

    /// Upper bounds for a sentence in which only these words can be neighbours; `None` if the model has no
    /// bounds; then exact search must refuse.
    fn bounds(&self, _neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        None
    }

    /// How much of a piece's words its neighbours can notice. The default is right for every model, but models that
    /// know that less matters let more items recombine.
    fn horizon(&self, words: &[TokenId]) -> Horizon {
        let most = self.order() - 1;
        let open = words.len().min(most);
        Horizon { open, closed: words.len() >= most, reach: open }
    }

    /// The score of words without their left context: for estimates, never for final scores.
    fn local(&self, words: &[TokenId]) -> f64 {
        self.run(self.null(), words).0
    }

    /// Scores words one after the other from `state`.
    fn run(&self, mut state: Self::State, words: &[TokenId]) -> (f64, Self::State) {
        let mut total = 0.0;
        for &word in words {
            let (score, next) = self.score(state, word);
            total += score;
            state = next;
        }
        (total, state)
    }

    /// The score of a whole sentence, `</s>` included.
    fn sentence(&self, words: &[TokenId]) -> f64 {
        let (score, state) = self.run(self.begin(), words);
        score + self.end(state)
    }
}

/// What can be noticed of a piece from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// Its first words whose scores depend on which words come before the piece.
    pub open: usize,
    /// Whether words after the open ones depend on what comes before the piece only through the open words:
    /// at most the next one, which may pay for backing off from them. If not, all words are open.
    pub closed: bool,
    /// Its last words that scores of words after the piece depend on, whatever comes before the piece.
    pub reach: usize,
}

/// How high a word can score.
pub trait Bounds {
    /// The most that `next` (`None`: the end of the sentence) can score after any history that ends in
    /// `known`, which has fewer than `order()` words. More known words never give a larger bound, and
    /// `order() - 1` of them give the score itself; both up to rounding.
    fn upper_bound(&mut self, known: &[TokenId], next: Option<TokenId>) -> f64;
}

impl Bounds for NoLanguageModel {
    fn upper_bound(&mut self, _known: &[TokenId], _next: Option<TokenId>) -> f64 {
        0.0
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
    fn score(&self, _state: (), _word: TokenId) -> (f64, ()) {
        (0.0, ())
    }
    fn end(&self, _state: ()) -> f64 {
        0.0
    }
    fn bounds(&self, _neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        Some(Box::new(NoLanguageModel))
    }
}
