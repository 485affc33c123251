//! Two-sided language-model states for bottom-up search.
//!
//! A partial translation whose neighbours are unknown keeps its first `g - 1` words, which no one has scored
//! yet, and the model's state at its right end (Chiang 2007; Huang & Chiang 2007).

use sylvan_base::Symbol;
use sylvan_forest::{BundleId, TranslationForest};

use crate::LanguageModel;

/// The boundary of a partial translation of `m` words under a model of order `g`.
///
/// Two partial translations of the same vertex with equal boundaries have equal futures.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChartState<S> {
    /// The first `min(m, g - 1)` words, not scored yet.
    pub left: Box<[Symbol]>,
    /// The state after the last word, counted from the null context. It is the true state when `m >= g - 1`;
    /// in a shorter translation it follows from `left`.
    pub right: S,
}

/// The sum of feeding words and finished parts from left to right.
#[derive(Debug)]
pub struct Combiner<'m, L: LanguageModel> {
    lm: &'m L,
    left: Vec<Symbol>,
    right: L::State,
    score: f64,
    lm_queries: u64,
}

/// A finished combination.
#[derive(Debug, Clone)]
pub struct Combined<S> {
    /// The boundary.
    pub state: ChartState<S>,
    /// Language-model score of the words that became scorable in this combination.
    pub score: f64,
    /// Words scored.
    pub lm_queries: u64,
}

impl<'m, L: LanguageModel> Combiner<'m, L> {
    /// Nothing fed yet.
    pub fn new(lm: &'m L) -> Self {
        Self { lm, left: Vec::new(), right: lm.null(), score: 0.0, lm_queries: 0 }
    }

    /// The next word: kept unscored while it belongs to the left boundary, scored after that.
    pub fn word(&mut self, word: Symbol) {
        let (score, state) = self.lm.score(self.right, word);
        self.right = state;
        self.lm_queries += 1;
        if self.left.len() < self.lm.order() - 1 {
            self.left.push(word);
        } else {
            self.score += score;
        }
    }

    /// The next bundle of words.
    pub fn bundle(&mut self, forest: &TranslationForest, bundle: BundleId) {
        for &word in forest.bundle(bundle) {
            self.word(word);
        }
    }

    /// The next finished part. Its own words were scored when it was made, except its left boundary.
    pub fn part(&mut self, part: &ChartState<L::State>) {
        for &word in &part.left {
            self.word(word);
        }
        if self.is_long(part) {
            self.right = part.right;
        }
    }

    /// Whether a part hides its left context from what follows. For a unigram model every part does, and its
    /// state says nothing.
    fn is_long(&self, part: &ChartState<L::State>) -> bool {
        part.left.len() == self.lm.order() - 1
    }

    /// The combination.
    pub fn finish(self) -> Combined<L::State> {
        let state = ChartState { left: self.left.into_boxed_slice(), right: self.right };
        Combined { state, score: self.score, lm_queries: self.lm_queries }
    }
}

/// What is still missing when a part turns out to be the whole sentence: its left boundary after `<s>`, and
/// `</s>` after its right one.
pub(crate) fn complete_sentence<L: LanguageModel>(lm: &L, part: &ChartState<L::State>) -> f64 {
    let (score, state) = lm.run(lm.begin(), &part.left);
    let long = part.left.len() == lm.order() - 1 && lm.order() > 1;
    score + lm.end(if long { part.right } else { state })
}
