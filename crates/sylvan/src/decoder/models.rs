//! Several language models at once, chosen at run time.

use std::cell::RefCell;

use sylvan_base::{HashMap, Symbol};
use sylvan_forest::TranslationForest;
use sylvan_lm::State;
use sylvan_search::{BoundaryWords, CubePruning, Engine, LanguageModel, Losers, Outcome, Refine};

use super::{Algorithm, Found, left_to_right, prove};
use crate::NgramScorer;

/// Language models side by side: scores add up, states are tuples, interned so that a state is one number whatever
/// the number of models. For one sentence.
#[derive(Debug)]
pub struct Several<'s, 'm> {
    models: &'s [NgramScorer<'m>],
    states: RefCell<States>,
}

#[derive(Debug, Default)]
struct States {
    tuples: Vec<Box<[State]>>,
    index: HashMap<Box<[State]>, u32>,
}

impl<'s, 'm> Several<'s, 'm> {
    /// Models side by side.
    pub fn new(models: &'s [NgramScorer<'m>]) -> Self {
        Self { models, states: RefCell::default() }
    }

    fn intern(&self, tuple: Box<[State]>) -> u32 {
        let States { tuples, index } = &mut *self.states.borrow_mut();
        *index.entry(tuple).or_insert_with_key(|tuple| {
            tuples.push(tuple.clone());
            tuples.len() as u32 - 1
        })
    }
}

impl LanguageModel for Several<'_, '_> {
    type State = u32;

    fn order(&self) -> usize {
        self.models.iter().map(LanguageModel::order).max().unwrap_or(1)
    }
    fn begin(&self) -> u32 {
        self.intern(self.models.iter().map(LanguageModel::begin).collect())
    }
    fn null(&self) -> u32 {
        self.intern(self.models.iter().map(LanguageModel::null).collect())
    }
    fn score(&self, state: u32, word: Symbol) -> (f64, u32) {
        let mut total = 0.0;
        let before = self.states.borrow().tuples[state as usize].clone();
        let after = self.models.iter().zip(&before).map(|(model, &state)| {
            let (score, next) = model.score(state, word);
            total += score;
            next
        });
        let after = after.collect();
        (total, self.intern(after))
    }
    fn end(&self, state: u32) -> f64 {
        let states = self.states.borrow();
        let tuple = &states.tuples[state as usize];
        self.models.iter().zip(tuple).map(|(model, &state)| model.end(state)).sum()
    }
}

/// Any search with several models. Bottom-up ones keep boundary words instead of the models' own states.
pub(super) fn search(
    forest: &TranslationForest,
    lm: &Several<'_, '_>,
    algorithm: Algorithm,
    many: bool,
) -> Option<Found> {
    let losers = if many { Losers::Keep } else { Losers::Forget };
    let pieces = BoundaryWords::new(lm);
    let whole = |best: Outcome, out| Found { best, out, cut_short: false, gap: None };
    match algorithm {
        Algorithm::Cube(limits) => {
            let mut cube = CubePruning::default();
            let best = cube.search(forest, &pieces, limits, losers)?;
            Some(whole(best, many.then(|| cube.chart().out_forest(forest, &pieces))))
        }
        Algorithm::Refine(beam) => {
            let mut refine = Refine::default();
            let best = refine.search(forest, &pieces, beam, losers)?;
            Some(whole(best, many.then(|| refine.chart().out_forest(forest, &pieces))))
        }
        Algorithm::Incremental(..) | Algorithm::Prediction(..) => {
            left_to_right(forest, lm, algorithm, many, &mut Engine::default())
        }
        Algorithm::Exact(beam, effort) => {
            let mut refine = Refine::default();
            let start = refine.search(forest, &pieces, beam, losers)?;
            let out = many.then(|| refine.chart().out_forest(forest, &pieces));
            Some(prove(forest, lm, start, out, effort))
        }
    }
}
