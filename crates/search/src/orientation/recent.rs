//! Orientation against the span translated most recently, in constant time (Siahbani & Sarkar 2017, section 4).
//!
//! ```text
//! S = [lo, hi)       the recent span, with holes where rules have gaps; from -1 while it holds the beginning
//! prev               the words of the rule before
//!
//! next words u..v    M, S = [lo, v)     if u = hi                     side by side, in order
//!                    S, S = [u, hi)     if v = lo                     side by side, the other way round
//!                    else M or S if they touch prev, else D;  S stays if it holds u..v, else it is [u, v)
//! ```
//!
//! A rule is used on a span that is not translated yet, so the recent span is left of it, right of it, or around it:
//! its ends suffice. What the rule before thinks of this step is counted with this step, as in Galley & Manning 2008:
//! where words next to that rule are still open, they will join the two.

use sylvan_base::{HashMap, Span};
use sylvan_forest::{Orientation, TranslationForest};

use super::{Oriented, Rule, Words};
use crate::step_model::{Move, StepModel, StepState};

/// All that later orientations depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// The recent span; `start` is one more than its first word, 0 where it holds the beginning.
    recent: Span,
    before: Words,
    /// What the rule before thinks of the next step.
    after: u32,
}

/// The model.
#[derive(Debug)]
pub struct Recent<'f> {
    edges: Oriented<'f>,
    states: Vec<State>,
    index: HashMap<State, StepState>,
}

impl<'f> Recent<'f> {
    /// The model of a forest's orientations.
    pub fn new(forest: &'f TranslationForest) -> Self {
        Self { edges: Oriented::new(forest), states: Vec::new(), index: HashMap::default() }
    }

    fn intern(&mut self, state: State) -> StepState {
        let states = &mut self.states;
        *self.index.entry(state).or_insert_with(|| {
            states.push(state);
            StepState((states.len() - 1) as u32)
        })
    }

    /// How a step's words lie to what is before them, and the recent span then.
    fn step(state: &State, next: &Words) -> (Orientation, Span) {
        let State { recent, before, .. } = state;
        let (u, v) = (next.start(), next.end());
        // `recent.start` counts from the place before the sentence.
        if u == recent.end {
            return (Orientation::Mono, Span { start: recent.start, end: v });
        }
        if v + 1 == recent.start {
            return (Orientation::Swap, Span { start: u + 1, end: recent.end });
        }
        let orientation = if before.ends_at(u) {
            Orientation::Mono
        } else if before.begins_at(v) {
            Orientation::Swap
        } else {
            Orientation::Disc
        };
        let is_inside = recent.start <= u + 1 && v <= recent.end;
        (orientation, if is_inside { *recent } else { Span { start: u + 1, end: v } })
    }

    /// What the rule before thinks of a step: words next to that rule that are still open will join the two.
    fn after(before: &Words, next: &Words, open: &[Span]) -> Orientation {
        let is_open = |position: u32| open.iter().any(|span| span.start <= position && position < span.end);
        let (before, next) = (before.extent(), next.extent());
        match Orientation::of(before, next) {
            Orientation::Disc if next.start > before.end && is_open(before.end) => Orientation::Mono,
            Orientation::Disc if next.end < before.start && is_open(before.start - 1) => Orientation::Swap,
            orientation => orientation,
        }
    }
}

impl StepModel for Recent<'_> {
    fn begin(&mut self) -> StepState {
        self.states.clear();
        self.index.clear();
        self.intern(State { recent: Span { start: 0, end: 0 }, before: Words::START, after: 0 })
    }

    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        let Some(Rule { words, before, after }) = self.edges.rule(step.edges) else {
            return next.push((0.0, state));
        };
        let from = self.states[state.0 as usize];
        let (orientation, recent) = Self::step(&from, &words);
        let mut gain = before[orientation as usize];
        if from.after != 0 {
            let after = Self::after(&from.before, &words, step.open);
            gain += self.edges.afters[from.after as usize][after as usize];
        }
        let to = self.intern(State { recent, before: words, after });
        next.push((gain, to));
    }

    fn finish(&mut self, state: StepState) -> f64 {
        let State { before, after, .. } = self.states[state.0 as usize];
        let is_last = before.end() == self.edges.length();
        let orientation = if is_last { Orientation::Mono } else { Orientation::Disc };
        self.edges.afters[after as usize][orientation as usize]
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
