//! What is known of a piece of a sentence at one level: a few words at each end, as ids.
//!
//! ```text
//!   left: w1 w2 .. (at most k)     . . . hidden . . .     right: .. v2 v1 (at most k)
//! ```
//!
//! Every word of a piece is charged the most that it can score given what is known before it inside the
//! piece. Joining two pieces reveals more about what precedes the first words of the second, and their charge
//! can only fall. With `k = order - 1` nothing that matters is hidden, and once the sentence's start is
//! joined too all charges are true scores.
//!
//! Both ends are cut as short as the model allows ([`LanguageModel::horizon`]). Either end is a function of the
//! piece's words, and the ends at `k` are a function of those at `k + 1`: so joining at one level mirrors joining
//! at the next, which is what lets a level be refined along its own joins.

use std::cell::RefCell;
use std::rc::Rc;

use sylvan_base::{HashMap, define_id};

use sylvan_forest::TokenId;

use crate::{Bounds, LanguageModel};

define_id!(
    /// A left end.
    LeftId
);
define_id!(
    /// A right end.
    RightId
);

/// The bounds of the sentence, for all levels.
pub(super) type SharedBounds<'m> = Rc<RefCell<Box<dyn Bounds + 'm>>>;

/// The right end of a hook when it does not matter.
const FORGOTTEN: RightId = RightId(u32::MAX);

/// How a left end stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// It is the whole piece; what follows the piece is seen from before it.
    Whole,
    /// Nothing before the piece matters to the words after these, except for backing off from these, which
    /// the next word pays.
    Closed,
    /// There is more that matters, but it is not known at this level.
    Cut,
}

#[derive(Debug)]
struct Left {
    words: Box<[TokenId]>,
    kind: Kind,
    /// Of a closed end, some word that can follow. Which one does not matter to what it will pay.
    behind: Option<TokenId>,
    /// What was charged for all these words.
    charged: f64,
}

/// What is known of the words before some place.
#[derive(Debug)]
struct Right<S> {
    words: Box<[TokenId]>,
    /// Nothing before these words matters to what follows.
    complete: bool,
    /// The model's state after the words.
    state: S,
}

/// A piece's two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) left: LeftId,
    pub(super) right: RightId,
}

/// The ends at one level, and what joining them does.
pub(super) struct Boundaries<'m, L: LanguageModel> {
    lm: &'m L,
    bounds: SharedBounds<'m>,
    /// An end has at most this many words.
    k: usize,
    lefts: Vec<Left>,
    left_ids: HashMap<(Kind, Box<[TokenId]>), LeftId>,
    rights: Vec<Right<L::State>>,
    right_ids: HashMap<(bool, Box<[TokenId]>), RightId>,
    changes: HashMap<(RightId, LeftId), f64>,
    left_joins: HashMap<(LeftId, LeftId), LeftId>,
    right_joins: HashMap<(RightId, RightId), RightId>,
    words: Vec<TokenId>,
    /// Words scored, each bound as one. What a model does to tell its horizon is not counted.
    pub(super) lm_queries: u64,
}

impl<'m, L: LanguageModel> Boundaries<'m, L> {
    pub(super) fn new(lm: &'m L, bounds: SharedBounds<'m>, k: usize) -> Self {
        Self {
            lm,
            bounds,
            k,
            lefts: Vec::new(),
            left_ids: HashMap::default(),
            rights: Vec::new(),
            right_ids: HashMap::default(),
            changes: HashMap::default(),
            left_joins: HashMap::default(),
            right_joins: HashMap::default(),
            words: Vec::new(),
            lm_queries: 0,
        }
    }

    /// The most that `word` can score after `known`.
    fn bound(&mut self, known: &[TokenId], word: Option<TokenId>) -> f64 {
        let known = &known[known.len().saturating_sub(self.lm.order() - 1)..];
        self.lm_queries += 1;
        self.bounds.borrow_mut().upper_bound(known, word)
    }

    /// What is charged for words in a row, the first ones after nothing known.
    fn charge(&mut self, words: &[TokenId]) -> f64 {
        (0..words.len()).map(|index| self.bound(&words[..index], Some(words[index]))).sum()
    }

    /// A piece of known words, and what is charged for them.
    pub(super) fn piece(&mut self, words: &[TokenId]) -> (f64, Ends) {
        let score = self.charge(words);
        let left = self.left(words, Kind::Whole);
        let right = self.right(words, false);
        (score, Ends { left, right })
    }

    /// The left end of what starts with `words` and then goes on as `kind` says.
    fn left(&mut self, words: &[TokenId], kind: Kind) -> LeftId {
        let known = self.lm.horizon(words);
        let (kind, len, behind) = if known.closed && known.open <= self.k {
            (Kind::Closed, known.open, words.get(known.open).copied())
        } else if !known.closed && kind == Kind::Whole && words.len() <= self.k {
            (Kind::Whole, words.len(), None)
        } else {
            (Kind::Cut, self.k.min(words.len()), None)
        };
        let words: Box<[TokenId]> = words[..len].into();
        if let Some(&id) = self.left_ids.get(&(kind, words.clone())) {
            return id;
        }
        let mut charged = self.charge(&words);
        if let Some(behind) = behind {
            charged += self.bound(&words, Some(behind));
        }
        let id = LeftId(self.lefts.len() as u32);
        self.left_ids.insert((kind, words.clone()), id);
        self.lefts.push(Left { words, kind, behind, charged });
        id
    }

    /// The right end of what stops with `words`; `complete` says that nothing before them matters.
    fn right(&mut self, words: &[TokenId], complete: bool) -> RightId {
        let reach = self.lm.horizon(words).reach;
        let len = reach.min(self.k);
        let complete = reach <= self.k && (complete || reach < words.len() || reach + 1 >= self.lm.order());
        let words: Box<[TokenId]> = words[words.len() - len..].into();
        if let Some(&id) = self.right_ids.get(&(complete, words.clone())) {
            return id;
        }
        let id = RightId(self.rights.len() as u32);
        let (_, state) = self.lm.run(self.lm.null(), &words);
        self.lm_queries += words.len() as u64;
        self.right_ids.insert((complete, words.clone()), id);
        self.rights.push(Right { words, complete, state });
        id
    }

    /// How much less is charged for a piece once the words before it are known. Never above 0, except for
    /// rounding.
    #[inline]
    pub(super) fn change(&mut self, before: RightId, after: LeftId) -> f64 {
        match self.changes.get(&(before, after)) {
            Some(&change) => change,
            None => self.new_change(before, after),
        }
    }

    fn new_change(&mut self, before: RightId, after: LeftId) -> f64 {
        let (right, left) = (&self.rights[before.0 as usize], &self.lefts[after.0 as usize]);
        let mut change = 0.0;
        if right.complete {
            let (score, state) = self.lm.run(right.state, &left.words);
            change = score - left.charged;
            if let Some(behind) = left.behind {
                change += self.lm.score(state, behind).0;
            }
            self.lm_queries += left.words.len() as u64 + u64::from(left.behind.is_some());
        } else if !right.words.is_empty() {
            let mut words = std::mem::take(&mut self.words);
            words.clear();
            words.extend_from_slice(&right.words);
            change = -left.charged;
            let first = words.len();
            words.extend_from_slice(&left.words);
            words.extend(left.behind);
            for index in first..words.len() {
                change += self.bound(&words[..index], Some(words[index]));
            }
            self.words = words;
        }
        self.changes.insert((before, after), change);
        change
    }

    /// The ends of two pieces in a row.
    #[inline]
    pub(super) fn join(&mut self, first: Ends, second: Ends) -> Ends {
        let hook = self.hook(first, second.left);
        self.attach(hook, second)
    }

    /// The ends of a piece before a known left end: its own right end is forgotten unless what follows is whole.
    #[inline]
    pub(super) fn hook(&mut self, first: Ends, next: LeftId) -> Ends {
        let left = match self.lefts[first.left.0 as usize].kind {
            Kind::Whole => self.join_left(first.left, next),
            _ => first.left,
        };
        let right = match self.lefts[next.0 as usize].kind {
            Kind::Whole => first.right,
            _ => FORGOTTEN,
        };
        Ends { left, right }
    }

    /// The ends of a hook and the piece that it waits for.
    #[inline]
    pub(super) fn attach(&mut self, hook: Ends, second: Ends) -> Ends {
        let right =
            if hook.right == FORGOTTEN { second.right } else { self.join_right(hook.right, second.right) };
        Ends { left: hook.left, right }
    }

    fn join_left(&mut self, first: LeftId, second: LeftId) -> LeftId {
        if self.lefts[first.0 as usize].words.is_empty() {
            return second;
        }
        if let Some(&id) = self.left_joins.get(&(first, second)) {
            return id;
        }
        let (x, y) = (&self.lefts[first.0 as usize], &self.lefts[second.0 as usize]);
        let mut words = x.words.to_vec();
        words.extend_from_slice(&y.words);
        words.extend(y.behind);
        let id = self.left(&words, y.kind);
        self.left_joins.insert((first, second), id);
        id
    }

    fn join_right(&mut self, first: RightId, second: RightId) -> RightId {
        let (x, y) = (&self.rights[first.0 as usize], &self.rights[second.0 as usize]);
        if y.words.is_empty() {
            return first;
        }
        if let Some(&id) = self.right_joins.get(&(first, second)) {
            return id;
        }
        let words = [&x.words[..], &y.words[..]].concat();
        let id = self.right(&words, x.complete);
        self.right_joins.insert((first, second), id);
        id
    }

    /// What is still missing when a piece is the whole sentence: its first words after `<s>`, and `</s>`.
    pub(super) fn complete(&mut self, ends: Ends) -> f64 {
        let left = &self.lefts[ends.left.0 as usize];
        let (mut score, state) = self.lm.run(self.lm.begin(), &left.words);
        score -= left.charged;
        if let Some(behind) = left.behind {
            score += self.lm.score(state, behind).0;
        }
        self.lm_queries += left.words.len() as u64 + u64::from(left.behind.is_some());
        match left.kind {
            Kind::Whole => {
                self.lm_queries += 1;
                score + self.lm.end(state)
            }
            _ => {
                let right = &self.rights[ends.right.0 as usize];
                if right.complete {
                    self.lm_queries += 1;
                    return score + self.lm.end(right.state);
                }
                let words = right.words.clone();
                score + self.bound(&words, None)
            }
        }
    }
}
