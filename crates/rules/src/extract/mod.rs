//! Learning rules from trees, target words and word links.

mod ghkm;

pub use ghkm::{Extracted, LinkOutOfRange, minimal_rules};
