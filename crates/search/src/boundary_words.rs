//! Any left-to-right model as a two-sided one: pieces keep their first and last words.
//!
//! The plain way (Chiang 2007; Huang & Chiang 2007): of a piece of `m` words under a model of order `g` the first
//! and the last `min(m, g - 1)` words are kept, whatever they are. A model that knows which of its words can still
//! matter should implement [`TwoSided`] itself and keep fewer.
//!
//! Pieces keep words alone, neither states nor charges. So at every joint the history is run again to get its state,
//! and the words once more without it. Such repetitions are not counted as queries: a search counts what a model that
//! keeps both would score.

use sylvan_forest::TokenId;

use crate::{Bounds, Horizon, LanguageModel, Mark, Neighbours, Side, TwoSided};

/// The longest history that is kept: enough for models up to order 7.
const MOST: usize = 6;

/// Up to [`MOST`] words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Words {
    words: [u32; MOST],
    len: u8,
}

impl Words {
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = TokenId> + '_ {
        self.words[..self.len()].iter().map(|&word| TokenId(word))
    }

    fn push(&mut self, word: TokenId) {
        self.words[self.len()] = word.0;
        self.len += 1;
    }

    /// Appends, and forgets the oldest beyond `most`.
    fn roll(&mut self, word: TokenId, most: usize) {
        if self.len() < most {
            self.push(word);
        } else if most > 0 {
            self.words.copy_within(1..most, 0);
            self.words[most - 1] = word.0;
        }
    }

    fn first(&self, count: usize) -> Self {
        self.iter().take(count).collect()
    }

    fn last(&self, count: usize) -> Self {
        self.iter().skip(self.len().saturating_sub(count)).collect()
    }
}

impl FromIterator<TokenId> for Words {
    fn from_iter<I: IntoIterator<Item = TokenId>>(symbols: I) -> Self {
        let mut words = Self::default();
        symbols.into_iter().for_each(|word| words.push(word));
        words
    }
}

/// The boundary of a piece. In a piece of fewer than `g - 1` words both sides are the whole piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Boundary {
    left: Words,
    right: Words,
    /// Whether the sentence begins with it; then no word on its left lacks a history.
    begun: bool,
}

/// A boundary of which some words are known. A side that is not `whole` has more words beyond these.
#[derive(Debug, Clone, Copy)]
pub struct ShownBoundary {
    left: Words,
    right: Words,
    whole: bool,
    begun: bool,
}

/// A [`LanguageModel`] that scores pieces.
#[derive(Debug)]
pub struct BoundaryWords<'m, L> {
    lm: &'m L,
}

impl<'m, L: LanguageModel> BoundaryWords<'m, L> {
    /// # Panics
    /// If the model's order is above 7.
    pub fn new(lm: &'m L) -> Self {
        assert!(lm.order() - 1 <= MOST, "models up to order {} can be used from the bottom up", MOST + 1);
        Self { lm }
    }

    fn history(&self) -> usize {
        self.lm.order() - 1
    }

    fn run(&self, mut state: L::State, words: &Words) -> (f64, L::State) {
        let mut total = 0.0;
        for word in words.iter() {
            let (score, next) = self.lm.score(state, word);
            total += score;
            state = next;
        }
        (total, state)
    }

    /// The state after words with which a sentence begins or not.
    fn state(&self, begun: bool, words: &Words) -> L::State {
        let before = if begun && words.len() < self.history() { self.lm.begin() } else { self.lm.null() };
        self.run(before, words).1
    }

    /// How much more words score after `context` than after nothing.
    fn change(&self, begun: bool, context: &Words, words: &Words) -> f64 {
        if (context.len() == 0 && !begun) || words.len() == 0 {
            return 0.0;
        }
        self.run(self.state(begun, context), words).0 - self.run(self.lm.null(), words).0
    }

    /// The history after `context`, then a whole piece that ends in `part`.
    fn behind(&self, context: &Words, part: &Words) -> Words {
        let mut right = *context;
        part.iter().for_each(|word| right.roll(word, self.history()));
        right
    }
}

impl<L: LanguageModel> TwoSided for BoundaryWords<'_, L> {
    type State = Boundary;
    type Shown = ShownBoundary;

    fn piece(&self, words: &[TokenId]) -> (f64, Boundary) {
        let left = words.iter().copied().take(self.history()).collect();
        let right = words.iter().copied().skip(words.len().saturating_sub(self.history())).collect();
        (self.lm.local(words), Boundary { left, right, begun: false })
    }

    fn join<'s>(&self, parts: impl Iterator<Item = &'s Boundary>) -> (f64, Boundary) {
        let mut joined = Boundary { left: Words::default(), right: Words::default(), begun: false };
        let mut change = 0.0;
        for part in parts {
            change += self.change(joined.begun, &joined.right, &part.left);
            joined.begun |= part.begun;
            let room = if joined.begun { 0 } else { self.history() - joined.left.len() };
            for word in part.left.iter().take(room) {
                joined.left.push(word);
            }
            joined.right = self.behind(&joined.right, &part.right);
        }
        (change, joined)
    }

    fn begin(&self, piece: &Boundary) -> (f64, Boundary) {
        let score = self.run(self.lm.begin(), &piece.left).0 - self.run(self.lm.null(), &piece.left).0;
        (score, Boundary { left: Words::default(), right: piece.right, begun: true })
    }

    fn sentence(&self, piece: &Boundary) -> f64 {
        if piece.begun {
            return self.lm.end(self.state(true, &piece.right));
        }
        let (score, begun) = self.run(self.lm.begin(), &piece.left);
        let change = score - self.run(self.lm.null(), &piece.left).0;
        let last = match piece.left.len() == self.history() && self.history() > 0 {
            true => self.run(self.lm.null(), &piece.right).1,
            false => begun,
        };
        change + self.lm.end(last)
    }

    fn without_history(&self, piece: &Boundary) -> f64 {
        self.run(self.lm.null(), &piece.left).0
    }

    fn open(&self, piece: &Boundary) -> usize {
        piece.left.len()
    }

    fn mark(&self, piece: &Boundary, side: Side, index: usize) -> Mark {
        let (words, found) = match side {
            Side::Left => (piece.left, piece.left.iter().nth(index)),
            Side::Right => (piece.right, piece.right.iter().rev().nth(index)),
        };
        found.map_or(Mark::end(piece.begun || words.len() == self.history()), |word| Mark::word(word.0))
    }

    fn show(&self, piece: &Boundary, left: usize, right: usize) -> ShownBoundary {
        let whole = left > piece.left.len() && right > piece.right.len();
        let begun = piece.begun;
        ShownBoundary { left: piece.left.first(left), right: piece.right.last(right), whole, begun }
    }

    fn open_shown(&self, shown: &ShownBoundary) -> usize {
        shown.left.len()
    }

    fn estimate<'s>(&self, parts: impl Iterator<Item = &'s ShownBoundary>) -> f64 {
        let (mut context, mut begun) = (Words::default(), false);
        let mut change = 0.0;
        for part in parts {
            change += self.change(begun, &context, &part.left);
            // What is seen through a part that is known as a whole is the sentence's beginning, too.
            (context, begun) = match part.whole {
                true => (self.behind(&context, &part.right), begun || part.begun),
                false => (part.right, false),
            };
        }
        change
    }
}

/// From left to right it is the model that it was made of.
impl<L: LanguageModel> LanguageModel for BoundaryWords<'_, L> {
    type State = L::State;

    fn order(&self) -> usize {
        self.lm.order()
    }
    fn begin(&self) -> L::State {
        self.lm.begin()
    }
    fn null(&self) -> L::State {
        self.lm.null()
    }
    fn score(&self, state: L::State, word: TokenId) -> (f64, L::State) {
        self.lm.score(state, word)
    }
    fn end(&self, state: L::State) -> f64 {
        self.lm.end(state)
    }
    fn bounds(&self, neighbours: &Neighbours) -> Option<Box<dyn Bounds + '_>> {
        self.lm.bounds(neighbours)
    }
    fn horizon(&self, words: &[TokenId]) -> Horizon {
        self.lm.horizon(words)
    }
}
