//! Errors about input: where, what was found, what was expected, what to do.

use std::fmt;
use std::path::PathBuf;

use crate::limits::shorten;

/// The result of anything that reads user input.
pub type Result<T> = std::result::Result<T, InputError>;

/// What is wrong with one piece of text, before it is known which file and line it came from.
///
/// Parsers of single lines return a `Fault`; the reader that feeds them adds the place with [`Fault::at`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// 1-based character column, or 0 when the whole line is meant.
    pub column: usize,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// What the user can do about it; may be empty.
    pub advice: String,
}

impl Fault {
    /// A fault at a 1-based character column (0: the whole line). What is long is cut: it is for people to read.
    pub fn new(column: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        let [found, expected] = [found.into(), expected.into()].map(|text: String| shorten(&text));
        Self { column, found, expected, advice: String::new() }
    }

    /// A fault at a byte offset of `line`; the column counts characters, as editors do.
    pub fn at_byte(line: &str, byte: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        let column = line.char_indices().take_while(|&(at, _)| at < byte).count() + 1;
        Self::new(column, found, expected)
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// Adds the place: file name and 1-based line.
    pub fn at(self, file: impl Into<String>, line: u64) -> InputError {
        InputError::Text { file: file.into(), line, fault: Box::new(self) }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        if !self.advice.is_empty() {
            write!(f, "; {}", self.advice)?;
        }
        Ok(())
    }
}

/// Input that cannot be used, with its place.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file, `-` for standard input or output.
        path: PathBuf,
        /// The verb: "open", "read", "write".
        action: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{file}:{line}{}: {fault}", column_suffix(.fault))]
    Text {
        /// File name as the user gave it.
        file: String,
        /// 1-based line.
        line: u64,
        /// What is wrong.
        fault: Box<Fault>,
    },
    /// A binary file is not what it should be.
    #[error("{}: found {}, expected {expected}; {advice}", path.display(), shorten(found))]
    Format {
        /// The file.
        path: PathBuf,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
        /// What the user can do.
        advice: String,
    },
}

fn column_suffix(fault: &Fault) -> String {
    if fault.column == 0 { String::new() } else { format!(":{}", fault.column) }
}

impl InputError {
    /// An operating-system error, in a form that `map_err` takes.
    pub fn io(path: impl Into<PathBuf>, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, action, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_located_error_reads_file_line_column_found_expected_advice() {
        let fault = Fault::at_byte("新 )", 4, "')'", "a word").advise("balance the brackets");
        let text = fault.at("train.tree", 12).to_string();
        assert_eq!(text, "train.tree:12:3: found ')', expected a word; balance the brackets");
    }

    #[test]
    fn long_input_is_cut_in_messages() {
        let long = "x".repeat(10_000_000);
        let text = Fault::new(1, format!("{long:?}"), format!("the word {long}")).at("w", 1).to_string();
        assert!(text.len() < 500, "{} bytes", text.len());
        assert!(text.starts_with("w:1:1: found \"xxx") && text.contains("more bytes"), "{text}");
        let (path, advice) = (PathBuf::from("m"), "copy it again".to_string());
        let text = InputError::Format { path, found: long, expected: "y".into(), advice }.to_string();
        assert!(text.len() < 500 && text.ends_with("expected y; copy it again"), "{} bytes", text.len());
    }

    #[test]
    fn column_zero_means_the_whole_line() {
        let text = Fault::new(0, "2 fields", "10").at("a.conllu", 3).to_string();
        assert_eq!(text, "a.conllu:3: found 2 fields, expected 10");
    }
}
