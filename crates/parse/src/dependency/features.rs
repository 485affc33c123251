//! The features of dependency parsing.
//!
//! Letters as in the papers: s0, s1, s2 are the items on the stack from the top, q0, q1, q2 the next words; `w` is a
//! word, `t` its tag, `wt` both, `lc` and `rc` the leftmost and rightmost child.
//!
//! Without lookahead the next word is not known when a reduction is decided on; but a shift is decided on with the
//! word that comes. Then each feature with q0 is there twice: with the word, for shifts alone, and with nothing, for
//! reductions alone. A row of the wrong kind has no weights for an action, so scoring need not tell them apart; only
//! learning asks [`applies`].

use super::system::{Atom, DependencySystem, Item, SHIFT, Templates, WINDOW};
use crate::machine::Templates as Keys;

const PAPER: u64 = 4000;
const PAPER_SHIFT: u64 = 4100;
const RICH: u64 = 4200;
const RICH_SHIFT: u64 = 4400;

/// The features with q0 of the twenty.
const PAPER_QUEUE: usize = 6;
/// The features with q0 of the rich set.
const RICH_QUEUE: usize = 34;

/// Word and tag in one number.
#[inline]
fn wt(atom: Atom) -> u64 {
    atom.form << 9 | atom.tag
}

/// Small numbers in one.
#[inline]
fn pack(a: u64, b: u64, c: u64) -> u64 {
    a << 20 | b << 10 | c
}

/// Whether the feature at a place of the list has to do with an action.
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

/// The features of a state: its three topmost items, the next words as far as they may be seen, and the word that a
/// shift would shift.
#[inline]
pub(crate) fn keys(
    system: &DependencySystem,
    items: [&Item; 3],
    queue: [Atom; WINDOW],
    shifted: Atom,
    keys: &mut Vec<u64>,
) {
    let blind = system.lookahead == 0;
    match system.templates {
        Templates::Paper => {
            paper_queue(items, queue[0], &mut Keys::new(keys, PAPER));
            if blind {
                paper_queue(items, shifted, &mut Keys::new(keys, PAPER_SHIFT));
            }
            paper_stack(items, &mut Keys::new(keys, PAPER + PAPER_QUEUE as u64));
        }
        Templates::Rich => {
            rich_queue(items, queue, &mut Keys::new(keys, RICH));
            if blind {
                let seen = [shifted, Atom::default(), Atom::default()];
                rich_queue(items, seen, &mut Keys::new(keys, RICH_SHIFT));
            }
            rich_stack(items, &mut Keys::new(keys, RICH + RICH_QUEUE as u64));
        }
    }
}

fn paper_queue([s0, s1, _]: [&Item; 3], q0: Atom, f: &mut Keys<'_>) {
    let (s0, s1) = (s0.word, s1.word);
    f.one(q0.form);
    f.one(q0.tag);
    f.one(wt(q0));
    f.two(s0.tag, q0.tag);
    f.two(s0.form, pack(s1.tag, q0.tag, 0));
    f.one(pack(s1.tag, s0.tag, q0.tag));
}

fn paper_stack([i0, i1, _]: [&Item; 3], f: &mut Keys<'_>) {
    let (s0, s1) = (i0.word, i1.word);
    f.one(s0.form);
    f.one(s0.tag);
    f.one(wt(s0));
    f.one(s1.form);
    f.one(s1.tag);
    f.one(wt(s1));
    f.two(s0.form, s1.form);
    f.two(s0.tag, s1.tag);
    f.two(wt(s0), s1.tag);
    f.two(s0.form, wt(s1));
    f.two(s0.tag, wt(s1));
    f.two(wt(s0), s1.form);
    f.one(pack(s1.tag, s0.tag, i0.left.tag));
    f.one(pack(s1.tag, s0.tag, i0.right.tag));
}

fn rich_queue([i0, i1, i2]: [&Item; 3], [q0, q1, q2]: [Atom; WINDOW], f: &mut Keys<'_>) {
    let (s0, s1, s2) = (i0.word, i1.word, i2.word);
    f.one(q0.form);
    f.one(q0.tag);
    f.one(wt(q0));
    f.one(wt(q1));
    f.one(q1.tag);
    f.one(q2.tag);
    f.two(q1.form, q0.tag);
    f.two(s0.tag, q0.tag);
    f.two(wt(s0), q0.tag);
    f.two(s0.tag, wt(q0));
    f.two(s0.form, q0.form);
    f.two(wt(s0), wt(q0));
    f.two(s1.tag, q0.tag);
    f.two(wt(s1), q0.tag);
    f.two(s1.form, q0.form);
    f.two(q0.tag, q1.tag);
    f.two(wt(q0), wt(q1));
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
    f.one(pack(s0.tag, i0.left.tag, q0.tag));
    f.one(pack(s0.tag, i0.right.tag, q0.tag));
    f.two(pack(s1.tag, i1.right.tag, s0.tag), q0.tag);
    f.two(wt(s0), pack(q0.tag, u64::from(i0.rights), u64::from(i0.lefts)));
    f.two(i0.right.form, pack(s0.tag, q0.tag, 0));
    f.two(pack(s0.tag, s1.tag, q0.tag), i0.right.tag);
    f.two(pack(s0.tag, s1.tag, q0.tag), distance(i0, i1));
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
    let (s0, s1, s2) = (i0.word, i1.word, i2.word);
    let apart = distance(i0, i1);
    f.one(s0.form);
    f.one(s0.tag);
    f.one(wt(s0));
    f.one(s1.form);
    f.one(s1.tag);
    f.one(wt(s1));
    f.one(s2.tag);
    f.one(wt(s2));
    f.two(s0.form, s1.form);
    f.two(s0.tag, s1.tag);
    f.two(wt(s0), s1.tag);
    f.two(s0.form, wt(s1));
    f.two(s0.tag, wt(s1));
    f.two(wt(s0), s1.form);
    f.two(wt(s0), wt(s1));
    f.one(pack(s0.tag, s1.tag, s2.tag));
    f.two(s0.form, pack(s1.tag, s2.tag, 0));
    f.two(s1.form, pack(s0.tag, s2.tag, 0));
    f.two(s2.form, pack(s0.tag, s1.tag, 0));
    let children = [
        i0.left.tag,
        i0.right.tag,
        i1.left.tag,
        i1.right.tag,
        u64::from(i0.left2),
        u64::from(i0.right2),
        u64::from(i1.left2),
        u64::from(i1.right2),
    ];
    let [l0, r0, l1, r1, l02, r02, l12, r12] = children;
    for child in children {
        f.one(pack(s0.tag, s1.tag, child));
    }
    for child in [l0, r0, l1, r1] {
        f.two(s0.form, pack(s1.tag, child, 0));
        f.two(s1.form, pack(s0.tag, child, 0));
    }
    f.two(pack(s0.tag, l0, l02), s1.tag);
    f.two(pack(s0.tag, r0, r02), s1.tag);
    f.two(pack(s1.tag, l1, l12), s0.tag);
    f.two(pack(s1.tag, r1, r12), s0.tag);
    f.two(pack(s0.tag, s1.tag, r1), l0);
    f.two(pack(s0.tag, s1.tag, l1), r1);
    f.two(i0.left.form, pack(s0.tag, s1.tag, 0));
    f.two(i0.right.form, pack(s0.tag, s1.tag, 0));
    f.two(i1.left.form, pack(s0.tag, s1.tag, 0));
    f.two(i1.right.form, pack(s0.tag, s1.tag, 0));
    f.two(s0.form, i0.right.form);
    f.two(s1.form, i1.right.form);
    f.two(s0.form, i1.right.form);
    f.two(wt(s0), pack(u64::from(i0.lefts), u64::from(i0.rights), 1));
    f.two(wt(s1), pack(u64::from(i1.lefts), u64::from(i1.rights), 2));
    f.two(s0.tag, pack(u64::from(i0.lefts), u64::from(i0.rights), s1.tag));
    f.two(s1.tag, pack(u64::from(i1.lefts), u64::from(i1.rights), s0.tag));
    f.two(s0.form, apart);
    f.two(s1.form, apart);
    f.one(pack(s0.tag, s1.tag, apart));
    f.two(wt(s0), pack(s1.tag, apart, 0));
    f.two(wt(s1), pack(s0.tag, apart, 1));
    f.two(pack(s0.tag, s1.tag, apart), r1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_templates_are_right() {
        let item = Item::word(Atom { form: 3, tag: 4 }, 2);
        let items = [&item, &item, &item];
        let count = |templates, lookahead| {
            let mut out = Vec::new();
            let system = DependencySystem { templates, lookahead };
            keys(&system, items, [Atom::default(); WINDOW], item.word, &mut out);
            let distinct: std::collections::BTreeSet<u64> = out.iter().copied().collect();
            assert_eq!(distinct.len(), out.len(), "no two features share a key");
            out.len()
        };
        assert_eq!(count(Templates::Paper, 1), 20);
        assert_eq!(count(Templates::Paper, 0), 20 + PAPER_QUEUE);
        assert_eq!(count(Templates::Rich, 0) - count(Templates::Rich, 1), RICH_QUEUE);
    }
}
