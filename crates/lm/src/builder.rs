//! Makes a model from n-grams that come shortest first.
//!
//! In a well-formed ARPA file every context and every suffix of an n-gram is an n-gram too. Pruned models break
//! this. The builder repairs it with *blanks*: n-grams whose probability is what backing off gives, and whose
//! back-off weight is 1. They change no score, and with them a query may stop at the first n-gram that is
//! missing.

use sylvan_base::Vocab;

use crate::hash::Gram;
use crate::layout::NO_CONTEXT;
use crate::store::Store;
use crate::{BEGIN, END, Lm, UNKNOWN, WordId};

/// Collects the n-grams of one model.
pub(crate) struct Builder {
    pub(crate) vocab: Vocab,
    pub(crate) store: Store,
    unknown_is_stated: bool,
    /// The context that was linked last: n-grams of one context usually come one after the other.
    linked: Vec<WordId>,
}

/// The n-gram was already there.
#[derive(Debug)]
pub(crate) struct Duplicate;

impl Builder {
    /// A builder of a model with n-grams of up to `order` words, which it lists or not.
    pub(crate) fn new(order: usize, list: bool) -> Self {
        let (vocab, store) = (Vocab::new(), Store::new(order, list));
        let mut builder = Self { vocab, store, unknown_is_stated: false, linked: Vec::new() };
        // Word 0 is the unknown one whether the file names it or not.
        builder.vocab.intern(UNKNOWN);
        builder.store.set_word(WordId(0), Gram::new(0.0, NO_CONTEXT));
        builder
    }

    /// The weights as they are kept. The longest n-grams are no contexts, whatever is stated behind them.
    fn gram(&self, n: usize, prob: f32, backoff: f32) -> Gram {
        let plain = backoff == 0.0 || n == self.store.order();
        Gram::new(prob, if plain { NO_CONTEXT } else { backoff })
    }

    /// Adds a 1-gram.
    pub(crate) fn add_word(&mut self, text: &str, prob: f32, backoff: f32) -> Result<WordId, Duplicate> {
        let word = WordId(self.vocab.intern(text).0);
        let is_new = word.0 as usize == self.store.words();
        if !is_new && (word.0 != 0 || self.unknown_is_stated) {
            return Err(Duplicate);
        }
        self.unknown_is_stated |= word.0 == 0;
        self.store.set_word(word, self.gram(1, prob, backoff));
        Ok(word)
    }

    /// Adds an n-gram of at least two words, oldest first. All shorter ones of the file must have been added.
    pub(crate) fn add(&mut self, words: &[WordId], prob: f32, backoff: f32) -> Result<(), Duplicate> {
        self.link(words);
        let gram = self.gram(words.len(), prob, backoff);
        if !self.store.insert(words, gram, true) {
            return Err(Duplicate);
        }
        if gram.backoff != 0.0 {
            // Weights without n-grams that continue them are odd but allowed; then a shorter history must be
            // remembered for the sake of the longer ones that end in it.
            self.store.mark_context(&words[1..]);
        }
        Ok(())
    }

    /// Makes sure that the suffix and the context of an n-gram are there and know about it.
    fn link(&mut self, words: &[WordId]) {
        let (suffix, context) = (&words[1..], &words[..words.len() - 1]);
        if self.store.change(suffix, |gram| gram.grows_left = true).is_none() {
            self.blank(suffix);
            self.store.change(suffix, |gram| gram.grows_left = true);
        }
        if self.linked == context {
            return;
        }
        if !self.store.has(context) {
            self.blank(context);
        }
        self.store.mark_context(context);
        self.linked.clear();
        self.linked.extend_from_slice(context);
    }

    /// Adds a blank with all that it needs. Recursion ends after as many steps as there are words, at most seven.
    fn blank(&mut self, words: &[WordId]) {
        self.link(words);
        let shorter = self.store.gram(&words[1..]).map_or(0.0, |gram| gram.prob);
        let backoff = self.store.gram(&words[..words.len() - 1]).map_or(0.0, |gram| gram.backoff);
        // This may be above 0 where a weight is above 1; it is what backing off gives.
        self.store.insert(words, Gram::new(shorter + backoff, NO_CONTEXT), false);
    }

    /// Whether the model names this word.
    pub(crate) fn has_word(&self, text: &str) -> bool {
        self.vocab.get(text).is_some_and(|symbol| symbol.0 != 0 || self.unknown_is_stated)
    }

    /// The finished model, if it has sentence boundaries. `unknown` is the probability of unknown words in case
    /// the model has none.
    pub(crate) fn finish(mut self, unknown: f32) -> Option<Lm> {
        self.state_unknown(unknown);
        let begin = WordId(self.vocab.get(BEGIN)?.0);
        let end = WordId(self.vocab.get(END)?.0);
        Some(Lm::from_store(self.vocab, self.store, begin, end))
    }

    /// Settles the unknown word's probability, which must happen before longer n-grams come.
    pub(crate) fn state_unknown(&mut self, unknown: f32) {
        if !self.unknown_is_stated {
            self.unknown_is_stated = true;
            self.store.change(&[WordId(0)], |gram| gram.prob = unknown);
        }
    }
}
