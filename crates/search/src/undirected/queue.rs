//! The queue of undirected search: what waits for each place, and which place has the best of all.
//!
//! ```text
//! place       candidates that are scored; candidates of which a rough estimate is known
//! tournament  over the places, by the best that waits at each
//! ```
//!
//! A place is told how many of its candidates can still be taken. Those behind that many others would find the place
//! full when their turn came, so they need not wait: what is taken, and in which order, is the same without them, as long
//! as estimates stay what they are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::total::Total;

/// A candidate that waits: the best estimate first, of equals the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    estimate: Total,
    age: Reverse<u32>,
    candidate: u32,
}

impl Entry {
    const NONE: Entry =
        Entry { estimate: Total(f64::NEG_INFINITY), age: Reverse(u32::MAX), candidate: u32::MAX };
}

/// Candidates of one kind.
#[derive(Debug)]
struct Line {
    heap: BinaryHeap<Entry>,
    /// The worst that was kept when some were sent away: no other is let in unless it is better.
    least: f64,
}

impl Default for Line {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), least: f64::NEG_INFINITY }
    }
}

impl Line {
    fn top(&self) -> Entry {
        self.heap.peek().copied().unwrap_or(Entry::NONE)
    }

    /// Lets an entry in; of more than twice `most` the best `most` stay.
    fn add(&mut self, entry: Entry, most: usize, sent_away: &mut Vec<u32>) {
        self.heap.push(entry);
        if self.heap.len() <= most.saturating_mul(2) {
            return;
        }
        let mut all = std::mem::take(&mut self.heap).into_vec();
        all.select_nth_unstable_by(most - 1, |a, b| b.cmp(a));
        self.least = all[most - 1].estimate.0;
        sent_away.extend(all.drain(most..).map(|entry| entry.candidate));
        self.heap = all.into();
    }

    /// Estimates anew; nobody who waits is sent away, and whoever comes is let in.
    fn estimate(&mut self, mut anew: impl FnMut(u32, f64) -> f64) {
        let mut all = std::mem::take(&mut self.heap).into_vec();
        for entry in &mut all {
            entry.estimate = Total(anew(entry.candidate, entry.estimate.0));
        }
        self.heap = all.into();
        self.least = f64::NEG_INFINITY;
    }
}

/// What waits at one place.
#[derive(Debug, Default)]
struct Waiting {
    scored: Line,
    rough: Line,
}

/// The best of a queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Top {
    /// A candidate with its estimate.
    Scored(f64, u32),
    /// A candidate to be scored first.
    Rough(u32),
}

/// See the module. Candidates are numbers, those that are scored and those that are not for themselves.
#[derive(Debug, Default)]
pub(super) struct Queue {
    places: Vec<Waiting>,
    /// Per place its best estimate and age.
    best: Vec<(Total, Reverse<u32>)>,
    /// A binary tree over the places, each node the better of its two: node 1 is the root.
    winners: Vec<u32>,
    made: u32,
    len: usize,
    /// Scored candidates that were sent away; whoever keeps them empties this.
    pub(super) sent_away: Vec<u32>,
    rough_away: Vec<u32>,
}

const NOTHING: (Total, Reverse<u32>) = (Total(f64::NEG_INFINITY), Reverse(u32::MAX));

impl Queue {
    /// An empty queue for so many places.
    pub(super) fn start(&mut self, places: usize) {
        for Waiting { scored, rough } in &mut self.places {
            for line in [scored, rough] {
                line.heap.clear();
                line.least = f64::NEG_INFINITY;
            }
        }
        self.places.resize_with(places, Waiting::default);
        let leaves = places.next_power_of_two().max(2);
        self.best.clear();
        self.best.resize(leaves, NOTHING);
        self.winners.clear();
        self.winners.extend((0..2 * leaves).map(|node| {
            // The leaf furthest to the left below a node.
            let depth = leaves.ilog2() - (node.max(1) as u32).ilog2();
            ((node << depth) % leaves) as u32
        }));
        (self.made, self.len) = (0, 0);
        self.sent_away.clear();
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether somebody with this rough estimate would be let in at a place.
    #[inline]
    pub(super) fn admits_rough(&self, place: usize, estimate: f64) -> bool {
        let Waiting { scored, rough } = &self.places[place];
        estimate > scored.least.max(rough.least)
    }

    /// Whether somebody with this estimate would be let in at a place.
    #[inline]
    pub(super) fn admits(&self, place: usize, estimate: f64) -> bool {
        estimate > self.places[place].scored.least
    }

    /// A scored candidate for a place that can take `most` more.
    pub(super) fn add(&mut self, place: usize, estimate: f64, most: usize, candidate: u32) {
        let entry = self.entry(estimate, candidate);
        let before = self.sent_away.len();
        self.places[place].scored.add(entry, most, &mut self.sent_away);
        self.len = self.len + 1 + before - self.sent_away.len();
        self.update(place);
    }

    /// A candidate of which only a rough estimate is known.
    pub(super) fn add_rough(&mut self, place: usize, estimate: f64, most: usize, candidate: u32) {
        let entry = self.entry(estimate, candidate);
        self.rough_away.clear();
        self.places[place].rough.add(entry, most, &mut self.rough_away);
        self.len = self.len + 1 - self.rough_away.len();
        self.update(place);
    }

    fn entry(&mut self, estimate: f64, candidate: u32) -> Entry {
        self.made += 1;
        Entry { estimate: Total(estimate), age: Reverse(self.made), candidate }
    }

    /// Takes the best of all, and its place.
    pub(super) fn take(&mut self) -> Option<(usize, Top)> {
        let place = *self.winners.get(1)? as usize;
        let Waiting { scored, rough } = self.places.get_mut(place)?;
        let top = if scored.top() >= rough.top() {
            let entry = scored.heap.pop()?;
            Top::Scored(entry.estimate.0, entry.candidate)
        } else {
            Top::Rough(rough.heap.pop()?.candidate)
        };
        self.len -= 1;
        self.update(place);
        Some((place, top))
    }

    /// Drops everybody at a place who is not scored, and lets no more of them in.
    pub(super) fn close_rough(&mut self, place: usize) {
        let rough = &mut self.places[place].rough;
        self.len -= rough.heap.len();
        rough.heap.clear();
        rough.least = f64::INFINITY;
        self.update(place);
    }

    /// Sends everybody at a place away.
    pub(super) fn clear(&mut self, place: usize) {
        let Waiting { scored, rough } = &mut self.places[place];
        self.len -= scored.heap.len() + rough.heap.len();
        self.sent_away.extend(scored.heap.drain().map(|entry| entry.candidate));
        rough.heap.clear();
        self.update(place);
    }

    /// Estimates all scored candidates of a place anew; rough estimates change by `shift`.
    pub(super) fn estimate(&mut self, place: usize, shift: f64, mut anew: impl FnMut(u32) -> f64) {
        let Waiting { scored, rough } = &mut self.places[place];
        scored.estimate(|candidate, _| anew(candidate));
        rough.estimate(|_, estimate| estimate + shift);
        self.update(place);
    }

    fn update(&mut self, place: usize) {
        let Waiting { scored, rough } = &self.places[place];
        let top = scored.top().max(rough.top());
        let best = (top.estimate, top.age);
        if best == self.best[place] {
            return;
        }
        self.best[place] = best;
        let mut node = (self.best.len() + place) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let is_left = self.best[left as usize] >= self.best[right as usize];
            let winner = if is_left { left } else { right };
            // Whoever has won above without this place still does.
            if winner == self.winners[node] && winner as usize != place {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use sylvan_base::Rng;

    use super::*;

    /// Everybody who waits: place, estimate, age, candidate, whether scored.
    type Slow = Vec<(usize, f64, u32, u32, bool)>;

    fn slow_take(waiting: &mut Slow) -> Option<(usize, Top)> {
        let best = (0..waiting.len()).reduce(|a, b| {
            let (x, y) = (&waiting[a], &waiting[b]);
            if (y.1, Reverse(y.2)) > (x.1, Reverse(x.2)) { b } else { a }
        })?;
        let (place, estimate, _, candidate, scored) = waiting.remove(best);
        Some((place, if scored { Top::Scored(estimate, candidate) } else { Top::Rough(candidate) }))
    }

    #[test]
    fn whoever_is_best_is_taken_first() {
        let mut rng = Rng::new(3);
        let mut queue = Queue::default();
        for _ in 0..300 {
            let places = 1 + rng.below(9);
            queue.start(places);
            let mut slow: Slow = Vec::new();
            for age in 0..rng.below(60) as u32 {
                let (place, estimate) = (rng.below(places), rng.below(12) as f64);
                match rng.below(8) {
                    0 => assert_eq!(queue.take(), slow_take(&mut slow)),
                    1 => {
                        queue.clear(place);
                        slow.retain(|waiting| waiting.0 != place);
                    }
                    2 => {
                        queue.estimate(place, -0.5, |candidate| f64::from(candidate % 7));
                        for waiting in slow.iter_mut().filter(|waiting| waiting.0 == place) {
                            waiting.1 = if waiting.4 { f64::from(waiting.3 % 7) } else { waiting.1 - 0.5 };
                        }
                    }
                    kind => {
                        let add = if kind < 5 { Queue::add } else { Queue::add_rough };
                        add(&mut queue, place, estimate, usize::MAX, age);
                        slow.push((place, estimate, age, age, kind < 5));
                    }
                }
                assert_eq!(queue.len(), slow.len());
            }
            while let Some(expected) = slow_take(&mut slow) {
                assert_eq!(queue.take(), Some(expected));
            }
            assert_eq!(queue.take(), None);
        }
    }

    #[test]
    fn of_more_than_twice_as_many_the_best_stay() {
        let mut queue = Queue::default();
        queue.start(1);
        for (candidate, estimate) in [3.0, 1.0, 5.0, 2.0].into_iter().enumerate() {
            assert!(queue.admits(0, estimate));
            queue.add(0, estimate, 2, candidate as u32);
        }
        assert_eq!((queue.len(), queue.sent_away.len()), (4, 0));
        queue.add(0, 4.0, 2, 4);
        queue.sent_away.sort_unstable();
        assert_eq!((queue.len(), queue.sent_away.as_slice()), (2, &[0, 1, 3][..]));
        assert!(queue.admits(0, 4.5) && !queue.admits(0, 4.0) && !queue.admits_rough(0, 4.0));
        assert_eq!(queue.take(), Some((0, Top::Scored(5.0, 2))));
        assert_eq!(queue.take(), Some((0, Top::Scored(4.0, 4))));
    }
}
