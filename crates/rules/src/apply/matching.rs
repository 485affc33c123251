//! Matching source sides against a tree or a packed forest.
//!
//! At each node the trie of source sides and the input are walked together: a word must match itself, a
//! node either a variable with its label or, for each way to divide it, its own expansion. The cost is
//! the number of partial treelets of the node that start some rule, whatever the size of the grammar. What is
//! still to be matched is a chain of cells, shared by all partial treelets; nothing is allocated per match.

use sylvan_base::Id;
use sylvan_trees::{Child, NodeId};

use crate::input::Input;
use crate::table::tokens::NO_TOKEN;
use crate::table::trie::LEAF;
use crate::{Filter, Grammar, RuleId, SourceId};

/// Where the rest of a way is continued after something below it was matched.
#[derive(Debug, Clone, Copy)]
struct Cell {
    way: u32,
    index: u32,
    up: u32,
}

const TOP: u32 = u32::MAX;
const NOBODY: u32 = u32::MAX;

/// A partial treelet that waits.
#[derive(Debug, Clone, Copy)]
struct Partial {
    place: Place,
    way: u32,
    index: u32,
    up: u32,
    /// How many variables are bound, and the node to bind next.
    bound: u32,
    bind: u32,
    nodes: u32,
    score: f64,
}

/// Where a partial treelet is among the source sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Trie(u32),
    /// In the tail of a source: its next byte, and how many tokens are left.
    Tail {
        source: SourceId,
        at: usize,
        left: u32,
    },
}

/// A source side that matches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match<'a> {
    pub(crate) source: SourceId,
    /// Where its rules begin.
    pub(crate) at: usize,
    /// What its variables stand for.
    pub(crate) bound: &'a [NodeId],
    /// How many nodes it expands.
    pub(crate) nodes: u32,
    /// The scores of the ways that it takes.
    pub(crate) score: f64,
}

/// Reusable memory for matching one grammar against one input after another.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    words: Vec<u32>,
    variables: Vec<u32>,
    opens: Vec<u32>,
    cells: Vec<Cell>,
    partials: Vec<Partial>,
    bound: Vec<NodeId>,
}

impl Matcher {
    /// Looks up the input's words and labels in the grammar.
    pub(crate) fn prepare<I: Input>(&mut self, grammar: &Grammar, input: &I) {
        let tokens = &grammar.tokens;
        self.words.clear();
        self.words.extend(input.words().iter().map(|&word| tokens.word(word)));
        self.variables.clear();
        self.opens.clear();
        self.opens.resize(input.way_count(), NO_TOKEN);
        for node in (0..input.node_count()).map(NodeId::from_index) {
            let label = input.label(node);
            self.variables.push(tokens.variable(label));
            let mut known: Option<(u32, u32)> = None;
            for way in input.ways(node) {
                let children = input.children(way).len() as u32;
                let token = match known {
                    Some((count, token)) if count == children => token,
                    _ => tokens.open(label, children),
                };
                known = Some((children, token));
                self.opens[way as usize] = token;
            }
        }
    }

    /// Calls `found` with every source side that matches at a node.
    pub(crate) fn at<I: Input>(
        &mut self,
        grammar: &Grammar,
        input: &I,
        node: NodeId,
        mut found: impl FnMut(Match<'_>),
    ) {
        self.cells.clear();
        self.partials.clear();
        for way in input.ways(node) {
            let place = step(grammar, Place::Trie(0), self.opens[way as usize]);
            if let Some(place) = place {
                let score = input.score(way);
                self.partials.push(Partial {
                    place,
                    way,
                    index: 0,
                    up: TOP,
                    bound: 0,
                    bind: NOBODY,
                    nodes: 1,
                    score,
                });
            }
        }
        while let Some(partial) = self.partials.pop() {
            self.bound.truncate(partial.bound as usize);
            if partial.bind != NOBODY {
                self.bound.push(NodeId(partial.bind));
            }
            self.advance(grammar, input, partial, &mut found);
        }
    }

    /// Follows a partial treelet until it ends, fails or branches.
    fn advance<I: Input>(
        &mut self,
        grammar: &Grammar,
        input: &I,
        mut partial: Partial,
        found: &mut impl FnMut(Match<'_>),
    ) {
        loop {
            let children = input.children(partial.way);
            let Some(&child) = children.get(partial.index as usize) else {
                // The way is done: go on above it.
                if partial.up == TOP {
                    if let Place::Tail { source, at, left: 0 } = partial.place {
                        let Partial { nodes, score, .. } = partial;
                        found(Match { source, at, bound: &self.bound, nodes, score });
                    }
                    return;
                }
                let cell = self.cells[partial.up as usize];
                (partial.way, partial.index, partial.up) = (cell.way, cell.index, cell.up);
                continue;
            };
            partial.index += 1;
            match child {
                Child::Leaf(position) => {
                    let Some(place) = step(grammar, partial.place, self.words[position as usize]) else {
                        return;
                    };
                    partial.place = place;
                }
                Child::Node(below) => {
                    self.branch(grammar, input, &partial, below);
                    return;
                }
            }
        }
    }

    /// A node below: as a variable, or expanded.
    fn branch<I: Input>(&mut self, grammar: &Grammar, input: &I, partial: &Partial, below: NodeId) {
        let bound = self.bound.len() as u32;
        let mut up = None;
        for way in input.ways(below) {
            let Some(place) = step(grammar, partial.place, self.opens[way as usize]) else { continue };
            let up = *up.get_or_insert_with(|| {
                if partial.index as usize == input.children(partial.way).len() {
                    return partial.up;
                }
                self.cells.push(Cell { way: partial.way, index: partial.index, up: partial.up });
                (self.cells.len() - 1) as u32
            });
            let (nodes, score) = (partial.nodes + 1, partial.score + input.score(way));
            self.partials.push(Partial { place, way, index: 0, up, bound, bind: NOBODY, nodes, score });
        }
        if let Some(place) = step(grammar, partial.place, self.variables[below.index()]) {
            self.partials.push(Partial { place, bound, bind: below.0, ..*partial });
        }
    }
}

#[inline]
pub(super) fn step(grammar: &Grammar, place: Place, token: u32) -> Option<Place> {
    if token == NO_TOKEN {
        return None;
    }
    match place {
        Place::Trie(place) => {
            let next = grammar.trie.step(place, token)?;
            if next & LEAF == 0 {
                return Some(Place::Trie(next));
            }
            let source = SourceId(next & !LEAF);
            let mut cursor = grammar.block(source)?;
            let left = cursor.small()?;
            Some(Place::Tail { source, at: cursor.at(), left })
        }
        Place::Tail { source, at, left } => {
            let left = left.checked_sub(1)?;
            let mut cursor = grammar.hot_at(at);
            (cursor.small()? == token).then(|| Place::Tail { source, at: cursor.at(), left })
        }
    }
}

/// Calls `found` with every rule that matches at `node`, and the nodes that its variables stand for.
pub fn match_rules<I: Input>(
    grammar: &Grammar,
    input: &I,
    node: NodeId,
    mut found: impl FnMut(RuleId, &[NodeId]),
) {
    let mut matcher = Matcher::default();
    matcher.prepare(grammar, input);
    matcher.at(grammar, input, node, |matched| {
        grammar.each_rule(matched.source, grammar.hot_at(matched.at), |rule| found(rule.id, matched.bound));
    });
}

/// Calls `found` with every source side that matches at a wanted node, and with its rules.
pub fn each_match<I: Input>(
    grammar: &Grammar,
    input: &I,
    wanted: impl Fn(NodeId) -> bool,
    mut found: impl FnMut(NodeId, SourceId, &[RuleId]),
) {
    let mut matcher = Matcher::default();
    matcher.prepare(grammar, input);
    let mut rules = Vec::new();
    for node in (0..input.node_count()).map(NodeId::from_index).filter(|&node| wanted(node)) {
        matcher.at(grammar, input, node, |matched| {
            rules.clear();
            grammar.each_rule(matched.source, grammar.hot_at(matched.at), |rule| rules.push(rule.id));
            found(node, matched.source, &rules);
        });
    }
}

impl Filter {
    /// Marks the source sides that match somewhere in the input. Without a first call, all rules are kept.
    pub fn mark<I: Input>(&mut self, grammar: &Grammar, input: &I) {
        let marks = self.marks(grammar);
        let mut matcher = Matcher::default();
        matcher.prepare(grammar, input);
        for node in (0..input.node_count()).map(NodeId::from_index) {
            matcher.at(grammar, input, node, |matched| {
                if let Some(mark) = marks.get_mut(matched.source.index()) {
                    *mark = true;
                }
            });
        }
    }
}
