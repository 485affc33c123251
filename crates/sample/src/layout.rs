//! Puts the words of a derivation in their places on both sides, and finds heads, dependencies and links.
//!
//! Lengths go bottom up (a backward loop over the nodes), positions top down (a forward loop), heads bottom up
//! again; see [`derive`](crate::derive) for why loops suffice.

use crate::derive::{Derivation, Node};
use crate::grammar::{Grammar, SourceItem, TargetWhat};

/// Where the nodes of a derivation begin and how long they are, on one side.
#[derive(Debug, Default)]
struct Side {
    lengths: Vec<u32>,
    starts: Vec<u32>,
    heads: Vec<u32>,
}

/// The words of a sentence pair and, when asked for, its analysis.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Word ids; those with [`OPEN_BIT`](crate::grammar::OPEN_BIT) belong to the open vocabulary.
    pub(crate) source: Vec<u32>,
    pub(crate) target: Vec<u32>,
    /// Head position (its own for the root) and relation of every target word.
    pub(crate) arcs: Vec<(u32, u32)>,
    /// Links (source, target, sure), sorted, each pair once.
    pub(crate) links: Vec<(u32, u32, bool)>,
    source_side: Side,
    target_side: Side,
    /// Positions of the items of the current rule.
    source_items: Vec<u32>,
    target_items: Vec<u32>,
}

impl Side {
    /// Yields of all nodes, given the number of literal words of each.
    fn measure(&mut self, grammar: &Grammar, derivation: &Derivation, own: impl Fn(&Node) -> u16) {
        let count = derivation.nodes.len();
        self.lengths.clear();
        self.lengths.resize(count, 0);
        self.starts.clear();
        self.starts.resize(count, 0);
        for node in (0..count).rev() {
            let info = &derivation.nodes[node];
            let children = children(grammar, derivation, info);
            let sum: u32 = children.iter().map(|&child| self.lengths[child as usize]).sum();
            self.lengths[node] = u32::from(own(info)) + sum;
        }
    }

    /// The length of the sentence: the yield of the root.
    fn total(&self) -> usize {
        self.lengths.first().map_or(0, |&length| length as usize)
    }
}

/// The child nodes of a node in slot order.
fn children<'a>(grammar: &Grammar, derivation: &'a Derivation, node: &Node) -> &'a [u32] {
    let first = node.children as usize;
    &derivation.children[first..first + grammar.rules[node.rule as usize].slots.len()]
}

impl Layout {
    /// Places the source words.
    pub(crate) fn place_source(&mut self, grammar: &Grammar, derivation: &Derivation) {
        let side = &mut self.source_side;
        side.measure(grammar, derivation, |node| grammar.rules[node.rule as usize].source_words);
        self.source.clear();
        self.source.resize(side.total(), 0);
        for (node, info) in derivation.nodes.iter().enumerate() {
            let mut at = side.starts[node];
            let children = children(grammar, derivation, info);
            for item in &grammar.source_items[grammar.rules[info.rule as usize].source.indices()] {
                match *item {
                    SourceItem::Word(word) => {
                        self.source[at as usize] = if info.open == 0 { word } else { info.open };
                        at += 1;
                    }
                    SourceItem::Slot(slot) => {
                        let child = children[usize::from(slot)] as usize;
                        side.starts[child] = at;
                        at += side.lengths[child];
                    }
                }
            }
        }
    }

    /// Whether the slots of all rules that ask for it end in different source words. The source must be placed.
    pub(crate) fn is_distinct(&self, grammar: &Grammar, derivation: &Derivation) -> bool {
        let side = &self.source_side;
        let last = |child: u32| {
            self.source[(side.starts[child as usize] + side.lengths[child as usize]) as usize - 1]
        };
        derivation.distinct.iter().all(|&node| {
            let children = children(grammar, derivation, &derivation.nodes[node as usize]);
            let mut pairs = children.iter().enumerate();
            pairs.all(|(at, &child)| children[..at].iter().all(|&other| last(other) != last(child)))
        })
    }

    /// Places the target words for the chosen variants.
    pub(crate) fn place_target(&mut self, grammar: &Grammar, derivation: &Derivation) {
        let side = &mut self.target_side;
        side.measure(grammar, derivation, |node| grammar.variants[node.variant as usize].words);
        self.target.clear();
        self.target.resize(side.total(), 0);
        for (node, info) in derivation.nodes.iter().enumerate() {
            let mut at = side.starts[node];
            let children = children(grammar, derivation, info);
            for item in &grammar.target_items[grammar.variants[info.variant as usize].items.indices()] {
                match item.what {
                    TargetWhat::Word(word) => {
                        self.target[at as usize] = if info.open == 0 { word } else { info.open };
                        at += 1;
                    }
                    TargetWhat::Slot(slot) => {
                        let child = children[usize::from(slot)] as usize;
                        side.starts[child] = at;
                        at += side.lengths[child];
                    }
                }
            }
        }
    }

    /// Finds dependencies and links. Both sides must have been placed for the same variants.
    pub(crate) fn analyse(&mut self, grammar: &Grammar, derivation: &Derivation) {
        let count = derivation.nodes.len();
        for side in [&mut self.source_side, &mut self.target_side] {
            side.heads.clear();
            side.heads.resize(count, 0);
        }
        self.arcs.clear();
        self.arcs.resize(self.target.len(), (0, 0));
        self.links.clear();
        for (node, info) in derivation.nodes.iter().enumerate().rev() {
            let rule = &grammar.rules[info.rule as usize];
            let variant = &grammar.variants[info.variant as usize];
            let children = children(grammar, derivation, info);
            // Where each item of the rule stands; a slot stands where its head does.
            let (source, target) = (&mut self.source_side, &mut self.target_side);
            self.source_items.clear();
            let mut at = source.starts[node];
            for item in &grammar.source_items[rule.source.indices()] {
                let (position, length) = match *item {
                    SourceItem::Word(_) => (at, 1),
                    SourceItem::Slot(slot) => {
                        let child = children[usize::from(slot)] as usize;
                        (source.heads[child], source.lengths[child])
                    }
                };
                self.source_items.push(position);
                at += length;
            }
            self.target_items.clear();
            let mut at = target.starts[node];
            let items = &grammar.target_items[variant.items.indices()];
            for item in items {
                let (position, length) = match item.what {
                    TargetWhat::Word(_) => (at, 1),
                    TargetWhat::Slot(slot) => {
                        let child = children[usize::from(slot)] as usize;
                        (target.heads[child], target.lengths[child])
                    }
                };
                self.target_items.push(position);
                at += length;
            }
            source.heads[node] = self.source_items[usize::from(variant.source_head)];
            target.heads[node] = self.target_items[usize::from(variant.head)];
            // A parent comes after its children here and overwrites the arc of the child's head.
            for (item, &position) in items.iter().zip(&self.target_items) {
                let head = self.target_items[usize::from(item.parent)];
                self.arcs[position as usize] = (head, item.relation);
            }
            for link in &grammar.links[variant.links.indices()] {
                let ends = (
                    self.source_items[usize::from(link.source)],
                    self.target_items[usize::from(link.target)],
                );
                self.links.push((ends.0, ends.1, link.sure));
            }
        }
        // Sure links win over possible ones between the same words.
        self.links.sort_unstable_by_key(|&(source, target, sure)| (source, target, !sure));
        self.links.dedup_by_key(|link| (link.0, link.1));
    }
}
