//! Rules x input -> translation forest.

mod tree;

pub use tree::{Applier, DefaultRules, match_rules};
