//! Small clients of the public traits, one per family of decoders: a reordering model,
//! phrase-based search. Each is checked against figures of its
//! paper or against brute force, and returns whole derivations whose features replay to their scores.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod orientation;
mod phrases;

use sylvan_forest::{EdgeSpec, Layer, RuleRef};

fn spec(id: u32, score: f64) -> EdgeSpec {
    EdgeSpec { rule: RuleRef { layer: Layer::Grammar, id }, score, nodes: 1, hash: u64::from(id) + 1 }
}
