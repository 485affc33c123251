//! Rules x input -> translation forest.

mod applier;
mod find;
mod input;
mod matching;

pub use applier::{Applier, DefaultRules, Origin, SentenceRules, Workspace};
pub use input::Input;
pub use matching::match_rules;
pub(crate) use matching::matching_sources;
