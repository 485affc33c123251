//! Models that look at whole steps of a left-to-right search.
//!
//! There are two kinds of models. *Word models* ([`LanguageModel`](crate::LanguageModel)) score one word after the
//! other; there is one way to go on, and every search can use them. *Step models* see what a step of a left-to-right
//! search did: its words, the edges that it charged, the places still open. They may go on in several ways at once,
//! as a structured language model does when a word can be attached in several places, and only left-to-right
//! searches can use them.
//!
//! Step models are chosen at run time. States are small numbers that a model gives out for one sentence, so several
//! models combine into one ([`StepModels`]) whatever their states are made of, and a search without any costs nothing.

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, Span};
use sylvan_forest::{Derivation, EdgeId, Edges, Target, TokenId};

/// A step as models see it.
#[derive(Debug, Clone, Copy)]
pub struct Move<'a> {
    /// The words emitted.
    pub words: &'a [TokenId],
    /// The edges charged, in the deduction's order.
    pub edges: &'a [EdgeId],
    /// The places still to be translated after the step, next first, if the deduction knows them and
    /// [`StepModel::wants_frontier`] asks for them.
    pub open: &'a [Span],
}

/// A state of a step model, numbered by the model within one sentence. Equal states have equal futures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct StepState(pub u32);

impl StepState {
    /// As a signature: one for all states.
    pub const ANY: Self = Self(u32::MAX);
}

/// One of several things that a state stands for at the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// What decides its future: parts of equal items with the same key are the same.
    pub key: u64,
    /// What it scores less than the best of them, weighted: 0 or less.
    pub score: f64,
    /// Parts of different groups do not compete.
    pub group: u32,
}

/// A model of the steps of a left-to-right search. Scores are natural logs, already weighted.
pub trait StepModel {
    /// Forgets the sentence before; returns the state at the start of the next one.
    fn begin(&mut self) -> StepState;
    /// Appends the score and the state of each way to go on to `next`; none forbids the step.
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>);
    /// The score of ending here.
    fn finish(&mut self, state: StepState) -> f64;
    /// Appends what a state is made of, of which some may be dropped (see `Ways`): at least one part. By default that is
    /// the state itself.
    fn parts(&mut self, state: StepState, parts: &mut Vec<Part>) {
        parts.push(Part { key: u64::from(state.0), score: 0.0, group: 0 });
    }
    /// The state with some of its parts, at least one, and what it scores more than before, which is 0 or less.
    fn restrict(&mut self, state: StepState, _kept: &[bool]) -> (f64, StepState) {
        (0.0, state)
    }
    /// What of a state keeps items apart: items that agree in it recombine. By default that is all of it; a model that
    /// prefers fewer items to exact ones says [`StepState::ANY`].
    fn signature(&mut self, state: StepState) -> StepState {
        state
    }
    /// Whether it looks at the words of steps alone, so that it can be asked later (see `Limits::shortlist`).
    fn sees_words_only(&self) -> bool {
        false
    }
    /// Whether all or a part of it looks at the words of steps alone.
    fn can_wait(&self) -> bool {
        self.sees_words_only()
    }
    /// Like [`advance`](Self::advance), for what cannot wait: what looks at words alone stays as it was.
    fn advance_first(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        match self.sees_words_only() {
            true => next.push((0.0, state)),
            false => self.advance(state, step, next),
        }
    }
    /// And for what looks at words alone, later: the words since it was asked before.
    fn advance_later(&mut self, state: StepState, words: &[TokenId], next: &mut Vec<(f64, StepState)>) {
        match self.sees_words_only() {
            true => self.advance(state, &Move { words, edges: &[], open: &[] }, next),
            false => next.push((0.0, state)),
        }
    }
    /// Told what [`advance_later`](Self::advance_later) will be asked next, so that all of it can be computed together.
    fn prepare(&mut self, _asked: &[(StepState, &[TokenId])]) {}
    /// Whether [`Move::open`] must be filled.
    fn wants_frontier(&self) -> bool {
        false
    }
    /// How many features it has.
    fn features(&self) -> usize;
    /// Adds the values of its features on the way from one state to the next to `values`; `None` as next state stands
    /// for the end. Weights times values is the score of that way.
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]);
}

impl<M: StepModel + ?Sized> StepModel for &mut M {
    fn begin(&mut self) -> StepState {
        (**self).begin()
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        (**self).advance(state, step, next);
    }
    fn finish(&mut self, state: StepState) -> f64 {
        (**self).finish(state)
    }
    fn parts(&mut self, state: StepState, parts: &mut Vec<Part>) {
        (**self).parts(state, parts);
    }
    fn restrict(&mut self, state: StepState, kept: &[bool]) -> (f64, StepState) {
        (**self).restrict(state, kept)
    }
    fn signature(&mut self, state: StepState) -> StepState {
        (**self).signature(state)
    }
    fn sees_words_only(&self) -> bool {
        (**self).sees_words_only()
    }
    fn can_wait(&self) -> bool {
        (**self).can_wait()
    }
    fn advance_first(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        (**self).advance_first(state, step, next);
    }
    fn advance_later(&mut self, state: StepState, words: &[TokenId], next: &mut Vec<(f64, StepState)>) {
        (**self).advance_later(state, words, next);
    }
    fn prepare(&mut self, asked: &[(StepState, &[TokenId])]) {
        (**self).prepare(asked);
    }
    fn wants_frontier(&self) -> bool {
        (**self).wants_frontier()
    }
    fn features(&self) -> usize {
        (**self).features()
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        (**self).values(from, step, to, values);
    }
}

/// Step models side by side: scores add up, a state stands for one state of each.
#[derive(Default)]
pub struct StepModels<'m> {
    models: Vec<Box<dyn StepModel + 'm>>,
    tuples: Vec<StepState>,
    index: HashMap<Box<[StepState]>, StepState>,
    ways: Vec<Vec<(f64, StepState)>>,
}

impl std::fmt::Debug for StepModels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} step models", self.models.len())
    }
}

impl<'m> StepModels<'m> {
    /// Models side by side.
    pub fn new(models: Vec<Box<dyn StepModel + 'm>>) -> Self {
        Self { models, ..Self::default() }
    }

    /// As a search takes them: `None` if there is no model.
    pub fn for_search(&mut self) -> Option<&mut dyn StepModel> {
        match self.models.len() {
            0 => None,
            // States of one model need no numbers of their own.
            1 => Some(&mut *self.models[0]),
            _ => Some(self),
        }
    }

    fn intern(&mut self, tuple: &[StepState]) -> StepState {
        if let Some(&known) = self.index.get(tuple) {
            return known;
        }
        let state = StepState((self.tuples.len() / self.models.len().max(1)) as u32);
        self.tuples.extend_from_slice(tuple);
        self.index.insert(tuple.into(), state);
        state
    }

    fn part(&self, state: StepState, model: usize) -> StepState {
        self.tuples[state.0 as usize * self.models.len() + model]
    }

    /// Every combination of the models' own ways.
    fn combine(
        &mut self,
        state: StepState,
        next: &mut Vec<(f64, StepState)>,
        mut advance: impl FnMut(&mut dyn StepModel, StepState, &mut Vec<(f64, StepState)>),
    ) {
        let mut ways = std::mem::take(&mut self.ways);
        ways.resize_with(self.models.len(), Vec::new);
        for (number, ways) in ways.iter_mut().enumerate() {
            ways.clear();
            let own = self.part(state, number);
            advance(&mut *self.models[number], own, ways);
        }
        let mut tuple = vec![StepState::default(); self.models.len()];
        let combinations = ways.iter().map(Vec::len).product::<usize>();
        for combination in 0..combinations {
            let (mut rest, mut score) = (combination, 0.0);
            for (place, ways) in tuple.iter_mut().zip(&ways) {
                let (gain, own) = ways[rest % ways.len()];
                rest /= ways.len();
                score += gain;
                *place = own;
            }
            let state = self.intern(&tuple);
            next.push((score, state));
        }
        self.ways = ways;
    }
}

impl StepModel for StepModels<'_> {
    fn begin(&mut self) -> StepState {
        self.tuples.clear();
        self.index.clear();
        let tuple: Vec<StepState> = self.models.iter_mut().map(|model| model.begin()).collect();
        self.intern(&tuple)
    }

    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        self.combine(state, next, |model, own, ways| model.advance(own, step, ways));
    }

    fn advance_first(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        self.combine(state, next, |model, own, ways| model.advance_first(own, step, ways));
    }

    fn advance_later(&mut self, state: StepState, words: &[TokenId], next: &mut Vec<(f64, StepState)>) {
        self.combine(state, next, |model, own, ways| model.advance_later(own, words, ways));
    }

    fn finish(&mut self, state: StepState) -> f64 {
        let parts: Vec<StepState> = (0..self.models.len()).map(|number| self.part(state, number)).collect();
        self.models.iter_mut().zip(parts).map(|(model, own)| model.finish(own)).sum()
    }

    /// Those of the first model that has several; what the others know is the same for all of them.
    fn parts(&mut self, state: StepState, parts: &mut Vec<Part>) {
        let first = parts.len();
        let mut divided = 0;
        for number in 0..self.models.len() {
            parts.truncate(first);
            divided = number;
            let own = self.part(state, number);
            self.models[number].parts(own, parts);
            if parts.len() > first + 1 {
                break;
            }
        }
        let others = (0..self.models.len()).filter(|&number| number != divided);
        let others = others.fold(0, |hash, number| fold(hash, u64::from(self.part(state, number).0)));
        parts[first..].iter_mut().for_each(|part| part.key = fold(others, part.key));
    }

    fn restrict(&mut self, state: StepState, kept: &[bool]) -> (f64, StepState) {
        let mut tuple: Vec<StepState> =
            (0..self.models.len()).map(|number| self.part(state, number)).collect();
        let mut parts = Vec::new();
        for (number, own) in tuple.iter_mut().enumerate() {
            parts.clear();
            self.models[number].parts(*own, &mut parts);
            if parts.len() > 1 {
                let (gain, restricted) = self.models[number].restrict(*own, kept);
                *own = restricted;
                return (gain, self.intern(&tuple));
            }
        }
        (0.0, state)
    }

    /// Whatever each model wants to tell apart, numbered like a state.
    fn signature(&mut self, state: StepState) -> StepState {
        let states: Vec<StepState> = (0..self.models.len()).map(|number| self.part(state, number)).collect();
        let signed = self.models.iter_mut().zip(&states).map(|(model, &own)| model.signature(own));
        let signed: Vec<StepState> = signed.collect();
        if signed == states {
            state
        } else if signed.iter().all(|&own| own == StepState::ANY) {
            StepState::ANY
        } else {
            self.intern(&signed)
        }
    }

    fn sees_words_only(&self) -> bool {
        self.models.iter().all(|model| model.sees_words_only())
    }

    fn can_wait(&self) -> bool {
        self.models.iter().any(|model| model.can_wait())
    }

    fn prepare(&mut self, asked: &[(StepState, &[TokenId])]) {
        for number in 0..self.models.len() {
            let own: Vec<(StepState, &[TokenId])> =
                asked.iter().map(|&(state, words)| (self.part(state, number), words)).collect();
            self.models[number].prepare(&own);
        }
    }

    fn wants_frontier(&self) -> bool {
        self.models.iter().any(|model| model.wants_frontier())
    }

    fn features(&self) -> usize {
        self.models.iter().map(|model| model.features()).sum()
    }

    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        let mut rest = values;
        for number in 0..self.models.len() {
            let (from, to) = (self.part(from, number), to.map(|to| self.part(to, number)));
            let (own, behind) = rest.split_at_mut(self.models[number].features());
            self.models[number].values(from, step, to, own);
            rest = behind;
        }
    }
}

/// What a step model says about a finished derivation: its score, and the values of its features on the best way
/// through its states. Steps are one edge each, heads first, with the words up to the next place to translate, as
/// top-down search takes them. `None` if the model forbids the derivation.
///
/// `open` gives the places still to be translated after a number of edges; it is called only if the model
/// wants them.
pub fn replay<E: Edges>(
    model: &mut dyn StepModel,
    forest: &E,
    derivation: &Derivation,
    open: &mut dyn FnMut(usize, &mut Vec<Span>),
) -> Option<(f64, Vec<f64>)> {
    let steps = steps_of(forest, derivation);
    let mut spans = Vec::new();
    // Per step: the states reached, with score and the place of the state before.
    let mut reached: Vec<Vec<(StepState, f64, usize)>> = vec![vec![(model.begin(), 0.0, 0)]];
    let mut frontiers: Vec<Vec<Span>> = Vec::new();
    for (number, words) in steps.iter().enumerate() {
        spans.clear();
        if model.wants_frontier() {
            open(number + 1, &mut spans);
        }
        let step = Move { words, edges: &derivation.edges()[number..=number], open: &spans };
        let mut next: Vec<(StepState, f64, usize)> = Vec::new();
        let mut ways = Vec::new();
        for (place, &(state, score, _)) in reached[number].iter().enumerate() {
            ways.clear();
            model.advance(state, &step, &mut ways);
            for &(gain, state) in &ways {
                match next.iter_mut().find(|known| known.0 == state) {
                    Some(known) if known.1 >= score + gain => {}
                    Some(known) => *known = (state, score + gain, place),
                    None => next.push((state, score + gain, place)),
                }
            }
        }
        reached.push(next);
        frontiers.push(spans.clone());
    }
    let ends = reached.last()?.iter().enumerate().map(|(place, &(state, score, _))| {
        let end = model.finish(state);
        (place, score + end)
    });
    let (mut place, score) = ends.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
    if score == f64::NEG_INFINITY {
        return None;
    }
    let mut values = vec![0.0; model.features()];
    let nothing = Move { words: &[], edges: &[], open: &[] };
    model.values(reached[steps.len()][place].0, &nothing, None, &mut values);
    for number in (0..steps.len()).rev() {
        let (to, _, before) = reached[number + 1][place];
        let edges = &derivation.edges()[number..=number];
        let step = Move { words: &steps[number], edges, open: &frontiers[number] };
        model.values(reached[number][before].0, &step, Some(to), &mut values);
        place = before;
    }
    Some((score, values))
}

/// Per edge of a derivation the words from it to the next place to translate.
fn steps_of<E: Edges>(forest: &E, derivation: &Derivation) -> Vec<Vec<TokenId>> {
    let mut steps = Vec::with_capacity(derivation.edges().len());
    let mut open: Vec<Target> = Vec::new();
    for &edge in derivation.edges() {
        let mut words = Vec::new();
        open.extend(forest.target(edge).iter().rev());
        while let Some(symbol) = open.pop() {
            match symbol {
                Target::Bundle(bundle) => words.extend_from_slice(forest.bundle(bundle)),
                Target::Vertex(_) => break,
            }
        }
        steps.push(words);
    }
    steps
}
