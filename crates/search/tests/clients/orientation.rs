//! A lexicalised reordering model: the orientation of each rule to the span translated last (Siahbani & Sarkar 2017).

use sylvan_base::{Span, Symbol};
use sylvan_forest::{ForestBuilder, Part, TranslationForest};
use sylvan_search::{
    Beam, Engine, Incremental, Limits, Move, Run, StepModel, StepState, incremental_search, replay,
};

use crate::common::{HashLm, assert_close};
use crate::spec;

/// Counts of monotone, swap and other orientations, and their weights.
struct Orientation<'f> {
    forest: &'f TranslationForest,
    weights: [f64; 3],
    states: Vec<Recent>,
}

/// Extents of the source span translated last, and the positions of the rule before.
type Recent = (i32, i32, [i32; 2]);

impl<'f> Orientation<'f> {
    fn new(forest: &'f TranslationForest, weights: [f64; 3]) -> Self {
        Self { forest, weights, states: Vec::new() }
    }

    /// The state after a step, and how often each orientation was met.
    fn after(&self, mut state: Recent, step: &Move<'_>) -> ([f64; 3], Recent) {
        let mut counts = [0.0; 3];
        for &edge in step.edges {
            let span = self.forest.span(self.forest.edge(edge).head);
            let tails: Vec<Span> = self.forest.tails(edge).map(|tail| self.forest.span(tail)).collect();
            let own: Vec<i32> = span
                .range()
                .filter(|&position| !tails.iter().any(|tail| tail.contains(position)))
                .map(|position| position as i32)
                .collect();
            assert!(step.open.iter().all(|open| own.iter().all(|&p| !open.contains(p as usize))));
            let (u, v) = (own[0], own[own.len() - 1]);
            let (low, high, previous) = state;
            if u == high + 1 {
                counts[0] += 1.0;
                state = (low, v, [u, v]);
            } else if v == low - 1 {
                counts[1] += 1.0;
                state = (u, high, [u, v]);
            } else {
                let seen = if previous.contains(&(u - 1)) {
                    0
                } else if previous.contains(&(v + 1)) {
                    1
                } else {
                    2
                };
                counts[seen] += 1.0;
                let covered = low <= u && v <= high;
                state = if covered { (low, high, [u, v]) } else { (u, v, [u, v]) };
            }
        }
        (counts, state)
    }

    fn intern(&mut self, state: Recent) -> StepState {
        let place = self.states.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.states.push(state);
            self.states.len() - 1
        });
        StepState(place as u32)
    }
}

impl StepModel for Orientation<'_> {
    fn begin(&mut self) -> StepState {
        self.states.clear();
        self.intern((-1, -1, [-1, -1]))
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        let (counts, after) = self.after(self.states[state.0 as usize], step);
        let score = counts.iter().zip(self.weights).map(|(count, weight)| count * weight).sum();
        next.push((score, self.intern(after)));
    }
    fn finish(&mut self, _state: StepState) -> f64 {
        0.0
    }
    fn wants_frontier(&self) -> bool {
        true
    }
    fn features(&self) -> usize {
        3
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        if to.is_some() {
            let (counts, _) = self.after(self.states[from.0 as usize], step);
            values.iter_mut().zip(counts).for_each(|(value, count)| *value += count);
        }
    }
}

#[test]
fn siahbani_2017_orientations_inside_a_gap_are_monotone() {
    // Rules over the positions {0, 1}, then {2, 5} with a gap, then {3} and {4} inside the gap.
    let word = |id| Part::word(Symbol(id));
    let mut builder = ForestBuilder::new();
    let four = builder.vertex(1, Span::new(4, 5));
    builder.edge(spec(0, 0.0), &[word(1)]);
    let three = builder.vertex(2, Span::new(3, 5));
    builder.edge(spec(1, 0.0), &[word(2), Part::Vertex(four)]);
    let two = builder.vertex(3, Span::new(2, 6));
    builder.edge(spec(2, 0.0), &[word(3), Part::Vertex(three)]);
    let top = builder.vertex(4, Span::new(0, 6));
    builder.edge(spec(3, 0.0), &[word(4), Part::Vertex(two)]);
    let forest = builder.finish(top);
    let weights = [-1.0, -10.0, -100.0];
    let mut steps = Orientation::new(&forest, weights);
    let lm = HashLm::new(&forest, 1, 0, 0.0);
    let run = Run { steps: Some(&mut steps), ..Run::new(&lm) };
    let limits = Limits::beam(Beam(5));
    let found =
        incremental_search(&mut Engine::default(), &forest, run, limits, Incremental::default(), None);
    let found = found.unwrap();
    assert_close(found.score, -4.0);
    // The derivation is whole, and its features say why it scores what it scores.
    assert_eq!(found.derivation.words(&forest), [4, 3, 2, 1].map(Symbol));
    let mut open = |edges: usize, out: &mut Vec<Span>| {
        let tails = found.derivation.edges()[..edges].iter().flat_map(|&edge| forest.tails(edge));
        out.extend(tails.skip(edges - 1).map(|tail| forest.span(tail)));
    };
    let (score, values) = replay(&mut steps, &forest, &found.derivation, &mut open).unwrap();
    assert_eq!((score, values), (-4.0, vec![4.0, 0.0, 0.0]));
}
