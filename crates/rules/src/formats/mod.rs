//! Tables of other toolkits.

mod travatar;

pub use travatar::{TravatarReader, TravatarRule, read_travatar};
