//! Translations of parts of a sentence that are held while the rest is searched again.
//!
//! A choice is compiled into the forest, never into a search: of the derivations below the chosen place one stays, and
//! edges that would translate its words otherwise go (`hold.rs`). So every search obeys, and what it finds is the best
//! translation of the whole sentence with the choice in place. Which choices there are is listed by `said.rs`.

mod forced;
mod hold;
mod said;

use serde::{Deserialize, Serialize};
use sylvan_base::{Span, Symbol, Vocab};

pub use forced::saying;
pub use hold::{hold, hold_at, place};
pub use said::{Said, said};

use crate::error::{Error, Result};

/// What some source words must be translated to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The source words: the first, and one past the last.
    pub span: [u32; 2],
    /// The label of the constituent, where several have the same words; the highest if nothing is said.
    #[serde(default)]
    pub label: Option<String>,
    /// The target words, as the model sees them.
    pub words: Vec<String>,
}

impl Choice {
    /// Words for words.
    pub fn new(span: [u32; 2], words: &[&str]) -> Self {
        Self { span, label: None, words: words.iter().map(|word| (*word).to_string()).collect() }
    }

    /// Whether two choices are about the same words.
    pub fn overlaps(&self, [start, end]: [u32; 2]) -> bool {
        self.span[0] < end && start < self.span[1]
    }
}

/// No derivation has all of them.
pub(crate) fn impossible(choices: &[Choice]) -> Error {
    let said = choices.iter().map(|Choice { span: [start, end], words, .. }| {
        format!("{:?} for words {start} to {end}", words.join(" "))
    });
    let found = said.collect::<Vec<_>>().join(", ");
    Error::setting("choices", found, "translations that the model has for these words")
        .advise("ask for the alternatives of the words")
}

/// A choice in terms of a sentence: its leaves, and symbols of its vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The leaves.
    pub span: Span,
    /// The label of the vertex; the highest if nothing is said.
    pub label: Option<Symbol>,
    /// The target words.
    pub words: Vec<Symbol>,
}

/// Choices about different words, in terms of a sentence whose leaves stand for these words.
pub(crate) fn resolve(choices: &[Choice], leaves: &[Span], vocab: &Vocab) -> Result<Vec<Held>> {
    for (index, one) in choices.iter().enumerate() {
        if let Some(other) = choices[..index].iter().find(|other| other.overlaps(one.span)) {
            let found = format!("words {:?} and {:?}", other.span, one.span);
            return Err(Error::setting("choices", found, "choices about different words")
                .advise("leave out the older one"));
        }
    }
    choices
        .iter()
        .map(|choice| {
            let span = leaves_of(choice.span, leaves)?;
            let known =
                |word: &String| vocab.get(word).ok_or_else(|| impossible(std::slice::from_ref(choice)));
            let words = choice.words.iter().map(known).collect::<Result<_>>()?;
            let label = choice.label.as_ref().map(known).transpose()?;
            Ok(Held { span, label, words })
        })
        .collect()
}

/// The leaves that stand for these words.
pub(crate) fn leaves_of([start, end]: [u32; 2], leaves: &[Span]) -> Result<Span> {
    let first = leaves.iter().position(|leaf| leaf.start == start);
    let last = leaves.iter().position(|leaf| leaf.end == end);
    match (first, last) {
        (Some(first), Some(last)) if first <= last => Ok(Span::new(first, last + 1)),
        _ => {
            let count = leaves.last().map_or(0, |leaf| leaf.end);
            let found = format!("words {start} to {end} of {count}");
            Err(Error::setting(
                "the span",
                found,
                "some words of the sentence, and terms of a glossary whole",
            )
            .advise("give the first word, counted from 0, and one past the last"))
        }
    }
}
