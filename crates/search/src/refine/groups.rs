//! The items of a vertex as a tree of groups that agree in their outer words.
//!
//! ```text
//! all items            ..
//!  |- the ..           first word known
//!  |   |- the .. vote     last word known as well
//!  |   `- the .. votes
//!  `- a .. vote        a group of one item is known as a whole
//! ```
//!
//! Groups are split on demand, by the next word of the side of which less is known. The subgroups of a group are in
//! the order of their best items, and so are the items of a group.

use std::ops::Range;

use sylvan_base::HashMap;

use crate::chart::Item;
use crate::{Mark, Side, TwoSided};

/// A group of items, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupId(pub(super) u32);

/// Some subgroups of a group: those from a certain one on, best first. All of them are the group itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) group: GroupId,
    pub(super) from: u32,
}

#[derive(Debug, Clone)]
struct Group {
    /// Its items, as a range of `Groups::members`.
    members: Range<u32>,
    /// Its subgroups, if it has been split.
    parts: Range<u32>,
    /// What is known of both sides, in marks.
    left: u8,
    right: u8,
    /// How it looks, if that has been worked out.
    shown: u32,
    /// Of its best item.
    best: Best,
}

/// What queues need of the best item of a group, kept here because items are large and far away in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Best {
    pub(super) item: u32,
    pub(super) rank: f64,
    pub(super) hash: u64,
}

impl Best {
    /// Of a vertex without items, which is no tail of any edge: it is never asked for.
    const NOTHING: Best = Best { item: u32::MAX, rank: f64::NEG_INFINITY, hash: 0 };

    fn of<S>(items: &[Item<S>], item: u32) -> Self {
        let Item { rank, hash, .. } = items[item as usize];
        Self { item, rank, hash }
    }
}

const NOT_YET: u32 = u32::MAX;
/// No side has as many words as this: models go up to order 7.
const ALL: u8 = 8;

/// The groups of all finished vertices.
#[derive(Debug)]
pub(super) struct Groups<V> {
    groups: Vec<Group>,
    members: Vec<u32>,
    shown: Vec<V>,
    /// Per vertex the group of all its items.
    pub(super) roots: Vec<GroupId>,
    sorting: Sorting,
}

/// Scratch memory for splitting.
#[derive(Debug, Default)]
struct Sorting {
    index: HashMap<Mark, u32>,
    part_of: Vec<u32>,
    sizes: Vec<u32>,
    members: Vec<u32>,
}

impl<V> Default for Groups<V> {
    fn default() -> Self {
        Self {
            groups: Vec::new(),
            members: Vec::new(),
            shown: Vec::new(),
            roots: Vec::new(),
            sorting: Sorting::default(),
        }
    }
}

impl<V> Groups<V> {
    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.members.clear();
        self.shown.clear();
        self.roots.clear();
    }

    /// Makes the items of the next vertex, best first, one group.
    pub(super) fn add<S>(&mut self, items: &[Item<S>], cell: Range<u32>) {
        let start = self.members.len() as u32;
        let best = cell.clone().next().map_or(Best::NOTHING, |item| Best::of(items, item));
        self.members.extend(cell);
        let members = start..self.members.len() as u32;
        self.roots.push(GroupId(self.groups.len() as u32));
        self.groups.push(Group { members, parts: 0..0, left: 0, right: 0, shown: NOT_YET, best });
    }

    fn group(&self, group: GroupId) -> &Group {
        &self.groups[group.0 as usize]
    }

    /// The best item of a tail.
    pub(super) fn best(&self, tail: Tail) -> Best {
        let group = self.group(tail.group);
        match tail.from {
            0 => group.best,
            from => self.groups[(group.parts.start + from) as usize].best,
        }
    }

    /// Whether a group is a single item.
    pub(super) fn is_single(&self, group: GroupId) -> bool {
        self.group(group).members.len() == 1
    }

    /// How much is known of a group.
    pub(super) fn known(&self, group: GroupId) -> u8 {
        let group = self.group(group);
        group.left + group.right
    }

    /// Works out how a group looks: everything that its items have in common at their ends. Returns how many words
    /// the model may have to score for it: those of a side that is not known to its end.
    pub(super) fn show<M: TwoSided<Shown = V>>(
        &mut self,
        lm: &M,
        items: &[Item<M::State>],
        group: GroupId,
    ) -> usize {
        let Group { members, mut left, mut right, shown, .. } = self.group(group).clone();
        if shown != NOT_YET {
            return 0;
        }
        let members = &self.members[members.start as usize..members.end as usize];
        let state = |item: u32| &items[item as usize].state;
        let first = state(members[0]);
        if members.len() == 1 {
            (left, right) = (ALL, ALL);
        } else {
            let common = |side, mut known: u8| {
                while known < ALL {
                    let mark = lm.mark(first, side, usize::from(known));
                    let differs = |&item: &u32| lm.mark(state(item), side, usize::from(known)) != mark;
                    if members[1..].iter().any(differs) {
                        break;
                    }
                    known = if mark.is_end() { ALL } else { known + 1 };
                }
                known
            };
            (left, right) = (common(Side::Left, left), common(Side::Right, right));
        }
        let number = self.shown.len() as u32;
        self.shown.push(lm.show(first, usize::from(left), usize::from(right)));
        let group = &mut self.groups[group.0 as usize];
        (group.left, group.right, group.shown) = (left, right, number);
        [left, right].into_iter().filter(|&known| known < ALL).map(usize::from).sum()
    }

    /// How a group looks that was [shown](Self::show).
    pub(super) fn shown(&self, group: GroupId) -> &V {
        &self.shown[self.group(group).shown as usize]
    }

    /// Takes the best subgroup off a tail of more than one item: the subgroup, and what is left if anything is.
    /// The group must have been shown.
    pub(super) fn split<M: TwoSided<Shown = V>>(
        &mut self,
        lm: &M,
        items: &[Item<M::State>],
        tail: Tail,
    ) -> (GroupId, Option<Tail>) {
        if self.group(tail.group).parts.is_empty() {
            self.make_parts(lm, items, tail.group);
        }
        let parts = &self.group(tail.group).parts;
        let best = GroupId(parts.start + tail.from);
        let rest = Tail { from: tail.from + 1, ..tail };
        (best, (best.0 + 1 < parts.end).then_some(rest))
    }

    fn make_parts<M: TwoSided<Shown = V>>(&mut self, lm: &M, items: &[Item<M::State>], group: GroupId) {
        let Group { members, mut left, mut right, .. } = self.group(group).clone();
        let (side, index) = if left <= right { (Side::Left, &mut left) } else { (Side::Right, &mut right) };
        let sorting = &mut self.sorting;
        sorting.index.clear();
        sorting.part_of.clear();
        sorting.sizes.clear();
        let range = members.start as usize..members.end as usize;
        sorting.members.clear();
        sorting.members.extend_from_slice(&self.members[range]);
        for &item in &sorting.members {
            // Items of a vertex differ in some mark. If not, their numbers tell them apart.
            let mark = match *index < ALL {
                true => lm.mark(&items[item as usize].state, side, usize::from(*index)),
                false => Mark::word(item),
            };
            let next = sorting.sizes.len() as u32;
            let part = *sorting.index.entry(mark).or_insert(next);
            if part == next {
                sorting.sizes.push(0);
            }
            sorting.sizes[part as usize] += 1;
            sorting.part_of.push(part);
        }
        debug_assert!(sorting.sizes.len() > 1, "what all have in common is known already");
        *index = (*index + 1).min(ALL);
        let mut start = members.start;
        for size in &mut sorting.sizes {
            // From here on, where the part's next item goes.
            start += std::mem::replace(size, start);
        }
        for (&item, &part) in sorting.members.iter().zip(&sorting.part_of) {
            let place = &mut sorting.sizes[part as usize];
            self.members[*place as usize] = item;
            *place += 1;
        }
        let (first, mut start) = (self.groups.len() as u32, members.start);
        for &end in &sorting.sizes {
            let best = Best::of(items, self.members[start as usize]);
            self.groups.push(Group { members: start..end, parts: 0..0, left, right, shown: NOT_YET, best });
            start = end;
        }
        self.groups[group.0 as usize].parts = first..self.groups.len() as u32;
    }
}
