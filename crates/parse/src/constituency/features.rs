//! The features of constituency parsing: Zhu et al. (2013), with boundaries and lengths of spans after Hall, Durrett
//! & Klein (2014).
//!
//! Letters as in the papers: s0, s1, ... are the items on the stack from the top, q0, q1, ... the next words; `c` is a
//! category, `w` the head word, `t` its tag.

use super::system::{Node, PAD, Sentence};
use crate::machine::{Templates, View};

const STRUCTURE: u64 = 1000;
const WORD_LABEL: u64 = 2000;
const PHRASE_LABEL: u64 = 3000;

/// An item as features see it. All zero where there is none.
#[derive(Clone, Copy)]
struct Seen {
    c: u64,
    w: u64,
    t: u64,
    /// Word and category, tag and category in one.
    wc: u64,
    tc: u64,
}

fn seen(node: &Node, sentence: &Sentence) -> Seen {
    look(node.category, node.head, sentence)
}

#[inline]
fn look(category: u16, head: u32, sentence: &Sentence) -> Seen {
    if category == 0 {
        return Seen { c: 0, w: 0, t: 0, wc: 0, tc: 0 };
    }
    let at = head as usize + PAD;
    let (c, w, t) = (u64::from(category), sentence.forms[at], sentence.tags[at]);
    Seen { c, w, t, wc: w << 10 | c, tc: t << 10 | c }
}

/// Lengths as few numbers: exact up to 5, then coarser.
#[inline]
fn length(words: u32) -> u64 {
    match words {
        0..=5 => u64::from(words),
        6..=7 => 6,
        8..=10 => 7,
        11..=15 => 8,
        16..=25 => 9,
        _ => 10,
    }
}

/// Up to three small numbers in one.
#[inline]
fn pack(a: u64, b: u64, c: u64) -> u64 {
    a << 22 | b << 11 | c
}

/// Whether to shift or to join.
#[inline]
pub(crate) fn structure(sentence: &Sentence, view: View<'_, Node>, keys: &mut Vec<u64>) {
    let nodes: [&Node; 4] = view.items();
    let next = view.next() + PAD;
    let [s0, s1, s2, s3] = nodes.map(|node| seen(node, sentence));
    let (w, tag) = (&sentence.forms, &sentence.tags);
    let [q0w, q1w, q2w, q3w] = [w[next], w[next + 1], w[next + 2], w[next + 3]];
    let [q0t, q1t, q2t, q3t] = [tag[next], tag[next + 1], tag[next + 2], tag[next + 3]];
    let mut f = Templates::new(keys, STRUCTURE);
    for s in [s0, s1, s2, s3] {
        f.one(s.tc);
        f.one(s.wc);
    }
    f.two(q0w, q0t);
    f.two(q1w, q1t);
    f.two(q2w, q2t);
    f.two(q3w, q3t);
    for node in &nodes[..2] {
        for part in node.parts {
            f.two(look(part.category, part.head, sentence).wc, u64::from(node.category));
        }
    }
    f.two(s0.w, s1.w);
    f.two(s0.wc, s1.c);
    f.two(s0.c, s1.wc);
    f.two(s0.c, s1.c);
    f.two(s0.w, q0w);
    f.two(s0.wc, q0t);
    f.two(s0.c, q0w);
    f.two(s0.c, q0t);
    f.two(q0w, q1w);
    f.two(q0w, q1t);
    f.two(q0t, q1w);
    f.two(q0t, q1t);
    f.two(s1.w, q0w);
    f.two(s1.wc, q0t);
    f.two(s1.c, q0w);
    f.two(s1.c, q0t);
    f.one(pack(s0.c, s1.c, s2.c));
    f.two(s0.w, pack(s0.c, s1.c, s2.c));
    f.two(s1.w, pack(s0.c, s1.c, s2.c));
    f.two(s2.w, pack(s0.c, s1.c, s2.c));
    f.two(pack(s0.c, s1.c, q0t), 0);
    f.two(s0.w, pack(s0.c, s1.c, q0t));
    f.two(s1.w, pack(s0.c, s1.c, q0t));
    f.two(q0w, pack(s0.c, s1.c, q0t));
    f.two(pack(s0.c, q0t, q1t), 0);
    f.two(pack(s0.c, q0t, q1t), s1.c);
    f.two(pack(s0.c, q0t, q1t), q2t);
    f.two(pack(s1.c, q0t, q1t), s0.t);
    f.two(s0.tc, s1.tc);
    f.three(s0.tc, s1.tc, q0t);
    f.two(pack(s0.c, s1.c, s2.c), s3.c);
    f.two(pack(s0.c, s1.c, s2.c), q0t);
    f.three(s0.w, s1.w, pack(s0.c, s1.c, 0));
    f.three(s0.w, q0w, s0.c);
    f.three(s1.w, q0w, pack(s0.c, s1.c, 0));
    // The parts of the two items.
    let [n0, n1] = [nodes[0], nodes[1]];
    let parts = |node: &Node| (u64::from(node.parts[0].category), u64::from(node.parts[1].category));
    let ((l0, r0), (l1, r1)) = (parts(n0), parts(n1));
    f.one(pack(s0.c, l0, r0));
    f.one(pack(s1.c, l1, r1));
    f.two(pack(s0.c, s1.c, l0), r0);
    f.two(pack(s0.c, s1.c, l1), r1);
    f.two(pack(s0.c, s1.c, r1), q0t);
    f.two(pack(s0.c, r0, q0t), s1.c);
    // Attachment and coordination: the words inside the top with the words that it could go to.
    let inside = look(n0.parts[1].category, n0.parts[1].head, sentence);
    f.three(inside.w, s1.w, s0.c);
    f.two(inside.w, pack(s0.c, s1.c, s2.c));
    f.three(inside.w, s0.w, s1.c);
    f.three(inside.t, pack(s0.c, s1.c, s2.c), s1.t);
    f.three(s0.w, s2.w, s1.c);
    f.two(pack(s0.c, s1.c, s2.c), s0.t << 9 | s2.t);
    f.three(s0.w, s2.wc, pack(s0.c, s1.c, 0));
    f.two(pack(s0.c, s2.c, q0t), s1.w);
    f.three(r1, s1.w, pack(s0.c, s1.c, q0t));
    let right1 = look(n1.parts[1].category, n1.parts[1].head, sentence);
    f.three(right1.w, s0.w, pack(s0.c, s1.c, right1.c));
    f.two(right1.w, pack(s0.c, s1.c, right1.c));
    // Spans: where they begin and end, what stands before and behind, how long they are.
    let (b0, b1) = (n0.start as usize + PAD, n1.start as usize + PAD);
    let (first0, last0) = (b0, next - 1);
    let (first1, last1) = (b1, b0.wrapping_sub(1).min(w.len() - 1));
    let long0 = length(view.next() as u32 - n0.start);
    let long1 = length(n0.start - n1.start);
    f.one(pack(s0.c, long0, 0));
    f.one(pack(s0.c, s1.c, long0));
    f.one(pack(s0.c, s1.c, long1));
    f.two(pack(s0.c, s1.c, s2.c), long0 << 4 | length(n1.start.wrapping_sub(nodes[2].start)));
    f.two(s0.c, w[first0]);
    f.two(s0.c, w[last0]);
    f.two(s1.c, w[first1]);
    f.two(s1.c, w[last1]);
    f.two(pack(s0.c, tag[first0], tag[last0]), q0t);
    f.two(pack(s1.c, tag[first1], tag[last1]), tag[first0]);
    f.two(w[last0], pack(s0.c, q0t, 0));
    f.two(w[first0], pack(s0.c, s1.c, 0));
    f.two(w[last1], pack(s0.c, s1.c, 0));
    f.two(w[first1], pack(s0.c, s1.c, 0));
    f.two(w[first1 - 1], pack(s0.c, s1.c, 0));
    f.two(pack(s0.c, s1.c, tag[first1 - 1]), q0t);
    f.two(pack(tag[first1 - 1], tag[first1], tag[last0]), q0t);
}

/// The label of a word that was just shifted.
#[inline]
pub(crate) fn word_label(sentence: &Sentence, view: View<'_, Node>, keys: &mut Vec<u64>) {
    let nodes: [&Node; 3] = view.items();
    let next = view.next() + PAD;
    let at = next - 1;
    let [s1, s2] = [seen(nodes[1], sentence), seen(nodes[2], sentence)];
    let (w, tag) = (&sentence.forms, &sentence.tags);
    let (w0, t0) = (w[at], tag[at]);
    let [q0w, q1w] = [w[next], w[next + 1]];
    let [q0t, q1t, q2t] = [tag[next], tag[next + 1], tag[next + 2]];
    let [p1t, p2t] = [tag[at - 1], tag[at - 2]];
    let mut f = Templates::new(keys, WORD_LABEL);
    f.one(t0);
    f.two(w0, t0);
    f.two(sentence.suffixes[at], t0);
    f.two(sentence.shapes[at], t0);
    f.one(pack(t0, q0t, 0));
    f.one(pack(t0, q0t, q1t));
    f.two(pack(t0, q0t, q1t), q2t);
    f.one(pack(t0, p1t, q0t));
    f.two(pack(t0, p1t, p2t), q0t);
    f.two(pack(t0, p1t, q0t), q1t);
    f.one(pack(t0, s1.c, 0));
    f.one(pack(t0, s1.c, q0t));
    f.two(pack(t0, s1.c, q0t), q1t);
    f.two(pack(t0, s1.c, s2.c), q0t);
    f.two(pack(t0, s1.c, s2.c), 0);
    f.two(w0, pack(t0, q0t, 0));
    f.two(w0, pack(t0, s1.c, 0));
    f.two(w0, pack(t0, p1t, q0t));
    f.two(w0, pack(t0, q0t, q1t));
    f.two(w0, q0w);
    f.three(w0, q0w, q1w);
    f.two(w0, w[at - 1]);
    f.two(t0, q0w);
    f.two(t0, w[at - 1]);
    f.three(t0, w[at - 1], q0w);
    f.two(s1.w, pack(t0, s1.c, 0));
    f.two(s1.w, pack(t0, s1.c, q0t));
    f.two(q0w, pack(t0, s1.c, q0t));
    f.two(s2.w, pack(t0, s1.c, s2.c));
    f.one(pack(t0, s1.t, s2.t));
}

/// The label of a constituent that was just joined.
#[inline]
pub(crate) fn phrase_label(sentence: &Sentence, view: View<'_, Node>, keys: &mut Vec<u64>) {
    let nodes: [&Node; 3] = view.items();
    let next = view.next() + PAD;
    let n0 = nodes[0];
    let [s1, s2] = [seen(nodes[1], sentence), seen(nodes[2], sentence)];
    let [l, r] = n0.parts.map(|part| look(part.category, part.head, sentence));
    let (w, tag) = (&sentence.forms, &sentence.tags);
    let [q0w, q1w] = [w[next], w[next + 1]];
    let [q0t, q1t] = [tag[next], tag[next + 1]];
    let head = if n0.head_left { l } else { r };
    // The parts and which of them is the head, in one.
    let parts = pack(l.c, r.c, u64::from(n0.head_left));
    let [ll, lr, rl, rr] = n0.inner.map(u64::from);
    let first = n0.start as usize + PAD;
    let last = next - 1;
    let long = length(view.next() as u32 - n0.start);
    let mut f = Templates::new(keys, PHRASE_LABEL);
    f.one(parts);
    f.two(parts, head.w);
    f.two(parts, head.t);
    f.two(parts, l.w);
    f.two(parts, r.w);
    f.three(parts, l.w, r.w);
    f.three(parts, l.t, r.t);
    f.two(parts, s1.c);
    f.two(parts, s1.wc);
    f.two(parts, s1.tc);
    f.two(parts, pack(s1.c, s2.c, 0));
    f.two(parts, q0t);
    f.two(parts, q0w);
    f.two(parts, pack(q0t, q1t, 0));
    f.three(parts, q0w, q1w);
    f.two(parts, pack(s1.c, q0t, 0));
    f.two(parts, pack(s1.c, q0t, q1t));
    f.two(parts, pack(s1.c, s2.c, q0t));
    f.three(parts, head.w, q0t);
    f.three(parts, head.w, s1.c);
    f.three(parts, head.w, q0w);
    f.three(parts, s1.w, q0t);
    f.two(parts, ll);
    f.two(parts, lr);
    f.two(parts, rl);
    f.two(parts, rr);
    f.two(parts, pack(ll, lr, 0));
    f.two(parts, pack(rl, rr, 0));
    f.two(parts, pack(lr, rl, 0));
    f.three(parts, pack(lr, rr, 0), q0t);
    f.three(parts, pack(ll, lr, 0), s1.c);
    f.two(parts, long);
    f.two(parts, w[first]);
    f.two(parts, w[last]);
    f.two(parts, tag[first]);
    f.two(parts, pack(tag[first], tag[last], 0));
    f.two(parts, pack(tag[first - 1], q0t, 0));
    f.two(parts, w[first - 1]);
    f.two(pack(tag[first], tag[last], tag[first - 1]), q0t);
    f.two(pack(tag[first], tag[last], long), q0t);
    f.two(head.w, s1.c);
    f.two(head.w, q0t);
    f.two(head.wc, q0w);
    f.two(pack(head.c, s1.c, q0t), 0);
    f.two(pack(head.c, s1.c, q0t), head.w);
    f.two(pack(l.c, r.c, s1.c), w[first]);
}
