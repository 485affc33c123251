//! Whole tries: are they sound, and what is in them?

use super::TrieLayout;
use super::level::Order;
use crate::WordId;
use crate::layout::Layout;

impl TrieLayout {
    /// What is wrong with the paths, if anything; `kept` are the numbers of n-grams of length 1, 2, ...
    pub(crate) fn fault(&self, kept: &[u64]) -> Option<String> {
        let starts = self.words.iter().map(|gram| gram.next as usize);
        let expected = if self.levels.is_empty() { 0 } else { kept.get(1).copied().unwrap_or(0) as usize };
        if let Some(fault) = starts_fault(starts, expected) {
            return Some(format!("1-grams: {fault}"));
        }
        for (level, n) in self.levels.iter().zip(2..) {
            if let Some(at) = (0..level.cells).find(|&at| level.word(at) as usize + 1 >= self.words.len()) {
                return Some(format!("{n}-gram {at} with a word that does not exist"));
            }
            let fault = match level.order {
                Order::Hashed { .. } => self.cells_fault(n, kept.get(n - 1).copied().unwrap_or(0)),
                Order::Sorted => self.order_fault(n),
            };
            if let Some(fault) = fault {
                return Some(format!("{n}-grams: {fault}"));
            }
        }
        None
    }

    /// In hashed levels: as many n-grams as there should be, each behind one that knows of it.
    fn cells_fault(&self, n: usize, expected: u64) -> Option<String> {
        let level = &self.levels[n - 2];
        let mut taken = 0;
        for at in (0..level.cells).filter(|&at| level.is_taken(at)) {
            let parent = level.parent(at).map_or(usize::MAX, |parent| parent as usize);
            let grows = parent < self.slots(n - 1)
                && match n {
                    2 => self.words[parent].next < self.words[parent + 1].next,
                    _ => self.levels[n - 3].is_taken(parent) && self.levels[n - 3].next(parent) != 0,
                };
            if !grows {
                return Some(format!("number {at} ends in one that does not grow"));
            }
            taken += 1;
        }
        (taken != expected).then(|| format!("found {taken} where {expected} are announced"))
    }

    /// In sorted levels: all of it belongs to some shorter n-gram, and under each the words rise.
    fn order_fault(&self, n: usize) -> Option<String> {
        let level = &self.levels[n - 2];
        let nodes = self.slots(n - 1);
        if let Some(fault) = starts_fault((0..=nodes).map(|node| self.start(n - 1, node)), level.cells) {
            return Some(fault);
        }
        let rises = |node: usize| {
            let words = |at: usize| level.word(at);
            (self.start(n - 1, node) + 1..self.start(n - 1, node + 1)).all(|at| words(at - 1) < words(at))
        };
        (!(0..nodes).all(rises)).then(|| "not in order".to_string())
    }

    /// Visits all n-grams of length `n`, oldest word first, with probability and back-off weight.
    pub(crate) fn for_each(&self, n: usize, mut visit: impl FnMut(&[WordId], f32, f32)) {
        // One place per length.
        let mut places = vec![0usize; n];
        let mut words = vec![WordId(0); n];
        for at in 0..self.slots(n) {
            if n > 1 && !self.levels[n - 2].is_taken(at) {
                continue;
            }
            places[n - 1] = at;
            for length in (1..n).rev() {
                let child = places[length];
                if let Some(parent) = self.levels[length - 1].parent(child) {
                    places[length - 1] = parent as usize;
                    continue;
                }
                // All longer ones are sorted too, so that the place of the shorter one only goes forward.
                while places[length - 1] + 1 < self.slots(length)
                    && self.start(length, places[length - 1] + 1) <= child
                {
                    places[length - 1] += 1;
                }
            }
            words[n - 1] = WordId(places[0] as u32);
            for length in 2..=n {
                words[n - length] = WordId(self.levels[length - 2].word(places[length - 1]));
            }
            let (prob, backoff) = match n {
                1 => (self.words[at].prob, self.words[at].backoff),
                _ if n < self.order() => (self.levels[n - 2].prob(at), self.levels[n - 2].backoff(at)),
                _ => (self.levels[n - 2].prob(at), 0.0),
            };
            visit(&words, prob, backoff);
        }
    }

    fn start(&self, n: usize, at: usize) -> usize {
        if n == 1 { self.words[at].next as usize } else { self.levels[n - 2].next(at) as usize }
    }
}

/// Starts must rise from 0 to the number of longer n-grams.
fn starts_fault(starts: impl Iterator<Item = usize>, below: usize) -> Option<String> {
    let mut last = 0;
    for (at, start) in starts.enumerate() {
        if start < last || at == 0 && start != 0 {
            return Some(format!("number {at} starts at {start} behind {last}"));
        }
        last = start;
    }
    (last != below).then(|| format!("the last ends at {last} of {below}"))
}
