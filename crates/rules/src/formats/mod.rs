//! Tables of other toolkits.

mod travatar;
mod write;

pub(crate) use travatar::parse_count_line;
pub use travatar::{TravatarReader, TravatarRule, read_travatar};
pub(crate) use write::count_line;
pub use write::{TextFormat, export};
