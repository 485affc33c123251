//! The order in which phrases are translated: jumps and orientations, for searches and for finished derivations.

use std::cmp::Ordering;

use sylvan_base::{HashMap, Span};
use sylvan_forest::{Neighbour, Orientation};

/// How many source words are jumped over between two phrases; `end` is where the one before ended.
pub(super) fn jump(end: u32, next: Span) -> u32 {
    next.start.abs_diff(end)
}

/// Whether a jump is allowed. `gap` is the first word not yet translated: one must be able to come back to it.
pub(super) fn is_within(limit: Option<u32>, gap: u32, end: u32, next: Span) -> bool {
    limit.is_none_or(|limit| {
        jump(end, next) <= limit && (next.start == gap || next.end.abs_diff(gap) <= limit)
    })
}

/// What the phrase before thinks of the next one when blocks count: what lies between them and is still open will
/// join them (Galley & Manning 2008). `is_open` answers after the next phrase is translated.
pub(super) fn after_block(before: Span, next: Span, is_open: impl Fn(u32) -> bool) -> Orientation {
    match (next.start.cmp(&before.end), next.end.cmp(&before.start)) {
        (Ordering::Equal, _) => Orientation::Mono,
        (Ordering::Greater, _) if is_open(before.end) => Orientation::Mono,
        (_, Ordering::Equal) => Orientation::Swap,
        (_, Ordering::Less) if is_open(before.start - 1) => Orientation::Swap,
        _ => Orientation::Disc,
    }
}

/// Stacks of blocks, equal ones once: 0 is empty, others are a block and the stack below it.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    cells: Vec<(Span, u32)>,
    index: HashMap<(Span, u32), u32>,
}

impl Blocks {
    pub(super) const EMPTY: u32 = 0;

    fn top(&self, stack: u32) -> Option<(Span, u32)> {
        stack.checked_sub(1).map(|cell| self.cells[cell as usize])
    }

    /// How a phrase lies to the topmost block.
    pub(super) fn orientation(&self, stack: u32, next: Span) -> Orientation {
        self.top(stack).map_or(Orientation::of_first(next), |(block, _)| Orientation::of(block, next))
    }

    /// Shifts a phrase and joins neighbours.
    pub(super) fn push(&mut self, mut stack: u32, next: Span) -> u32 {
        let mut block = next;
        while let Some((top, below)) = self.top(stack)
            && Orientation::of(top, block) != Orientation::Disc
        {
            block = Span { start: top.start.min(block.start), end: top.end.max(block.end) };
            stack = below;
        }
        if let Some(&known) = self.index.get(&(block, stack)) {
            return known;
        }
        self.cells.push((block, stack));
        let new = self.cells.len() as u32;
        self.index.insert((block, stack), new);
        new
    }

    /// From the bottom to the top.
    #[cfg(test)]
    fn show(&self, mut stack: u32) -> Vec<Span> {
        let mut blocks = Vec::new();
        while let Some((block, below)) = self.top(stack) {
            blocks.push(block);
            stack = below;
        }
        blocks.reverse();
        blocks
    }
}

/// One phrase of a finished derivation, in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Source words jumped over from the end of the phrase before.
    pub jump: u32,
    /// How it lies to what is before it.
    pub before: Orientation,
    /// What the phrase before thinks of it; nothing for the first.
    pub after: Option<Orientation>,
}

/// The order of a finished derivation, phrase by phrase in target order.
pub fn placed(phrases: &[Span], neighbour: Neighbour) -> Vec<Placed> {
    let mut blocks = Blocks::default();
    let (mut stack, mut end) = (Blocks::EMPTY, 0);
    let mut previous: Option<Span> = None;
    let mut placed = Vec::with_capacity(phrases.len());
    for (number, &next) in phrases.iter().enumerate() {
        let (before, after) = match neighbour {
            Neighbour::Phrase | Neighbour::Recent | Neighbour::Late => {
                let both = previous.map(|previous| Orientation::of(previous, next));
                (both.unwrap_or(Orientation::of_first(next)), both)
            }
            Neighbour::Block => {
                let done = &phrases[..=number];
                let is_open =
                    |position: u32| !done.iter().any(|phrase| phrase.range().contains(&(position as usize)));
                let after = previous.map(|previous| after_block(previous, next, is_open));
                (blocks.orientation(stack, next), after)
            }
        };
        if neighbour == Neighbour::Block {
            stack = blocks.push(stack, next);
        }
        placed.push(Placed { jump: jump(end, next), before, after });
        (end, previous) = (next.end, Some(next));
    }
    placed
}

#[cfg(test)]
mod tests {
    use Orientation::{Disc, Mono, Swap};

    use super::*;

    fn words(order: &[u32]) -> Vec<Span> {
        order.iter().map(|&start| Span { start, end: start + 1 }).collect()
    }

    fn before(order: &[u32], neighbour: Neighbour) -> Vec<Orientation> {
        placed(&words(order), neighbour).iter().map(|phrase| phrase.before).collect()
    }

    /// Words in the order 0 2 1 3.
    #[test]
    fn blocks_see_order_where_phrases_see_jumps() {
        let order = [0, 2, 1, 3];
        let jumps: Vec<u32> =
            placed(&words(&order), Neighbour::Phrase).iter().map(|phrase| phrase.jump).collect();
        assert_eq!(jumps, [0, 1, 2, 1]);
        assert_eq!(before(&order, Neighbour::Phrase), [Mono, Disc, Swap, Disc]);
        assert_eq!(before(&order, Neighbour::Block), [Mono, Disc, Swap, Mono]);
    }

    /// Words in the order 0 3 1 2 4: blocks are not the same as runs of translated words.
    #[test]
    fn blocks_are_joined_only_with_the_one_below() {
        assert_eq!(before(&[0, 3, 1, 2, 4], Neighbour::Block), [Mono, Disc, Disc, Mono, Mono]);
        let mut blocks = Blocks::default();
        let mut stack = Blocks::EMPTY;
        let mut shown = Vec::new();
        for word in words(&[0, 3, 1, 2, 4]) {
            stack = blocks.push(stack, word);
            shown.push(blocks.show(stack).iter().map(|block| (block.start, block.end)).collect::<Vec<_>>());
        }
        assert_eq!(shown[2], [(0, 1), (3, 4), (1, 2)]);
        assert_eq!((&*shown[3], &*shown[4]), (&[(0, 4)][..], &[(0, 5)][..]));
    }

    /// Limit 2, word 0 translated, the next gap is word 1.
    #[test]
    fn a_jump_must_leave_a_way_back() {
        let allowed = |start, end| is_within(Some(2), 1, 1, Span { start, end });
        assert!(!allowed(3, 4) && allowed(2, 3) && allowed(1, 2));
        assert!(is_within(None, 1, 1, Span { start: 9, end: 12 }));
        // At the gap itself only the jump counts.
        assert!(is_within(Some(2), 1, 3, Span { start: 1, end: 9 }));
        assert!(!is_within(Some(2), 1, 4, Span { start: 1, end: 2 }));
    }
}
