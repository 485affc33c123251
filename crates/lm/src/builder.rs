//! Makes a [`Store`] from n-grams that come shortest first.
//!
//! In a well-formed ARPA file every context and every suffix of an n-gram is an n-gram too. Pruned models break
//! this. The builder repairs it with *blanks*: n-grams whose probability is what backing off gives, and whose
//! back-off weight is 1. They change no score, and with them a query may stop at the first n-gram that is
//! missing.

use sylvan_base::{Id, Vocab};

use crate::store::{Node, Store};
use crate::{BEGIN, END, Lm, UNKNOWN, WordId};

/// Collects the n-grams of one model.
pub(crate) struct Builder {
    pub(crate) vocab: Vocab,
    pub(crate) store: Store,
    /// The n-gram being added, newest word first.
    reversed: Vec<WordId>,
}

/// The n-gram was there already.
#[derive(Debug)]
pub(crate) struct Duplicate;

impl Builder {
    pub(crate) fn new(order: usize) -> Self {
        let mut builder = Self { vocab: Vocab::new(), store: Store::new(order), reversed: Vec::new() };
        // Word 0 is the unknown one whether the file names it or not.
        builder.intern(UNKNOWN);
        builder
    }

    fn intern(&mut self, text: &str) -> WordId {
        let word = WordId(self.vocab.intern(text).0);
        if word.index() == self.store.grams(1).len() {
            self.store.push_word(word);
        }
        word
    }

    /// Adds a 1-gram.
    pub(crate) fn add_word(&mut self, text: &str, prob: f32, backoff: f32) -> Result<WordId, Duplicate> {
        let word = self.intern(text);
        self.state(1, Node(word.0), prob, backoff)?;
        Ok(word)
    }

    /// Adds an n-gram of at least two words, oldest first. All shorter ones of the file must have been added.
    pub(crate) fn add(&mut self, words: &[WordId], prob: f32, backoff: f32) -> Result<(), Duplicate> {
        let mut reversed = std::mem::take(&mut self.reversed);
        reversed.clear();
        reversed.extend(words.iter().rev());
        let node = self.ensure(&reversed);
        self.reversed = reversed;
        self.state(words.len(), node, prob, backoff)
    }

    fn state(&mut self, n: usize, node: Node, prob: f32, backoff: f32) -> Result<(), Duplicate> {
        if self.store.gram(n, node).is_stated() {
            return Err(Duplicate);
        }
        self.store.state(n, node, prob, backoff);
        Ok(())
    }

    /// The node of `words` (newest first), made with all that it needs if it is new. Recursion ends after as many
    /// steps as there are words, at most seven.
    fn ensure(&mut self, words: &[WordId]) -> Node {
        let mut node = Node(words[0].0);
        for n in 2..=words.len() {
            let oldest = words[n - 1];
            node = match self.store.find(n, node, oldest) {
                Some(known) => known,
                None => {
                    let context = self.ensure(&words[1..n]);
                    self.store.mark_context(n - 1, context);
                    let prob = self.store.gram(n - 1, node).prob + self.store.gram(n - 1, context).backoff;
                    self.store.push(n, node, oldest, prob)
                }
            };
        }
        node
    }

    /// Whether the model names this word.
    pub(crate) fn has_word(&self, text: &str) -> bool {
        self.vocab.get(text).is_some_and(|symbol| self.store.gram(1, Node(symbol.0)).is_stated())
    }

    /// The finished model, if it has sentence boundaries. `unknown` is the probability of unknown words in case
    /// the model has none.
    pub(crate) fn finish(mut self, unknown: f32) -> Option<Lm> {
        self.state_unknown(unknown);
        let begin = WordId(self.vocab.get(BEGIN)?.0);
        let end = WordId(self.vocab.get(END)?.0);
        Some(Lm::new(self.vocab, self.store, begin, end))
    }

    /// Settles the unknown word's probability, which must happen before longer n-grams come.
    pub(crate) fn state_unknown(&mut self, unknown: f32) {
        // That it was stated before is the normal case, and then its own probability stays.
        let _ = self.state(1, Node(0), unknown, 0.0);
    }
}
