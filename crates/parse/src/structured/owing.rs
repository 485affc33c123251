//! Words that owe a reduction: what makes parses of different sizes comparable.
//!
//! Every word but one is reduced sooner or later. A parse that has put off its reductions looks better than one that has
//! made them only because it has not paid yet. So a word is charged with what its reduction is expected to score when it is
//! shifted, and gets it back when it is reduced, the last one at the end: whole sentences score the same, and all that
//! compares parses on the way, whatever their size, compares what they will have scored.

use super::{Actions, Keep, Parses, Top, WordNumber};

/// A narrow search.
const NARROW: Keep = Keep::in_all(4);
/// What reductions are tried to be worth: multiples of a step on both sides of 0.
const STEP: f64 = 0.15;
const STEPS: i32 = 10;

/// The ways to read each word of a sentence.
pub(crate) type ReadSentence<A> = Vec<Vec<(<A as Actions>::Word, f64)>>;

/// Scores with reductions charged in advance.
#[derive(Debug, Clone, Copy)]
pub struct Owing<A> {
    actions: A,
    owed: f64,
}

impl<A: Actions> Owing<A> {
    /// With what the model expects of a reduction.
    pub fn new(actions: A) -> Self {
        let owed = actions.expected_reduction();
        Self { actions, owed }
    }

    /// What a reduction should be expected to score, so that few parses are enough: of many values the one with which a
    /// narrow search of some sentences finds the best parses.
    pub(crate) fn fit(actions: &A, sentences: &[ReadSentence<A>]) -> f64 {
        let found = |owed: f64| {
            let mut parses = Parses::new(Owing { actions, owed });
            let scores = sentences.iter().map(|words| {
                parses.clear();
                let numbered = |ways: &Vec<(A::Word, f64)>| -> Vec<(WordNumber, f64)> {
                    ways.iter().map(|&(word, score)| (parses.stacks.word(word), score)).collect()
                };
                let read: Vec<_> = words.iter().map(numbered).collect();
                parses.parse(&read, NARROW).map_or(0.0, |parse| parse.score)
            });
            scores.sum::<f64>()
        };
        let tried = (-STEPS..=STEPS).map(|step| f64::from(step) * STEP).map(|owed| (found(owed), owed));
        tried.reduce(|best, other| if other.0 > best.0 { other } else { best }).map_or(0.0, |best| best.1)
    }

    /// The same with nothing charged in advance.
    pub fn plain(&self) -> Self
    where
        A: Clone,
    {
        Self { actions: self.actions.clone(), owed: 0.0 }
    }
}

impl<A: Actions> Actions for Owing<A> {
    type Tree = A::Tree;
    type Word = A::Word;
    type Seen = A::Seen;

    fn words(&self, text: &str, out: &mut Vec<(Self::Word, f64)>) {
        self.actions.words(text, out);
    }
    fn leaf(&self, word: &Self::Word, below: Option<&Self::Tree>) -> Self::Tree {
        self.actions.leaf(word, below)
    }
    fn left(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree {
        self.actions.left(s0, s1)
    }
    fn right(&self, s0: &Self::Tree, s1: &Self::Tree) -> Self::Tree {
        self.actions.right(s0, s1)
    }
    fn sees(&self) -> usize {
        self.actions.sees()
    }
    fn see(&self, top: Top<'_, Self::Tree>) -> Self::Seen {
        self.actions.see(top)
    }
    fn shift(&self, top: Top<'_, Self::Tree>, seen: &Self::Seen, word: &Self::Word) -> f64 {
        self.actions.shift(top, seen, word) + self.owed
    }
    fn reduce(&self, top: Top<'_, Self::Tree>, seen: &Self::Seen, next: Option<&Self::Word>) -> [f64; 2] {
        self.actions.reduce(top, seen, next).map(|score| score - self.owed)
    }
    fn end(&self, seen: &Self::Seen) -> f64 {
        self.actions.end(seen) - self.owed
    }
    fn expected(&self, word: &Self::Word) -> f64 {
        self.actions.expected(word)
    }
    fn expected_reduction(&self) -> f64 {
        0.0
    }
    fn largest_reduction(&self) -> f64 {
        self.actions.largest_reduction() - self.owed
    }
    fn delays(&self) -> bool {
        self.actions.delays()
    }
    fn is_normalized(&self) -> bool {
        self.actions.is_normalized()
    }
}
