//! Everything that a left-to-right search found, for lists and forests.

use std::hash::Hash;

use sylvan_forest::Edges;

use super::Engine;
use crate::deduction::EdgeOrder;
use crate::out_forest::{OutForest, OutForestBuilder, Words};
use crate::said::Said;

impl<S: Copy + Eq + Hash> Engine<S> {
    /// Nodes and arcs, with one more node that all complete items lead to.
    pub(super) fn out_forest<E: Edges>(&self, forest: &E, order: EdgeOrder) -> OutForest {
        let mut builder = OutForestBuilder::new(self.nodes.len() + 1, order);
        let goal = self.nodes.len();
        // The node of the axiom, which is the first, needs no other node.
        builder.arc(0, &[], &[], Words::After(Said::NOTHING), 0.0, forest);
        let mut edges = Vec::new();
        for arc in self.nodes.arcs() {
            self.nodes.edges_into(arc.trail, arc.since, &mut edges);
            let words = Words::After(arc.said);
            builder.arc(arc.to.0 as usize, &[arc.from.0], &edges, words, arc.score, forest);
        }
        for found in &self.goals {
            self.nodes.edges_into(self.nodes.get(found.node).trail, found.since, &mut edges);
            let score = found.score - self.nodes.get(found.from).score;
            builder.arc(goal, &[found.from.0], &edges, Words::After(found.said), score, forest);
        }
        builder.finish(goal)
    }
}
