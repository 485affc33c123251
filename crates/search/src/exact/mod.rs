//! Exact search with a certificate: the optimum and the proof that it is one, or the best found and how much better
//! any other can be at most.
//!
//! ```text
//! forest --Plan--> joins of two things at a time
//!                    |
//!          level 0   |  nothing known at the ends of a piece     every word charged the most that it can score
//!          level 1   |  one word known at each end               here (neighbours.rs), after what is known
//!            ...     v
//!          level g-1    all that the model can notice            every word charged its score
//! ```
//!
//! Each level is a relaxation of the next: it gives every derivation at least its score. Inside and outside scores of
//! a level tell which of its joins can be part of a derivation that is better than the best one known; the next level
//! looks at refinements of these only (coarse-to-fine pruning with admissible bounds: Felzenszwalb & McAllester 2007;
//! for language models of growing order: Petrov, Haghighi & Klein 2008; relaxations as upper bounds on the whole
//! intersection: Rush & Collins 2011; Aziz, Dymetman & Venkatapathy 2013). Nothing is dropped that could win, so when
//! the last level is through its best derivation is the optimum.
//!
//! How much work a level is depends on how far the threshold lies below its bound. The score of the best known
//! derivation is a valid threshold, but often a low one. So a level first tries higher ones: if a derivation reaches
//! one of them the optimum is found at a fraction of the work, and if none does, that is a better upper bound. Every
//! level also offers its favourite derivation, whose true score may be the best so far.
//!
//! | here | papers |
//! |---|---|
//! | `Level` | a coarse grammar, a relaxed intersection (OS*: the proposal automaton) |
//! | `Possible` | a pruned hypergraph with outside scores as heuristic |
//! | `Neighbours`, `Bounds` | max-backoff, the maximum of an n-gram over its contexts, restricted to this sentence |

mod boundary;
mod level;
mod meter;
mod neighbours;
mod plan;
mod table;

use std::cell::RefCell;
use std::rc::Rc;

use sylvan_forest::{Derivation, TranslationForest};

use crate::neighbours::Neighbours;
use crate::{Beam, BoundaryWords, Counters, Cube, LanguageModel, Outcome, cube_pruning, rescore};
use boundary::{Boundaries, SharedBounds};
use level::{Level, Possible};
use meter::{Meter, Stopped};
use plan::Plan;

/// How much an exact search may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Joins tried, over all levels. The same number gives the same answer on every machine.
    pub joins: u64,
}

impl Effort {
    /// As much as it takes, which may be more than there is time and memory for.
    pub const UNLIMITED: Effort = Effort { joins: u64::MAX };
}

impl Default for Effort {
    /// A few seconds.
    fn default() -> Self {
        Self { joins: 100_000_000 }
    }
}

/// What an exact search knows in the end.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The best derivation found; `None` if the forest has none.
    pub best: Option<Outcome>,
    /// No derivation scores more than this, except for rounding; `best`'s score if it is proven to be the
    /// optimum.
    pub upper_bound: f64,
    /// Whether `best` is the optimum.
    pub proven: bool,
    /// Joins tried.
    pub joins: u64,
    /// The levels gone through, in order.
    pub rounds: Vec<Round>,
}

impl Certified {
    /// How much better than `best` any derivation can be at most: 0 if it is the optimum.
    pub fn gap(&self) -> f64 {
        self.best.as_ref().map_or(0.0, |best| self.upper_bound - best.score)
    }
}

/// One level with one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// Words known at each end of a piece.
    pub known: usize,
    /// What a derivation had to reach.
    pub threshold: f64,
    /// The most that a derivation reaching it can score; `None` if it is proven that there is none.
    pub bound: Option<f64>,
    /// Items made.
    pub items: usize,
    /// Joins tried in this round.
    pub joins: u64,
}

/// Why exact search refuses: the language model has no upper bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoBounds;

impl std::fmt::Display for NoBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "exact search needs upper bounds, and this language model has none (an n-gram model with a negative weight, \
             or a model of another kind); use another search",
        )
    }
}

impl std::error::Error for NoBounds {}

/// The optimum with its proof, or as much as `effort` allows.
///
/// `start` is what another search found: the better it is, the less there is to look at. Without one, cube
/// pruning makes one. `stop` is called now and then and ends the search when it returns true: a clock, a
/// signal.
///
/// Scores are compared up to a millionth of their size, because bounds and scores add up the same numbers in different
/// orders.
pub fn exact<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    start: Option<Derivation>,
    effort: Effort,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Certified, NoBounds> {
    let plan = Plan::new(forest);
    let bounds = lm.bounds(&Neighbours::new(forest, &plan)).ok_or(NoBounds)?;
    let best = match start {
        Some(derivation) => {
            let score = rescore(forest, lm, &derivation);
            let counters = Counters { lm_queries: rescored(forest, &derivation), ..Counters::default() };
            Some(Outcome { derivation, score, counters })
        }
        None => cube_pruning(forest, &BoundaryWords::new(lm), Cube::new(START)),
    };
    let (upper, proven) = if best.is_some() { (f64::INFINITY, false) } else { (f64::NEG_INFINITY, true) };
    let certified = Certified { best, upper_bound: upper, proven, joins: 0, rounds: Vec::new() };
    if proven {
        return Ok(certified);
    }
    let meter = Meter::new(effort.joins, stop);
    let ends = (0..lm.order()).map(|_| None).collect();
    let bounds = Rc::new(RefCell::new(bounds));
    let mut search = Search { forest, lm, plan: &plan, bounds, ends, meter, certified };
    let floor = search.score();
    let finished = search.refine(0, &Possible::everything(&plan), floor);
    let (joins, lm_queries) = (search.meter.done, search.lm_queries());
    let score = search.score();
    let mut certified = search.certified;
    certified.joins = joins;
    if finished.is_ok() {
        certified.proven = true;
        certified.upper_bound = score;
    }
    certified.upper_bound = certified.upper_bound.max(score);
    if let Some(best) = &mut certified.best {
        let items = certified.rounds.iter().map(|round| round.items as u64).sum();
        best.counters += Counters { items, lm_queries, ..Counters::default() };
    }
    Ok(certified)
}

/// The beam of the search that it starts from.
const START: Beam = Beam(100);

/// The thresholds of a level as fractions of the way from the best known score to the bound.
fn tries(known: usize) -> &'static [f64] {
    match known {
        1 => &[0.25, 0.0],
        2 => &[0.5, 0.25, 0.0],
        _ => &[0.0],
    }
}

/// How many words are scored to score a derivation.
fn rescored(forest: &TranslationForest, derivation: &Derivation) -> u64 {
    derivation.tokens(forest).len() as u64 + 1
}

/// How far two scores may differ by rounding.
fn rounding(score: f64) -> f64 {
    1e-6 * (1.0 + score.abs())
}

struct Search<'a, 's, L: LanguageModel> {
    forest: &'a TranslationForest,
    lm: &'a L,
    plan: &'a Plan,
    bounds: SharedBounds<'a>,
    /// By level, kept between the rounds.
    ends: Vec<Option<Boundaries<'a, L>>>,
    meter: Meter<'s>,
    certified: Certified,
}

impl<'a, L: LanguageModel> Search<'a, '_, L> {
    /// The best known score.
    fn score(&self) -> f64 {
        self.certified.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.score)
    }

    fn lm_queries(&self) -> u64 {
        self.ends.iter().flatten().map(|ends| ends.lm_queries).sum()
    }

    /// Whether nothing can be better than what is known.
    fn is_closed(&self) -> bool {
        self.certified.upper_bound <= self.score() + rounding(self.score())
    }

    /// Looks for the optimum among the derivations that score at least `floor`, all of which must be possible. When it
    /// returns, the best known derivation is at least as good as all of these.
    fn refine(&mut self, known: usize, before: &Possible, floor: f64) -> Result<(), Stopped> {
        let last = known + 1 == self.lm.order();
        for &fraction in if last { &[0.0] } else { tries(known) } {
            let low = floor.max(self.score());
            let threshold = match fraction {
                0.0 => low,
                _ => low + fraction * (self.certified.upper_bound - low),
            };
            let level = self.round(known, before, threshold, last)?;
            self.offer(level.derivation(self.plan));
            if !last && level.bound().is_some() && !self.is_closed() {
                let least = threshold.max(self.score());
                let possible = level.prune(self.plan, least - rounding(least));
                self.refine(known + 1, &possible, threshold)?;
            }
            // Now the best known derivation is the best of those above the threshold, if there are any.
            if self.score() >= threshold - rounding(threshold) || self.is_closed() {
                self.certified.upper_bound = self.score();
                return Ok(());
            }
            self.certified.upper_bound = self.certified.upper_bound.min(threshold);
        }
        Ok(())
    }

    /// One level with one threshold.
    fn round(
        &mut self,
        known: usize,
        before: &Possible,
        threshold: f64,
        last: bool,
    ) -> Result<Level, Stopped> {
        let (lm, bounds) = (self.lm, &self.bounds);
        let ends = self.ends[known].get_or_insert_with(|| Boundaries::new(lm, Rc::clone(bounds), known));
        let start = self.meter.done;
        let lowest = threshold - rounding(threshold);
        let level = Level::new(self.forest, self.plan, ends, before, lowest, last, &mut self.meter)?;
        let (bound, items, joins) = (level.bound(), level.len(), self.meter.done - start);
        self.certified.rounds.push(Round { known, threshold, bound, items, joins });
        let upper = bound.unwrap_or(threshold).max(threshold);
        self.certified.upper_bound = self.certified.upper_bound.min(upper);
        Ok(level)
    }

    /// Keeps a derivation if it is better than the best known.
    fn offer(&mut self, derivation: Option<Derivation>) {
        let Some(derivation) = derivation else { return };
        let score = rescore(self.forest, self.lm, &derivation);
        let Some(best) = &mut self.certified.best else { return };
        best.counters.lm_queries += rescored(self.forest, &derivation);
        if score > best.score {
            (best.derivation, best.score) = (derivation, score);
        }
    }
}
