//! Rules x input -> translation forest.

mod applier;
mod find;
mod matching;

pub use crate::input::Input;
pub use applier::{Applier, DefaultRules, Origin, SentenceRules, Workspace};
pub use matching::{each_match, match_rules};
