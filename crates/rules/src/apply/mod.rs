//! Rules x input -> translation forest.

mod applier;
mod input;
mod matching;

pub use applier::{Applier, DefaultRules, Workspace};
pub use input::Input;
pub use matching::match_rules;
