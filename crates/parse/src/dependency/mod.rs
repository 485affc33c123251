//! Dependencies: words put aside and attached again, a first guess backwards, transition system and features,
//! relations; and a parser that is fed word by word.

pub(crate) mod aside;
pub(crate) mod attach;
pub(crate) mod features;
pub(crate) mod guess;
pub(crate) mod incremental;
pub(crate) mod relations;
pub(crate) mod system;
