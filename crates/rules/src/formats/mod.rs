//! Tables of other toolkits.

mod travatar;
mod write;

pub use travatar::{TravatarReader, TravatarRule, read_travatar};
pub use write::{TextFormat, export};
