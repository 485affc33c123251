//! The language-model states of one sentence as small numbers, and what bundles cost after them.
//!
//! In a search the same bundle follows the same state many times, under different items. So states are interned,
//! signatures shrink to two numbers, and each (state, bundle) pair is scored once.

use sylvan_base::{HashMap, define_id, hash::fold};
use sylvan_forest::{BundleId, Edges};

use crate::LanguageModel;

define_id!(
    /// A state of the language model.
    StateId
);

/// A bundle after a state: its score, and the state after it.
#[derive(Debug, Clone, Copy)]
struct Scored {
    state: StateId,
    bundle: BundleId,
    score: f64,
    next: StateId,
    words: u32,
}

/// Empty bundles are never looked up, so this matches nothing.
const VACANT: Scored = Scored {
    state: StateId(u32::MAX),
    bundle: BundleId::EMPTY,
    score: 0.0,
    next: StateId(u32::MAX),
    words: 0,
};

/// How many are remembered: a few bins' worth of the usual beams, and they stay in the second-level cache.
const PLACES: usize = 1 << 13;

#[derive(Debug)]
pub(super) struct States<S> {
    states: Vec<S>,
    index: HashMap<S, StateId>,
    /// What was scored last, by the hash of state and bundle; a new entry replaces the old one in its place,
    /// so that the working memory does not grow with the sentence.
    scored: Vec<Scored>,
    /// Words scored.
    pub(super) queries: u64,
    /// Words whose scores were remembered.
    pub(super) remembered: u64,
}

impl<S: Copy + Eq + std::hash::Hash> States<S> {
    pub(super) fn new() -> Self {
        Self {
            states: Vec::new(),
            index: HashMap::default(),
            scored: vec![VACANT; PLACES],
            queries: 0,
            remembered: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.index.clear();
        self.scored.fill(VACANT);
        self.queries = 0;
        self.remembered = 0;
    }

    pub(super) fn intern(&mut self, state: S) -> StateId {
        *self.index.entry(state).or_insert_with(|| {
            self.states.push(state);
            StateId(self.states.len() as u32 - 1)
        })
    }

    pub(super) fn get(&self, id: StateId) -> S {
        self.states[id.0 as usize]
    }

    /// The score of a bundle after a state, and the state after it.
    #[inline]
    pub(super) fn bundle<L: LanguageModel<State = S>, E: Edges>(
        &mut self,
        lm: &L,
        forest: &E,
        state: StateId,
        bundle: BundleId,
    ) -> (f64, StateId) {
        if bundle == BundleId::EMPTY {
            return (0.0, state);
        }
        let place = fold(u64::from(state.0), u64::from(bundle.0)) as usize & (PLACES - 1);
        let known = self.scored[place];
        if known.state == state && known.bundle == bundle {
            self.remembered += u64::from(known.words);
            return (known.score, known.next);
        }
        let words = forest.bundle(bundle);
        let (score, next) = lm.run(self.get(state), words);
        self.queries += words.len() as u64;
        let next = self.intern(next);
        self.scored[place] = Scored { state, bundle, score, next, words: words.len() as u32 };
        (score, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Symbol;
    use sylvan_forest::{EdgeId, Target, Token, TokenId};

    /// Bundle n has n words.
    struct Bundles(Vec<TokenId>);

    impl Edges for Bundles {
        fn target(&self, _: EdgeId) -> &[Target] {
            &[]
        }
        fn bundle(&self, bundle: BundleId) -> &[TokenId] {
            &self.0[..bundle.0 as usize]
        }
        fn token(&self, _: TokenId) -> Token {
            Token::from(Symbol(0))
        }
        fn score(&self, _: EdgeId) -> f64 {
            0.0
        }
        fn hash(&self, _: EdgeId) -> u64 {
            0
        }
    }

    /// Counts words.
    struct Length;

    impl LanguageModel for Length {
        type State = u32;

        fn order(&self) -> usize {
            2
        }
        fn begin(&self) -> u32 {
            0
        }
        fn null(&self) -> u32 {
            0
        }
        fn score(&self, state: u32, _: TokenId) -> (f64, u32) {
            (1.0, state + 1)
        }
        fn end(&self, _: u32) -> f64 {
            0.0
        }
    }

    #[test]
    fn what_is_remembered_is_not_asked_again() {
        let forest = Bundles(vec![TokenId(0); 5]);
        let mut states = States::new();
        let begin = states.intern(0);
        let (score, after) = states.bundle(&Length, &forest, begin, BundleId(3));
        assert_eq!((score, states.get(after)), (3.0, 3));
        assert_eq!((states.queries, states.remembered), (3, 0));
        assert_eq!(states.bundle(&Length, &forest, begin, BundleId(3)), (3.0, after));
        assert_eq!((states.queries, states.remembered), (3, 3));
        states.bundle(&Length, &forest, after, BundleId(3));
        states.bundle(&Length, &forest, begin, BundleId::EMPTY);
        assert_eq!((states.queries, states.remembered), (6, 3));
        states.clear();
        assert_eq!((states.queries, states.remembered), (0, 0));
    }
}
