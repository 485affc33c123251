//! Items whose step model knows several things at once, of which some are dropped: the parses of a translation (Yu et al.
//! 2014).
//!
//! A state of such a model has *parts*, each with a score and a group. What competes in a bin are pairs of an item and a
//! part: *naive*, all of them, for one beam; *grouping*, those of each group for a beam of its own, and the groups with the
//! best pairs are kept. An item goes on with the parts that survive, so that what its pairs have in common is done once.

use std::hash::Hash;

use sylvan_base::HashMap;

use super::nodes::NodeId;
use super::states::StateId;
use super::{Engine, Limits, StepModel, Ways};
use crate::deduction::ItemId;
use crate::step_model::Part;

/// A pair of an item and a part.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// The item, by its place among those that compete.
    place: u32,
    /// The part, by its place in the state.
    part: u32,
    group: u32,
    merit: f64,
}

/// Memory for comparing pairs.
#[derive(Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    pairs: Vec<Pair>,
    /// The best pair of those with the same future.
    best: HashMap<(ItemId, StateId, u64), u32>,
    kept: Vec<Vec<bool>>,
    sizes: HashMap<u32, usize>,
}

impl<S: Copy + Eq + Hash> Engine<S> {
    /// Takes the survivors of a bin.
    pub(super) fn take_survivors(
        &mut self,
        steps: &mut Option<&mut dyn StepModel>,
        bin: usize,
        limits: Limits,
    ) {
        let mut competing = std::mem::take(&mut self.competing);
        match steps {
            Some(steps) if self.is_late => self.ask(*steps, bin, limits, &mut competing),
            _ => self.nodes.take(bin, &mut competing),
        }
        let mut survivors = std::mem::take(&mut self.survivors);
        survivors.clear();
        match (steps, limits.ways) {
            (Some(steps), Ways::All) => {
                self.keep_groups(*steps, &competing, limits.beam.0, None, &mut survivors);
            }
            (Some(steps), Ways::Groups(groups)) => {
                self.keep_groups(*steps, &competing, limits.beam.0, Some(groups), &mut survivors);
            }
            _ => survivors.extend(competing.iter().take(limits.beam.0)),
        }
        self.counters.pruned += self.nodes.survive(&competing, &survivors) as u64;
        self.counters.kept += survivors.len() as u64;
        (self.survivors, self.competing) = (survivors, competing);
    }

    /// Of items that compete, best first: those of which a part survives, best first, with what survives of them. Pairs
    /// compete in groups, of which so many are kept, or all together.
    fn keep_groups(
        &mut self,
        steps: &mut dyn StepModel,
        competing: &[NodeId],
        beam: usize,
        groups: Option<usize>,
        survivors: &mut Vec<NodeId>,
    ) {
        let mut memory = std::mem::take(&mut self.parts);
        let Parts { parts, pairs, best, kept, sizes } = &mut memory;
        pairs.clear();
        best.clear();
        kept.clear();
        sizes.clear();
        for (place, &node) in (0..).zip(competing) {
            parts.clear();
            steps.parts(self.nodes.step_state(node), parts);
            kept.push(vec![false; parts.len()]);
            let (item, state, merit) = {
                let node = self.nodes.get(node);
                (node.item, node.state, node.merit)
            };
            for (part, &Part { key, score, group }) in (0..).zip(&*parts) {
                let pair = Pair { place, part, group: groups.map_or(0, |_| group), merit: merit + score };
                // Of pairs with the same future one is enough: the better one, or the one whose item comes first.
                match best.get(&(item, state, key)) {
                    Some(&known) if pairs[known as usize].merit >= pair.merit => {}
                    Some(&known) => pairs[known as usize] = pair,
                    None => {
                        best.insert((item, state, key), pairs.len() as u32);
                        pairs.push(pair);
                    }
                }
            }
        }
        // Items come best first, so places break ties as items do; of two groups the one with more reductions.
        pairs.sort_unstable_by(|a, b| {
            b.merit
                .total_cmp(&a.merit)
                .then(b.group.cmp(&a.group))
                .then((a.place, a.part).cmp(&(b.place, b.part)))
        });
        let most_groups = groups.unwrap_or(1);
        for pair in &*pairs {
            if sizes.len() >= most_groups && !sizes.contains_key(&pair.group) {
                continue;
            }
            let size = sizes.entry(pair.group).or_default();
            *size += 1;
            if *size <= beam {
                kept[pair.place as usize][pair.part as usize] = true;
            }
        }
        for (&node, kept) in competing.iter().zip(&*kept) {
            if kept.iter().all(|&kept| kept) {
                survivors.extend((!kept.is_empty()).then_some(node));
            } else if kept.iter().any(|&kept| kept) {
                let (gain, state) = steps.restrict(self.nodes.step_state(node), kept);
                self.nodes.change(node, gain, state);
                survivors.push(node);
            }
        }
        self.nodes.sort(survivors);
        self.parts = memory;
    }
}
