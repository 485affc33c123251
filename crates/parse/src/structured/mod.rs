//! A structured language model: words come one at a time from left to right, and what scores them is the dependency
//! tree that they are building (Yu, Mi, Huang & Liu 2014; Chelba & Jelinek 2000).
//!
//! ```text
//! words --Actions::words--> words with their tags
//! Partial parses --Parses::advance (a word)--> partial parses, best of each size --finish--> one tree, its score
//! ```
//!
//! Parsing is arc-standard (`dependency/system.rs`). Many sentences grow side by side and share what they have in
//! common: a stack of partial trees is a number, equal stacks are one (`stacks.rs`), and each action is scored once for
//! all stacks with the same trees on top (`tops.rs`). What scores an action is behind [`Actions`]: the weights of a
//! parser (`perceptron.rs`), or probabilities that add up to one over all sentences (`generative/`).
//!
//! With `delays` the reductions that follow a word wait until the next word is known; without, they are made at once and
//! see nothing ahead. Either way the score of a sentence depends on its words alone, not on how they arrived.

mod file;
mod from_text;
mod generative;
mod owing;
mod parses;
mod perceptron;
mod stacks;
mod tops;

pub use file::StructuredLm;
pub use from_text::FromText;
pub use generative::{Generative, GenerativeEstimator, GenerativeWord};
pub use owing::Owing;
pub use parses::{Beginnings, Keep, Parse, Parses, Partial};
pub use perceptron::{Perceptron, PerceptronWord};
pub use stacks::{StackId, Stacks, WordNumber};

/// The topmost trees of a stack, from the top; `None` below the bottom.
pub type Top<'a, T> = [Option<&'a T>; 3];

/// What scores the actions of a parser that is fed word by word.
///
/// Scores are added up; larger is better. Equal trees must have equal futures: what scoring does not see must not be in
/// them, so that stacks that differ in nothing else are one.
pub trait Actions {
    /// A partial tree, as scoring sees it.
    type Tree: Copy + Eq + std::hash::Hash + std::fmt::Debug;
    /// A word with its part of speech.
    type Word: Copy + Eq + std::hash::Hash + std::fmt::Debug;
    /// What scoring looks up for a stack, once for all words and actions.
    type Seen: std::fmt::Debug;

    /// The ways to read a word: with its possible parts of speech, and what choosing each scores.
    fn words(&self, text: &str, out: &mut Vec<(Self::Word, f64)>);
    /// A word on top of a stack.
    fn leaf(&self, word: &Self::Word, below: Option<&Self::Tree>) -> Self::Tree;
    /// The topmost tree with the one below it as its leftmost child.
    fn left(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree;
    /// The tree below the topmost with that one as its rightmost child.
    fn right(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree;
    /// How many of the topmost trees scoring sees, at most three.
    fn sees(&self) -> usize {
        3
    }
    /// What scoring looks up for a stack.
    fn see(&self, top: Top<'_, Self::Tree>) -> Self::Seen;
    /// The score of shifting a word.
    fn shift(&self, top: Top<'_, Self::Tree>, seen: &Self::Seen, word: &Self::Word) -> f64;
    /// The scores of left and right reduction of at least two trees. `next` is the next word, if reductions wait for it
    /// and there is one.
    fn reduce(&self, top: Top<'_, Self::Tree>, seen: &Self::Seen, next: Option<&Self::Word>) -> [f64; 2];
    /// The score of ending with one tree.
    fn end(&self, _seen: &Self::Seen) -> f64 {
        0.0
    }
    /// What a word is expected to add, whatever it follows: for comparing sentences of which only a part is known.
    fn expected(&self, _word: &Self::Word) -> f64 {
        0.0
    }
    /// What a reduction is expected to add (see [`Owing`]).
    fn expected_reduction(&self) -> f64 {
        0.0
    }
    /// The most that a reduction can add.
    fn largest_reduction(&self) -> f64 {
        f64::INFINITY
    }
    /// Whether reductions wait for the next word.
    fn delays(&self) -> bool {
        false
    }
    /// Whether scores are logarithms of probabilities.
    fn is_normalized(&self) -> bool {
        false
    }
}

/// What refers to a scorer scores like it.
macro_rules! actions_behind {
    ($behind:ty) => {
        impl<A: Actions> Actions for $behind {
            type Tree = A::Tree;
            type Word = A::Word;
            type Seen = A::Seen;

            fn words(&self, text: &str, out: &mut Vec<(Self::Word, f64)>) {
                (**self).words(text, out);
            }
            fn leaf(&self, word: &Self::Word, below: Option<&Self::Tree>) -> Self::Tree {
                (**self).leaf(word, below)
            }
            fn left(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree {
                (**self).left(s0, s1)
            }
            fn right(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree {
                (**self).right(s0, s1)
            }
            fn sees(&self) -> usize {
                (**self).sees()
            }
            fn see(&self, top: Top<'_, Self::Tree>) -> Self::Seen {
                (**self).see(top)
            }
            fn shift(&self, top: Top<'_, Self::Tree>, seen: &Self::Seen, word: &Self::Word) -> f64 {
                (**self).shift(top, seen, word)
            }
            fn reduce(
                &self,
                top: Top<'_, Self::Tree>,
                seen: &Self::Seen,
                next: Option<&Self::Word>,
            ) -> [f64; 2] {
                (**self).reduce(top, seen, next)
            }
            fn end(&self, seen: &Self::Seen) -> f64 {
                (**self).end(seen)
            }
            fn expected(&self, word: &Self::Word) -> f64 {
                (**self).expected(word)
            }
            fn expected_reduction(&self) -> f64 {
                (**self).expected_reduction()
            }
            fn largest_reduction(&self) -> f64 {
                (**self).largest_reduction()
            }
            fn delays(&self) -> bool {
                (**self).delays()
            }
            fn is_normalized(&self) -> bool {
                (**self).is_normalized()
            }
        }
    };
}

actions_behind!(&A);
actions_behind!(std::sync::Arc<A>);
