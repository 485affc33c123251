//! One exception for everything that the library refuses; it knows the place.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use sylvan_base::InputError;
use sylvan_lm::EstimateError;

create_exception!(
    sylvan,
    Error,
    PyException,
    "What the library refuses. The message says what was found, what was expected and what to do; `file` and `line` say \
     where, if that is a place in a file."
);

/// A refusal with its place, if it has one.
pub(crate) struct Refused {
    message: String,
    place: Option<(String, Option<u64>)>,
}

impl Refused {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None }
    }

    /// A setting that cannot be used.
    pub(crate) fn setting(name: &str, found: &str, expected: &str) -> Self {
        Self::new(format!("{name}: found {found}, expected {expected}"))
    }
}

impl From<InputError> for Refused {
    fn from(error: InputError) -> Self {
        let place = match &error {
            InputError::Io { path, .. } | InputError::Format { path, .. } => {
                Some((path.display().to_string(), None))
            }
            InputError::Text { file, line, .. } => Some((file.clone(), Some(*line))),
        };
        Self { message: error.to_string(), place }
    }
}

impl From<sylvan::Error> for Refused {
    fn from(error: sylvan::Error) -> Self {
        match error {
            sylvan::Error::Input(error) => error.into(),
            sylvan::Error::LanguageModel(EstimateError::Input(input)) => {
                let message = format!("the language model: {input}");
                Self { message, ..Self::from(input) }
            }
            other => Self::new(other.to_string()),
        }
    }
}

impl From<EstimateError> for Refused {
    fn from(error: EstimateError) -> Self {
        match error {
            EstimateError::Input(error) => error.into(),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<Refused> for PyErr {
    fn from(refused: Refused) -> Self {
        Python::attach(|py| {
            let error = Error::new_err(refused.message);
            let (file, line) = match refused.place {
                Some((file, line)) => (Some(file), line),
                None => (None, None),
            };
            let value = error.value(py);
            // An exception without its place is still the right exception.
            let _ = value.setattr("file", file);
            let _ = value.setattr("line", line);
            error
        })
    }
}
