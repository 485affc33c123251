//! Counting n-grams of one sentence, fast: the trie behind BLEU and chrF.
//!
//! Node 0 is the empty n-gram; a child's key is its parent's number beside its last symbol. The key is exact, so
//! no n-gram is ever taken for another, and no n-gram is stored as a string. All keys of a sentence fit the
//! first-level cache, which is what makes it fast; the table is wiped, not freed, between sentences.

const EMPTY: u64 = u64::MAX;

/// The n-grams of a sentence with their counts.
#[derive(Debug, Clone)]
pub(crate) struct Grams {
    /// Open addressing with linear probing; a power of two, never more than half full.
    slots: Vec<(u64, u32)>,
    /// 64 minus the logarithm of the number of slots.
    shift: u32,
    /// Per node; node 0 is unused.
    pub(crate) counts: Vec<u32>,
}

impl Default for Grams {
    fn default() -> Self {
        Self { slots: vec![(EMPTY, 0); 16], shift: 60, counts: vec![0] }
    }
}

impl Grams {
    /// Forgets everything and makes room for `nodes` n-grams. More must not be added.
    pub(crate) fn reset(&mut self, nodes: usize) {
        let slots = (2 * nodes).next_power_of_two().max(16);
        self.slots.clear();
        self.slots.resize(slots, (EMPTY, 0));
        self.shift = 64 - slots.trailing_zeros();
        self.counts.clear();
        self.counts.push(0);
    }

    /// The n-gram `parent` followed by `symbol`, which is added with count 0 if it is new.
    #[inline]
    pub(crate) fn child_or_new(&mut self, parent: u32, symbol: u32) -> u32 {
        let key = key(parent, symbol);
        let slot = self.find(key);
        if self.slots[slot].0 == EMPTY {
            self.slots[slot] = (key, self.counts.len() as u32);
            self.counts.push(0);
        }
        self.slots[slot].1
    }

    /// The n-gram `parent` followed by `symbol`, if it is known.
    #[inline]
    pub(crate) fn child(&self, parent: u32, symbol: u32) -> Option<u32> {
        let (found, node) = self.slots[self.find(key(parent, symbol))];
        (found != EMPTY).then_some(node)
    }

    /// The slot of a key, or the free slot where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        while self.slots[slot].0 != key && self.slots[slot].0 != EMPTY {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

fn key(parent: u32, symbol: u32) -> u64 {
    u64::from(parent) << 32 | u64::from(symbol)
}
