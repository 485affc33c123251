//! Step models that are asked late: only about items that are among the best of their bin without the answer.
//!
//! ```text
//! step --> item with a *pending* state (the state before, the words since)  --> bin, pruned to a shortlist
//! bin's turn --> the step model is asked about each of them --> items with states --> survivors
//! ```
//!
//! Most items of a full bin are dropped for reasons that have nothing to do with the step model, and asking is what costs.
//! Without a limit on the shortlist nothing changes.

use sylvan_base::HashMap;
use sylvan_forest::{BundleId, Edges, TokenId};

use super::nodes::{Arc, Node, NodeId, Nodes, Stage};
use crate::outcome::better;
use crate::step_model::StepState;

/// States that stand for a state and the words since then.
#[derive(Debug, Default)]
pub(super) struct Late {
    pending: Vec<(StepState, u32)>,
    index: HashMap<(StepState, u32), StepState>,
    /// Where the words of each sequence end.
    ends: Vec<u32>,
    words: Vec<TokenId>,
    sequences: HashMap<Box<[BundleId]>, u32>,
}

/// Marks a pending state. Step models give out no such numbers: it would take two billion of them.
const PENDING: u32 = 1 << 31;

impl Late {
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.index.clear();
        self.ends.clear();
        self.words.clear();
        self.sequences.clear();
    }

    /// A state and the words since then, as one number; without words it is the state.
    pub(super) fn pend<E: Edges>(&mut self, state: StepState, bundles: &[BundleId], forest: &E) -> StepState {
        if bundles.iter().all(|&bundle| bundle == BundleId::EMPTY) {
            return state;
        }
        let sequence = match self.sequences.get(bundles) {
            Some(&known) => known,
            None => {
                bundles.iter().for_each(|&bundle| self.words.extend_from_slice(forest.bundle(bundle)));
                self.ends.push(self.words.len() as u32);
                let new = self.ends.len() as u32 - 1;
                self.sequences.insert(bundles.into(), new);
                new
            }
        };
        let pending = &mut self.pending;
        *self.index.entry((state, sequence)).or_insert_with(|| {
            pending.push((state, sequence));
            StepState(PENDING | (pending.len() as u32 - 1))
        })
    }

    /// What a pending state stands for; `None` if it is none.
    pub(super) fn pending(&self, state: StepState) -> Option<(StepState, &[TokenId])> {
        if state.0 & PENDING == 0 {
            return None;
        }
        let (before, sequence) = self.pending[(state.0 & !PENDING) as usize];
        let sequence = sequence as usize;
        let start = sequence.checked_sub(1).map_or(0, |place| self.ends[place]);
        Some((before, &self.words[start as usize..self.ends[sequence] as usize]))
    }
}

impl Nodes {
    /// Takes the best items of a bin, about which the step model will be asked. Returns how many were dropped.
    pub(super) fn shortlist(&mut self, bin: usize, most: usize, out: &mut Vec<NodeId>) -> usize {
        self.take(bin, out);
        let dropped = out.len().saturating_sub(most);
        out.iter().skip(most).for_each(|&node| self.set_stage(node, Stage::Dropped));
        out.truncate(most);
        out.iter().for_each(|&node| self.set_stage(node, Stage::Expanded));
        dropped
    }

    /// An item of the shortlist with one of the states that the step model gives it. Items that are new to their bin, or
    /// better than when they were expanded, are added to `out`. Returns whether it met an equal one.
    pub(super) fn answered(
        &mut self,
        asked: NodeId,
        (gain, extra, key): (f64, StepState, StepState),
        bin: usize,
        out: &mut Vec<NodeId>,
    ) -> bool {
        let before = *self.get(asked);
        let (score, merit) = (before.score + gain, before.merit + gain);
        let node = Node { score, merit, stage: Stage::Waiting, ..before };
        let signature = (node.item, self.states::<false>(node.state, key));
        let known = self.asked_index(bin).get(&signature).copied();
        let was = known.map(|old| *self.get(old));
        let is_better = was.is_none_or(|was| better(score, node.hash, was.score, was.hash));
        let id = match (known, was.map(|was| was.stage)) {
            (Some(old), Some(Stage::Waiting)) => {
                if is_better {
                    self.put::<false>(Some(old), node, extra);
                }
                old
            }
            (Some(old), Some(Stage::Dropped)) => {
                // It was dropped in an earlier round and competes again, by the best way known.
                if is_better {
                    self.put::<false>(Some(old), node, extra);
                } else {
                    self.set_stage(old, Stage::Waiting);
                }
                out.push(old);
                old
            }
            (Some(old), Some(Stage::Expanded)) if was.is_some_and(|was| score <= was.score) => old,
            _ => {
                let new = self.put::<false>(None, node, extra);
                out.push(new);
                new
            }
        };
        self.asked_index(bin).insert(signature, id);
        if self.keeps_arcs() {
            self.add_arc(Arc { to: id, from: asked, score: gain, trail: before.trail, since: before.trail });
        }
        known.is_some()
    }
}
