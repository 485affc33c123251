//! Which search, how wide, and how it is run: the one place that knows all of them.
//!
//! ```text
//! "prediction:200" --parse--> Search --run--> Found (best derivation, everything found, what it cost)
//!                                   `--trace--> items as the search's paper writes them (trace.rs)
//! ```

use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use sylvan_base::Fault;
use sylvan_forest::{Grown, TranslationForest};

use crate::chart::Losers;
use crate::cube_pruning::{Cube, CubePruning};
use crate::engine::{Completed, Engine, Limits, Run};
use crate::exact::{Effort, exact};
use crate::incremental::{self, Incremental};
use crate::out_forest::OutForest;
use crate::prediction::{self, Prediction};
use crate::refine::Refine;
use crate::stacks::{self, Stacks};
use crate::undirected::{Agenda, Undirected};
use crate::{Beam, LanguageModel, Outcome, TwoSided};

/// The name of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SearchName {
    /// Bottom-up with cube pruning (Chiang 2007).
    Cube,
    /// Cube pruning that gives the places of a sentence fewer candidates the less they promise (`focus.rs`).
    Focus,
    /// Bottom-up, refining groups of items (Heafield, Koehn & Lavie 2013).
    Refine,
    /// Left to right, top-down (Huang & Mi 2010).
    Incremental,
    /// Left to right, bottom-up (Feng et al. 2012).
    Prediction,
    /// Phrases in any order within a limit, one stack per number of translated words (Koehn 2004).
    Stacks,
    /// In whatever order promises most, one queue for all places (Gesmundo & Henderson 2011).
    Undirected,
    /// The optimum with its proof, or a bound on what is missing.
    Exact,
}

impl SearchName {
    /// All of them.
    pub const ALL: [SearchName; 8] = [
        Self::Cube,
        Self::Focus,
        Self::Refine,
        Self::Incremental,
        Self::Prediction,
        Self::Stacks,
        Self::Undirected,
        Self::Exact,
    ];

    /// Those in which target sides decide the order: all but the one that puts phrases into any order.
    pub const ON_FORESTS: [SearchName; 7] = [
        Self::Cube,
        Self::Focus,
        Self::Refine,
        Self::Incremental,
        Self::Prediction,
        Self::Undirected,
        Self::Exact,
    ];

    /// As on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cube => "cube",
            Self::Focus => "focus",
            Self::Refine => "refine",
            Self::Incremental => "incremental",
            Self::Prediction => "prediction",
            Self::Stacks => "stacks",
            Self::Undirected => "undirected",
            Self::Exact => "exact",
        }
    }

    /// What it is, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cube => "bottom-up with cube pruning",
            Self::Focus => "the same, with fewer candidates the less a place of the sentence promises",
            Self::Refine => "bottom-up, refining groups of items by their boundary words",
            Self::Incremental => "left to right, top-down",
            Self::Prediction => "left to right, bottom-up, with viable prefixes",
            Self::Stacks => "phrases in any order within a limit, for models of phrase pairs",
            Self::Undirected => "in whatever order promises most, one queue for all places",
            Self::Exact => "the optimum with its proof, or a bound on what is missing",
        }
    }

    /// The default beam: items kept per vertex or bin, or made (refine, exact).
    pub fn default_beam(self) -> usize {
        match self {
            Self::Cube | Self::Refine | Self::Exact => 500,
            Self::Incremental | Self::Prediction => 100,
            Self::Stacks => 120,
            Self::Focus => 200,
            Self::Undirected => 256,
        }
    }

    /// Whether it goes from left to right, so that step models can take part and there is a trace.
    pub fn is_left_to_right(self) -> bool {
        matches!(self, Self::Incremental | Self::Prediction | Self::Stacks)
    }
}

impl fmt::Display for SearchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SearchName {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|name| name.as_str()).collect();
            Fault::new(0, format!("{text:?}"), format!("a search: {}", names.join(", ")))
        })
    }
}

/// A search with all its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Search {
    /// See [`SearchName::Cube`], and [`SearchName::Focus`] if it has a focus.
    Cube(Cube),
    /// See [`SearchName::Refine`]; the items made per vertex.
    Refine(Beam),
    /// See [`SearchName::Incremental`].
    Incremental(Limits, Incremental),
    /// See [`SearchName::Prediction`].
    Prediction(Limits, Prediction),
    /// See [`SearchName::Stacks`].
    Stacks(Limits, Stacks),
    /// See [`SearchName::Undirected`].
    Undirected(Undirected),
    /// See [`SearchName::Exact`]. The beam is that of the search for a first answer.
    Exact(Beam, Effort),
}

impl Default for Search {
    fn default() -> Self {
        Self::named(SearchName::Cube)
    }
}

impl Search {
    /// A search with its default settings.
    pub fn named(name: SearchName) -> Self {
        let beam = Beam(name.default_beam());
        match name {
            SearchName::Cube => Self::Cube(Cube::new(beam)),
            SearchName::Focus => Self::Cube(Cube::focused(beam)),
            SearchName::Refine => Self::Refine(beam),
            SearchName::Incremental => Self::Incremental(Limits::usual(beam), Incremental::default()),
            SearchName::Prediction => Self::Prediction(Limits::usual(beam), Prediction::default()),
            SearchName::Stacks => Self::Stacks(Limits::usual(beam), Stacks::default()),
            SearchName::Undirected => Self::Undirected(Undirected::new(beam)),
            SearchName::Exact => Self::Exact(beam, Effort::default()),
        }
    }

    /// The same search with another beam.
    pub fn with_beam(self, beam: usize) -> Self {
        let beam = Beam(beam);
        match self {
            Self::Cube(cube) if cube.focus => Self::Cube(Cube::focused(beam)),
            Self::Cube(_) => Self::Cube(Cube::new(beam)),
            Self::Refine(_) => Self::Refine(beam),
            Self::Incremental(limits, config) => Self::Incremental(Limits { beam, ..limits }, config),
            Self::Prediction(limits, config) => Self::Prediction(Limits { beam, ..limits }, config),
            Self::Stacks(limits, config) => Self::Stacks(Limits { beam, ..limits }, config),
            Self::Undirected(config) => Self::Undirected(Undirected { beam, ..config }),
            Self::Exact(_, effort) => Self::Exact(beam, effort),
        }
    }

    /// Its name.
    pub fn name(&self) -> SearchName {
        match self {
            Self::Cube(cube) if cube.focus => SearchName::Focus,
            Self::Cube(_) => SearchName::Cube,
            Self::Refine(_) => SearchName::Refine,
            Self::Incremental(..) => SearchName::Incremental,
            Self::Prediction(..) => SearchName::Prediction,
            Self::Stacks(..) => SearchName::Stacks,
            Self::Undirected(_) => SearchName::Undirected,
            Self::Exact(..) => SearchName::Exact,
        }
    }

    /// Its beam.
    pub fn beam(&self) -> Beam {
        match self {
            Self::Cube(cube) => cube.beam,
            Self::Undirected(config) => config.beam,
            Self::Refine(beam) | Self::Exact(beam, _) => *beam,
            Self::Incremental(limits, _) | Self::Prediction(limits, _) | Self::Stacks(limits, _) => {
                limits.beam
            }
        }
    }

    /// The limits of a left-to-right search.
    pub fn limits(&self) -> Option<Limits> {
        let mut search = *self;
        search.limits_mut().copied()
    }

    /// The limits of a left-to-right search, to be changed.
    pub fn limits_mut(&mut self) -> Option<&mut Limits> {
        match self {
            Self::Incremental(limits, _) | Self::Prediction(limits, _) | Self::Stacks(limits, _) => {
                Some(limits)
            }
            Self::Cube(_) | Self::Refine(_) | Self::Undirected(_) | Self::Exact(..) => None,
        }
    }

    /// Whether it makes glue as it needs it. All others need a forest with all of it
    /// ([`TranslationForest::with_all_glue`]).
    pub fn makes_glue(&self) -> bool {
        self.name() == SearchName::Incremental
    }

    /// Searches a forest; `None` if it has no derivation or the search was cancelled. Step models take part in
    /// left-to-right searches; others ignore them, so ask [`SearchName::is_left_to_right`] first.
    pub fn run<M: LanguageModel + TwoSided>(
        &self,
        forest: &TranslationForest,
        run: Run<'_, M>,
        work: &mut WorkspaceOf<M>,
    ) -> Option<Found> {
        let (lm, many, stop) = (run.lm, run.out_forest, run.stop);
        let losers = if many { Losers::Keep } else { Losers::Forget };
        let found = match *self {
            Self::Cube(limits) => {
                let best = work.cube.search(forest, lm, limits, losers, stop)?;
                let chart = work.cube.chart();
                let cut_short = chart.was_cut_short();
                Found {
                    best,
                    out: many.then(|| chart.out_forest(forest, lm)),
                    cut_short,
                    gap: None,
                    grown: Grown::default(),
                }
            }
            Self::Refine(beam) => {
                let best = work.refine.search(forest, lm, beam, losers, stop)?;
                let chart = work.refine.chart();
                let cut_short = chart.was_cut_short();
                Found {
                    best,
                    out: many.then(|| chart.out_forest(forest, lm)),
                    cut_short,
                    gap: None,
                    grown: Grown::default(),
                }
            }
            Self::Incremental(limits, config) => {
                Found::from(incremental::search(&mut work.engine, forest, run, limits, config, None)?)
            }
            Self::Prediction(limits, config) => {
                Found::from(prediction::search(&mut work.engine, forest, run, limits, config, None)?)
            }
            Self::Stacks(limits, config) => {
                Found::from(stacks::search(&mut work.engine, forest, run, limits, config, None)?)
            }
            Self::Undirected(config) => {
                let best = work.agenda.search(forest, lm, config, stop, None)?;
                let out = many.then(|| work.agenda.out_forest(forest));
                let cut_short = work.agenda.was_cut_short();
                Found { best, out, cut_short, gap: None, grown: Grown::default() }
            }
            Self::Exact(beam, effort) => {
                let start = work.refine.search(forest, lm, beam, losers, stop)?;
                let out = many.then(|| work.refine.chart().out_forest(forest, lm));
                let first = Some(start.derivation.clone());
                match exact(forest, lm, first, effort, &mut || stop.is_due()) {
                    Ok(certified) => {
                        let gap = Some(certified.gap());
                        // There is a best derivation, since it was given one.
                        let counters = start.counters;
                        let mut best = certified.best.unwrap_or(start);
                        best.counters += counters;
                        Found { best, out, cut_short: !certified.proven, gap, grown: Grown::default() }
                    }
                    // A model without bounds proves nothing.
                    Err(_) => {
                        let gap = Some(f64::INFINITY);
                        Found { best: start, out, cut_short: true, gap, grown: Grown::default() }
                    }
                }
            }
        };
        (!stop.is_cancelled()).then_some(found)
    }
}

impl fmt::Display for Search {
    /// Its name and its beam, as [`FromStr`] reads them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name(), self.beam().0)
    }
}

impl FromStr for Search {
    type Err = Fault;

    /// A name, or a name and a beam: `prediction`, `prediction:200`.
    fn from_str(text: &str) -> Result<Self, Fault> {
        let (name, beam) = text.split_once(':').map_or((text, None), |(name, beam)| (name, Some(beam)));
        let search = Self::named(name.parse()?);
        let Some(beam) = beam else { return Ok(search) };
        match beam.parse() {
            Ok(beam) if beam > 0 => Ok(search.with_beam(beam)),
            _ => Err(Fault::new(name.len() + 2, format!("{beam:?}"), "a beam: a whole number from 1")),
        }
    }
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The best derivation, its score, and what it cost.
    pub best: Outcome,
    /// Everything that was found, if it was asked for.
    pub out: Option<OutForest>,
    /// Whether a work limit or a deadline was reached, so that the answer is a best effort.
    pub cut_short: bool,
    /// For exact search: how much better than the answer any derivation can be; 0 if it is the optimum.
    pub gap: Option<f64>,
    /// Edges that were made on demand and that the derivations may have: the forest must take them over
    /// ([`TranslationForest::grow`]).
    pub grown: Grown,
}

impl From<Completed> for Found {
    fn from(mut found: Completed) -> Self {
        let (out, cut_short) = (found.out_forest.take(), found.cut_short);
        let grown = std::mem::take(&mut found.grown);
        Self { best: Outcome::from(found), out, cut_short, gap: None, grown }
    }
}

/// The memory of all searches, reused from sentence to sentence; one per thread. `S` is the word model's
/// state, `P` and `V` are those of its pieces.
#[derive(Debug)]
pub struct Workspace<S, P, V> {
    engine: Engine<S>,
    cube: CubePruning<P>,
    refine: Refine<P, V>,
    agenda: Agenda<P>,
}

/// The memory of searches with a certain model.
pub type WorkspaceOf<M> =
    Workspace<<M as LanguageModel>::State, <M as TwoSided>::State, <M as TwoSided>::Shown>;

impl<S: Copy + Eq + Hash, P, V> Default for Workspace<S, P, V> {
    fn default() -> Self {
        Self {
            engine: Engine::default(),
            cube: CubePruning::default(),
            refine: Refine::default(),
            agenda: Agenda::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_are_written_and_read_alike() {
        for name in SearchName::ALL {
            assert_eq!(name.as_str().parse::<SearchName>(), Ok(name));
            let search: Search = name.as_str().parse().expect("a name");
            assert_eq!((search.name(), search.beam()), (name, Beam(name.default_beam())));
            let wide: Search = format!("{name}:7").parse().expect("a name and a beam");
            assert_eq!((wide.name(), wide.beam()), (name, Beam(7)));
            assert_eq!(wide.to_string().parse::<Search>(), Ok(wide));
            assert_eq!(wide, search.with_beam(7));
        }
        assert_eq!(Search::default().to_string(), "cube:500");
        for wrong in ["", "cub", "cube:", "cube:0", "cube:-1", "cube:x", "cube:1:2"] {
            assert!(wrong.parse::<Search>().is_err(), "{wrong}");
        }
    }
}
