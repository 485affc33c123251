//! Undirected search: one queue over the items of all vertices, in whatever order promises most.
//!
//! Gesmundo & Henderson 2011.
//!
//! ```text
//! complete   <e; u1 .. um>    an edge with an item for every tail; what is missing is its parent
//! partial    <e; u1, _>       with a hole: one tail is missing as well
//!
//! take the best candidate of all vertices by
//!     H = score + what the language model changes where parts meet + what is expected of what is missing
//! partial   it is the context of its hole: candidates for the hole are estimated as if they filled it
//! complete  an item of the out-forest, whose score is the ordinary bottom-up one;
//!           new candidates: each edge that it is a tail of, with all items of the other tails, and with a hole
//! ```
//!
//! Each vertex takes at most `beam` complete and as many partial candidates. As there is no order from the bottom up, items
//! may improve after others were built on them: the scores of the out-forest are computed once more at the end.
//!
//! | here | paper |
//! |---|---|
//! | `beam` | k |
//! | [`Parents::All`] | its figure 1; its algorithm 1 as printed is [`Parents::New`], which cannot do it |
//! | [`Missing`] | g, the function of the context's length |
//! | `bounded`, `slack`, `enough` | not there: one queue without bounds |
//!
//! In the paper rules have at most two tails. With more, a partial item has one hole as well.
//!
//! Of n candidates for a place that can take n more, no other can be taken before them, so the queue is *bounded* without
//! changing anything, except where estimates change while candidates wait ([`Parents::All`]): then four times as many
//! may. With *slack*, the language model is asked only about candidates whose turn has come by a rough estimate: their
//! parts, and the slack for every place where two of them meet.

mod agenda;
mod candidates;
mod combinations;
mod explorer;
mod missing;
mod queue;
mod yields;

use sylvan_forest::{EdgeId, TokenId, TranslationForest, VertexId};

use crate::stop::Stop;
use crate::{Beam, Outcome, TwoSided};
pub use agenda::Agenda;
pub use missing::Missing;

/// What partial items do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parents {
    /// There are none.
    None,
    /// The best is the context of candidates that are made after it (the paper's algorithm as printed).
    New,
    /// Of those that wait already, too (as in its figure 1).
    All,
}

/// The settings of undirected search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undirected {
    /// Complete candidates taken per vertex, those that recombine included; and as many partial ones.
    pub beam: Beam,
    /// What partial items do.
    pub parents: Parents,
    /// What is expected of what is missing.
    pub missing: Missing,
    /// Whether candidates that could not be taken any more are dropped.
    pub bounded: bool,
    /// What the language model is expected to change where two parts meet, before it is asked: the mean of what it changed so
    /// far, and so many thousandths of the standard deviation. With `u32::MAX` all combinations are made, and it is asked
    /// about them, at once.
    pub slack: u32,
    /// Whether vertices that promise less take fewer candidates (`focus.rs`).
    pub focus: bool,
    /// The search ends when so many translations of the sentence were taken.
    pub enough: usize,
}

impl Undirected {
    /// The usual settings for a beam.
    pub fn new(beam: Beam) -> Self {
        Self {
            beam,
            parents: Parents::None,
            missing: Missing::default(),
            bounded: true,
            slack: 1500,
            focus: true,
            enough: usize::MAX,
        }
    }

    /// The paper's, with half a nat for each missing word.
    pub fn paper(beam: Beam) -> Self {
        Self {
            beam,
            parents: Parents::All,
            missing: Missing::per_word(-0.5),
            bounded: false,
            slack: u32::MAX,
            focus: false,
            enough: usize::MAX,
        }
    }

    fn is_lazy(&self) -> bool {
        self.slack < u32::MAX
    }

    fn slack(&self) -> f64 {
        if self.is_lazy() { f64::from(self.slack) * 1e-3 } else { 0.0 }
    }
}

/// The best derivation that undirected search finds; `None` if the forest has none. Without a beam it is exact.
pub fn undirected<M: TwoSided>(forest: &TranslationForest, lm: &M, config: Undirected) -> Option<Outcome> {
    Agenda::default().search(forest, lm, config, &Stop::NEVER, None)
}

/// The same, and every candidate that is taken is shown.
pub fn undirected_traced<M: TwoSided>(
    forest: &TranslationForest,
    lm: &M,
    config: Undirected,
    on_pop: &mut dyn FnMut(&Pop),
) -> Option<Outcome> {
    Agenda::default().search(forest, lm, config, &Stop::NEVER, Some(on_pop))
}

/// What was taken from the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Pop {
    /// H, the estimate of the whole.
    pub estimate: f64,
    /// The score of what is known.
    pub score: f64,
    /// Where it belongs; `None` is the whole sentence.
    pub vertex: Option<VertexId>,
    /// Its words; `None` is the hole.
    pub words: Vec<Option<TokenId>>,
    /// The rules below it, tails first.
    pub edges: Vec<EdgeId>,
    /// Whether it is a new item, not one more way to have an old one.
    pub fresh: bool,
    /// How many candidates waited, itself included.
    pub waiting: usize,
}
