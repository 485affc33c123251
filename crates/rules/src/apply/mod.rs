//! Rules x input -> translation forest.

mod affiliation;
mod alone;
mod applier;
mod applying;
mod chart;
mod find;
mod left_to_right;
mod matching;
mod sentences;

pub use crate::input::Input;
pub use affiliation::source_leaves;
pub use alone::each_alone;
pub use applier::{Applier, Origin, SentenceRules, Workspace};
pub use applying::{Applying, ChartLimits, Coverage, DefaultRules, Outlook};
pub use chart::{PHRASE, SENTENCE};
pub use matching::{each_match, match_rules};
