//! The vocabulary of a model: still in memory, or in a compiled file.

use sylvan_base::{Symbol, Vocab};
use sylvan_store::FrozenVocab;

use crate::{UNKNOWN, WordId};

/// Words and their ids; id 0 is the unknown word.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    Memory(Vocab),
    File(FrozenVocab),
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(vocab) => vocab.len(),
            Self::File(vocab) => vocab.len(),
        }
    }

    /// The id of a word, if it is known.
    #[inline]
    pub(crate) fn get(&self, text: &str) -> Option<WordId> {
        let symbol = match self {
            Self::Memory(vocab) => vocab.get(text),
            Self::File(vocab) => vocab.get(text),
        };
        symbol.map(|symbol| WordId(symbol.0))
    }

    /// The text of a word. Ids that do not exist are unknown words.
    pub(crate) fn text(&self, word: WordId) -> &str {
        let text = match self {
            Self::Memory(vocab) => ((word.0 as usize) < vocab.len()).then(|| vocab.text(Symbol(word.0))),
            Self::File(vocab) => vocab.text(Symbol(word.0)),
        };
        text.unwrap_or(UNKNOWN)
    }
}
