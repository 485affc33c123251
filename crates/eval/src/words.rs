//! From lines to symbols.

use std::borrow::Cow;

use sylvan_base::{Symbol, Vocab};

use crate::Tokenizer;
use crate::tokenize::Scratch;

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Case {
    /// They do.
    #[default]
    Mixed,
    /// Both sides are lower-cased first.
    Lower,
}

impl Case {
    /// The name in signatures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Lower => "lc",
        }
    }

    pub(crate) fn apply(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Mixed => Cow::Borrowed(line),
            Self::Lower => Cow::Owned(line.to_lowercase()),
        }
    }
}

/// Turns lines into symbols of one growing vocabulary.
#[derive(Debug, Default)]
pub(crate) struct Words {
    vocab: Vocab,
    scratch: Scratch,
    /// The words of the references of the current line, one list per reference.
    pub(crate) references: Vec<Vec<Symbol>>,
    /// The words of the current translation.
    pub(crate) hypothesis: Vec<Symbol>,
}

impl Words {
    /// Fills the lists with the words of a line and its references.
    pub(crate) fn read(&mut self, tokenizer: Tokenizer, case: Case, hypothesis: &str, references: &[&str]) {
        let Self { vocab, scratch, references: lists, hypothesis: list } = self;
        let mut read = |line: &str, out: &mut Vec<Symbol>| {
            let line = case.apply(line);
            out.clear();
            out.extend(tokenizer.words(&line, scratch).map(|word| vocab.intern(word)));
        };
        lists.resize_with(references.len(), Vec::new);
        for (line, out) in references.iter().zip(lists) {
            read(line, out);
        }
        read(hypothesis, list);
    }
}
