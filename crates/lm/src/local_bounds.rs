//! Upper bounds for one sentence: the best that a word can score after any history that its neighbours allow.
//!
//! [`Lm::upper_bound`] takes the maximum over all histories there are. In one sentence of a translation only some
//! words can occur, and only some can stand next to each other; the maximum over histories of allowed pairs is much
//! lower. It is found by walking from an n-gram `g = h w` to the longer ones that the model holds, through allowed
//! words only:
//!
//! ```text
//! V(g) = max { prob(g) + B(h), V(c g) for all c allowed before g such that c g is an n-gram }
//! B(h) = max over all c allowed before h: backoff(c h) + B(c h) if c h is an n-gram, else 0
//! ```
//!
//! Nothing of this is stored in the model: every layout can do it, and what is computed is kept for the sentence.

use sylvan_base::HashMap;

use crate::layout::{Cursor, Found, Layout};
use crate::query::with_layout;
use crate::{Lm, MAX_ORDER, WordId};

/// Upper bounds under which only some words may follow each other. See [`Lm::local_bounds`].
#[derive(Debug)]
pub struct LocalBounds<'m> {
    lm: &'m Lm,
    /// By word, those that may stand before it. A word that is not here has nothing before it.
    before: HashMap<WordId, Vec<WordId>>,
    memory: Memory,
}

#[derive(Debug, Default)]
struct Memory {
    best: HashMap<(usize, Cursor), f32>,
    lift: HashMap<(usize, Cursor), f32>,
    /// `B` of no words at all, by the word that follows.
    first_lift: HashMap<WordId, f32>,
}

impl Lm {
    /// Bounds for sentences in which a word follows only words that are listed for it: `before` has, for each word of
    /// the sentence and for its end, the words that can stand right before it, [`begin_word`](Self::begin_word)
    /// among them if it can be the first.
    pub fn local_bounds(&self, before: HashMap<WordId, Vec<WordId>>) -> LocalBounds<'_> {
        LocalBounds { lm: self, before, memory: Memory::default() }
    }
}

impl LocalBounds<'_> {
    /// The largest ln p that `word` can have after any allowed history that ends in `known` (oldest first), up to
    /// rounding.
    pub fn upper_bound(&mut self, known: &[WordId], word: WordId) -> f32 {
        let known = &known[known.len().saturating_sub(self.lm.order() - 1)..];
        let Self { lm, before, memory } = self;
        with_layout!(&lm.layout, layout => Search { layout, before, memory }.bound(known, word))
    }
}

struct Search<'s, L> {
    layout: &'s L,
    before: &'s HashMap<WordId, Vec<WordId>>,
    memory: &'s mut Memory,
}

impl<L: Layout> Search<'_, L> {
    fn bound(&mut self, known: &[WordId], word: WordId) -> f32 {
        let order = self.layout.order();
        let mut found = self.layout.word(word);
        let mut used = 0;
        while let Some(&oldest) = known.iter().rev().nth(used).filter(|_| found.grows_left) {
            if used + 2 == order {
                match self.layout.longest(found.cursor, oldest) {
                    Some(prob) => return prob,
                    None => break,
                }
            }
            let Some(longer) = self.layout.longer(used + 2, found.cursor, oldest, L::Hints::default()) else {
                break;
            };
            (found, used) = (longer, used + 1);
        }
        if used == known.len() {
            let mut words = [WordId(0); MAX_ORDER];
            // Oldest first, at the end of the array: there is room for older ones.
            words[MAX_ORDER - 1] = word;
            words[MAX_ORDER - 1 - used..MAX_ORDER - 1].copy_from_slice(known);
            return if used + 1 == order { found.prob } else { self.best(&mut words, used + 1, &found) };
        }
        found.prob + self.weights(known, used, word)
    }

    /// `V` of the n-gram of the last `n` of `words`.
    fn best(&mut self, words: &mut [WordId; MAX_ORDER], n: usize, found: &Found) -> f32 {
        let start = MAX_ORDER - n;
        // Only n-grams that grow have a cursor of their own.
        if !found.grows_left {
            return self.alone(&words[start..], found);
        }
        if let Some(&best) = self.memory.best.get(&(n, found.cursor)) {
            return best;
        }
        let order = self.layout.order();
        let mut best = self.alone(&words[start..], found);
        if n < order {
            let before = self.before;
            let before = before.get(&words[start]).map_or(&[][..], Vec::as_slice);
            self.announce(n + 1, found.cursor, before);
            for &oldest in before {
                let value = if n + 1 == order {
                    self.layout.longest(found.cursor, oldest)
                } else {
                    let longer = self.layout.longer(n + 1, found.cursor, oldest, L::Hints::default());
                    longer.map(|longer| {
                        words[start - 1] = oldest;
                        self.best(words, n + 1, &longer)
                    })
                };
                best = value.map_or(best, |value| best.max(value));
            }
        }
        self.memory.best.insert((n, found.cursor), best);
        best
    }

    /// What an n-gram gives where no longer one is found.
    fn alone(&mut self, words: &[WordId], found: &Found) -> f32 {
        let (&word, context) = words.split_last().expect("an n-gram has a word");
        found.prob + self.weights(context, context.len(), word)
    }

    /// All look-ups of a loop at once, so that their cache misses overlap.
    fn announce(&self, n: usize, cursor: Cursor, before: &[WordId]) {
        for &oldest in before {
            self.layout.announce_longer(n, cursor, oldest);
        }
    }

    /// The maximum that backing off adds: the weights of contexts of more than `used` words within `known`, and `B` of
    /// all of them.
    fn weights(&mut self, known: &[WordId], used: usize, word: WordId) -> f32 {
        let order = self.layout.order();
        if known.len() + 1 > order {
            return 0.0;
        }
        let Some((&newest, older)) = known.split_last() else { return self.first_lift(word) };
        let mut found = self.layout.word(newest);
        let mut sum = if used < 1 { found.backoff } else { 0.0 };
        for (index, &oldest) in older.iter().rev().enumerate() {
            let n = index + 2;
            let longer = if found.grows_left {
                self.layout.longer(n, found.cursor, oldest, L::Hints::default())
            } else {
                None
            };
            let Some(longer) = longer else { return sum };
            found = longer;
            sum += if used < n { found.backoff } else { 0.0 };
        }
        sum + self.lift(known[0], known.len(), &found)
    }

    /// `B` of an n-gram of `n` words, the oldest of which is `first`.
    fn lift(&mut self, first: WordId, n: usize, found: &Found) -> f32 {
        if n + 1 >= self.layout.order() || !found.grows_left {
            return 0.0;
        }
        if let Some(&lift) = self.memory.lift.get(&(n, found.cursor)) {
            return lift;
        }
        let mut most = f32::NEG_INFINITY;
        let before = self.before;
        let before = before.get(&first).map_or(&[][..], Vec::as_slice);
        self.announce(n + 1, found.cursor, before);
        for &oldest in before {
            let longer = self.layout.longer(n + 1, found.cursor, oldest, L::Hints::default());
            let lift = longer.map_or(0.0, |longer| longer.backoff + self.lift(oldest, n + 1, &longer));
            most = most.max(lift);
        }
        let most = if most == f32::NEG_INFINITY { 0.0 } else { most };
        self.memory.lift.insert((n, found.cursor), most);
        most
    }

    fn first_lift(&mut self, word: WordId) -> f32 {
        if self.layout.order() == 1 {
            return 0.0;
        }
        if let Some(&lift) = self.memory.first_lift.get(&word) {
            return lift;
        }
        let mut most = f32::NEG_INFINITY;
        let before = self.before;
        for &oldest in before.get(&word).into_iter().flatten() {
            let found = self.layout.word(oldest);
            most = most.max(found.backoff + self.lift(oldest, 1, &found));
        }
        let most = if most == f32::NEG_INFINITY { 0.0 } else { most };
        self.memory.first_lift.insert(word, most);
        most
    }
}
