//! The vocabulary of a model: still in memory, or in a compiled file.

use sylvan_base::{Id, Symbol, Vocab};
use sylvan_store::{FrozenVocab, Section};

use crate::classes::Classes;
use crate::{BEGIN, END, UNKNOWN, WordId};

/// Words and their ids; id 0 is the unknown word.
#[derive(Debug, Clone)]
pub(crate) enum Words {
    Memory(Vocab),
    File(FrozenVocab),
    Classed(Classed),
}

/// Words of which all that are of one class are one to the model.
#[derive(Debug, Clone)]
pub(crate) struct Classed {
    pub(crate) words: Box<Words>,
    /// By word: its class's id, which the n-grams are made of.
    pub(crate) class_of: Section<u32>,
    /// By id.
    pub(crate) names: Vec<Box<str>>,
}

impl Classed {
    /// Words in place of the classes that a model was made of. A class that the model does not know is unknown to it.
    pub(crate) fn new(model: &Words, classes: &Classes) -> Self {
        let of = |name: &str| model.get(name).unwrap_or(WordId(0)).0;
        let mut words = Vocab::default();
        let mut class_of = Vec::new();
        let marks = [UNKNOWN, BEGIN, END].map(|mark| (mark, of(mark)));
        let own = classes.iter().map(|(word, class)| (word, of(&class.to_string())));
        for (word, class) in marks.into_iter().chain(own) {
            // Marks in a text that classes were learnt from stay marks.
            if words.get(word).is_none() {
                words.intern(word);
                class_of.push(class);
            }
        }
        let names = (0..model.len()).map(|index| model.text(WordId::from_index(index)).into());
        Self {
            words: Box::new(Words::Memory(words)),
            class_of: Section::from_vec(class_of),
            names: names.collect(),
        }
    }
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(vocab) => vocab.len(),
            Self::File(vocab) => vocab.len(),
            Self::Classed(classed) => classed.names.len(),
        }
    }

    /// The id of a word, if it is known.
    #[inline]
    pub(crate) fn get(&self, text: &str) -> Option<WordId> {
        let symbol = match self {
            Self::Memory(vocab) => vocab.get(text),
            Self::File(vocab) => vocab.get(text),
            Self::Classed(classed) => {
                let word = classed.words.get(text)?;
                return classed.class_of.get(word.index()).map(|&class| WordId(class));
            }
        };
        symbol.map(|symbol| WordId(symbol.0))
    }

    /// The text of a word. Ids that do not exist are unknown words.
    pub(crate) fn text(&self, word: WordId) -> &str {
        let text = match self {
            Self::Memory(vocab) => ((word.0 as usize) < vocab.len()).then(|| vocab.text(Symbol(word.0))),
            Self::File(vocab) => vocab.text(Symbol(word.0)),
            Self::Classed(classed) => classed.names.get(word.index()).map(|name| &**name),
        };
        text.unwrap_or(UNKNOWN)
    }
}
