//! The machine that all parsers here share: transition systems, features, beam search, perceptron.
//!
//! ```text
//! System + Sentence --keys--> features --Weights--> scores of all actions --beam--> next states
//!                                          ^
//! gold actions --learn (violations)--------+        Table (training) --average--> Rows (in a file)
//! ```

pub(crate) mod average;
pub(crate) mod beam;
pub(crate) mod codes;
pub(crate) mod features;
pub(crate) mod learn;
pub(crate) mod merge;
pub(crate) mod rows;
pub(crate) mod system;
pub(crate) mod table;

pub(crate) use beam::Search;
pub(crate) use features::Templates;
pub(crate) use learn::{Example, LearnConfig, learn};
pub(crate) use rows::Rows;
pub(crate) use system::{ActionSet, Effect, System, View};
