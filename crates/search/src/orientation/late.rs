//! Orientation against the rule before, counted when the smallest rule that holds both is complete: how Siahbani &
//! Sarkar 2017 adapt Nguyen & Vogel 2013 to left-to-right translation.
//!
//! Only the time differs from counting at once. A span that is still to be translated knows how many others lay below it
//! when its rule opened it (its *level*); when no more than these are left, that rule is complete.

use sylvan_base::HashMap;
use sylvan_forest::{Orientation, TranslationForest};

use super::{Oriented, Rule, Words};
use crate::step_model::{Move, StepModel, StepState};

/// All that later orientations depend on, and what is still to be counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    before: Words,
    /// What the rule before thinks of the next step.
    after: u32,
    /// Of the spans still to be translated, next last.
    levels: Vec<u32>,
    /// What is counted when no more spans are left than this: the bits of scores.
    pending: Vec<(u32, u64)>,
}

/// The model.
#[derive(Debug)]
pub struct Late<'f> {
    edges: Oriented<'f>,
    states: Vec<State>,
    index: HashMap<State, StepState>,
}

impl<'f> Late<'f> {
    /// The model of a forest's orientations.
    pub fn new(forest: &'f TranslationForest) -> Self {
        Self { edges: Oriented::new(forest), states: Vec::new(), index: HashMap::default() }
    }

    fn intern(&mut self, state: State) -> StepState {
        if let Some(&known) = self.index.get(&state) {
            return known;
        }
        let new = StepState(self.states.len() as u32);
        self.states.push(state.clone());
        self.index.insert(state, new);
        new
    }
}

impl StepModel for Late<'_> {
    fn begin(&mut self) -> StepState {
        self.states.clear();
        self.index.clear();
        self.intern(State { before: Words::START, after: 0, levels: vec![0], pending: Vec::new() })
    }

    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        let Some(Rule { words, before, after }) = self.edges.rule(step.edges) else {
            return next.push((0.0, state));
        };
        let mut to = self.states[state.0 as usize].clone();
        let level = to.levels.pop().unwrap_or(0);
        let left = to.levels.len() as u32;
        to.levels.resize(step.open.len(), left);
        let is_first = to.before == Words::START;
        let orientation = if is_first {
            Orientation::of_first(words.extent())
        } else {
            Orientation::of(to.before.extent(), words.extent())
        };
        let mut gain = before[orientation as usize];
        if !is_first {
            gain += self.edges.afters[to.after as usize][orientation as usize];
            to.pending.push((level, gain.to_bits()));
            gain = 0.0;
        }
        let open = step.open.len() as u32;
        to.pending.retain(|&(level, score)| {
            let is_complete = open <= level;
            if is_complete {
                gain += f64::from_bits(score);
            }
            !is_complete
        });
        to.before = words;
        to.after = after;
        let to = self.intern(to);
        next.push((gain, to));
    }

    fn finish(&mut self, state: StepState) -> f64 {
        let State { before, after, pending, .. } = &self.states[state.0 as usize];
        let orientation =
            if before.end() == self.edges.length() { Orientation::Mono } else { Orientation::Disc };
        let rest: f64 = pending.iter().map(|&(_, score)| f64::from_bits(score)).sum();
        self.edges.afters[*after as usize][orientation as usize] + rest
    }

    fn wants_frontier(&self) -> bool {
        true
    }

    /// Its features are those of the rules, which are replayed with them.
    fn features(&self) -> usize {
        0
    }

    fn values(&mut self, _from: StepState, _step: &Move<'_>, _to: Option<StepState>, _values: &mut [f64]) {}
}
