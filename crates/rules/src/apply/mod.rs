//! Rules x input -> translation forest.

mod affiliation;
mod applier;
mod find;
mod input;
mod matching;

pub use affiliation::source_leaves;
pub use applier::{Applier, DefaultRules, Origin, SentenceRules, Workspace};
pub use input::Input;
pub(crate) use matching::matching_sources;
pub use matching::{each_match, match_rules};
