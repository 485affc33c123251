//! Upper bounds: the best that a word can score after any history that ends in given words.
//!
//! An exact search may leave out what cannot win, if it knows how good something can become at most. For an n-gram
//! `g = h w` the bound is the maximum over all words that may stand before it:
//!
//! ```text
//! V(g) = max { prob(g)                           nothing more is known of the history,
//!              V(c g)                            for all n-grams c g,
//!              prob(g) + B(c h)                  for all c where c h is an n-gram and c g is not }
//! B(h) = backoff(h) + max { 0, B(c h) for all n-grams c h }
//! ```
//!
//! Back-off weights may be above 1, so backing off can raise a score and the third line is needed. In usual models
//! no `B` is above 0, and then it costs nothing. `V` is attained by some history: it is the least upper bound.

use sylvan_base::{HashMap, Id};
use sylvan_store::Section;

use crate::beside::Bounds;
use crate::hash::{HashLayout, cursor_of, key};
use crate::layout::Layout;
use crate::query::with_layout;
use crate::state::State;
use crate::store::List;
use crate::walk::walk;
use crate::{Lm, WordId};

/// Sums of up to seven floats may differ by this much, relative to the size of their parts.
const ROUNDING: f32 = 1e-6;

type Slots = Vec<Vec<f32>>;

/// The slot, probability and back-off weight of an n-gram that is not one of the longest.
fn lookup(layout: &HashLayout, words: &[WordId]) -> Option<(usize, f32, f32)> {
    if let [word] = words {
        let found = layout.word(*word);
        return Some((found.slot, found.prob, found.backoff));
    }
    let (slot, gram) = layout.middle.get(words.len() - 2)?.find(key(cursor_of(words)))?;
    Some((slot, gram.prob, gram.backoff))
}

fn exists(layout: &HashLayout, words: &[WordId]) -> bool {
    let key = key(cursor_of(words));
    match words.len() {
        n if n < layout.order() => layout.middle[n - 2].find(key).is_some(),
        _ => layout.longest.as_ref().is_some_and(|table| table.find(key).is_some()),
    }
}

/// Bounds by the slots of the hash layout: `V` and, per length, the maximum in `B`.
pub(crate) fn compute(layout: &HashLayout, list: &List) -> (Slots, Slots) {
    let order = layout.order();
    let singles: Vec<WordId> = (0..layout.words.len()).map(WordId::from_index).collect();
    let grams = |n: usize| if n == 1 { singles.chunks_exact(1) } else { list.grams(n) };
    let empty = |value: f32| -> Slots { (1..order).map(|n| vec![value; layout.slots(n)]).collect() };
    let mut extra = empty(0.0);
    // Words that make something better by backing off, by the context before which they stand.
    let mut lifts: HashMap<Vec<WordId>, Vec<(f32, WordId)>> = HashMap::default();
    let mut largest = 0.0f32;
    for n in (1..order).rev() {
        for words in grams(n) {
            let Some((slot, _, backoff)) = lookup(layout, words) else { continue };
            largest = largest.max(backoff.abs());
            let above = extra[n - 1][slot];
            // A weight and its opposite further back may leave a trace by rounding: then they do not cancel.
            let total =
                if above > 0.0 { backoff + above + ROUNDING * (backoff.abs() + above) } else { backoff };
            if total > 0.0 {
                if let Some((shorter, ..)) = (n > 1).then(|| lookup(layout, &words[1..])).flatten() {
                    extra[n - 2][shorter] = extra[n - 2][shorter].max(total);
                }
                lifts.entry(words[1..].to_vec()).or_default().push((total, words[0]));
            }
        }
    }
    #[allow(clippy::iter_over_hash_type, reason = "each list is sorted by itself")]
    for lifts in lifts.values_mut() {
        lifts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let slack = |prob: f32| ROUNDING * (prob.abs() + 7.0 * largest);
    let mut best = empty(f32::NEG_INFINITY);
    if let (Some(table), true) = (&layout.longest, order > 1) {
        for words in list.grams(order) {
            if let (Some((_, prob)), Some((slot, ..))) =
                (table.find(key(cursor_of(words))), lookup(layout, &words[1..]))
            {
                best[order - 2][slot] = best[order - 2][slot].max(prob);
            }
        }
    }
    for n in (1..order).rev() {
        for words in grams(n) {
            let Some((slot, prob, _)) = lookup(layout, words) else { continue };
            let mut value = best[n - 1][slot].max(prob);
            if let Some(lifts) = lifts.get(&words[..n - 1]) {
                let mut longer = [&[WordId(0)], words].concat();
                let free = lifts.iter().find(|(_, word)| {
                    longer[0] = *word;
                    !exists(layout, &longer)
                });
                if let Some((lift, _)) = free {
                    value = value.max(prob + lift + slack(prob));
                }
            }
            best[n - 1][slot] = value;
            if let Some((shorter, ..)) = (n > 1).then(|| lookup(layout, &words[1..])).flatten() {
                best[n - 2][shorter] = best[n - 2][shorter].max(value);
            }
        }
    }
    (best, extra)
}

impl Lm {
    /// The same model with upper bounds; `None` if it does not know its n-grams (see [`Lm::is_listed`]) or was
    /// compiled, in which case bounds must be asked for when compiling.
    pub fn with_bounds(&self) -> Option<Self> {
        let (best, extra) = self.computed_bounds()?;
        let sections = |slots: Slots| slots.into_iter().map(Section::from_vec).collect::<Vec<_>>();
        let has_extra = extra.iter().flatten().any(|&extra| extra > 0.0);
        let extra = has_extra.then(|| sections(extra));
        let mut lm = self.clone();
        lm.bounds = Some(Bounds { best: sections(best), extra });
        Some(lm)
    }

    pub(crate) fn computed_bounds(&self) -> Option<(Slots, Slots)> {
        match (&self.layout, &self.list) {
            (crate::query::AnyLayout::Hash(layout), Some(list)) if list.is_whole() => {
                Some(compute(layout, list))
            }
            _ => None,
        }
    }

    /// Whether [`upper_bound`](Self::upper_bound) has an answer.
    pub fn has_bounds(&self) -> bool {
        self.bounds.is_some()
    }

    /// The largest ln p that the last of `words` (oldest first) can have after any history that ends in the words
    /// before it, or `None` if the model has no bounds or there is no word. Never below any score, and equal to
    /// one of them.
    pub fn upper_bound(&self, words: &[WordId]) -> Option<f32> {
        let bounds = self.bounds.as_ref()?;
        let order = self.order();
        let words = &words[words.len().saturating_sub(order)..];
        let (&word, context) = words.split_last()?;
        Some(with_layout!(&self.layout, layout => bounded(layout, bounds, word, context)))
    }
}

fn bounded<L: Layout>(layout: &L, bounds: &Bounds, word: WordId, context: &[WordId]) -> f32 {
    let at = |values: &[Section<f32>], n: usize, slot: usize| -> Option<f32> {
        values.get(n.checked_sub(1)?)?.get(slot).copied()
    };
    // A state that forgets nothing: all words, and all weights that exist.
    let mut state = State::EMPTY;
    state.len = context.len() as u32;
    for (to, from) in state.words.iter_mut().zip(context.iter().rev()) {
        *to = *from;
    }
    let mut extra = None;
    if let Some((&newest, older)) = context.split_last() {
        let mut history = older.iter().rev();
        let mut found = layout.word(newest);
        let mut n = 1;
        loop {
            state.backoffs[n - 1] = found.backoff;
            let Some(&next) = history.next() else {
                extra = bounds.extra.as_ref().and_then(|extra| at(extra, n, found.slot));
                break;
            };
            let Some(longer) =
                layout.longer(n + 1, found.cursor, next, L::Hints::default()).filter(|_| found.grows_left)
            else {
                break;
            };
            (found, n) = (longer, n + 1);
        }
    }
    let walk = walk(layout, &state, word, L::Hints::default());
    if walk.used == context.len() {
        return at(&bounds.best, context.len() + 1, walk.slot)
            .filter(|_| context.len() + 1 < layout.order())
            .unwrap_or(walk.prob);
    }
    let (score, _) = walk.finish(&state, word);
    match extra {
        Some(extra) if extra > 0.0 => {
            let parts: f32 = state.backoffs().iter().map(|backoff| backoff.abs()).sum();
            score + extra + ROUNDING * (score.abs() + parts + 7.0 * extra)
        }
        _ => score,
    }
}
