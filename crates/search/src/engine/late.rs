//! Step models that are asked late: only about items that are among the best of their bin without the answer.
//!
//! ```text
//! step --> item with a *pending* state (the state before, the words since)  --> bin, pruned to a shortlist
//! bin's turn --> the step model is asked about each of them --> items with states --> survivors
//! ```
//!
//! Models that look at more than words, such as a reordering model beside it, are asked at once all the same.
//!
//! Most items of a full bin are dropped for reasons that have nothing to do with the step model, and asking is what costs.
//! Without a limit on the shortlist nothing changes.

use std::hash::Hash;

use sylvan_base::HashMap;
use sylvan_forest::{BundleId, Edges, TokenId};

use super::nodes::{Arc, Node, NodeId, Nodes, Stage};
use super::{Engine, Goal, Limits};
use crate::Beam;
use crate::outcome::better;
use crate::said::Said;
use crate::step_model::{StepModel, StepState};

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
            let (trail, since) = (before.trail, before.trail);
            self.add_arc(Arc { to: id, from: asked, score: gain, trail, since, said: Said::NOTHING });
        }
        known.is_some()
    }
}

impl<S: Copy + Eq + Hash> Engine<S> {
    /// How many items of a bin are kept before their step model is asked.
    pub(super) fn room(&self, limits: Limits) -> Beam {
        let times = limits.shortlist.filter(|_| self.is_late).unwrap_or(1);
        Beam(limits.beam.0.saturating_mul(times.max(1)))
    }

    /// Asks the step model about the shortlist of a bin.
    pub(super) fn ask(
        &mut self,
        steps: &mut dyn StepModel,
        bin: usize,
        limits: Limits,
        answered: &mut Vec<NodeId>,
    ) {
        let mut shortlist = std::mem::take(&mut self.shortlist);
        answered.clear();
        self.counters.pruned += self.nodes.shortlist(bin, self.room(limits).0, &mut shortlist) as u64;
        let asked: Vec<(StepState, &[TokenId])> =
            shortlist.iter().filter_map(|&node| self.late.pending(self.nodes.step_state(node))).collect();
        steps.prepare(&asked);
        for &node in &shortlist {
            let mut ways = std::mem::take(&mut self.ways);
            self.ways_on(steps, self.nodes.step_state(node), &mut ways);
            for &(gain, extra) in &ways {
                let met = self.nodes.answered(node, (gain, extra, steps.signature(extra)), bin, answered);
                self.counters.recombined += u64::from(met);
            }
            self.counters.items += ways.len() as u64;
            self.ways = ways;
        }
        self.nodes.sort(answered);
        self.shortlist = shortlist;
    }

    /// The ways to go on from a state, which may be pending.
    fn ways_on(&self, steps: &mut dyn StepModel, state: StepState, ways: &mut Vec<(f64, StepState)>) {
        ways.clear();
        match self.late.pending(state) {
            None => ways.push((0.0, state)),
            Some((before, words)) => steps.advance_later(before, words, ways),
        }
    }

    /// Asks the step model about the best complete items; others are no answers.
    pub(super) fn ask_goals(&mut self, steps: &mut dyn StepModel, limits: Limits) {
        let mut goals = std::mem::take(&mut self.goals);
        let hash = |goal: &Goal| self.nodes.hash(self.nodes.get(goal.node).trail);
        goals.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| hash(a).cmp(&hash(b))));
        goals.truncate(self.room(limits).0);
        let asked: Vec<(StepState, &[TokenId])> =
            goals.iter().filter_map(|goal| self.late.pending(self.nodes.step_state(goal.node))).collect();
        steps.prepare(&asked);
        let mut ways = std::mem::take(&mut self.ways);
        for goal in &mut goals {
            self.ways_on(steps, self.nodes.step_state(goal.node), &mut ways);
            let ends = ways.iter().map(|&(gain, state)| gain + steps.finish(state));
            goal.score += ends.fold(f64::NEG_INFINITY, f64::max);
        }
        self.ways = ways;
        goals.retain(|goal| goal.score > f64::NEG_INFINITY);
        self.goals = goals;
    }

    /// The state of a step about which the step model will be asked later, and what keeps items with it apart.
    #[inline(never)]
    pub(super) fn pend<E: Edges>(
        &mut self,
        steps: &mut Option<&mut dyn StepModel>,
        before: StepState,
        forest: &E,
    ) -> (StepState, StepState) {
        let state = self.late.pend(before, &self.bundles, forest);
        let signature = steps.as_mut().map(|steps| steps.signature(before));
        let key = if signature == Some(StepState::ANY) { StepState::ANY } else { state };
        (state, key)
    }
}
