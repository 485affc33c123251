//! Tuning against slow twins that are written from the definitions: scans of all intervals, lists of all derivations,
//! learners step by step; and whole runs.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod forests;
mod learners;
mod lines;
mod metrics;
mod pictures;
mod problem;
mod rounds;
mod tolerances;
mod training;
