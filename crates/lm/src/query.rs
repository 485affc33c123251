//! The model and its left-to-right queries.

use std::sync::Arc;

use sylvan_base::Vocab;
use sylvan_store::Container;

use crate::MAX_ORDER;
use crate::beside::{Bounds, RestCosts};
use crate::classes::Classes;
use crate::hash::HashLayout;
use crate::layout::Layout;
use crate::state::{State, WordId};
use crate::store::{List, Store};
use crate::trie::TrieLayout;
use crate::walk::{announced_walk, begin_state};
use crate::words::{Classed, Words};

/// The n-grams in one of the layouts.
#[derive(Debug, Clone)]
pub(crate) enum AnyLayout {
    Hash(HashLayout),
    Trie(TrieLayout),
}

/// Runs the same code for each layout.
macro_rules! with_layout {
    ($any:expr, $layout:ident => $body:expr) => {
        match $any {
            $crate::query::AnyLayout::Hash($layout) => $body,
            $crate::query::AnyLayout::Trie($layout) => $body,
        }
    };
}
pub(crate) use with_layout;

/// A back-off n-gram model. Immutable; clones share their content.
#[derive(Clone)]
pub struct Lm {
    pub(crate) words: Arc<Words>,
    pub(crate) layout: AnyLayout,
    /// How many n-grams of each length the model states.
    pub(crate) counts: [u64; MAX_ORDER],
    /// The words of all n-grams, in models that were not compiled.
    pub(crate) list: Option<Arc<List>>,
    pub(crate) bounds: Option<Bounds>,
    pub(crate) rest: Option<Arc<RestCosts>>,
    /// The compiled file.
    pub(crate) file: Option<Arc<Container>>,
    begin: State,
    begin_word: WordId,
    end: WordId,
}

impl Lm {
    pub(crate) fn from_store(vocab: Vocab, store: Store, begin: WordId, end: WordId) -> Self {
        let order = store.order();
        let (layout, list) = store.finish();
        let mut counts = [0; MAX_ORDER];
        counts[0] = vocab.len() as u64;
        for n in 2..=order {
            counts[n - 1] = list.stated(n) as u64;
        }
        let mut lm = Self::new(Words::Memory(vocab), AnyLayout::Hash(layout), counts, begin, end);
        lm.list = Some(Arc::new(list));
        lm
    }

    pub(crate) fn new(
        words: Words,
        layout: AnyLayout,
        counts: [u64; MAX_ORDER],
        begin_word: WordId,
        end: WordId,
    ) -> Self {
        let begin = with_layout!(&layout, layout => begin_state(layout, begin_word));
        let words = Arc::new(words);
        Self {
            words,
            layout,
            counts,
            list: None,
            bounds: None,
            rest: None,
            file: None,
            begin,
            begin_word,
            end,
        }
    }

    /// The length of the longest n-grams.
    #[inline]
    pub fn order(&self) -> usize {
        with_layout!(&self.layout, layout => layout.order())
    }

    /// How many n-grams of length `n` the model states; 0 beyond its order.
    pub fn count(&self, n: usize) -> usize {
        n.checked_sub(1).and_then(|index| self.counts.get(index)).map_or(0, |&count| count as usize)
    }

    /// How many words there are, the unknown word and the sentence boundaries included.
    pub fn vocab_len(&self) -> usize {
        self.words.len()
    }

    /// The id of a word; that of the unknown word if the model does not know it.
    #[inline]
    pub fn word(&self, text: &str) -> WordId {
        self.words.get(text).unwrap_or(WordId(0))
    }

    /// A model of word classes, to be asked about words: one that was made from lines of [`Classes::line`].
    pub fn with_classes(&self, classes: &Classes) -> Self {
        Self { words: Arc::new(Words::Classed(Classed::new(&self.words, classes))), ..self.clone() }
    }

    /// How many words a model of word classes knows; `None` for a model of words.
    pub fn classed_words(&self) -> Option<usize> {
        match &*self.words {
            Words::Classed(classed) => Some(classed.words.len()),
            _ => None,
        }
    }

    /// The text of a word of this model, or of a class if it is one of classes.
    pub fn text(&self, word: WordId) -> &str {
        self.words.text(word)
    }

    /// The state at the start of a sentence.
    #[inline]
    pub fn begin(&self) -> State {
        self.begin
    }

    /// The state without any history, in which nothing is charged for backing off.
    #[inline]
    pub fn null(&self) -> State {
        State::EMPTY
    }

    /// ln p(`word` | `state`), and the state after it. State and word must be this model's.
    #[inline]
    pub fn score(&self, state: &State, word: WordId) -> (f32, State) {
        with_layout!(&self.layout, layout => announced_walk(layout, state, word).finish(state, word))
    }

    /// The same with the length of the n-gram that gave the probability: 1 if the word was scored by itself.
    pub fn score_with_length(&self, state: &State, word: WordId) -> (f32, State, usize) {
        with_layout!(&self.layout, layout => {
            let walk = announced_walk(layout, state, word);
            let (prob, next) = walk.finish(state, word);
            (prob, next, walk.used + 1)
        })
    }

    /// Scores many queries at once, which is faster than one by one: their cache misses overlap.
    /// Replaces the content of `results`, which has one for each query.
    pub fn score_batch(&self, queries: &[(State, WordId)], results: &mut Vec<(f32, State)>) {
        results.clear();
        results.reserve(queries.len());
        match &self.layout {
            AnyLayout::Hash(layout) => crate::batch::rolling(layout, queries, results),
            AnyLayout::Trie(layout) => crate::batch::by_rounds(layout, queries, results),
        }
    }

    /// ln p of the sentence's end.
    #[inline]
    pub fn end(&self, state: &State) -> f32 {
        self.score(state, self.end).0
    }

    /// ln p of a piece of a sentence whose left neighbour is not known yet: the first word alone, the second
    /// after the first, and so on.
    pub fn local(&self, words: &[WordId]) -> f64 {
        self.run(State::EMPTY, words).0
    }

    /// ln p of a whole sentence, its end included.
    pub fn sentence(&self, words: &[WordId]) -> f64 {
        let (sum, state) = self.run(self.begin, words);
        sum + f64::from(self.end(&state))
    }

    fn run(&self, mut state: State, words: &[WordId]) -> (f64, State) {
        let mut sum = 0.0;
        for &word in words {
            let (prob, next) = self.score(&state, word);
            sum += f64::from(prob);
            state = next;
        }
        (sum, state)
    }

    /// The id of the sentence start, which is a history and never a word to be scored.
    pub fn begin_word(&self) -> WordId {
        self.begin_word
    }

    /// The id of the sentence end.
    pub fn end_word(&self) -> WordId {
        self.end
    }

    /// Whether the model knows the words of its n-grams and can be written as text. Compiled models of the layout
    /// `hash` do not.
    pub fn is_listed(&self) -> bool {
        self.list.as_ref().is_some_and(|list| list.is_whole()) || matches!(self.layout, AnyLayout::Trie(_))
    }
}

impl std::fmt::Debug for Lm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lm of order {} with {} words", self.order(), self.vocab_len())
    }
}
