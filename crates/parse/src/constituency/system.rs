//! Shift-reduce constituency parsing with a fixed number of steps (after Cross & Huang 2016 and Zhu et al. 2013).
//!
//! Steps come in pairs. An even step decides on structure: shift the next word, or join the two items on top, with
//! the head on the left or on the right. The odd step after it gives the new item its label (`labels.rs`). A sentence
//! of n words takes n shifts, n - 1 joins and as many labels: 4n - 2 actions whatever its tree, so that all states
//! of a step can be compared. Constituents of more than two parts grow around their head, first to the left and then
//! to the right:
//!
//! ```text
//! (NP (DT the) (JJ old) (NN man) (PP ...))      shift, shift, shift, join right -> NP*, join right -> NP*,
//!                                               ... PP, join left -> NP
//! ```
//!
//! Labels come after all parts and not after the first (in-order) because that measured better: docs/notes/parsing.md.
//!
//! Every state can still become a tree: an open item must be the head of its next join, one with parts on its right
//! takes no more on its left, and none stays open when nothing is left to close it with.

use sylvan_base::hash::fold;

use super::labels::{Labels, NONE};
use crate::lexicon::Word;
use crate::machine::{ActionSet, Effect, System, View};

pub(crate) const SHIFT: u8 = 0;
pub(crate) const JOIN_LEFT: u8 = 1;
pub(crate) const JOIN_RIGHT: u8 = 2;

/// A constituent on the stack.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    /// What it is for features: 0 below the bottom; its label; `WORD +` its tag for a word without label.
    pub(crate) category: u16,
    pub(crate) label: u8,
    /// Open, with parts on the right of its head.
    pub(crate) right_only: bool,
    /// The last join put the head on the left.
    pub(crate) head_left: bool,
    /// Its first word.
    pub(crate) start: u32,
    /// Its head word.
    pub(crate) head: u32,
    /// The two parts of the last join; both 0 for a word.
    pub(crate) parts: [Part; 2],
    /// Of the two parts, what their own outer parts are: left of the left, right of the left, and so on.
    pub(crate) inner: [u16; 4],
}

/// What is remembered of a part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Part {
    pub(crate) category: u16,
    pub(crate) head: u32,
}

/// Categories of words without label begin here.
pub(crate) const WORD: u16 = 512;

/// A sentence to parse: words and tags between padding.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    pub(crate) length: usize,
    /// Per position the atoms of the word; [`PAD`] more on each side.
    pub(crate) forms: Vec<u64>,
    /// The tag of each word, plus 1.
    pub(crate) tags: Vec<u64>,
    pub(crate) shapes: Vec<u64>,
    pub(crate) suffixes: Vec<u64>,
}

pub(crate) const PAD: usize = 4;

impl Sentence {
    pub(crate) fn new(words: &[Word], tags: &[u8]) -> Self {
        let pad = |values: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            let mut all = vec![0; PAD];
            all.extend(values);
            all.resize(all.len() + PAD, 0);
            all
        };
        Self {
            length: words.len(),
            forms: pad(&mut words.iter().map(|word| word.form)),
            tags: pad(&mut tags.iter().map(|&tag| u64::from(tag) + 1)),
            shapes: pad(&mut words.iter().map(|word| word.shape)),
            suffixes: pad(&mut words.iter().map(|word| word.suffixes[2])),
        }
    }
}

/// The transition system.
#[derive(Debug, Clone)]
pub(crate) struct ConstituencySystem {
    pub(crate) labels: Labels,
}

impl System for ConstituencySystem {
    type Sentence = Sentence;
    type Item = Node;

    fn steps(&self, sentence: &Sentence) -> usize {
        (4 * sentence.length).saturating_sub(2)
    }

    fn actions(&self) -> usize {
        self.labels.len().max(3)
    }

    fn legal(&self, sentence: &Sentence, view: View<'_, Node>) -> ActionSet {
        let [s0, s1] = view.items();
        let deep = view.depth(3);
        let words_left = view.next() < sentence.length;
        if !view.step.is_multiple_of(2) {
            let [left, right] = s0.parts;
            if left.category == 0 {
                return self.labels.over_word();
            }
            let may_stay_open = if words_left {
                true
            } else {
                // Only what stands on its left could close it.
                !s0.head_left && deep >= 2 && !self.labels.is_open(s1.label)
            };
            let head = if s0.head_left { left } else { right };
            return self.labels.over_parts(label_of(head.category), may_stay_open);
        }
        let mut legal = ActionSet::default();
        if words_left {
            legal.insert(SHIFT);
        }
        if deep >= 2 {
            if !self.labels.is_open(s0.label) {
                legal.insert(JOIN_LEFT);
            }
            if !self.labels.is_open(s1.label) && !s0.right_only {
                legal.insert(JOIN_RIGHT);
            }
        }
        legal
    }

    fn keys(&self, sentence: &Sentence, view: View<'_, Node>, keys: &mut Vec<u64>) {
        if view.step.is_multiple_of(2) {
            super::features::structure(sentence, view, keys);
        } else if view.state().item.parts[0].category == 0 {
            super::features::word_label(sentence, view, keys);
        } else {
            super::features::phrase_label(sentence, view, keys);
        }
    }

    fn digest(&self, node: &Node, _: usize) -> u64 {
        let [left, right] = node.parts;
        let flags = u64::from(node.right_only) << 1 | u64::from(node.head_left);
        let small = u64::from(node.category) << 16 | u64::from(node.label) << 2 | flags;
        let numbers = [
            small,
            u64::from(node.start) << 32 | u64::from(node.head),
            u64::from(left.category) << 32 | u64::from(left.head),
            u64::from(right.category) << 32 | u64::from(right.head),
        ];
        let hash = numbers.iter().fold(0, |hash, &number| fold(hash, number));
        node.inner.iter().fold(hash, |hash, &inner| fold(hash, u64::from(inner)))
    }

    fn apply(&self, sentence: &Sentence, view: View<'_, Node>, action: u8) -> Effect<Node> {
        let [s0, s1] = view.items();
        if !view.step.is_multiple_of(2) {
            let mut node = *s0;
            node.label = action;
            if action != NONE {
                node.category = u16::from(action);
            }
            node.right_only = self.labels.is_open(action) && node.head_left && node.parts[0].category != 0;
            return Effect::Change(node);
        }
        if action == SHIFT {
            let at = view.next();
            let category = WORD + sentence.tags[at + PAD] as u16;
            let word = Node { category, start: at as u32, head: at as u32, ..Node::default() };
            return Effect::Push(word);
        }
        let head_left = action == JOIN_LEFT;
        Effect::Join(Node {
            category: 0,
            label: NONE,
            right_only: false,
            head_left,
            start: s1.start,
            head: if head_left { s1.head } else { s0.head },
            parts: [s1, s0].map(|part| Part { category: part.category, head: part.head }),
            inner: [s1.parts[0].category, s1.parts[1].category, s0.parts[0].category, s0.parts[1].category],
        })
    }
}

/// The label of a category; none for a word's.
#[inline]
fn label_of(category: u16) -> u8 {
    if category < WORD { category as u8 } else { NONE }
}
