//! Models that look at whole steps of a left-to-right search.
//!
//! There are two kinds of models. *Word models* ([`LanguageModel`](crate::LanguageModel)) score one word after the
//! other; there is one way to go on, and every search can use them. *Step models* see what a step of a left-to-right
//! search did: its words, the edges that it charged, the places still open. They may go on in several ways at once,
//! as a structured language model does when a word can be attached in several places, and only left-to-right
//! searches can use them.

use std::fmt::Debug;
use std::hash::Hash;

use sylvan_base::{Span, Symbol};
use sylvan_forest::EdgeId;

/// A step as models see it.
#[derive(Debug, Clone, Copy)]
pub struct Move<'a> {
    /// The words emitted.
    pub words: &'a [Symbol],
    /// The edges charged, in the deduction's order.
    pub edges: &'a [EdgeId],
    /// The places still to be translated after the step, next first, if the deduction says so and
    /// [`StepModel::WANTS_FRONTIER`] is set.
    pub open: &'a [Span],
}

/// A model of the steps of a left-to-right search. Scores are natural logs, already weighted.
pub trait StepModel {
    /// The state after some steps; equal states have equal futures.
    type State: Copy + Eq + Hash + Debug;
    /// Whether the model never says anything. Lets the engine drop hopeless steps before they are made.
    const SILENT: bool = false;
    /// Whether [`Move::open`] must be filled.
    const WANTS_FRONTIER: bool = false;

    /// The state at the start of a sentence.
    fn begin(&self) -> Self::State;
    /// Calls `next` with the score and the state of each way to go on; never calling it forbids the step.
    fn advance(&self, state: Self::State, step: &Move<'_>, next: &mut dyn FnMut(f64, Self::State));
    /// The score of ending here.
    fn finish(&self, state: Self::State) -> f64;
    /// States of different groups do not compete in a bin (see `Limits::groups`).
    fn group(&self, _state: Self::State) -> u32 {
        0
    }
}

/// No step model.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStepModel;

impl StepModel for NoStepModel {
    type State = ();
    const SILENT: bool = true;

    fn begin(&self) {}
    #[inline]
    fn advance(&self, _state: (), _step: &Move<'_>, next: &mut dyn FnMut(f64, ())) {
        next(0.0, ());
    }
    fn finish(&self, _state: ()) -> f64 {
        0.0
    }
}

/// Two step models side by side.
impl<A: StepModel, B: StepModel> StepModel for (A, B) {
    type State = (A::State, B::State);
    const SILENT: bool = A::SILENT && B::SILENT;
    const WANTS_FRONTIER: bool = A::WANTS_FRONTIER || B::WANTS_FRONTIER;

    fn begin(&self) -> Self::State {
        (self.0.begin(), self.1.begin())
    }
    fn advance(&self, state: Self::State, step: &Move<'_>, next: &mut dyn FnMut(f64, Self::State)) {
        self.0.advance(state.0, step, &mut |first, a| {
            self.1.advance(state.1, step, &mut |second, b| next(first + second, (a, b)));
        });
    }
    fn finish(&self, state: Self::State) -> f64 {
        self.0.finish(state.0) + self.1.finish(state.1)
    }
    /// The first model's groups; the second's only if the first has none.
    fn group(&self, state: Self::State) -> u32 {
        match self.0.group(state.0) {
            0 => self.1.group(state.1),
            group => group,
        }
    }
}
