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
