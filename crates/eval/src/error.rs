//! What cannot be scored.

/// Why there is no score.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A reference file and the translation differ in length.
    #[error("found {found} lines in reference {stream}, expected {expected} as in the translation")]
    Lines {
        /// Which reference, counted from 1.
        stream: usize,
        /// How many lines it has.
        found: usize,
        /// How many lines the translation has.
        expected: usize,
    },
    /// A line is longer than the metric can compare in reasonable time and memory.
    #[error(
        "found {words} words in line {line}, expected at most {most} for {metric}; put one sentence on each line"
    )]
    Long {
        /// The line, counted from 1.
        line: usize,
        /// How many words it has, in the translation or in a reference.
        words: usize,
        /// How many the metric takes.
        most: usize,
        /// The metric.
        metric: String,
    },
    /// There is nothing to compare with.
    #[error("found no reference, expected at least one")]
    NoReference,
    /// There is nothing to score.
    #[error("found no lines in the translation, expected at least one")]
    NoSentence,
    /// A setting does not take this value.
    #[error("found {setting} {found:?}, expected {expected}")]
    Setting {
        /// Which setting.
        setting: &'static str,
        /// What was asked for.
        found: String,
        /// What there is.
        expected: &'static str,
    },
}
