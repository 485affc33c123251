//! Dependencies: words put aside, a first guess backwards, transition system and features, relations, attaching what
//! was put aside.

pub(crate) mod aside;
pub(crate) mod attach;
pub(crate) mod features;
pub(crate) mod guess;
pub(crate) mod relations;
pub(crate) mod system;
