//! The language-model states of one sentence as small numbers, and what bundles cost after them.
//!
//! In a search the same bundle follows the same state many times, under different items. So states are interned,
//! signatures shrink to two numbers, and each (state, bundle) pair is scored once.

use sylvan_base::{HashMap, define_id};
use sylvan_forest::{BundleId, TranslationForest};

use crate::LanguageModel;

define_id!(
    /// A state of the language model.
    StateId
);

#[derive(Debug)]
pub(super) struct States<S> {
    states: Vec<S>,
    index: HashMap<S, StateId>,
    /// By state and bundle.
    bundles: HashMap<(StateId, BundleId), (f64, StateId)>,
    /// Words scored.
    pub(super) queries: u64,
}

impl<S: Copy + Eq + std::hash::Hash> States<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), index: HashMap::default(), bundles: HashMap::default(), queries: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.index.clear();
        self.bundles.clear();
        self.queries = 0;
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
    pub(super) fn bundle<L: LanguageModel<State = S>>(
        &mut self,
        lm: &L,
        forest: &TranslationForest,
        state: StateId,
        bundle: BundleId,
    ) -> (f64, StateId) {
        if bundle == BundleId::EMPTY {
            return (0.0, state);
        }
        if let Some(&known) = self.bundles.get(&(state, bundle)) {
            return known;
        }
        let words = forest.bundle(bundle);
        let (score, next) = lm.run(self.get(state), words);
        self.queries += words.len() as u64;
        let next = self.intern(next);
        self.bundles.insert((state, bundle), (score, next));
        (score, next)
    }
}
