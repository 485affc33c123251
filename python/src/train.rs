//! From two texts to a model file.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};
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

/// A setting as the configuration has it: one value, or a list of them.
fn value(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    // Nothing else that can be gone through is a list: it may never end, or contain itself.
    if let Ok(list) = given.cast::<PyList>() {
        return Ok(list.iter().map(|item| single(&item)).collect::<PyResult<Vec<_>>>()?.into());
    }
    if let Ok(tuple) = given.cast::<PyTuple>() {
        return Ok(tuple.iter().map(|item| single(&item)).collect::<PyResult<Vec<_>>>()?.into());
    }
    single(given)
}

fn single(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.extract::<String>()?.into());
    }
    if let Ok(number) = given.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = given.extract::<f64>() {
        // JSON has no others.
        return match Number::from_f64(number) {
            Some(number) => Ok(number.into()),
            None => Err(Refused::setting("settings", &number.to_string(), "a finite number").into()),
        };
    }
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(path.to_string_lossy().into_owned().into());
    }
    Err(PyTypeError::new_err("a setting is a string, a path, a number, a bool or a list of those"))
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
