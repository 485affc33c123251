//! Dependencies: words put aside and attached again, a first guess backwards, transition system and features,
//! relations.

pub(crate) mod aside;
pub(crate) mod attach;
pub(crate) mod features;
pub(crate) mod guess;
pub(crate) mod relations;
pub(crate) mod system;
