//! Left-to-right queries.
//!
//! The probability of a word after a history is that of the longest n-gram that the model holds, times the
//! back-off weights of all longer contexts (Katz 1987). The sum runs from the n-gram's probability to the longest
//! context's weight; every layout must keep this order, so that all give the same floats.
//!
//! A [`State`] is the part of the history that can still matter (Li & Khudanpur 2008): words are dropped from
//! the far end as long as no n-gram continues them and no back-off weight other than 1 would be charged.
//! Histories with equal futures thereby become equal, which is what recombination in a search lives on.

use sylvan_base::{Symbol, Vocab, define_id};

use crate::MAX_ORDER;
use crate::store::{Node, Store};

define_id!(
    /// A word of one model's own vocabulary; 0 is the unknown word.
    WordId
);

/// The words before the next one, as far as they can matter.
///
/// Unused places are zero, so equality and hashing need no care.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// Newest first.
    words: [WordId; MAX_ORDER - 1],
    len: u8,
}

const _: () = assert!(size_of::<State>() == 28);

impl State {
    const EMPTY: Self = Self { words: [WordId(0); MAX_ORDER - 1], len: 0 };

    /// The words, newest first.
    #[inline]
    pub fn words(&self) -> &[WordId] {
        &self.words[..usize::from(self.len)]
    }

    /// The first `len` words of `newest` followed by `older`.
    #[inline]
    fn after(older: &Self, newest: WordId, len: usize) -> Self {
        let mut new = Self::EMPTY;
        if len > 0 {
            new.words[0] = newest;
            new.words[1..len].copy_from_slice(&older.words[..len - 1]);
            new.len = len as u8;
        }
        new
    }
}

/// A back-off n-gram model.
#[derive(Clone)]
pub struct Lm {
    vocab: Vocab,
    store: Store,
    begin: State,
    end: WordId,
}

impl Lm {
    pub(crate) fn new(vocab: Vocab, store: Store, begin: WordId, end: WordId) -> Self {
        let kept = usize::from(store.order() > 1 && store.gram(1, Node(begin.0)).is_context());
        let begin = State::after(&State::EMPTY, begin, kept);
        Self { vocab, store, begin, end }
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.store.order()
    }

    /// How many n-grams of length `n` the model states; 0 beyond its order.
    pub fn count(&self, n: usize) -> usize {
        if n == 0 || n > self.order() {
            return 0;
        }
        self.store.grams(n).iter().filter(|gram| gram.is_stated()).count()
    }

    /// How many words there are, the unknown word and the sentence boundaries included.
    pub fn vocab_len(&self) -> usize {
        self.vocab.len()
    }

    /// The id of a word; that of the unknown word if the model does not know it.
    #[inline]
    pub fn word(&self, text: &str) -> WordId {
        self.vocab.get(text).map_or(WordId(0), |symbol| WordId(symbol.0))
    }

    /// The text of a word of this model.
    pub fn text(&self, word: WordId) -> &str {
        self.vocab.text(Symbol(word.0))
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

    /// ln p(`word` | `state`), and the state after it. The word must be one of this model's.
    #[inline]
    pub fn score(&self, state: &State, word: WordId) -> (f32, State) {
        let order = self.store.order();
        let history = state.words();
        let mut node = Node(word.0);
        let mut gram = self.store.gram(1, node);
        let mut used = 0;
        let mut kept = usize::from(order > 1 && gram.is_context());
        while used < history.len() && gram.grows_left() {
            let Some(longer) = self.store.find(used + 2, node, history[used]) else { break };
            node = longer;
            used += 1;
            gram = self.store.gram(used + 1, node);
            if used + 1 < order && gram.is_context() {
                kept = used + 1;
            }
        }
        let mut prob = gram.prob;
        if used < history.len() {
            prob = self.back_off(prob, history, used);
        }
        (prob, State::after(state, word, kept))
    }

    /// Adds the back-off weights of the contexts longer than `used` words, shortest first.
    #[inline]
    fn back_off(&self, mut prob: f32, history: &[WordId], used: usize) -> f32 {
        let mut node = Node(history[0].0);
        for n in 1..=history.len() {
            if n > 1 {
                // Blanks make sure that with a context all shorter ones are there too.
                let Some(longer) = self.store.find(n, node, history[n - 1]) else { break };
                node = longer;
            }
            if n > used {
                prob += self.store.gram(n, node).backoff;
            }
        }
        prob
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
        self.word(crate::BEGIN)
    }

    /// The id of the sentence end.
    pub fn end_word(&self) -> WordId {
        self.end
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }
}

impl std::fmt::Debug for Lm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lm of order {} with {} words", self.order(), self.vocab_len())
    }
}
