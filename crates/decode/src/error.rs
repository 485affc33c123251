//! What can go wrong between a model file and a translation.

use sylvan_base::{Fault, InputError};

/// Why there is no translation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, or a line of the input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A pattern of what is to be kept as it is.
    #[error("{0}")]
    Pattern(Fault),
    /// No language model was given.
    #[error("found no language model, expected at least one; give it with --lm")]
    NoLanguageModel,
    /// Text is given to a model without a parser.
    #[error(
        "found a model without a parser, expected trees; give them with --input tree, or train with a parser"
    )]
    NoParser,
    /// The request was cancelled.
    #[error("the translation was cancelled")]
    Cancelled,
    /// A smaller model was asked for than there can be.
    #[error("found {needed} bytes beside the rules, expected at most {size}; {advice}")]
    TooSmall {
        /// What is there without any rule.
        needed: u64,
        /// What was asked for.
        size: u64,
        /// What the user can do.
        advice: &'static str,
    },
    /// The language model of a smaller model.
    #[error("the language model: {0}")]
    LanguageModel(#[from] sylvan_lm::EstimateError),
}

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;
