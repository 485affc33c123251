//! Constituents: labels, transition system, features, and trees to actions and back.

mod features;
pub(crate) mod labels;
pub(crate) mod oracle;
pub(crate) mod system;
