//! The features of dependency parsing.
//!
//! Letters as in the papers: s0, s1, s2 are the items on the stack from the top, q0, q1, q2 the next words; `w` is a
//! word, `t` its tag, `wt` both, `lc` and `rc` the leftmost and rightmost child.
//!
//! Without lookahead a reduction cannot see the next word, but a shift can see the word it shifts. Then each feature
//! with q0 exists twice: with the word, for shifts alone, and with nothing, for reductions alone. A row of the wrong
//! kind has no weights for an action, so scoring need not tell them apart; only learning asks [`applies`].

use super::system::{Around, Atom, DependencySystem, Item, Queue, ROOT, SHIFT, Templates};
use crate::machine::Templates as Keys;

const PAPER: u64 = 4000;
const PAPER_SHIFT: u64 = 4100;
const RICH: u64 = 4200;
const RICH_SHIFT: u64 = 4400;
const AROUND: u64 = 4600;
const GUESS: u64 = 4700;

/// The features with q0 of the twenty.
const PAPER_QUEUE: usize = 6;
/// The features with q0 of the rich set.
const RICH_QUEUE: usize = 40;

/// A word as features see it, each field as wide as a key.
#[derive(Clone, Copy)]
struct Seen {
    form: u64,
    tag: u64,
    /// The group of the tag.
    group: u64,
    /// Form and tag in one.
    wt: u64,
}

#[inline]
fn see(atom: &Atom) -> Seen {
    let (form, tag) = (atom.form, u64::from(atom.tag));
    Seen { form, tag, group: u64::from(atom.group), wt: form << 9 | tag }
}

/// Small numbers in one.
#[inline]
fn pack(a: u64, b: u64, c: u64) -> u64 {
    a << 20 | b << 10 | c
}

/// Whether the feature at a place of the list applies to an action.
#[inline]
pub(crate) fn applies(system: &DependencySystem, index: usize, action: u8) -> bool {
    if system.lookahead > 0 {
        return true;
    }
    let queue = match system.templates {
        Templates::Paper => PAPER_QUEUE,
        Templates::Rich => RICH_QUEUE,
    };
    match index {
        // First those with nothing in the place of q0, then those with the word, then all others.
        index if index < queue => action != SHIFT,
        index if index < 2 * queue => action == SHIFT,
        _ => true,
    }
}

/// The features of a state: its three topmost items and the next words as far as they may be seen.
#[inline]
pub(crate) fn keys(system: &DependencySystem, items: [&Item; 3], queue: &Queue, keys: &mut Vec<u64>) {
    queue_keys(system, items, &queue.words, keys);
    if system.lookahead == 0 {
        shift_keys(system, items, queue.shifted, keys);
    }
    stack_keys(system, items, keys);
    if system.looks_around() {
        around(items, queue, &mut Keys::new(keys, AROUND));
        guess(items, queue, &mut Keys::new(keys, GUESS));
    }
}

/// Those with the next words, which may be nothing.
#[inline]
pub(crate) fn queue_keys(
    system: &DependencySystem,
    items: [&Item; 3],
    words: &[Atom; 3],
    keys: &mut Vec<u64>,
) {
    match system.templates {
        Templates::Paper => paper_queue(items, see(&words[0]), &mut Keys::new(keys, PAPER)),
        Templates::Rich => rich_queue(items, words, &mut Keys::new(keys, RICH)),
    }
}

/// Those with the word that a shift takes, where it is not seen before.
#[inline]
pub(crate) fn shift_keys(system: &DependencySystem, items: [&Item; 3], shifted: Atom, keys: &mut Vec<u64>) {
    match system.templates {
        Templates::Paper => paper_queue(items, see(&shifted), &mut Keys::new(keys, PAPER_SHIFT)),
        Templates::Rich => {
            let words = [shifted, Atom::default(), Atom::default()];
            rich_queue(items, &words, &mut Keys::new(keys, RICH_SHIFT));
        }
    }
}

/// Those with the stack alone.
#[inline]
pub(crate) fn stack_keys(system: &DependencySystem, items: [&Item; 3], keys: &mut Vec<u64>) {
    match system.templates {
        Templates::Paper => paper_stack(items, &mut Keys::new(keys, PAPER + PAPER_QUEUE as u64)),
        Templates::Rich => rich_stack(items, &mut Keys::new(keys, RICH + RICH_QUEUE as u64)),
    }
}

fn paper_queue([s0, s1, _]: [&Item; 3], q0: Seen, f: &mut Keys<'_>) {
    let (s0, s1) = (see(&s0.word), see(&s1.word));
    f.one(q0.form);
    f.one(q0.tag);
    f.one(q0.wt);
    f.two(s0.tag, q0.tag);
    f.two(s0.form, pack(s1.tag, q0.tag, 0));
    f.one(pack(s1.tag, s0.tag, q0.tag));
}

fn paper_stack([i0, i1, _]: [&Item; 3], f: &mut Keys<'_>) {
    let (s0, s1) = (see(&i0.word), see(&i1.word));
    f.one(s0.form);
    f.one(s0.tag);
    f.one(s0.wt);
    f.one(s1.form);
    f.one(s1.tag);
    f.one(s1.wt);
    f.two(s0.form, s1.form);
    f.two(s0.tag, s1.tag);
    f.two(s0.wt, s1.tag);
    f.two(s0.form, s1.wt);
    f.two(s0.tag, s1.wt);
    f.two(s0.wt, s1.form);
    f.one(pack(s1.tag, s0.tag, u64::from(i0.left.tag)));
    f.one(pack(s1.tag, s0.tag, u64::from(i0.right.tag)));
}

fn rich_queue([i0, i1, i2]: [&Item; 3], queue: &[Atom; 3], f: &mut Keys<'_>) {
    let [s0, s1, s2] = [i0, i1, i2].map(|item| see(&item.word));
    let [q0, q1, q2] = [see(&queue[0]), see(&queue[1]), see(&queue[2])];
    let [l0, r0, r1] = [&i0.left, &i0.right, &i1.right].map(see);
    f.one(q0.form);
    f.one(q0.tag);
    f.one(q0.wt);
    f.one(q1.wt);
    f.one(q1.tag);
    f.one(q2.tag);
    f.two(q1.form, q0.tag);
    f.two(s0.tag, q0.tag);
    f.two(s0.wt, q0.tag);
    f.two(s0.tag, q0.wt);
    f.two(s0.form, q0.form);
    f.two(s0.wt, q0.wt);
    f.two(s1.tag, q0.tag);
    f.two(s1.wt, q0.tag);
    f.two(s1.form, q0.form);
    f.two(q0.tag, q1.tag);
    f.two(q0.wt, q1.wt);
    f.one(pack(q0.tag, q1.tag, q2.tag));
    f.one(pack(s0.tag, s1.tag, q0.tag));
    f.two(s0.form, pack(s1.tag, q0.tag, 0));
    f.two(s1.form, pack(s0.tag, q0.tag, 0));
    f.two(q0.form, pack(s0.tag, s1.tag, 0));
    f.one(pack(s0.tag, q0.tag, q1.tag));
    f.two(s0.form, pack(q0.tag, q1.tag, 0));
    f.two(pack(s0.tag, s1.tag, q0.tag), q1.tag);
    f.two(pack(s0.tag, s1.tag, s2.tag), q0.tag);
    f.two(pack(s0.tag, q0.tag, q1.tag), q2.tag);
    f.one(pack(s0.tag, l0.tag, q0.tag));
    f.one(pack(s0.tag, r0.tag, q0.tag));
    f.two(pack(s1.tag, r1.tag, s0.tag), q0.tag);
    f.two(s0.wt, pack(q0.tag, u64::from(i0.rights), u64::from(i0.lefts)));
    f.two(r0.form, pack(s0.tag, q0.tag, 0));
    f.two(pack(s0.tag, s1.tag, q0.tag), r0.tag);
    f.two(pack(s0.tag, s1.tag, q0.tag), distance(i0, i1));
    // Whether the next word belongs to the top or to what is below it.
    f.three(s1.form, s0.form, q0.form);
    f.three(s1.tag, s0.form, q0.form);
    f.three(s1.form, s0.tag, q0.form);
    f.one(pack(s0.group, s1.group, q0.group));
    f.two(pack(s0.group, s1.group, s2.group), q0.group << 8 | q1.group);
    f.two(pack(s0.group, l0.group, s1.group), q0.form);
}

/// How far apart the head words are, in few numbers.
#[inline]
fn distance(i0: &Item, i1: &Item) -> u64 {
    if i1.position == 0 {
        return 0;
    }
    match i0.position - i1.position {
        apart @ 0..=5 => u64::from(apart),
        6..=7 => 6,
        8..=10 => 7,
        11..=15 => 8,
        _ => 9,
    }
}

fn rich_stack([i0, i1, i2]: [&Item; 3], f: &mut Keys<'_>) {
    let [s0, s1, s2] = [i0, i1, i2].map(|item| see(&item.word));
    let [l0, r0, l1, r1] = [&i0.left, &i0.right, &i1.left, &i1.right].map(see);
    let apart = distance(i0, i1);
    let children = |item: &Item| u64::from(item.lefts) << 8 | u64::from(item.rights);
    f.one(s0.form);
    f.one(s0.tag);
    f.one(s0.wt);
    f.one(s1.form);
    f.one(s1.tag);
    f.one(s1.wt);
    f.one(s2.tag);
    f.one(s2.wt);
    f.two(s0.form, s1.form);
    f.two(s0.tag, s1.tag);
    f.two(s0.wt, s1.tag);
    f.two(s0.form, s1.wt);
    f.two(s0.tag, s1.wt);
    f.two(s0.wt, s1.form);
    f.two(s0.wt, s1.wt);
    f.one(pack(s0.tag, s1.tag, s2.tag));
    f.two(s0.form, pack(s1.tag, s2.tag, 0));
    f.two(s1.form, pack(s0.tag, s2.tag, 0));
    f.two(s2.form, pack(s0.tag, s1.tag, 0));
    let [l02, r02, l12, r12] = [i0.left2, i0.right2, i1.left2, i1.right2].map(u64::from);
    for child in [l0.tag, r0.tag, l1.tag, r1.tag, l02, r02, l12, r12] {
        f.one(pack(s0.tag, s1.tag, child));
    }
    for child in [l0.tag, r0.tag, l1.tag, r1.tag] {
        f.two(s0.form, pack(s1.tag, child, 0));
        f.two(s1.form, pack(s0.tag, child, 0));
    }
    f.two(pack(s0.tag, l0.tag, l02), s1.tag);
    f.two(pack(s0.tag, r0.tag, r02), s1.tag);
    f.two(pack(s1.tag, l1.tag, l12), s0.tag);
    f.two(pack(s1.tag, r1.tag, r12), s0.tag);
    f.two(pack(s0.tag, s1.tag, r1.tag), l0.tag);
    f.two(pack(s0.tag, s1.tag, l1.tag), r1.tag);
    for child in [l0, r0, l1, r1] {
        f.two(child.form, pack(s0.tag, s1.tag, 0));
    }
    f.two(s0.form, r0.form);
    f.two(s1.form, r1.form);
    f.two(s0.form, r1.form);
    f.two(s0.wt, children(i0));
    f.two(s1.wt, children(i1));
    f.two(pack(s0.tag, s1.tag, 0), children(i0));
    f.two(pack(s1.tag, s0.tag, 0), children(i1));
    f.two(s0.form, apart);
    f.two(s1.form, apart);
    f.one(pack(s0.tag, s1.tag, apart));
    f.two(s0.wt, pack(s1.tag, apart, 0));
    f.two(s1.wt, pack(s0.tag, apart, 1));
    f.two(pack(s0.tag, s1.tag, apart), r1.tag);
    // What a word is introduced by (a preposition, a conjunction) with what it could belong to.
    f.two(s1.form, l0.form);
    f.three(s1.form, l0.form, s0.tag);
    f.three(s1.form, l0.form, s0.form);
    f.two(s2.form, l0.form);
    f.three(s2.form, l0.form, pack(s1.tag, s0.tag, 0));
    f.three(s1.form, l0.form, pack(s2.tag, s0.tag, 0));
    f.three(s1.tag, l0.form, s0.form);
    f.three(r1.form, l0.form, pack(s1.tag, s0.tag, 0));
    f.three(l1.form, l0.form, pack(s1.tag, s0.tag, 0));
    f.two(pack(s0.group, s1.group, s2.group), apart);
    f.two(pack(s0.group, l0.group, r0.group), pack(s1.group, l1.group, r1.group));
    f.two(s0.form, s1.group);
    f.two(s1.form, s0.group);
    f.two(pack(s0.group, s1.group, s2.group), l0.form);
}

/// What stands around the heads of the two topmost items and between them.
fn around([i0, i1, i2]: [&Item; 3], queue: &Queue, f: &mut Keys<'_>) {
    let [s0, s1, s2] = [i0, i1, i2].map(|item| see(&item.word));
    let [q0, q1] = [see(&queue.words[0]), see(&queue.words[1])];
    let near = |Around { before, after, .. }: Around| (u64::from(before), u64::from(after));
    let ((b0, a0), (b1, a1)) = (near(i0.around), near(i1.around));
    let pair = pack(s0.tag, s1.tag, 0);
    f.two(pair, b0);
    f.two(pair, a0);
    f.two(pair, b1);
    f.two(pair, a1);
    f.three(pair, b0, a1);
    f.three(pair, b1, a0);
    f.three(pair, a0, a1);
    f.three(pair, b0, b1);
    f.two(s0.form, pack(b0, a0, 0));
    f.two(s1.form, pack(b1, a1, 0));
    // What was put aside before the next word, within the two items, and before each.
    let [m0, m1] = queue.marks.map(u64::from);
    let (between, below) = (u64::from(i0.around.edge), u64::from(i1.around.edge));
    let (own, other) = (u64::from(i0.around.mark), u64::from(i1.around.mark));
    f.one(m0);
    f.two(m0, s0.tag);
    f.two(m0, s0.form);
    f.two(m0, q0.tag);
    f.two(m0, pack(s0.tag, q0.tag, 0));
    f.two(m0, pair);
    f.two(m0, pack(s0.tag, s1.tag, q0.tag));
    f.three(m0, s0.form, q0.form);
    f.two(m0, q0.form);
    f.two(m1, pack(q0.tag, q1.tag, s0.tag));
    f.one(between);
    f.two(between, pair);
    f.two(between, s0.tag);
    f.two(between, s1.tag);
    f.two(between, pack(s0.group, s1.group, distance(i0, i1)));
    f.two(between, m0);
    f.three(between, m0, pair);
    f.three(between, below, pair);
    f.three(between, below, m0);
    f.three(between, m0, pack(s0.tag, s1.tag, q0.tag));
    f.two(between, s0.form);
    f.two(between, s1.form);
    f.two(own, pair);
    f.two(other, pair);
    f.three(own, between, s0.tag);
    f.three(between, u64::from(i2.around.edge), pack(s0.group, s1.group, s2.group));
    f.three(between, see(&i0.left).form, pack(s0.group, s1.group, 0));
}

/// What the first guess says about the two topmost items and the next word.
fn guess([i0, i1, _]: [&Item; 3], queue: &Queue, f: &mut Keys<'_>) {
    let (a0, a1) = (i0.around, i1.around);
    if queue.head == 0 && a0.head == 0 {
        return;
    }
    let place = |head: u32| match head {
        0 => 0,
        ROOT => 1,
        head if head >= queue.position => 2,
        head if head == i0.position => 3,
        head if head == i1.position => 4,
        head if head < i1.position => 5,
        _ => 6,
    };
    let waits = |around: Around| u64::from(around.last >= queue.position);
    let [s0, s1, q0] = [&i0.word, &i1.word, &queue.words[0]].map(see);
    let (w0, w1) = (waits(a0), waits(a1));
    let heads = place(a0.head) << 8 | place(a1.head) << 4 | place(queue.head);
    let all = heads << 2 | w0 << 1 | w1;
    let two = place(a0.head) << 6 | place(a1.head) << 2 | w0 << 1 | w1;
    let next = place(queue.head) << 1 | w0;
    let pair = pack(s0.tag, s1.tag, 0);
    f.one(all);
    f.one(two);
    f.one(next);
    f.two(all, pair);
    f.two(two, pair);
    f.two(all, pack(s0.tag, s1.tag, q0.tag));
    f.two(next, pack(s0.tag, q0.tag, 0));
    f.two(two, s0.tag);
    f.two(two, s1.tag);
    f.two(two, s0.form);
    f.two(two, s1.form);
    f.three(next, s0.form, q0.form);
    f.two(all, distance(i0, i1));
    f.two(two, u64::from(a0.edge));
    f.two(all, u64::from(queue.marks[0]));
    f.three(two, i0.left.form, s1.tag);
    f.two(two, pack(s0.tag, u64::from(i0.lefts), u64::from(i0.rights)));
    f.two(two, pack(s1.tag, u64::from(i1.lefts), u64::from(i1.rights)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_templates_are_right() {
        let item = Item::word(Atom { form: 3, tag: 4, group: 5 }, 2, Around::default());
        let items = [&item, &item, &item];
        let count = |templates, lookahead| {
            let mut out = Vec::new();
            let system = DependencySystem { templates, lookahead };
            keys(&system, items, &Queue { shifted: item.word, ..Queue::default() }, &mut out);
            let distinct: std::collections::BTreeSet<u64> = out.iter().copied().collect();
            assert_eq!(distinct.len(), out.len(), "no two features share a key");
            out.len()
        };
        assert_eq!(count(Templates::Paper, 1), 20);
        assert_eq!(count(Templates::Paper, 0), 20 + PAPER_QUEUE);
        assert_eq!(count(Templates::Rich, 0) - count(Templates::Rich, 1), RICH_QUEUE);
    }
}
