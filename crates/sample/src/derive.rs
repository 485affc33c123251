//! Draws derivations: depth first in source order, with a length budget on both sides.
//!
//! ```text
//! stack of symbols -> choose a rule that still fits -> a node; push its slots, last first
//! ```
//!
//! Nodes are numbered in the order they are made, so a parent always stands before its children: every later pass
//! is one loop over the nodes, forwards (top down) or backwards (bottom up), never recursion.

use sylvan_base::Rng;

use crate::grammar::{Grammar, OPEN_BIT};
use crate::names;
use crate::syntax::Open;

/// Length limits of one sentence, and the length at which it should stop growing (0: let the weights decide).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) max_words: u32,
    pub(crate) want: u32,
}

/// How many words the open series have, in the order person, place, number; zero closes the vocabulary.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenCounts {
    pub(crate) person: u32,
    pub(crate) place: u32,
    pub(crate) number: u32,
}

/// One rule application.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) rule: u32,
    /// The chosen target side, as an index into the variants table.
    pub(crate) variant: u32,
    /// Where its children stand in [`Derivation::children`].
    pub(crate) children: u32,
    /// A word of the open vocabulary that replaces the literal word, or 0.
    pub(crate) open: u32,
}

/// A derivation, with its buffers for reuse.
#[derive(Debug, Default)]
pub(crate) struct Derivation {
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: Vec<u32>,
    /// Symbols to expand and where to note the node they become.
    stack: Vec<(u32, u32)>,
    /// Nodes with more than one target side.
    free: Vec<u32>,
    /// Nodes whose slots must end in different words.
    pub(crate) distinct: Vec<u32>,
}

/// Marks the place of the root, which is no child.
const NO_PARENT: u32 = u32::MAX;

impl Derivation {
    /// Draws a derivation of the start symbol; all target sides are the first ones.
    ///
    /// The result can miss the budget by a little where no rule fitted; the caller checks the lengths.
    pub(crate) fn draw(&mut self, grammar: &Grammar, budget: Budget, open: OpenCounts, rng: &mut Rng) {
        self.nodes.clear();
        self.children.clear();
        self.stack.clear();
        self.free.clear();
        self.distinct.clear();
        let start = &grammar.symbols[grammar.start as usize];
        // Words that are certain so far: literals of chosen rules plus the minima of what is on the stack.
        let mut source = u32::from(start.min_source);
        let mut target = u32::from(start.min_target);
        self.stack.push((grammar.start, NO_PARENT));
        while let Some((symbol, parent)) = self.stack.pop() {
            let info = &grammar.symbols[symbol as usize];
            // Minima are capped, so that of a very long symbol may exceed what was counted for it.
            source = source.saturating_sub(u32::from(info.min_source));
            target = target.saturating_sub(u32::from(info.min_target));
            let mut open_word = 0;
            let rule = match info.open.and_then(|series| open_rank(series, open, rng)) {
                Some((series, rank)) if rank >= info.rules.len() as u32 => {
                    open_word = names::encode(series, rank);
                    info.rules.start
                }
                Some((_, rank)) => info.rules.start + rank,
                None => choose(grammar, symbol, source, target, budget, rng),
            };
            let chosen = &grammar.rules[rule as usize];
            source += u32::from(chosen.min_source);
            target += u32::from(chosen.min_target);
            let node = self.nodes.len() as u32;
            if parent != NO_PARENT {
                self.children[parent as usize] = node;
            }
            if chosen.variants.len() > 1 && open_word == 0 {
                self.free.push(node);
            }
            if chosen.distinct {
                self.distinct.push(node);
            }
            let children = self.children.len() as u32;
            self.nodes.push(Node { rule, variant: chosen.variants.start, children, open: open_word });
            let slots = &grammar.slots[chosen.slots.indices()];
            self.children.resize(self.children.len() + slots.len(), 0);
            for (at, &slot) in slots.iter().enumerate().rev() {
                self.stack.push((slot, children + at as u32));
            }
        }
    }

    /// How many nodes have a free choice.
    pub(crate) fn free_nodes(&self) -> usize {
        self.free.len()
    }

    /// Makes at most one of the free choices at random; the others keep their most probable side.
    pub(crate) fn choose_freely(&mut self, grammar: &Grammar, rng: &mut Rng) {
        if self.free.is_empty() {
            return;
        }
        let node = &mut self.nodes[*rng.pick(&self.free) as usize];
        let range = grammar.rules[node.rule as usize].variants;
        let draw = rng.unit() as f32;
        let variants = &grammar.variants[range.indices()];
        let at = variants.iter().position(|variant| draw < variant.cumulative).unwrap_or(0);
        node.variant = range.start + at as u32;
    }

    /// Sets every free choice to its most probable side.
    pub(crate) fn choose_defaults(&mut self, grammar: &Grammar) {
        for &node in &self.free {
            let node = &mut self.nodes[node as usize];
            node.variant = grammar.rules[node.rule as usize].variants.start;
        }
    }

    /// The phenomena of all rules, as bits.
    pub(crate) fn phenomena(&self, grammar: &Grammar) -> u64 {
        self.nodes.iter().fold(0, |bits, node| bits | grammar.rules[node.rule as usize].phenomena)
    }
}

fn open_rank(series: Open, counts: OpenCounts, rng: &mut Rng) -> Option<(Open, u32)> {
    let count = match series {
        Open::Person => counts.person,
        Open::Place => counts.place,
        Open::Number => counts.number,
    };
    (count > 0).then(|| (series, names::zipf(rng, count)))
}

/// Draws a rule of a symbol. While the sentence is shorter than wanted, rules that lengthen it come first; after
/// that they are left out. Rules that break the budget are drawn again a few times, then the shortest is taken.
fn choose(grammar: &Grammar, symbol: u32, source: u32, target: u32, budget: Budget, rng: &mut Rng) -> u32 {
    let info = &grammar.symbols[symbol as usize];
    let count = info.rules.len();
    if count == 1 {
        return info.rules.start;
    }
    let cumulative = &grammar.cumulative[info.rules.indices()];
    let plain = (info.grow_from - info.rules.start) as usize;
    let (mut low, mut high) = (0, u32::MAX);
    if plain > 0 && plain < count && budget.want > 0 {
        let edge = cumulative[plain - 1];
        if source.max(target) + TYPICAL_CLAUSE < budget.want {
            low = edge;
        } else {
            high = edge;
        }
    }
    for _ in 0..4 {
        let draw = low + ((u64::from(rng.next_u64() as u32) * u64::from(high - low)) >> 32) as u32;
        let at = cumulative.partition_point(|&edge| edge <= draw).min(count - 1);
        let rule = info.rules.start + at as u32;
        let chosen = &grammar.rules[rule as usize];
        let fits = source + u32::from(chosen.min_source) <= budget.max_words
            && target + u32::from(chosen.min_target) <= budget.max_words;
        if fits {
            return rule;
        }
    }
    info.shortest
}

/// What a clause adds on average to what is certain already: growth stops this much before the wanted length.
const TYPICAL_CLAUSE: u32 = 8;

const _: () = assert!(OPEN_BIT == 1 << 31);
const _: () = assert!(size_of::<Node>() == 16);
