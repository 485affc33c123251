//! A structured language model inside left-to-right search: the paper's figures 3 and 4, and every way to use it against
//! all derivations with all their parses.
#![allow(clippy::unwrap_used)]

#[path = "../../../search/tests/common/mod.rs"]
mod common;
mod joint;
mod models;
#[path = "../../../parse/tests/structured/toy.rs"]
mod toy;
