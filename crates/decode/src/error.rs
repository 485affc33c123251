//! The one error type of training and translating.

use sylvan_base::{Fault, InputError};

/// Why something could not be done. Messages name the place, what was found, what was expected and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, or a line of the input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The request was cancelled.
    #[error("the translation was cancelled")]
    Cancelled,
    /// Text was given to a model without a parser.
    #[error(
        "found a model without a parser, expected trees; give them with --input tree, or train with a parser"
    )]
    NoParser,
    /// No language model was given.
    #[error("found no language model, expected at least one; give it with --lm")]
    NoLanguageModel,
    /// A bad pattern for text that is to be kept as it is.
    #[error("{0}")]
    Pattern(Fault),
    /// The size asked for is too small for any model.
    #[error("found {needed} bytes besides the rules, expected at most {size}; {advice}")]
    TooSmall {
        /// The size without any rules.
        needed: u64,
        /// What was asked for.
        size: u64,
        /// What the user can do.
        advice: String,
    },
    /// A training setting, or the content of a file as a whole.
    #[error("{what}: found {found}, expected {expected}{}", advice_suffix(.advice))]
    Setting {
        /// Which.
        what: String,
        /// What was given.
        found: String,
        /// What would be accepted.
        expected: String,
        /// What the user can do.
        advice: String,
    },
    /// Learning a parser.
    #[error("the treebank: {0}")]
    Parser(#[from] sylvan_parse::TrainError),
    /// Learning a language model.
    #[error("the language model: {0}")]
    LanguageModel(#[from] sylvan_lm::EstimateError),
    /// Measuring.
    #[error(transparent)]
    Scores(Box<dyn std::error::Error + Send + Sync>),
}

fn advice_suffix(advice: &str) -> String {
    if advice.is_empty() { String::new() } else { format!("; {advice}") }
}

impl Error {
    /// A setting that cannot be used.
    pub fn setting(what: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        let (what, found, expected) = (what.into(), found.into(), expected.into());
        Self::Setting { what, found, expected, advice: String::new() }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn advise(self, text: &str) -> Self {
        match self {
            Self::Setting { what, found, expected, .. } => {
                Self::Setting { what, found, expected, advice: text.to_string() }
            }
            other => other,
        }
    }
}

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;
