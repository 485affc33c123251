//! Rules x input -> translation forest.

mod affiliation;
mod applier;
mod find;
mod matching;

pub use crate::input::Input;
pub use affiliation::source_leaves;
pub use applier::{Applier, DefaultRules, Origin, SentenceRules, Workspace};
pub use matching::{each_match, match_rules};
