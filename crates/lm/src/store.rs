//! N-grams while they are collected: hash tables that grow, and the list of all n-grams.
//!
//! The tables hold no words, only hashes. The list remembers the words in the order in which they came; writing a
//! model as text, compiling it to a trie and computing bounds need it, queries do not.

use sylvan_base::Id;
use sylvan_store::Section;

use crate::hash::{Gram, Growing, HashLayout, LongLine, MiddleLine, cursor_of, key};
use crate::layout::is_context;
use crate::{MAX_ORDER, WordId};

/// The n-grams of one length.
#[derive(Debug, Clone, Default)]
struct OneLength {
    /// All words of all n-grams, each n-gram oldest first.
    words: Vec<WordId>,
    /// How many there are, listed or not.
    kept: usize,
    /// How many of them the model itself states. The rest are blanks; they come last, because blanks are made for
    /// longer n-grams.
    stated: usize,
}

/// The words of all n-grams of at least two words.
#[derive(Debug, Clone)]
pub(crate) struct List {
    lengths: Vec<OneLength>,
    /// Whether words are remembered, not only numbers.
    whole: bool,
}

impl List {
    /// The n-grams of length `n` > 1, oldest word first; the stated ones before the blanks.
    pub(crate) fn grams(&self, n: usize) -> std::slice::ChunksExact<'_, WordId> {
        self.lengths[n - 2].words.chunks_exact(n)
    }

    /// Whether [`grams`](Self::grams) has them all.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// How many n-grams of length `n` > 1 there are, blanks included.
    pub(crate) fn kept(&self, n: usize) -> usize {
        self.lengths[n - 2].kept
    }

    /// How many n-grams of length `n` > 1 the model states.
    pub(crate) fn stated(&self, n: usize) -> usize {
        self.lengths[n - 2].stated
    }
}

/// All n-grams of a model that is being built.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    order: usize,
    words: Vec<Gram>,
    middle: Vec<Growing<MiddleLine>>,
    longest: Growing<LongLine>,
    list: List,
}

impl Store {
    pub(crate) fn new(order: usize, list: bool) -> Self {
        assert!((1..=MAX_ORDER).contains(&order), "models have 1 to {MAX_ORDER} words per n-gram");
        let middle = vec![Growing::new(); order.saturating_sub(2)];
        let list = List { lengths: vec![OneLength::default(); order - 1], whole: list };
        Self { order, words: Vec::new(), middle, longest: Growing::new(), list }
    }

    pub(crate) fn order(&self) -> usize {
        self.order
    }

    /// Reserves room for about `count` n-grams of length `n`.
    pub(crate) fn reserve(&mut self, n: usize, count: usize) {
        match n {
            1 => self.words.reserve(count),
            _ if n < self.order => self.middle[n - 2].reserve(count),
            _ => self.longest.reserve(count),
        }
        if n > 1 && self.list.whole {
            self.list.lengths[n - 2].words.reserve(n * count);
        }
    }

    /// How many words there are.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Adds a word or changes its weights. A new one must be the next.
    pub(crate) fn set_word(&mut self, word: WordId, gram: Gram) {
        if word.index() == self.words.len() {
            self.words.push(gram);
        } else {
            self.words[word.index()] = gram;
        }
    }

    pub(crate) fn has(&self, words: &[WordId]) -> bool {
        match words {
            [] => true,
            [word] => word.index() < self.words.len(),
            _ if words.len() < self.order => {
                self.middle[words.len() - 2].get(key(cursor_of(words))).is_some()
            }
            _ => self.longest.get(key(cursor_of(words))).is_some(),
        }
    }

    /// An n-gram that is not one of the longest.
    pub(crate) fn gram(&self, words: &[WordId]) -> Option<Gram> {
        match words {
            [word] => self.words.get(word.index()).copied(),
            _ => self.middle.get(words.len().wrapping_sub(2))?.get(key(cursor_of(words))),
        }
    }

    /// Changes an n-gram that is not one of the longest, if it is there.
    pub(crate) fn change<R>(&mut self, words: &[WordId], change: impl FnOnce(&mut Gram) -> R) -> Option<R> {
        match words {
            [word] => self.words.get_mut(word.index()).map(change),
            _ => self.middle.get_mut(words.len().wrapping_sub(2))?.change(key(cursor_of(words)), change),
        }
    }

    /// Says that an n-gram of at least two words will be added soon: its line and that of its suffix are fetched.
    #[inline]
    pub(crate) fn announce(&self, words: &[WordId]) {
        for words in [words, &words[1..]] {
            match words.len() {
                0 | 1 => {}
                n if n < self.order => self.middle[n - 2].announce(key(cursor_of(words))),
                _ => self.longest.announce(key(cursor_of(words))),
            }
        }
    }

    /// Adds an n-gram of at least two words; false if it is there already.
    pub(crate) fn insert(&mut self, words: &[WordId], gram: Gram, stated: bool) -> bool {
        let (n, key) = (words.len(), key(cursor_of(words)));
        let new = if n < self.order {
            self.middle[n - 2].insert(key, gram)
        } else {
            self.longest.insert(key, gram.prob)
        };
        if new {
            let length = &mut self.list.lengths[n - 2];
            if self.list.whole {
                length.words.extend_from_slice(words);
            }
            length.kept += 1;
            length.stated += usize::from(stated);
        }
        new
    }

    /// Marks an n-gram and all its suffixes as histories that must be remembered. Stops at the first that is
    /// marked: its suffixes are too.
    pub(crate) fn mark_context(&mut self, mut words: &[WordId]) {
        while !words.is_empty() {
            let was_context = self.change(words, |gram| {
                let was = is_context(gram.backoff);
                gram.set_context();
                was
            });
            if was_context != Some(false) {
                return;
            }
            words = &words[1..];
        }
    }

    pub(crate) fn finish(self) -> (HashLayout, List) {
        let longest = (self.order > 1).then(|| self.longest.finish());
        let words = self.words.into_iter().map(Into::into).collect();
        let middle = self.middle.into_iter().map(Growing::finish).collect();
        (HashLayout { words: Section::from_vec(words), middle, longest }, self.list)
    }
}
