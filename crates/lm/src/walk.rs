//! One query, step by step.
//!
//! The probability of a word after a history is that of the longest n-gram that the model holds, times the
//! back-off weights of all longer contexts (Katz 1987). The sum runs from the n-gram's probability to the longest
//! context's weight; every layout keeps this order, so that all give the same floats.

use crate::WordId;
use crate::layout::{Cursor, Found, Layout, NO_CONTEXT, is_context};
use crate::state::{MAX_HISTORY, State};

/// A query on its way from the word to the longest n-gram that ends in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    /// The probability of the longest n-gram so far.
    pub(crate) prob: f32,
    pub(crate) grows_left: bool,
    pub(crate) cursor: Cursor,
    pub(crate) slot: usize,
    /// How many words of the history the n-gram has.
    pub(crate) used: usize,
    /// How many words the next state has.
    kept: usize,
    backoffs: [f32; MAX_HISTORY],
}

impl Walk {
    /// At the word alone.
    #[inline(always)]
    pub(crate) fn start<L: Layout>(layout: &L, word: WordId) -> Self {
        let Found { prob, backoff, grows_left, cursor, slot } = layout.word(word);
        let mut backoffs = [0.0; MAX_HISTORY];
        backoffs[0] = backoff;
        Self { prob, grows_left, cursor, slot, used: 0, kept: usize::from(is_context(backoff)), backoffs }
    }

    /// One word further into the history; false at the end.
    #[inline(always)]
    pub(crate) fn step<L: Layout>(&mut self, layout: &L, history: &[WordId], hints: L::Hints) -> bool {
        if !self.grows_left {
            return false;
        }
        let Some(&oldest) = history.get(self.used) else { return false };
        let n = self.used + 2;
        if n == layout.order() {
            if let Some(prob) = layout.longest(self.cursor, oldest) {
                (self.prob, self.used, self.grows_left) = (prob, self.used + 1, false);
            }
            return false;
        }
        let Some(found) = layout.longer(n, self.cursor, oldest, hints) else { return false };
        self.used += 1;
        (self.prob, self.grows_left) = (found.prob, found.grows_left);
        (self.cursor, self.slot) = (found.cursor, found.slot);
        if let Some(place) = self.backoffs.get_mut(self.used) {
            *place = found.backoff;
        }
        if is_context(found.backoff) {
            self.kept = self.used + 1;
        }
        true
    }

    /// The probability with all back-off weights, and the state after the word.
    #[inline(always)]
    pub(crate) fn finish(&self, state: &State, word: WordId) -> (f32, State) {
        let mut prob = self.prob;
        for backoff in state.backoffs().get(self.used..).unwrap_or_default() {
            prob += backoff;
        }
        (prob, State::after(state, word, self.backoffs, self.kept))
    }
}

/// The whole query.
#[inline(always)]
pub(crate) fn walk<L: Layout>(layout: &L, state: &State, word: WordId, hints: L::Hints) -> Walk {
    let history = state.words();
    let mut walk = Walk::start(layout, word);
    while walk.step(layout, history, hints) {}
    walk
}

/// The whole query, announced first.
#[inline(always)]
pub(crate) fn announced_walk<L: Layout>(layout: &L, state: &State, word: WordId) -> Walk {
    let hints = layout.announce(word, state.words());
    walk(layout, state, word, hints)
}

/// The state at the start of a sentence.
pub(crate) fn begin_state<L: Layout>(layout: &L, begin: WordId) -> State {
    let Found { backoff, .. } = layout.word(begin);
    let mut backoffs = [0.0; MAX_HISTORY];
    backoffs[0] = backoff;
    let kept = usize::from(is_context(backoff) && layout.order() > 1);
    State::after(&State::EMPTY, begin, backoffs, kept)
}

const _: () = assert!(NO_CONTEXT == 0.0);
