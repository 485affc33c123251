//! Composed rules (Galley et al. 2006): minimal rules put into the variables of others, up to limits.
//!
//! Bottom-up: the fragments of a vertex are its minimal rules with, for each tail, nothing or a fragment of the
//! tail's vertex. Fragments refer to each other, so each costs a few numbers however large the rule is.
//!
//! A fragment that is too small a share of its vertex is dropped with all that could be made of it: what contains it
//! is an even smaller share of what is above.

use super::graph::RuleGraph;
use super::{ExtractConfig, Numbering};
use crate::input::Input;

/// No fragment: the tail stays a variable.
pub(super) const VARIABLE: u32 = u32::MAX;

/// A minimal rule with fragments in some of its variables.
#[derive(Debug, Clone)]
pub(super) struct Fragment {
    pub(super) vertex: u32,
    pub(super) edge: u32,
    /// One entry per tail of the edge in [`Composer::fillings`].
    pub(super) fillings: std::ops::Range<u32>,
    size: u32,
    nodes: u32,
    words: u32,
    source_words: u32,
    variables: u32,
    /// The product of the shares of its minimal rules.
    pub(super) share: f64,
}

#[derive(Debug, Default)]
pub(super) struct Composer {
    pub(super) fragments: Vec<Fragment>,
    pub(super) fillings: Vec<u32>,
    of_vertex: Vec<std::ops::Range<u32>>,
    chosen: Vec<u32>,
    sums: Vec<Sums>,
}

/// What holds for all fragments of a vertex.
#[derive(Debug, Clone, Copy)]
struct OfVertex {
    /// Whether whole phrases become rules.
    phrases: bool,
    /// The smallest share of the vertex that is kept.
    least: f64,
}

/// What a partly filled rule amounts to; variables are those that were decided to stay.
#[derive(Debug, Clone, Copy)]
struct Sums {
    size: u32,
    nodes: u32,
    words: u32,
    source_words: u32,
    variables: u32,
    share: f64,
}

impl Sums {
    /// Whether it is within the limits; what grows further only leaves them.
    fn fits(&self, config: &ExtractConfig) -> bool {
        self.nodes <= config.nodes
            && self.words <= config.words
            && self.source_words <= config.source_words
            && self.variables <= config.variables
    }
}

impl Composer {
    pub(super) fn len(&self) -> usize {
        self.fragments.len()
    }

    pub(super) fn compose<I: Input>(&mut self, input: &I, graph: &RuleGraph, config: &ExtractConfig) {
        self.fragments.clear();
        self.fillings.clear();
        self.of_vertex.clear();
        for (index, vertex) in graph.vertices.iter().enumerate() {
            let start = self.fragments.len() as u32;
            let phrases = input.span(vertex.node).len() as u64 <= u64::from(config.phrase_words);
            let least = config.least_share.to_f64() / vertex.outside.max(f64::MIN_POSITIVE);
            for edge in vertex.edges.clone() {
                self.fill(graph, index as u32, edge, config, &OfVertex { phrases, least });
            }
            self.of_vertex.push(start..self.fragments.len() as u32);
        }
    }

    /// All fragments of an edge: an odometer over its tails, the first tail slowest.
    fn fill(&mut self, graph: &RuleGraph, vertex: u32, edge: u32, config: &ExtractConfig, all: &OfVertex) {
        let minimal = &graph.edges[edge as usize];
        let tails = graph.edge_tails(minimal);
        // The tail to fill at each step.
        let met = graph.edge_met(minimal);
        let nth = |step: usize| match config.numbering {
            Numbering::Source => step,
            Numbering::Travatar => met[step] as usize,
        };
        let alone = Sums {
            size: 1,
            nodes: minimal.nodes,
            words: minimal.words,
            source_words: minimal.source_words,
            variables: 0,
            share: minimal.share,
        };
        if !alone.fits(config) || alone.share < all.least {
            return;
        }
        self.chosen.clear();
        self.sums.clear();
        self.sums.push(alone);
        // The next filling to try: 0 is the variable, then the fragments of the tail's vertex.
        let mut next = 0u32;
        loop {
            let sums = self.sums[self.sums.len() - 1];
            if self.chosen.len() == tails.len() {
                self.add(vertex, edge, sums, nth);
            } else {
                let fragments = self.of_vertex[tails[nth(self.chosen.len())] as usize].clone();
                let is_last = self.chosen.len() + 1 == tails.len();
                let found = if next == 0 && sums.variables < config.variables {
                    Some((VARIABLE, Sums { variables: sums.variables + 1, ..sums }))
                } else {
                    (fragments.start + next.saturating_sub(1)..fragments.end).find_map(|fragment| {
                        let filled = self.filled(&sums, fragment, config, all, is_last)?;
                        Some((fragment, filled))
                    })
                };
                if let Some((choice, filled)) = found {
                    self.chosen.push(choice);
                    self.sums.push(filled);
                    next = 0;
                    continue;
                }
            }
            let Some(back) = self.chosen.pop() else { return };
            self.sums.pop();
            let fragments = self.of_vertex[tails[nth(self.chosen.len())] as usize].clone();
            next = if back == VARIABLE { 1 } else { back - fragments.start + 2 };
        }
    }

    /// A fragment put into the next tail; `None` beyond the limits.
    fn filled(
        &self,
        sums: &Sums,
        fragment: u32,
        config: &ExtractConfig,
        all: &OfVertex,
        is_last: bool,
    ) -> Option<Sums> {
        let below = &self.fragments[fragment as usize];
        let filled = Sums {
            size: sums.size + below.size,
            nodes: sums.nodes + below.nodes,
            words: sums.words + below.words,
            source_words: sums.source_words + below.source_words,
            variables: sums.variables + below.variables,
            share: sums.share * below.share,
        };
        let is_phrase = all.phrases && is_last && filled.variables == 0;
        let fits = filled.fits(config) && filled.share >= all.least;
        (fits && (filled.size <= config.minimal_rules || is_phrase)).then_some(filled)
    }

    fn add(&mut self, vertex: u32, edge: u32, sums: Sums, nth: impl Fn(usize) -> usize) {
        let Sums { size, nodes, words, source_words, variables, share } = sums;
        let start = self.fillings.len() as u32;
        self.fillings.resize(self.fillings.len() + self.chosen.len(), VARIABLE);
        for (step, &choice) in self.chosen.iter().enumerate() {
            self.fillings[start as usize + nth(step)] = choice;
        }
        let fillings = start..self.fillings.len() as u32;
        self.fragments.push(Fragment {
            vertex,
            edge,
            fillings,
            size,
            nodes,
            words,
            source_words,
            variables,
            share,
        });
    }
}
