//! The built-in corpus.

use pyo3::prelude::*;
use sylvan_sample::{Config, Sampler, Workspace};

use crate::errors::Refused;
use crate::running::run;

/// More would not fit into memory.
const MOST: u64 = 10_000_000;

/// Sentences of the built-in grammar: Chinese words, their English translation, the tree of the Chinese ones.
#[pyfunction]
#[pyo3(signature = (pairs=1000, *, seed=1, first=0))]
pub(crate) fn sample(
    py: Python<'_>,
    pairs: u64,
    seed: u64,
    first: u64,
) -> PyResult<Vec<(String, String, String)>> {
    if pairs > MOST {
        return Err(Refused::setting("pairs", &pairs.to_string(), &format!("at most {MOST}")).into());
    }
    run(py, None, |reporter| {
        let sampler = Sampler::new(Config { seed, ..Config::default() })
            .map_err(|error| Refused::new(error.to_string()))?;
        let mut workspace = Workspace::new();
        let made = (0..pairs).map(|index| {
            reporter.look();
            let mut pair = sampler.pair(first.wrapping_add(index), &mut workspace);
            (pair.source(), pair.target(), pair.source_tree())
        });
        Ok(made.collect())
    })
}
