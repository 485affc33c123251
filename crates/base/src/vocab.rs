//! The vocabulary: strings to dense ids and back.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;

use crate::{Id, define_id};

define_id!(
    /// A word or a label of one [`Vocab`]. Ids of different vocabularies must not be mixed.
    Symbol
);

/// A growing set of strings with dense ids in order of first appearance.
///
/// One byte buffer, one offset per string and a table of ids: no allocation per string. Vocabularies are
/// values; there is no global one. A finished vocabulary is written to a file and mapped back by
/// `sylvan_store::FrozenVocab`.
///
/// A vocabulary can [extend](Vocab::extending) a finished one that others share: it knows all of its strings under
/// their ids and numbers its own behind them. So the words of one sentence cost nothing that outlives it.
#[derive(Clone, Default)]
pub struct Vocab {
    /// What it extends, and how many strings that has.
    parent: Option<Arc<Vocab>>,
    first: u32,
    bytes: String,
    /// `ends[i]` is where own string `i` ends; it starts where the one before ends.
    ends: Vec<u32>,
    table: HashTable<Symbol>,
    hasher: foldhash::fast::FixedState,
}

impl Vocab {
    /// An empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// A vocabulary with these strings, in order. Repeated strings keep their first id.
    pub fn of<'a>(strings: impl IntoIterator<Item = &'a str>) -> Self {
        let mut vocab = Self::new();
        for string in strings {
            vocab.intern(string);
        }
        vocab
    }

    /// A vocabulary with all strings of another one, and room for more.
    pub fn extending(parent: Arc<Vocab>) -> Self {
        let first = parent.len() as u32;
        Self { parent: Some(parent), first, ..Self::default() }
    }

    /// The id of `text`, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = self.hasher.hash_one(text);
        match self.find(hash, text) {
            Some(symbol) => symbol,
            None => self.add(hash, text),
        }
    }

    #[cold]
    fn add(&mut self, hash: u64, text: &str) -> Symbol {
        let own = Symbol::from_index(self.ends.len());
        self.bytes.push_str(text);
        assert!(self.bytes.len() <= u32::MAX as usize, "a vocabulary holds at most 4 GiB of text");
        self.ends.push(self.bytes.len() as u32);
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.table.insert_unique(hash, own, |&other| hasher.hash_one(slice(bytes, ends, other)));
        Symbol(self.first + own.0)
    }

    /// All vocabularies of a chain hash alike, so that a string is hashed once.
    #[inline]
    fn find(&self, hash: u64, text: &str) -> Option<Symbol> {
        let inherited = self.parent.as_ref().and_then(|parent| parent.find(hash, text));
        inherited.or_else(|| {
            let own = self.table.find(hash, |&own| slice(&self.bytes, &self.ends, own) == text);
            own.map(|own| Symbol(self.first + own.0))
        })
    }

    /// The id of `text`, if it is known.
    #[inline]
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.find(self.hasher.hash_one(text), text)
    }

    /// The string of an id of this vocabulary. Panics on a foreign id that is out of range.
    #[inline]
    pub fn text(&self, symbol: Symbol) -> &str {
        match &self.parent {
            Some(parent) if symbol.0 < self.first => parent.text(symbol),
            _ => slice(&self.bytes, &self.ends, Symbol(symbol.0 - self.first)),
        }
    }

    /// How many strings there are, those of a vocabulary that it extends included.
    pub fn len(&self) -> usize {
        self.first as usize + self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ids and strings in id order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Symbol, &str)> {
        (0..self.len()).map(|index| {
            let symbol = Symbol::from_index(index);
            (symbol, self.text(symbol))
        })
    }

    /// The strings of `symbols`, joined by single spaces.
    pub fn join(&self, symbols: &[Symbol]) -> String {
        let mut out = String::new();
        for (index, &symbol) in symbols.iter().enumerate() {
            if index > 0 {
                out.push(' ');
            }
            out.push_str(self.text(symbol));
        }
        out
    }

    /// The ids of the space-separated words of `line`, all added if new.
    pub fn intern_words(&mut self, line: &str) -> Vec<Symbol> {
        line.split_ascii_whitespace().map(|word| self.intern(word)).collect()
    }
}

#[inline]
fn slice<'a>(bytes: &'a str, ends: &[u32], symbol: Symbol) -> &'a str {
    let index = symbol.index();
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &bytes[start..ends[index] as usize]
}

impl std::fmt::Debug for Vocab {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vocab of {} strings", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A chain of vocabularies, however the words are divided among it, is one vocabulary.
        #[test]
        fn a_chain_of_vocabularies_is_one(
            words in prop::collection::vec("[a-e]{0,2}", 0..60),
            cuts in prop::collection::vec(0usize..60, 2),
        ) {
            let whole = Vocab::of(words.iter().map(String::as_str));
            let mut chain = Vocab::new();
            for (at, word) in words.iter().enumerate() {
                if cuts.contains(&at) {
                    chain = Vocab::extending(Arc::new(chain));
                }
                prop_assert_eq!(Some(chain.intern(word)), whole.get(word));
            }
            prop_assert_eq!(chain.len(), whole.len());
            prop_assert!(chain.iter().eq(whole.iter()));
        }
    }

    proptest! {
        #[test]
        fn ids_are_dense_in_order_of_first_appearance(words in prop::collection::vec(".{0,4}", 0..200)) {
            let mut vocab = Vocab::new();
            let mut first = Vec::new();
            for word in &words {
                let symbol = vocab.intern(word);
                let expected = first.iter().position(|w| w == word).unwrap_or_else(|| {
                    first.push(word.clone());
                    first.len() - 1
                });
                prop_assert_eq!(symbol.index(), expected);
                prop_assert_eq!(vocab.text(symbol), word);
                prop_assert_eq!(vocab.get(word), Some(symbol));
            }
            prop_assert_eq!(vocab.len(), first.len());
        }
    }
}
