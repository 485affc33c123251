//! The tree that a structured language model sees in a translation, and which of two translations it prefers.

use serde::Serialize;
use sylvan_forest::Derivation;

use crate::features::{StructuredFeature, weight_of};
use crate::worker::Derived;

/// The dependency tree of a translation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Structure {
    /// By target word.
    pub words: Vec<Attached>,
    /// What the model says of the tree.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
    /// What it says of the second best translation.
    pub runner_up: Option<f64>,
    /// What that means, in a sentence.
    pub text: String,
}

/// A word in the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Attached {
    /// The word that it belongs to; none for the root.
    pub head: Option<u32>,
    /// Its part of speech.
    pub tag: String,
    /// What the model says of it and of what it was joined to.
    pub value: f64,
}

/// The tree of a translation; `None` without a structured language model, or without words.
pub(super) fn structure(derived: &Derived<'_>, runner_up: Option<&Derivation>) -> Option<Structure> {
    let model = derived.model().structured()?;
    let parsed = derived.parsed()?;
    let tags = model.tags(&parsed);
    let heads = parsed.parse.heads.iter().zip(tags).zip(&parsed.parse.words);
    let words: Vec<Attached> =
        heads.map(|((&head, tag), &value)| Attached { head, tag: tag.to_string(), value }).collect();
    let value = parsed.parse.score;
    let other = runner_up.and_then(|other| Some(derived.other(other).parsed()?.parse.score));
    let weight = weight_of(derived.model().weights(), StructuredFeature::NAME);
    let text = match other.map(|other| (weight * (value - other), value - other)) {
        None => "there is nothing to compare the tree with".to_string(),
        Some((_, 0.0)) => "the second best translation has as good a tree".to_string(),
        Some((said, better)) => {
            let which =
                if better > 0.0 { "the tree of this translation" } else { "that of the second best one" };
            format!("of the two trees the parser prefers {which}, which counts {:.4}", said.abs())
        }
    };
    Some(Structure { words, value, weight, runner_up: other, text })
}

impl Structure {
    /// The tree, a line per word: depth, whether it is the last child of each of those above it, and the word's place.
    pub(super) fn lines(&self) -> Vec<(Vec<bool>, usize)> {
        let children = |head: Option<u32>| -> Vec<usize> {
            (0..self.words.len()).filter(|&word| self.words[word].head == head).collect()
        };
        let mut lines = Vec::new();
        let mut open: Vec<(Vec<bool>, usize)> =
            children(None).into_iter().rev().map(|root| (Vec::new(), root)).collect();
        while let Some((above, word)) = open.pop() {
            let below = children(Some(word as u32));
            let count = below.len();
            for (nth, child) in below.into_iter().enumerate().rev() {
                let mut path = above.clone();
                path.push(nth + 1 == count);
                open.push((path, child));
            }
            lines.push((above, word));
        }
        lines
    }
}
