//! The candidates of undirected search while they wait.

use sylvan_base::Id;
use sylvan_forest::{EdgeId, TranslationForest, VertexId};

use super::agenda::Item;
use super::yields::{HOLE, Yield};

/// An edge with an item for each tail, [`HOLE`] for one that is missing: where it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made(pub(super) u32);

/// The edge of a candidate that is the whole sentence: its one tail is an item of the goal.
pub(super) const SENTENCE: EdgeId = EdgeId(u32::MAX);

/// A complete candidate whose words are scored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complete<S> {
    pub(super) made: Made,
    /// What its edge adds to its tails. Their scores may still rise.
    pub(super) added: f64,
    pub(super) state: S,
}

/// A partial candidate whose words are scored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partial<S> {
    pub(super) made: Made,
    pub(super) added: f64,
    pub(super) words: Yield<S>,
}

/// Places for candidates, used again.
#[derive(Debug)]
pub(super) struct Slots<C> {
    all: Vec<C>,
    free: Vec<u32>,
}

impl<C> Default for Slots<C> {
    fn default() -> Self {
        Self { all: Vec::new(), free: Vec::new() }
    }
}

impl<C> Slots<C> {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }

    pub(super) fn put(&mut self, candidate: C) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.all[slot as usize] = candidate;
                slot
            }
            None => {
                self.all.push(candidate);
                self.all.len() as u32 - 1
            }
        }
    }

    /// A candidate stays readable until another is put into its place.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(super) fn get(&self, slot: u32) -> &C {
        &self.all[slot as usize]
    }
}

/// All candidates that were ever made, edge and tails one after the other.
#[derive(Debug, Default)]
pub(super) struct Written {
    numbers: Vec<u32>,
    arities: Vec<u8>,
}

impl Written {
    pub(super) fn start(&mut self, forest: &TranslationForest) {
        self.numbers.clear();
        self.arities.clear();
        self.arities.extend(forest.edge_ids().map(|edge| forest.tails(edge).count() as u8));
    }

    pub(super) fn write(&mut self, edge: EdgeId, tails: &[u32]) -> Made {
        let made = Made(self.numbers.len() as u32);
        self.numbers.push(edge.0);
        self.numbers.extend_from_slice(tails);
        made
    }

    pub(super) fn arity(&self, edge: EdgeId) -> usize {
        self.arities.get(edge.index()).map_or(1, |&arity| usize::from(arity))
    }

    pub(super) fn edge(&self, made: Made) -> EdgeId {
        EdgeId(self.numbers[made.0 as usize])
    }

    pub(super) fn tails(&self, made: Made) -> &[u32] {
        let start = made.0 as usize + 1;
        &self.numbers[start..start + self.arity(self.edge(made))]
    }

    /// What the items of a candidate score now.
    pub(super) fn below(&self, items: &[Item], made: Made) -> f64 {
        let known = self.tails(made).iter().filter(|&&tail| tail != HOLE);
        known.map(|&tail| items[tail as usize].score).sum()
    }

    /// The vertex that fills the hole, if there is one.
    pub(super) fn hole(&self, forest: &TranslationForest, made: Made) -> Option<VertexId> {
        let hole = self.tails(made).iter().position(|&tail| tail == HOLE)?;
        forest.tails(self.edge(made)).nth(hole)
    }
}
