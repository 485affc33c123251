//! Weights while they are learnt: a hash table of rows of whole numbers.
//!
//! Perceptron updates add and subtract 1, so weights are integers and sums do not depend on the order of the
//! updates of a batch. Averages are kept lazily (Daumé 2006): beside each weight `w` the sum of `time * change`,
//! so that the average over `0..time` is `w - sum / time`.
//!
//! A row holds only the actions that were ever updated, one after the other, weight and action in one number.

use sylvan_base::prefetch;

use super::beam::Weights;
use super::system::MAX_ACTIONS;

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// 0: free.
    key: u64,
    start: u32,
    len: u16,
    capacity: u16,
}

/// A growing table of rows.
pub(crate) struct Table {
    slots: Vec<Slot>,
    used: usize,
    /// `weight << 8 | action`.
    entries: Vec<i32>,
    /// The sums for the averages, beside the entries.
    sums: Vec<i64>,
    /// How often each entry changed, up to 65,535.
    changes: Vec<u16>,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); 1 << 12],
            used: 0,
            entries: Vec::new(),
            sums: Vec::new(),
            changes: Vec::new(),
        }
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key >> 20) as usize & mask;
        while self.slots[at].key != key && self.slots[at].key != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let double = vec![Slot::default(); self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, double) {
            if slot.key != 0 {
                let at = self.place(slot.key);
                self.slots[at] = slot;
            }
        }
    }

    /// Changes the weight of an action in a row at a time.
    pub(crate) fn change(&mut self, key: u64, action: u8, delta: i32, time: i64) {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let key = key.max(1);
        let at = self.place(key);
        let mut slot = self.slots[at];
        if slot.key == 0 {
            slot = Slot { key, start: self.entries.len() as u32, len: 0, capacity: 0 };
            self.used += 1;
        }
        let row = slot.start as usize..slot.start as usize + usize::from(slot.len);
        let found = row.clone().find(|&entry| self.entries[entry] & 0xFF == i32::from(action));
        let entry = found.unwrap_or_else(|| {
            if slot.len == slot.capacity {
                // The row moves to the end, with twice the room; the old place is lost.
                let capacity = (slot.capacity * 2).max(1);
                slot.start = self.entries.len() as u32;
                slot.capacity = capacity;
                self.entries.extend_from_within(row.clone());
                self.sums.extend_from_within(row.clone());
                self.changes.extend_from_within(row);
                let end = slot.start as usize + usize::from(capacity);
                self.entries.resize(end, 0);
                self.sums.resize(end, 0);
                self.changes.resize(end, 0);
            }
            let entry = slot.start as usize + usize::from(slot.len);
            slot.len += 1;
            self.entries[entry] = i32::from(action);
            entry
        });
        self.slots[at] = slot;
        self.entries[entry] += delta << 8;
        self.sums[entry] += time * i64::from(delta);
        self.changes[entry] = self.changes[entry].saturating_add(1);
    }

    /// Restarts the averages at time 0 with the current weights.
    pub(crate) fn forget_averages(&mut self) {
        self.sums.fill(0);
    }

    /// How many rows there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// All rows in no particular order: key, and action, weight, sum and number of changes of each entry.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = (u8, i32, i64, u16)>)> {
        self.slots.iter().filter(|slot| slot.key != 0).map(|slot| {
            let row = slot.start as usize..slot.start as usize + usize::from(slot.len);
            let entry = |at: usize| {
                let both = self.entries[at];
                ((both & 0xFF) as u8, both >> 8, self.sums[at], self.changes[at])
            };
            (slot.key, row.map(entry))
        })
    }
}

impl Weights for Table {
    #[inline]
    fn add(&self, keys: &[u64], scores: &mut [i32; MAX_ACTIONS]) {
        let mask = self.slots.len() - 1;
        for keys in keys.chunks(AT_ONCE) {
            // All slots are prefetched, then all rows, before any is waited for.
            for &key in keys {
                prefetch(&self.slots[(key.max(1) >> 20) as usize & mask]);
            }
            let mut rows = [(0, 0); AT_ONCE];
            for (row, &key) in rows.iter_mut().zip(keys) {
                let slot = &self.slots[self.place(key.max(1))];
                *row = (slot.start as usize, usize::from(slot.len));
                if slot.len > 0 {
                    prefetch(&self.entries[slot.start as usize]);
                }
            }
            for &(start, len) in &rows[..keys.len()] {
                for &entry in &self.entries[start..start + len] {
                    scores[(entry & 0xFF) as usize] += entry >> 8;
                }
            }
        }
    }
}

/// How many rows are looked up together.
const AT_ONCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn lazy_averages_are_the_naive_ones() {
        let mut rng = Rng::new(5);
        let mut table = Table::new();
        let mut naive = vec![[0i64; 7]; 3000];
        let mut totals = vec![[0i64; 7]; 3000];
        let times = 40;
        for time in 0..times {
            for _ in 0..400 {
                let (key, action) = (rng.below(3000), rng.below(7));
                let delta = if rng.chance(0.5) { 1 } else { -1 };
                table.change(key as u64, action as u8, delta, time);
                naive[key][action] += i64::from(delta);
            }
            for (total, weights) in totals.iter_mut().zip(&naive) {
                for (total, weight) in total.iter_mut().zip(weights) {
                    *total += weight;
                }
            }
        }
        assert!(table.len() > 2500);
        let mut scores = [0; MAX_ACTIONS];
        table.add(&[17, 18], &mut scores);
        for action in 0..7 {
            assert_eq!(i64::from(scores[action]), naive[17][action] + naive[18][action]);
        }
        for (key, row) in table.rows() {
            for (action, weight, sum, _) in row {
                // Keys 0 and 1 share a row.
                if key > 1 {
                    let (key, action) = (key as usize, action as usize);
                    assert_eq!(i64::from(weight), naive[key][action]);
                    assert_eq!(i64::from(weight) * times - sum, totals[key][action]);
                }
            }
        }
    }
}
