//! Word models: language models over the words of one sentence, one or several.
//!
//! ```text
//! opening   WordModel   an n-gram model, and its ids of all words in the model's vocabulary
//! sentence  Ngram       the model over the sentence's tokens, with its weight
//!           Several     any number of them side by side, as one model
//!           structured  a model of the tree that words build, for left-to-right search
//!           neural      a network that reads the source, for whole translations
//! ```

pub(crate) mod neural;
mod ngram;
mod several;
pub(crate) mod structured;

use sylvan_base::{Id, Vocab};
use sylvan_forest::Token;
use sylvan_lm::{Lm, WordId};

pub use ngram::Ngram;
pub(crate) use several::{Memory, Several};

/// An n-gram model and the ids of all words of a vocabulary in it, looked up once.
#[derive(Debug)]
pub(crate) struct WordModel {
    lm: Lm,
    ids: Vec<WordId>,
}

impl WordModel {
    pub(crate) fn new(lm: Lm, vocab: &Vocab) -> Self {
        let ids = vocab.iter().map(|(_, text)| word(&lm, text)).collect();
        Self { lm, ids }
    }

    /// The ids of a sentence's tokens, in their order. Words beyond the model's vocabulary are looked up by
    /// their text.
    pub(crate) fn sentence_ids(&self, tokens: &[Token], vocab: &Vocab, out: &mut Vec<WordId>) {
        out.clear();
        out.extend(tokens.iter().map(|token| match self.ids.get(token.word.index()) {
            Some(&id) => id,
            None => word(&self.lm, vocab.text(token.word)),
        }));
    }

    pub(crate) fn over<'s>(&'s self, ids: &'s [WordId], weight: f64) -> Ngram<'s> {
        Ngram::new(&self.lm, ids, weight)
    }
}

/// What a model calls a word of a translation. The marks of a sentence's begin and end are no words: where a text
/// holds them, they are words that the model does not know.
fn word(lm: &Lm, text: &str) -> WordId {
    let id = lm.word(text);
    if id == lm.begin_word() || id == lm.end_word() { lm.word("<unk>") } else { id }
}
