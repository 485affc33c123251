//! A rule where it was found: its sides and its inner links, read off the sentence pair.

use sylvan_base::Symbol;
use sylvan_corpus::Link;
use sylvan_trees::NodeId;

use super::Numbering;
use super::compose::{Composer, VARIABLE};
use super::graph::{Piece, RuleGraph};
use crate::input::Input;
use crate::{Rule, Source, TargetSide, WordLink};

/// One token of the source side, by its place in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A node expanded in this way.
    Open(u32),
    /// The word at a position.
    Word(u32),
    /// A node that stays a variable.
    Var(NodeId),
}

/// An occurrence of a rule.
#[derive(Debug)]
pub struct Occurrence<'a, I> {
    pub(crate) input: &'a I,
    target_words: &'a [Symbol],
    links: &'a [Link],
    graph: &'a RuleGraph,
    composer: &'a Composer,
    numbering: Numbering,
    fragment: usize,
    places: Vec<Place>,
    target: Vec<TargetSide>,
    word_links: Vec<WordLink>,
    stack: Vec<(u32, u32, u32)>,
    /// Target ranges of the variables: first, end, number.
    variables: Vec<(u32, u32, u32)>,
    /// The variables' vertices, in source order.
    vertices: Vec<u32>,
    /// Per target position of the rule, which of its words it is.
    numbers: Vec<u32>,
}

impl<'a, I: Input> Occurrence<'a, I> {
    pub(super) fn new(
        input: &'a I,
        target_words: &'a [Symbol],
        links: &'a [Link],
        graph: &'a RuleGraph,
        composer: &'a Composer,
        numbering: Numbering,
    ) -> Self {
        Self {
            input,
            target_words,
            links,
            graph,
            composer,
            numbering,
            fragment: 0,
            places: Vec::new(),
            target: Vec::new(),
            word_links: Vec::new(),
            stack: Vec::new(),
            variables: Vec::new(),
            vertices: Vec::new(),
            numbers: Vec::new(),
        }
    }

    pub(super) fn set(&mut self, fragment: usize) {
        self.fragment = fragment;
        self.read_source();
        if self.numbering == Numbering::Travatar && self.variables.len() > 1 {
            self.renumber();
        }
        self.read_target();
        self.read_links();
    }

    /// Splices the source sides of the fragments together.
    fn read_source(&mut self) {
        self.places.clear();
        self.variables.clear();
        self.vertices.clear();
        self.stack.clear();
        let (graph, composer) = (self.graph, self.composer);
        // An open fragment: itself, its next piece, its next tail.
        self.stack.push((self.fragment as u32, 0, 0));
        while let Some((at, piece, tail)) = self.stack.last_mut() {
            let fragment = &composer.fragments[*at as usize];
            let minimal = &graph.edges[fragment.edge as usize];
            let place = minimal.pieces.start + *piece;
            if place == minimal.pieces.end {
                self.stack.pop();
                continue;
            }
            *piece += 1;
            match graph.pieces[place as usize] {
                Piece::Open(way) => self.places.push(Place::Open(way)),
                Piece::Word(position) => self.places.push(Place::Word(position)),
                Piece::Tail => {
                    let nth = *tail;
                    *tail += 1;
                    let filling = composer.fillings[(fragment.fillings.start + nth) as usize];
                    if filling == VARIABLE {
                        let vertex = graph.edge_tails(minimal)[nth as usize];
                        self.vertices.push(vertex);
                        let vertex = &graph.vertices[vertex as usize];
                        self.variables.push((vertex.first, vertex.end, self.variables.len() as u32));
                        self.places.push(Place::Var(vertex.node));
                    } else {
                        self.stack.push((filling, 0, 0));
                    }
                }
            }
        }
    }

    /// Gives the variables the numbers that Travatar gives them.
    fn renumber(&mut self) {
        let (graph, composer) = (self.graph, self.composer);
        let mut next = 0;
        self.stack.clear();
        self.stack.push((self.fragment as u32, 0, 0));
        while let Some((at, step, _)) = self.stack.last_mut() {
            let fragment = &composer.fragments[*at as usize];
            let minimal = &graph.edges[fragment.edge as usize];
            let Some(&nth) = graph.edge_met(minimal).get(*step as usize) else {
                self.stack.pop();
                continue;
            };
            *step += 1;
            match composer.fillings[(fragment.fillings.start + nth) as usize] {
                VARIABLE => {
                    let vertex = graph.edge_tails(minimal)[nth as usize];
                    if let Some(place) = self.vertices.iter().position(|&known| known == vertex) {
                        self.variables[place].2 = next;
                    }
                    next += 1;
                }
                filling => self.stack.push((filling, 0, 0)),
            }
        }
    }

    /// The words of the fragment's range, with the variables' ranges replaced.
    fn read_target(&mut self) {
        self.target.clear();
        self.numbers.clear();
        let vertex = &self.graph.vertices[self.composer.fragments[self.fragment].vertex as usize];
        // Ranges of variables are disjoint, so their order is clear.
        self.variables.sort_unstable();
        let mut words = 0;
        let mut at = vertex.first;
        let mut variables = self.variables.iter().peekable();
        while at < vertex.end {
            if let Some(&(_, end, number)) = variables.next_if(|variable| variable.0 == at) {
                self.target.push(TargetSide::Var(number));
                self.numbers.extend((at..end).map(|_| u32::MAX));
                at = end;
            } else {
                self.target.push(TargetSide::Word(self.target_words[at as usize]));
                self.numbers.push(words);
                words += 1;
                at += 1;
            }
        }
    }

    fn read_links(&mut self) {
        self.word_links.clear();
        let first = self.graph.vertices[self.composer.fragments[self.fragment].vertex as usize].first;
        let mut word = 0;
        for place in &self.places {
            let &Place::Word(position) = place else { continue };
            let start = self.links.partition_point(|link| link.source < position);
            for link in self.links[start..].iter().take_while(|link| link.source == position) {
                let number = self.numbers.get(link.target.wrapping_sub(first) as usize);
                if let Some(&number) = number.filter(|&&number| number != u32::MAX) {
                    self.word_links.push((word, number));
                }
            }
            word += 1;
        }
    }

    /// The node that the rule expands.
    pub fn node(&self) -> NodeId {
        self.graph.vertices[self.composer.fragments[self.fragment].vertex as usize].node
    }

    /// How much of an occurrence it is: 1, or the share of the derivations of the pair that use it.
    pub fn share(&self) -> f64 {
        let fragment = &self.composer.fragments[self.fragment];
        self.graph.vertices[fragment.vertex as usize].outside * fragment.share
    }

    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The target words that it stretches over: the first, and behind the last.
    pub fn range(&self) -> (u32, u32) {
        let vertex = &self.graph.vertices[self.composer.fragments[self.fragment].vertex as usize];
        (vertex.first, vertex.end)
    }

    /// The target words that its variables stand for, in target order.
    pub fn holes(&self) -> Vec<(u32, u32)> {
        self.variables.iter().map(|&(first, end, _)| (first, end)).collect()
    }

    /// The target side.
    pub fn target(&self) -> &[TargetSide] {
        &self.target
    }

    /// Links between the rule's words, sorted.
    pub fn links(&self) -> &[WordLink] {
        &self.word_links
    }

    /// The source side.
    pub fn source(&self) -> impl Iterator<Item = Source> + '_ {
        let mut opened = Vec::new();
        self.places.iter().map(move |place| match *place {
            Place::Open(way) => {
                // Ways do not know their nodes: the first is the rule's, the others are met from above.
                let node = opened.pop().unwrap_or_else(|| self.node());
                let children = self.input.children(way);
                opened.extend(children.iter().rev().filter_map(|child| match *child {
                    sylvan_trees::Child::Node(node) => Some(node),
                    sylvan_trees::Child::Leaf(_) => None,
                }));
                Source::Open(self.input.label(node), children.len() as u32)
            }
            Place::Word(position) => Source::Word(self.input.words()[position as usize]),
            Place::Var(node) => {
                opened.pop();
                Source::Var(self.input.label(node))
            }
        })
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        Rule::new(self.source().collect(), self.target.clone())
            .expect("a treelet with its variables once on each side is a rule")
    }
}
