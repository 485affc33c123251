//! Searches: the best derivation of a translation forest under a language model.
//!
//! ```text
//! TranslationForest + LanguageModel --brute_force | cube_pruning | refine | undirected | incremental | prediction--> Outcome
//!                                                                            (derivation, score, counters)
//! TranslationForest + what another order costs --stacks--> Outcome (a chain of phrases)
//! TranslationForest + LanguageModel with bounds --exact--> Certified (Outcome, upper bound, whether they meet)
//! ```
//!
//! All searches maximise the same thing, the sum of the edges' own scores and the language model's score of
//! `<s> words </s>`; with unlimited beams all return the same optimum, which is how they are tested.
//!
//! *Useful for* translating once there is a forest. *Not useful for* making forests: this crate knows no
//! grammar, tree or file.
//!
//! ```
//! use sylvan_base::{Span, Symbol};
//! use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef};
//! use sylvan_search::{Beam, Future, NoLanguageModel, incremental};
//! let rule = RuleRef { layer: Layer::Grammar, id: 0 };
//! let mut builder = ForestBuilder::new();
//! let top = builder.vertex(1, Span::new(0, 1));
//! builder.edge(EdgeSpec { rule, score: -0.7, nodes: 1, hash: 1 }, &[Part::word(Symbol(3))]);
//! let forest = builder.finish(top);
//! let found = incremental(&forest, &NoLanguageModel, Beam::UNLIMITED, Future::Inside).expect("one derivation");
//! assert_eq!(found.score, -0.7);
//! ```

mod boundary_words;
mod brute_force;
mod chart;
mod cube_pruning;
mod deduction;
mod engine;
mod estimate;
mod exact;
mod focus;
mod incremental;
mod k_best;
mod language_model;
mod neighbours;
mod options;
mod orientation;
mod out_forest;
mod outcome;
mod prediction;
mod refine;
mod said;
mod search;
mod stacks;
mod step_model;
mod stop;
mod total;
mod trace;
mod two_sided;
mod undirected;

pub use boundary_words::{Boundary, BoundaryWords, ShownBoundary};
pub use brute_force::{Derivations, brute_force};
pub use chart::{BoundaryEstimate, Chart, Losers, Way};
pub use cube_pruning::{Cube, CubePruning, cube_pruning};
pub use deduction::{
    Application, Charge, Choice, ClassId, Deduction, EdgeOrder, ItemId, ListId, Successor, Worth,
};
pub use engine::{Completed, Engine, Goals, Limits, Network, OnVisit, Run, Visit, Ways};
pub use estimate::{Estimate, inside_estimate};
pub use exact::{Certified, Effort, NoBounds, Round, exact};
pub use incremental::{
    Future, Incremental, Progress, Signature, Step, TopDown, incremental, incremental_traced,
    search as incremental_search,
};
pub use k_best::KBest;
pub use language_model::{Bounds, Horizon, LanguageModel, NoLanguageModel};
pub use neighbours::Neighbours;
pub use orientation::{Late, OrientedStep, Recent, oriented};
pub use out_forest::{OutArc, OutForest, OutForestBuilder, Words};
pub use outcome::{Beam, Counters, Outcome, rescore};
pub use prediction::{
    Bundle, Prediction, PredictionStep, PredictionTables, PrefixId, prediction, prediction_traced,
    search as prediction_search,
};
pub use refine::{Refine, refine};
pub use said::Said;
pub use search::{Found, Search, SearchName, Workspace, WorkspaceOf};
pub use stacks::{PhraseBased, Placed, StackStep, Stacks, placed, search as stack_search, stacks};
pub use step_model::{Move, Part, StepModel, StepModels, StepState, replay};
pub use stop::Stop;
pub use trace::TraceItem;
pub use two_sided::{Mark, Side, TwoSided};
pub use undirected::{Agenda, Missing, Parents, Pop, Undirected, undirected, undirected_traced};
