//! The words that a table translates from, in order, and how their endings change.

use sylvan_base::{HashMap, Symbol, Vocab};
use sylvan_rules::Grammar;

/// An ending has at most this many letters.
pub(super) const ENDING: usize = 4;
/// What stays has at least this many.
pub(super) const STEM: usize = 4;

/// All source words, and pairs of endings with the number of stems that have both. Learnt from the words alone, so it knows
/// no language and needs none.
#[derive(Debug)]
pub(crate) struct Lexicon {
    /// In the order of their texts.
    words: Vec<(Box<str>, Symbol)>,
    endings: Endings,
}

type Endings = HashMap<Box<str>, HashMap<Box<str>, u32>>;

impl Lexicon {
    /// The source words of a table whose vocabulary this is.
    pub(crate) fn new(table: &Grammar, vocab: &Vocab) -> Self {
        let words = table.source_words().filter(|word| (word.0 as usize) < vocab.len());
        Self::of(words.map(|word| (vocab.text(word), word)))
    }

    pub(super) fn of<'w>(words: impl IntoIterator<Item = (&'w str, Symbol)>) -> Self {
        let is_word = |text: &str| text.chars().all(|c| c.is_alphabetic() || c == '-' || c == '\'');
        let words = words.into_iter().filter(|&(text, _)| is_word(text));
        let mut words: Vec<(Box<str>, Symbol)> = words.map(|(text, word)| (Box::from(text), word)).collect();
        words.sort();
        words.dedup_by(|a, b| a.0 == b.0);
        let endings = endings(&words);
        Self { words, endings }
    }

    /// How many stems have both endings.
    pub(super) fn both(&self, one: &str, other: &str) -> u32 {
        self.endings.get(one).and_then(|known| known.get(other)).copied().unwrap_or(0)
    }

    /// The words that begin so, in order.
    pub(super) fn beginning(&self, stem: &str) -> impl Iterator<Item = (&str, Symbol)> {
        let from = self.words.partition_point(|(text, _)| &**text < stem);
        let rest = self.words[from..].iter().map(|(text, word)| (&**text, *word));
        rest.take_while(move |(text, _)| text.starts_with(stem))
    }

    /// A word that is written so.
    pub(super) fn get(&self, text: &str) -> Option<Symbol> {
        let at = self.words.binary_search_by(|(known, _)| (**known).cmp(text)).ok()?;
        Some(self.words[at].1)
    }
}

/// Pairs of endings, and how many stems have both.
fn endings(words: &[(Box<str>, Symbol)]) -> Endings {
    let mut by_stem: HashMap<&str, Vec<&str>> = HashMap::default();
    for (text, _) in words {
        for (stem, ending) in cuts(text) {
            by_stem.entry(stem).or_default().push(ending);
        }
    }
    let mut endings = Endings::default();
    for known in by_stem.values() {
        for &one in known {
            for &other in known.iter().filter(|&&other| other != one) {
                *endings.entry(Box::from(one)).or_default().entry(Box::from(other)).or_default() += 1;
            }
        }
    }
    endings
}

/// All ways to cut a word into a stem and an ending, the longest stem first.
pub(super) fn cuts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let letters = text.chars().count();
    let places = text.char_indices().map(|(place, _)| place).chain([text.len()]);
    let mut places: Vec<usize> = places.enumerate().filter(|&(n, _)| n >= STEM).map(|(_, at)| at).collect();
    places.reverse();
    places.truncate(if letters >= STEM { ENDING + 1 } else { 0 });
    places.into_iter().map(|place| text.split_at(place))
}
