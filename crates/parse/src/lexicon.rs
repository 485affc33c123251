//! Words as features see them: the known ones by number, all others by what they look like.
//!
//! A rare word is worth little by itself; its ending, its letters and its case say more. So
//! rare and unknown words become a *signature*: case, digits, hyphen and ending. Words that are frequent enough
//! also have a *class*: the parts of speech they were seen with.

use std::sync::Arc;

use sylvan_base::hash::content_hash;
use sylvan_base::{HashMap, Id, Result, Symbol, Vocab};
use sylvan_store::{Container, ContainerWriter, FrozenVocab, Name, Section, name};

const CLASSES: Name = name("classes");

/// What features know of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// The known word, or the signature.
    pub(crate) form: u64,
    /// The word in lower case, known or not.
    pub(crate) lower: u64,
    /// The known word in lower case, or the signature.
    pub(crate) low: u64,
    /// The parts of speech the word in lower case was seen with, whatever its case then.
    pub(crate) low_class: u64,
    /// The kinds of its characters, runs as one.
    pub(crate) shape: u64,
    /// The first 1, 2, 3 and 4 characters.
    pub(crate) prefixes: [u64; 4],
    /// The last 1 to 5 characters.
    pub(crate) suffixes: [u64; 5],
    /// The parts of speech it was seen with; 0 if it is too rare to tell.
    pub(crate) class: u64,
    /// A bracket or quotation mark: `kind << 2`, plus 1 if it may open a pair, plus 2 if it may close one.
    pub(crate) bracket: u8,
}

/// The known words.
#[derive(Debug, Clone)]
pub(crate) struct Lexicon {
    words: Words,
    classes: Section<u32>,
}

#[derive(Debug, Clone)]
enum Words {
    Memory(Arc<Vocab>),
    File(FrozenVocab),
}

/// Words seen less often are known by their signature only.
const KNOWN: u32 = 2;
/// Words seen less often have no class: a single sentence could change it.
const CLASSED: u32 = 5;
/// A part of speech belongs to the class of a word if it makes up at least one in this many of its occurrences.
const SHARE: u32 = 20;

impl Lexicon {
    /// Counts words with their parts of speech.
    pub(crate) fn build<'a>(words: impl Iterator<Item = (&'a str, u8)>) -> Self {
        let mut seen = Vocab::new();
        let mut counts: Vec<HashMap<u8, u32>> = Vec::new();
        let mut count = |word: &str, tag: u8| {
            let symbol = seen.intern(word);
            if symbol.index() == counts.len() {
                counts.push(HashMap::default());
            }
            *counts[symbol.index()].entry(tag).or_default() += 1;
        };
        for (word, tag) in words {
            count(word, tag);
            let lower = word.to_lowercase();
            if lower != word {
                count(&lower, tag);
            }
        }
        let mut known = Vocab::new();
        let mut classes = Vec::new();
        for ((_, text), tags) in seen.iter().zip(&counts) {
            let total: u32 = tags.values().sum();
            if total < KNOWN {
                continue;
            }
            known.intern(text);
            let mut usual: Vec<u8> =
                tags.iter().filter(|&(_, &count)| count * SHARE >= total).map(|(&tag, _)| tag).collect();
            usual.sort_unstable();
            classes.push(if total < CLASSED { 0 } else { content_hash(&usual) as u32 | 1 });
        }
        Self { words: Words::Memory(Arc::new(known)), classes: Section::from_vec(classes) }
    }

    pub(crate) const SECTIONS: usize = FrozenVocab::SECTIONS + 1;

    pub(crate) fn write(&self, writer: &mut ContainerWriter) -> Result<()> {
        match &self.words {
            Words::Memory(vocab) => {
                FrozenVocab::append(writer, vocab.len(), vocab.iter().map(|(_, text)| text))?;
            }
            Words::File(vocab) => {
                let text = |index| vocab.text(Symbol::from_index(index)).unwrap_or_default();
                FrozenVocab::append(writer, vocab.len(), (0..vocab.len()).map(text))?;
            }
        }
        writer.section(CLASSES, &self.classes)
    }

    pub(crate) fn inside(container: &Arc<Container>) -> Result<Self> {
        let words = FrozenVocab::inside(container)?;
        Ok(Self { words: Words::File(words), classes: Section::from_file(container, CLASSES)? })
    }

    /// How many words are known.
    pub(crate) fn len(&self) -> usize {
        match &self.words {
            Words::Memory(vocab) => vocab.len(),
            Words::File(vocab) => vocab.len(),
        }
    }

    /// The number of a known word.
    pub(crate) fn get(&self, text: &str) -> Option<usize> {
        match &self.words {
            Words::Memory(vocab) => vocab.get(text),
            Words::File(vocab) => vocab.get(text),
        }
        .map(Id::index)
    }

    /// What features know of a word.
    pub(crate) fn word(&self, text: &str) -> Word {
        let lower = text.to_lowercase();
        let known = self.get(text);
        let known_low = if lower == text { known } else { self.get(&lower) };
        let class =
            |at: Option<usize>| at.and_then(|at| self.classes.get(at)).map_or(0, |&class| u64::from(class));
        let ends = Ends::of(&lower);
        let shape = shape(text);
        // Above all numbers of known words, and below 2^40.
        let signature = (1 << 32) | ((hash(&shape).rotate_left(17) ^ hash(ends.last(3))) >> 32);
        let number = |at: Option<usize>| at.map_or(signature, |at| at as u64 + 1);
        Word {
            form: number(known),
            lower: hash(&lower),
            low: number(known_low),
            low_class: class(known_low),
            shape: hash(&shape),
            prefixes: std::array::from_fn(|index| hash(ends.first(index + 1))),
            suffixes: std::array::from_fn(|index| hash(ends.last(index + 1))),
            class: class(known),
            bracket: bracket(text),
        }
    }
}

/// Brackets and quotation marks of many scripts; 0 for all else.
fn bracket(text: &str) -> u8 {
    const OPEN: u8 = 1;
    const CLOSE: u8 = 2;
    let (kind, way) = match text {
        "(" | "-LRB-" | "（" => (1, OPEN),
        ")" | "-RRB-" | "）" => (1, CLOSE),
        "[" | "-LSB-" => (2, OPEN),
        "]" | "-RSB-" => (2, CLOSE),
        "{" | "-LCB-" => (3, OPEN),
        "}" | "-RCB-" => (3, CLOSE),
        "“" | "``" | "„" => (4, OPEN),
        "”" | "''" => (4, CLOSE),
        "\"" => (4, OPEN | CLOSE),
        "‘" | "`" | "‚" => (5, OPEN),
        "’" => (5, CLOSE),
        "'" => (5, OPEN | CLOSE),
        "«" | "《" => (6, OPEN),
        "»" | "》" => (6, CLOSE),
        "「" => (7, OPEN),
        "」" => (7, CLOSE),
        "『" => (8, OPEN),
        "』" => (8, CLOSE),
        _ => return 0,
    };
    kind << 2 | way
}

fn hash(text: &str) -> u64 {
    content_hash(text.as_bytes())
}

/// Where the first and last few characters of a word end and begin.
struct Ends<'a> {
    text: &'a str,
    firsts: [usize; 6],
    lasts: [usize; 6],
}

impl<'a> Ends<'a> {
    fn of(text: &'a str) -> Self {
        let mut firsts = [text.len(); 6];
        for (place, (at, _)) in firsts.iter_mut().zip(text.char_indices()) {
            *place = at;
        }
        let mut lasts = [0; 6];
        lasts[0] = text.len();
        for (place, (at, _)) in lasts[1..].iter_mut().zip(text.char_indices().rev()) {
            *place = at;
        }
        Self { text, firsts, lasts }
    }

    fn first(&self, count: usize) -> &'a str {
        &self.text[..self.firsts[count]]
    }

    fn last(&self, count: usize) -> &'a str {
        &self.text[self.lasts[count]..]
    }
}

/// `Xx` for Word, `x-d` for mid-1990: the kinds of characters, each run as one character.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let mut last = '\0';
    for c in text.chars() {
        let kind = if c.is_uppercase() {
            'X'
        } else if c.is_lowercase() {
            'x'
        } else if c.is_numeric() {
            'd'
        } else if c.is_alphabetic() {
            'o'
        } else {
            c
        };
        if kind != last {
            shape.push(kind);
            last = kind;
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_short() {
        for (word, expected) in [("Word", "Xx"), ("mid-1990", "x-d"), ("新华", "o"), ("", ""), ("!!", "!")]
        {
            assert_eq!(shape(word), expected);
        }
    }

    #[test]
    fn rare_words_are_known_by_their_looks() {
        let lexicon = Lexicon::build([("the", 1), ("the", 1), ("singing", 2), ("ringing", 3)].into_iter());
        assert_eq!(lexicon.len(), 1);
        assert_eq!(lexicon.word("the").form, 1);
        assert_eq!(lexicon.word("singing").form, lexicon.word("bringing").form);
        assert_ne!(lexicon.word("singing").form, lexicon.word("Singing").form);
        assert_eq!(lexicon.word("The").low, 1);
        assert_ne!(lexicon.word("The").form, 1);
        assert_ne!(lexicon.word("singing").lower, lexicon.word("ringing").lower);
        assert_eq!(lexicon.word("").prefixes[3], lexicon.word("").suffixes[0]);
    }

    #[test]
    fn affixes_count_characters() {
        let ends = Ends::of("新x");
        assert_eq!(
            [ends.first(1), ends.first(4), ends.last(1), ends.last(2), ends.last(5)],
            ["新", "新x", "x", "新x", "新x"]
        );
    }
}
