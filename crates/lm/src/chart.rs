//! Scoring pieces of a sentence before their neighbours are known, for search from the bottom up.
//!
//! The first words of a piece lack a history. They are charged what is known so far, and remembered as *open*:
//! for each the n-gram from the start of the piece to it, and what was charged. When words to the left become known
//! they are *revealed* to the open n-grams (Heafield, Koehn & Lavie 2013), which gives the difference between the
//! better estimate and the old one. An n-gram that does not grow to the left need not be kept open, and neither does
//! anything after it (Li & Khudanpur 2008).
//!
//! ```text
//!    left neighbour        piece
//!  .. c3 c2 c1         e1 e2 e3 e4 ..              e1, e1 e2 and e1 e2 e3 can grow, e1 e2 e3 e4 cannot:
//!          ^ right      `-----'                    e1 e2 e3 are open, and the piece is closed:
//!            state       open                      nothing to the left changes e5
//! ```
//!
//! The word after the open ones (`e4`) has its final n-gram, but still pays for backing off from histories
//! `c1 e1 e2 e3`, `c2 c1 e1 e2 e3` if the model has them. Joining two pieces is revealing the right state of one to
//! the open words of the other; then the sums of scores are those of the whole, however it was put together.

use std::hash::{Hash, Hasher};

use crate::layout::{Cursor, Layout, is_context};
use crate::query::with_layout;
use crate::state::{MAX_HISTORY, State};
use crate::walk::announced_walk;
use crate::{Lm, WordId};

/// The open words at the left edge of a piece.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    cursors: [Cursor; MAX_HISTORY],
    charged: [f32; MAX_HISTORY],
    len: u8,
    closed: bool,
}

impl Left {
    const EMPTY: Self =
        Self { cursors: [Cursor(0); MAX_HISTORY], charged: [0.0; MAX_HISTORY], len: 0, closed: false };

    /// How many words are open.
    pub fn open(&self) -> usize {
        usize::from(self.len).min(MAX_HISTORY)
    }

    /// What was charged for them so far.
    pub fn charged(&self) -> f64 {
        self.charged[..self.open()].iter().map(|&charged| f64::from(charged)).sum()
    }

    /// Whether the words after the open ones know all of their history that matters. A piece that is not closed
    /// has no such words: all of it is open.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The open n-grams with what was charged for their last words.
    pub(crate) fn open_grams(&self) -> impl Iterator<Item = (Cursor, f32)> {
        self.cursors.into_iter().zip(self.charged).take(self.open())
    }

    fn push(&mut self, cursor: Cursor, charged: f32) {
        if let Some(place) = self.cursors.get_mut(usize::from(self.len)) {
            *place = cursor;
            self.charged[usize::from(self.len)] = charged;
            self.len += 1;
        }
    }

    /// The longest open n-gram stands for all of them: they are its beginnings.
    fn identity(&self) -> (u8, bool, Cursor) {
        let longest = self.open().checked_sub(1).map_or(Cursor(0), |last| self.cursors[last]);
        (self.len, self.closed, longest)
    }
}

impl PartialEq for Left {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Left {}

impl Hash for Left {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity().hash(hasher);
    }
}

/// All that matters of a piece of a sentence. Equal states have equal futures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChartState {
    /// What words to the left can still change.
    pub left: Left,
    /// What matters to words to the right.
    pub right: State,
}

impl ChartState {
    /// No words at all.
    pub const EMPTY: Self = Self { left: Left::EMPTY, right: State::EMPTY };

    /// Declares that nothing more will be revealed. Pieces that differed in nothing else become equal.
    pub fn close(&mut self) {
        self.left = Left { closed: true, ..Left::EMPTY };
    }
}

/// Puts pieces and words together, from left to right.
#[derive(Debug, Clone)]
pub struct Joiner<'m> {
    lm: &'m Lm,
    state: ChartState,
    score: f64,
}

impl<'m> Joiner<'m> {
    /// Starts in the middle of a sentence.
    pub fn new(lm: &'m Lm) -> Self {
        Self { lm, state: ChartState::EMPTY, score: 0.0 }
    }

    /// Starts at the beginning of a sentence.
    pub fn begin(lm: &'m Lm) -> Self {
        let left = Left { closed: true, ..Left::EMPTY };
        Self { lm, state: ChartState { left, right: lm.begin() }, score: 0.0 }
    }

    /// Appends a word.
    pub fn word(&mut self, word: WordId) {
        let order = self.lm.order();
        let ChartState { left, right } = &mut self.state;
        let walk = with_layout!(&self.lm.layout, layout => announced_walk(layout, right, word));
        let (prob, next) = walk.finish(right, word);
        if !left.closed {
            // Open if the n-gram is the whole piece and can grow.
            let words = left.open() + 1;
            if walk.used + 1 == words && walk.grows_left && words < order {
                left.push(walk.cursor, prob);
                // The right state cannot pass on to later words what it has dropped.
                left.closed = words + 1 >= order || next.len() < words;
            } else {
                left.closed = true;
            }
        }
        *right = next;
        self.score += f64::from(prob);
    }

    /// Appends a piece that was scored before with `score`.
    pub fn piece(&mut self, piece: &ChartState, score: f64) {
        let mut piece = *piece;
        self.score += score + self.lm.reveal(&self.state.right, 0, &mut piece);
        let left = &mut self.state.left;
        if !left.closed {
            let added = piece.left.open();
            for (&cursor, &charged) in piece.left.cursors.iter().zip(&piece.left.charged).take(added) {
                left.push(cursor, charged);
            }
            left.closed = piece.left.closed;
        }
        self.state.right = piece.right;
    }

    /// The sum of all scores, and the state.
    pub fn finish(self) -> (f64, ChartState) {
        (self.score, self.state)
    }
}

impl Lm {
    /// The words as one piece: its score without any history, and its state.
    pub fn piece(&self, words: &[WordId]) -> (f64, ChartState) {
        let mut joiner = Joiner::new(self);
        words.iter().for_each(|&word| joiner.word(word));
        joiner.finish()
    }

    /// Reveals to a piece the words on its left, and returns how much its score changes. `context` is the state
    /// after those words; of its words (newest first) the first `seen` have been revealed before and only the
    /// others are new.
    pub fn reveal(&self, context: &State, seen: usize, piece: &mut ChartState) -> f64 {
        with_layout!(&self.layout, layout => reveal(layout, context, seen, piece))
    }
}

/// `alive` counts the words of the context that the histories of the current word can have: for the first word all,
/// for each further one only those with which the words in between still make a history.
fn reveal<L: Layout>(layout: &L, context: &State, seen: usize, piece: &mut ChartState) -> f64 {
    let order = layout.order();
    let visible = context.len();
    if visible <= seen {
        return 0.0;
    }
    let ChartState { left, right } = piece;
    let open = left.open();
    let mut alive = visible;
    let mut backoffs = context.backoffs;
    let mut still_open = open;
    let mut change = 0.0;
    for index in 0..open {
        if alive <= seen {
            still_open = still_open.min(index);
            break;
        }
        let mut cursor = left.cursors[index];
        // Open n-grams grow, or they would not be open.
        let (mut prob, mut used, mut grows, mut next_alive) = (None, seen, true, seen);
        let mut weights = [0.0; MAX_HISTORY];
        while used < alive && grows {
            let oldest = context.words[used];
            let n = index + used + 2;
            if n >= order {
                if let Some(longest) = layout.longest(cursor, oldest).filter(|_| n == order) {
                    (prob, used, grows) = (Some(longest), used + 1, false);
                }
                break;
            }
            let Some(found) = layout.longer(n, cursor, oldest, L::Hints::default()) else { break };
            (prob, cursor, grows) = (Some(found.prob), found.cursor, found.grows_left);
            weights[used] = found.backoff;
            used += 1;
            if is_context(found.backoff) {
                next_alive = used;
            }
        }
        let mut score = prob.unwrap_or(left.charged[index]);
        for backoff in &backoffs[used..alive.max(used)] {
            score += backoff;
        }
        change += f64::from(score) - f64::from(left.charged[index]);
        left.cursors[index] = cursor;
        left.charged[index] = score;
        let length = index + used + 1;
        if used < visible || !grows || length >= order {
            still_open = still_open.min(index);
        }
        (alive, backoffs) = (next_alive, weights);
    }
    if left.closed {
        // The word after the open ones pays for backing off.
        for backoff in &backoffs[seen..alive.max(seen)] {
            change += f64::from(*backoff);
        }
    } else {
        // The piece is all open, so its right state has all its words and can take more in front.
        let kept = right.len();
        let (words, weights) = (context.words.iter().zip(&backoffs), &mut right.backoffs);
        for (index, (&word, &backoff)) in words.enumerate().take(alive).skip(seen) {
            if let Some(place) = right.words.get_mut(kept + index - seen) {
                *place = word;
                weights[kept + index - seen] = backoff;
                right.len += 1;
            }
        }
        left.closed = still_open < open || alive < visible || right.len() + 1 >= order;
    }
    left.len = still_open as u8;
    change
}
