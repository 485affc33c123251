//! From two texts to a model file.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use sylvan::Config;

use crate::errors::Refused;
use crate::running::run;

/// What training made.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Trained {
    /// The model file.
    #[pyo3(get)]
    path: PathBuf,
    scores: Vec<(String, f64)>,
    /// What the scores mean, in sentences.
    #[pyo3(get)]
    verdict: Vec<String>,
    /// Where intermediate files and the report are.
    #[pyo3(get)]
    work: PathBuf,
}

#[pymethods]
impl Trained {
    /// Names and scores: `dev.bleu`, `holdout.bleu`.
    #[getter]
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, score) in &self.scores {
            all.set_item(name, score)?;
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        format!("Trained({:?})", self.path.display().to_string())
    }
}

/// A setting as the configuration has it.
fn value(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = given.cast::<pyo3::types::PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(number) = given.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = given.extract::<f64>() {
        return Ok(number.into());
    }
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(path.to_string_lossy().into_owned().into());
    }
    let items = given.try_iter()?.map(|item| value(&item?)).collect::<PyResult<Vec<_>>>()?;
    Ok(items.into())
}

/// Trains a model. Settings are those of the program `sylvan train`, with _ for -.
///
/// What was done before in the same place is not done again, so training that was interrupted goes on.
#[pyfunction]
#[pyo3(signature = (*, source, target, out, on_progress=None, **settings))]
pub(crate) fn train(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    out: PathBuf,
    on_progress: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Trained> {
    let mut all = Map::new();
    for (name, path) in [("source", &source), ("target", &target), ("out", &out)] {
        all.insert(name.to_string(), path.to_string_lossy().into_owned().into());
    }
    for (name, given) in settings.into_iter().flatten() {
        let name: String = name.extract()?;
        let given = value(&given)?;
        if !given.is_null() {
            all.insert(name.replace('_', "-"), given);
        }
    }
    let config: Config = serde_json::from_value(Value::Object(all))
        .map_err(|error| Refused::new(format!("settings: {error}")))?;
    run(py, on_progress, |reporter| {
        let outcome = sylvan::train(&config, reporter, &mut |line| reporter.say(line))?;
        Ok(Trained { path: out, scores: outcome.scores, verdict: outcome.verdict, work: outcome.work })
    })
}
