//! The target words of one sentence.

use std::hash::{Hash, Hasher};

use sylvan_base::{Symbol, define_id};

define_id!(
    /// A target word of one forest. Ids are dense, so that what a model knows about a word is looked up in an array as
    /// long as the sentence needs, whatever the size of the vocabulary.
    TokenId
);

/// A target word and the source word that it is affiliated with.
///
/// The affiliation is part of the word: models that look at the source around it may score the same word
/// differently in two places, so bundles are equal only if their tokens are. If no model asks for it, there
/// is none, and equal words are equal tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The word.
    pub word: Symbol,
    /// A position in the sentence, counted from 0.
    pub source: Option<u32>,
}

impl From<Symbol> for Token {
    fn from(word: Symbol) -> Self {
        Self { word, source: None }
    }
}

impl Hash for Token {
    /// One number, because forests hash every word of every edge.
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let source = self.source.unwrap_or(u32::MAX);
        hasher.write_u64(u64::from(self.word.0) << 32 | u64::from(source));
    }
}
