//! States of a structured language model as numbers.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sylvan_parse::structured::StackId;
use sylvan_search::StepState;

/// A partial parse of a state: a stack, and the bits of what it scores less than the best.
pub(super) type Kept = (StackId, u64);

/// Sets of partial parses, equal ones once; in a set the best comes first.
#[derive(Debug, Default)]
pub(super) struct States {
    parses: Vec<Kept>,
    ends: Ends,
    index: HashTable<StepState>,
}

/// By state: where its parses end, and how many words came before, if groups depend on it.
#[derive(Debug, Default)]
struct Ends(Vec<(u32, u32)>);

impl Ends {
    fn of<'p>(&self, state: StepState, parses: &'p [Kept]) -> (&'p [Kept], u32) {
        let at = state.0 as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.0[before].0);
        let (end, words) = self.0[at];
        (&parses[start as usize..end as usize], words)
    }
}

impl States {
    pub(super) fn clear(&mut self) {
        self.parses.clear();
        self.ends.0.clear();
        self.index.clear();
    }

    /// The parses of a state, and how many words came before.
    pub(super) fn get(&self, state: StepState) -> (&[Kept], u32) {
        self.ends.of(state, &self.parses)
    }

    pub(super) fn intern(&mut self, parses: impl Iterator<Item = Kept>, words: u32) -> StepState {
        let Self { parses: all, ends, index } = self;
        let start = all.len();
        all.extend(parses);
        let hash = |set: (&[Kept], u32)| FixedState::default().hash_one(set);
        let made = (&all[start..], words);
        let entry =
            index.entry(hash(made), |&state| ends.of(state, all) == made, |&state| hash(ends.of(state, all)));
        match entry {
            Entry::Occupied(known) => {
                all.truncate(start);
                *known.get()
            }
            Entry::Vacant(free) => {
                let new = StepState(ends.0.len() as u32);
                free.insert(new);
                ends.0.push((all.len() as u32, words));
                new
            }
        }
    }
}
