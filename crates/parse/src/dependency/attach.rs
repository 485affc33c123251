//! Attaches the words that were put aside (`aside.rs`) to the tree of the others.
//!
//! The possible heads of such a word are all that can be reached without crossing an arc: its left neighbour
//! and what lies above, its right neighbour and what lies above, up to where both meet. A linear model
//! picks one, left to right.

use sylvan_base::Rng;

use super::aside::{Aside, Divided};
use crate::lexicon::Word;
use crate::machine::beam::Weights;
use crate::machine::system::MAX_ACTIONS;
use crate::machine::table::Table;
use crate::machine::{Rows, Templates};

/// The tree of the kept words of a sentence, and the words to attach to it.
pub(crate) struct Attaching<'a> {
    pub(crate) words: &'a [Word],
    pub(crate) tags: &'a [u8],
    pub(crate) divided: &'a Divided,
    pub(crate) heads: &'a [Option<u32>],
    pub(crate) relations: &'a [u8],
}

/// A possible head.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Among the kept words.
    at: u32,
    side: u64,
    /// How many candidates of its side are below it and above it.
    up: u64,
    down: u64,
    /// The relation of the candidate below, plus 1.
    lower: u64,
}

/// Words that are looked at on the way up; deeper trees are rare.
const MOST: usize = 24;
const PUNCTUATION: u64 = 6000;
const LEFT: u64 = 0;
const BOTH: u64 = 1;
const RIGHT: u64 = 2;

impl Attaching<'_> {
    /// First and last kept word below each kept word, itself included.
    fn spans(&self) -> Vec<(u32, u32)> {
        let mut spans: Vec<(u32, u32)> = (0..self.heads.len() as u32).map(|at| (at, at)).collect();
        let mut waiting = vec![0u32; self.heads.len()];
        for head in self.heads.iter().flatten() {
            waiting[*head as usize] += 1;
        }
        let mut done: Vec<u32> =
            (0..self.heads.len() as u32).filter(|&at| waiting[at as usize] == 0).collect();
        while let Some(at) = done.pop() {
            if let Some(head) = self.heads[at as usize] {
                let (start, end) = spans[at as usize];
                let span = &mut spans[head as usize];
                *span = (span.0.min(start), span.1.max(end));
                waiting[head as usize] -= 1;
                if waiting[head as usize] == 0 {
                    done.push(head);
                }
            }
        }
        spans
    }

    /// The possible heads of a word between the kept words `gap - 1` and `gap`.
    fn candidates(&self, gap: usize, spans: &[(u32, u32)], out: &mut Vec<Candidate>) {
        out.clear();
        let last = self.heads.len();
        let mut chain = |from: usize, side: u64, covers: &dyn Fn((u32, u32)) -> bool, both: bool| {
            let start = out.len();
            let (mut at, mut lower) = (Some(from as u32), 0);
            while let Some(index) = at.filter(|_| out.len() - start < MOST) {
                let meets = covers(spans[index as usize]);
                if meets && !both {
                    break;
                }
                let side = if meets { BOTH } else { side };
                out.push(Candidate { at: index, side, up: (out.len() - start) as u64, down: 0, lower });
                if meets {
                    break;
                }
                lower = u64::from(self.relations[index as usize]) + 1;
                at = self.heads[index as usize];
            }
            let end = out.len();
            for (index, candidate) in out.iter_mut().enumerate().skip(start) {
                candidate.down = (end - 1 - index) as u64;
            }
        };
        if gap > 0 {
            chain(gap - 1, LEFT, &|(_, end)| gap < last && end as usize >= gap, true);
        }
        if gap < last {
            chain(gap, RIGHT, &|(start, _)| gap > 0 && (start as usize) < gap, false);
        }
    }

    /// Gives each word that was put aside to `choose`, left to right, with its candidates and the features of each;
    /// `choose` picks one of them. Returns the heads of all words among all words.
    fn each(&self, mut choose: impl FnMut(usize, &[u32], &[Vec<u64>]) -> usize) -> Vec<Option<u32>> {
        let kept = &self.divided.kept;
        let mut all: Vec<Option<u32>> = vec![None; self.words.len()];
        for (index, &at) in kept.iter().enumerate() {
            all[at as usize] = self.heads[index].map(|head| kept[head as usize]);
        }
        let spans = self.spans();
        let pairs = pairs(self.words, kept);
        let (mut gap, mut in_gap) = (0, 0);
        let mut candidates = Vec::new();
        let mut keys: Vec<Vec<u64>> = Vec::new();
        let mut positions = Vec::new();
        // The last word of the same form that was attached: its head.
        let mut before: Vec<(u64, u32)> = Vec::new();
        for at in 0..self.words.len() {
            if kept.get(gap) == Some(&(at as u32)) {
                (gap, in_gap) = (gap + 1, 0);
                continue;
            }
            self.candidates(gap, &spans, &mut candidates);
            let form = self.words[at].lower;
            let same = before.iter().rev().find(|(known, _)| *known == form).map(|&(_, head)| head);
            let partner = pairs[at];
            let partner_head =
                partner.filter(|&partner| (partner as usize) < at).and_then(|at| all[at as usize]);
            let context = Context { at, gap, in_gap, same, partner, partner_head };
            keys.resize_with(candidates.len(), Vec::new);
            positions.clear();
            for (candidate, keys) in candidates.iter().zip(&mut keys) {
                keys.clear();
                self.features(&context, candidate, &candidates, &spans, keys);
                positions.push(kept[candidate.at as usize]);
            }
            let chosen = choose(at, &positions, &keys[..candidates.len()]);
            all[at] = positions.get(chosen).copied();
            before.extend(all[at].map(|head| (form, head)));
            in_gap += 1;
        }
        all
    }

    fn features(
        &self,
        context: &Context,
        candidate: &Candidate,
        candidates: &[Candidate],
        spans: &[(u32, u32)],
        keys: &mut Vec<u64>,
    ) {
        let kept = &self.divided.kept;
        let &Context { at, gap, in_gap, same, partner, partner_head } = context;
        let word = &self.words[at];
        let here = candidate.at as usize;
        let all = |index: usize| kept[index] as usize;
        let tag = |index: usize| u64::from(self.tags[all(index)]) + 1;
        let relation = |index: usize| u64::from(self.relations[index]) + 1;
        let (start, end) = spans[here];
        let head = self.heads[here].map(|head| head as usize);
        let direction = match head {
            None => 0,
            Some(head) if head < here => 1,
            Some(_) => 2,
        };
        let marks = &self.divided.marks;
        let other_end = match candidate.side {
            LEFT => u64::from(marks[start as usize]),
            RIGHT => u64::from(marks[end as usize + 1]),
            _ => 0,
        };
        // Inside of a pair of brackets, on top of all inside, or outside.
        let inside = |partner: u32, index: usize| {
            let position = all(index);
            (at.min(partner as usize)..at.max(partner as usize)).contains(&position)
        };
        let pair = match partner {
            None => 0,
            Some(partner) if !inside(partner, here) => 1,
            Some(partner) if head.is_some_and(|head| inside(partner, head)) => 2,
            Some(_) => 3,
        };
        let is = |other: Option<u32>| match other {
            None => 0,
            Some(other) if other == kept[here] => 1u64,
            Some(_) => 2,
        };
        // The tops of both sides below where they meet.
        let top = |side: u64| {
            let top = candidates.iter().rev().find(|candidate| candidate.side == side);
            top.map_or(0, |top| relation(top.at as usize))
        };
        let ends = u64::from(gap == 0) << 1 | u64::from(gap == kept.len());
        let f = word.lower << 5 | candidate.side << 2 | ends;
        let (rel, t) = (relation(here), tag(here));
        let (up, down) = (candidate.up.min(4), candidate.down.min(4));
        let level = up << 3 | down;
        let beside = |index: Option<usize>| index.filter(|&index| index < kept.len());
        let (left, right) = (beside(gap.checked_sub(1)), beside(Some(gap)));
        let side_tags = left.map_or(0, tag) << 9 | right.map_or(0, tag);
        let form = |index: Option<usize>| index.map_or(0, |index| self.words[all(index)].low);
        let place =
            (in_gap as u64).min(3) << 3 | u64::from(at + 1 == self.words.len()) << 1 | u64::from(at == 0);
        let previous = if in_gap > 0 { self.words[at - 1].lower } else { 0 };
        let long = u64::from((end - start).min(6));
        let mut t_ = Templates::new(keys, PUNCTUATION);
        t_.one(f);
        t_.two(f, up);
        t_.two(f, down);
        t_.two(f, level);
        t_.two(f, rel);
        t_.two(f, t);
        t_.three(f, rel, down);
        t_.three(f, rel, up);
        t_.three(f, rel, candidate.lower);
        t_.three(f, rel, t);
        t_.three(f, rel << 2 | direction, level);
        t_.three(f, t, direction);
        t_.three(f, t, level);
        t_.two(f, other_end);
        t_.three(f, rel, other_end);
        t_.three(f, level, other_end);
        t_.two(f, pair);
        t_.three(f, pair, rel);
        t_.three(f, pair, level);
        t_.three(f, pair, is(partner_head));
        t_.two(f, is(same));
        t_.three(f, is(same), rel);
        t_.three(f, is(same), level);
        t_.three(f, top(LEFT) << 9 | top(RIGHT), level);
        t_.three(f, top(LEFT), level);
        t_.three(f, top(RIGHT), level);
        t_.three(f, side_tags, level);
        t_.three(f, head.map_or(0, tag), rel);
        t_.three(f, form(left), level);
        t_.three(f, form(right), level);
        t_.three(f, place, level);
        t_.three(f, place, rel);
        t_.three(f, previous, level);
        t_.three(f, long, rel);
        t_.three(f, long, level);
        t_.two(candidate.side << 2 | ends, rel << 6 | level);
        t_.three(word.shape, candidate.side << 2 | ends, rel << 6 | level);
    }

    /// The heads of all words.
    pub(crate) fn heads(&self, rows: &Rows) -> Vec<Option<u32>> {
        self.each(|_, _, keys| best(&keys.iter().map(|keys| score(rows, keys)).collect::<Vec<_>>()))
    }

    /// Names for all words: those of the kept ones, and those that the tags of the others have.
    pub(crate) fn names(&self, aside: &Aside) -> Vec<u8> {
        let mut names: Vec<u8> =
            self.tags.iter().map(|&tag| aside.relation(tag).unwrap_or_default()).collect();
        for (&at, &relation) in self.divided.kept.iter().zip(self.relations) {
            names[at as usize] = relation;
        }
        names
    }
}

struct Context {
    at: usize,
    /// How many kept words are before it, and how many that were put aside since.
    gap: usize,
    in_gap: usize,
    same: Option<u32>,
    partner: Option<u32>,
    partner_head: Option<u32>,
}

/// The score of a candidate with these features.
fn score(weights: &impl Weights, keys: &[u64]) -> i32 {
    let mut scores = [0; MAX_ACTIONS];
    weights.add(keys, &mut scores);
    scores[0]
}

/// The candidate with the highest score; the first of equals.
fn best(scores: &[i32]) -> usize {
    (0..scores.len()).rev().max_by_key(|&index| scores[index]).unwrap_or_default()
}

/// Per word the position of its partner in a pair of brackets or quotation marks.
fn pairs(words: &[Word], kept: &[u32]) -> Vec<Option<u32>> {
    let mut pairs = vec![None; words.len()];
    let mut open: Vec<(u32, u8)> = Vec::new();
    let mut kept = kept.iter().peekable();
    for (at, word) in words.iter().enumerate() {
        if kept.next_if_eq(&&(at as u32)).is_some() {
            continue;
        }
        let (kind, may_open, may_close) = match word.bracket {
            0 => continue,
            bracket => (bracket >> 2, bracket & 1 != 0, bracket & 2 != 0),
        };
        let matching = open.iter().rposition(|&(_, other)| other == kind);
        match matching {
            Some(index) if may_close => {
                let (other, _) = open[index];
                open.truncate(index);
                pairs[at] = Some(other);
                pairs[other as usize] = Some(at as u32);
            }
            _ if may_open => open.push((at as u32, kind)),
            _ => {}
        }
    }
    pairs
}

/// By how much the right candidate must be the best before there is nothing to learn: with 37 features each, about
/// three for every one. Without a margin, learning stops as soon as the training sentences come out right
/// (docs/notes/parsing.md).
const MARGIN: i32 = 100;

/// Learns to attach: an averaged perceptron with a margin.
pub(crate) fn learn(
    examples: &[(Attaching<'_>, &[Option<u32>])],
    epochs: usize,
    least: f64,
    room: usize,
) -> Rows {
    let mut table = Table::new();
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut time = 0;
    for epoch in 0..epochs {
        Rng::for_item(3, epoch as u64).shuffle(&mut order);
        for &index in &order {
            let (attaching, gold) = &examples[index];
            time += 1;
            attaching.each(|at, candidates, keys| {
                let scores: Vec<i32> = keys.iter().map(|keys| score(&table, keys)).collect();
                let right = candidates.iter().position(|&candidate| gold[at] == Some(candidate));
                let Some(right) = right else { return best(&scores) };
                let others = || (0..keys.len()).filter(|&other| other != right);
                // The best of the wrong ones; the first of equals.
                let wrong = others().max_by_key(|&other| (scores[other], std::cmp::Reverse(other)));
                if let Some(wrong) = wrong.filter(|&wrong| scores[wrong] + MARGIN >= scores[right]) {
                    for (which, delta) in [(right, 1), (wrong, -1)] {
                        keys[which].iter().for_each(|&key| table.change(key, 0, delta, time));
                    }
                }
                right
            });
        }
    }
    Rows::average(&[&table], time + 1, least, room)
}

#[cfg(test)]
mod tests {
    use super::super::aside::tests::{COMMA, aside, sentence};
    use super::super::system::tests::random_tree;
    use super::*;

    /// Whether an arc from a word to the gap before word `gap` crosses an arc of the tree or covers its root.
    fn crosses(heads: &[Option<u32>], word: usize, gap: usize) -> bool {
        // Twice the positions, so that a gap is an odd number.
        let (here, there) = (2 * word as i64, 2 * gap as i64 - 1);
        let (low, high) = (here.min(there), here.max(there));
        let between = |at: i64| low < at && at < high;
        let outside = |at: i64| at < low || at > high;
        heads.iter().enumerate().any(|(child, head)| {
            let child = 2 * child as i64;
            match head.map(|head| 2 * i64::from(head)) {
                None => between(child),
                Some(head) => between(child) && outside(head) || outside(child) && between(head),
            }
        })
    }

    #[test]
    fn candidates_are_all_heads_that_cross_nothing() {
        let mut rng = Rng::new(2);
        for round in 0..300 {
            let length = 1 + round % 12;
            let heads = random_tree(length, &mut rng);
            let (words, tags) = (vec![Word::default(); length], vec![0; length]);
            let divided = aside().divide(&words, &tags);
            let relations = vec![0; length];
            let attaching = Attaching {
                words: &words,
                tags: &tags,
                divided: &divided,
                heads: &heads,
                relations: &relations,
            };
            for gap in 0..=length {
                let mut candidates = Vec::new();
                attaching.candidates(gap, &attaching.spans(), &mut candidates);
                let mut found: Vec<usize> =
                    candidates.iter().map(|candidate| candidate.at as usize).collect();
                found.sort_unstable();
                let expected: Vec<usize> = (0..length).filter(|&word| !crosses(&heads, word, gap)).collect();
                assert_eq!(found, expected, "{heads:?}, gap {gap}");
            }
        }
    }

    #[test]
    fn a_rule_of_attachment_is_learned() {
        let mut rng = Rng::new(3);
        // Commas belong to the topmost word on their right, or to the root if there is none.
        let mut make = || {
            let (words, mut tags) = sentence(&mut rng, 12);
            tags[0] = 0;
            let mut heads = random_tree(12, &mut rng);
            let divided = aside().divide(&words, &tags);
            let reduced = divided.reduce(&heads);
            let relations = vec![0; reduced.len()];
            let attaching = Attaching {
                words: &words,
                tags: &tags,
                divided: &divided,
                heads: &reduced,
                relations: &relations,
            };
            heads = attaching.each(|at, candidates, _| {
                let on_the_right = candidates.iter().rposition(|&candidate| candidate as usize > at);
                on_the_right.unwrap_or(candidates.len() - 1)
            });
            (words, tags, divided, reduced, relations, heads)
        };
        let made: Vec<_> = (0..400).map(|_| make()).collect();
        let examples: Vec<(Attaching<'_>, &[Option<u32>])> = made
            .iter()
            .map(|(words, tags, divided, heads, relations, all)| {
                (Attaching { words, tags, divided, heads, relations }, &all[..])
            })
            .collect();
        let rows = learn(&examples[..300], 4, 0.0, usize::MAX);
        let (mut right, mut all) = (0, 0);
        for (attaching, gold) in &examples[300..] {
            let found = attaching.heads(&rows);
            let commas = (0..found.len()).filter(|&at| attaching.tags[at] == COMMA);
            for at in commas {
                all += 1;
                right += usize::from(found[at] == gold[at]);
            }
        }
        assert!(right * 100 > all * 97, "{right} of {all}");
    }
}
