//! What a search explored: nodes and arcs, the same for every decoder.
//!
//! A node is an item with its model states; an arc is one way to make it from other nodes: none for an axiom, one
//! for a left-to-right step, the tails' items for a bottom-up combination. n-best lists ([`KBest`](crate::KBest)),
//! tuning and drawings read this and know nothing of decoders.

use std::ops::Range;

use sylvan_base::hash::fold;
use sylvan_forest::{Derivation, EdgeId, Edges};

use crate::deduction::EdgeOrder;
use crate::said::Said;

/// The words of an arc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Those of its tails, one after the other, and then these: from left to right.
    After(Said),
    /// Those of its edge's target side, with the words of its tails in place of the vertices: from the bottom up.
    Around,
}

/// One way to make a node.
#[derive(Debug, Clone)]
pub struct OutArc {
    /// What it adds to the scores of its tails.
    pub score: f64,
    /// Content hash of its edges, for ties.
    pub hash: u64,
    /// The words of what it makes.
    pub words: Words,
    tails: Range<u32>,
    edges: Range<u32>,
}

/// Everything that a search found.
#[derive(Debug, Clone)]
pub struct OutForest {
    /// Arcs grouped by the node that they make.
    arcs: Vec<OutArc>,
    starts: Vec<u32>,
    tails: Vec<u32>,
    edges: Vec<EdgeId>,
    order: EdgeOrder,
    goal: usize,
}

impl OutForest {
    /// The node of complete translations.
    pub fn goal(&self) -> usize {
        self.goal
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The arcs that make a node.
    pub fn arcs(&self, node: usize) -> &[OutArc] {
        &self.arcs[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// The nodes that an arc starts from.
    pub fn tails(&self, arc: &OutArc) -> &[u32] {
        &self.tails[arc.tails.start as usize..arc.tails.end as usize]
    }

    /// The forest edges that an arc charges.
    pub fn edges(&self, arc: &OutArc) -> &[EdgeId] {
        &self.edges[arc.edges.start as usize..arc.edges.end as usize]
    }

    /// The order of edges that are collected tails first, arc by arc.
    pub fn order(&self) -> EdgeOrder {
        self.order
    }

    /// The derivation of a list of edges that was collected tails first, arc by arc.
    pub fn derivation<E: Edges>(&self, forest: &E, edges: Vec<EdgeId>) -> Derivation {
        derivation(forest, edges, self.order)
    }
}

/// The derivation of edges in a given order.
pub(crate) fn derivation<E: Edges>(forest: &E, edges: Vec<EdgeId>, order: EdgeOrder) -> Derivation {
    match order {
        EdgeOrder::HeadsFirst => Derivation::new(edges),
        EdgeOrder::TailsFirst => Derivation::from_tails_first(forest, &edges),
    }
}

/// Collects arcs in any order.
#[derive(Debug)]
pub struct OutForestBuilder {
    arcs: Vec<(u32, OutArc)>,
    nodes: usize,
    tails: Vec<u32>,
    edges: Vec<EdgeId>,
    order: EdgeOrder,
}

impl OutForestBuilder {
    /// A forest of `nodes` nodes; reading a derivation's arcs tails first gives its edges in `order`.
    pub fn new(nodes: usize, order: EdgeOrder) -> Self {
        Self { arcs: Vec::new(), nodes, tails: Vec::new(), edges: Vec::new(), order }
    }

    /// Adds a way to make `node`.
    pub fn arc<E: Edges>(
        &mut self,
        node: usize,
        tails: &[u32],
        edges: &[EdgeId],
        words: Words,
        score: f64,
        forest: &E,
    ) {
        let (first_tail, first_edge) = (self.tails.len() as u32, self.edges.len() as u32);
        self.tails.extend_from_slice(tails);
        self.edges.extend_from_slice(edges);
        let hash = edges.iter().fold(0, |hash, &edge| fold(hash, forest.hash(edge)));
        let arc = OutArc {
            score,
            hash,
            words,
            tails: first_tail..self.tails.len() as u32,
            edges: first_edge..self.edges.len() as u32,
        };
        self.arcs.push((node as u32, arc));
    }

    /// The forest, with its goal.
    pub fn finish(self, goal: usize) -> OutForest {
        let mut starts = vec![0u32; self.nodes + 1];
        for (node, _) in &self.arcs {
            starts[*node as usize + 1] += 1;
        }
        for node in 0..self.nodes {
            starts[node + 1] += starts[node];
        }
        // Those of one node stay in the order in which they came.
        let (mut next, mut places) = (starts.clone(), vec![0u32; self.arcs.len()]);
        for ((node, _), at) in self.arcs.iter().zip(0..) {
            let place = &mut next[*node as usize];
            places[*place as usize] = at;
            *place += 1;
        }
        OutForest {
            arcs: places.into_iter().map(|at| self.arcs[at as usize].1.clone()).collect(),
            starts,
            tails: self.tails,
            edges: self.edges,
            order: self.order,
            goal,
        }
    }
}
