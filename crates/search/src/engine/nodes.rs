//! The items that a search has reached, how it got there, and which of them compete.

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, Id, IndexVec, define_id};
use sylvan_forest::{EdgeId, Edges};

use super::states::StateId;
use crate::Beam;
use crate::deduction::{Application, ItemId};
use crate::outcome::better;
use crate::said::Said;
use crate::step_model::StepState;

define_id!(
    /// An item with the states of the models and a score.
    NodeId
);

define_id!(
    /// A list of edges, newest first: how a node was reached.
    TrailId
);

impl TrailId {
    pub(super) const START: TrailId = TrailId(0);
}

/// A cell of the shared lists of edges.
#[derive(Debug, Clone, Copy)]
struct Trail {
    edge: EdgeId,
    before: TrailId,
    /// Content hash of the list, for ties.
    hash: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) item: ItemId,
    pub(super) state: StateId,
    pub(super) score: f64,
    /// Score and future.
    pub(super) merit: f64,
    pub(super) trail: TrailId,
    pub(super) hash: u64,
    pub(super) stage: Stage,
}

/// What has become of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is in its bin.
    Waiting,
    Expanded,
    Dropped,
}

/// A way to a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) to: NodeId,
    pub(super) from: NodeId,
    pub(super) score: f64,
    /// The edges charged: the list from here back to `since`.
    pub(super) trail: TrailId,
    pub(super) since: TrailId,
    /// The words of the step.
    pub(super) said: Said,
}

/// A new item, before it is known whether it stays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) item: ItemId,
    pub(super) state: StateId,
    pub(super) extra: StepState,
    /// What of the step model's state keeps items apart.
    pub(super) key: StepState,
    pub(super) score: f64,
    pub(super) merit: f64,
    pub(super) from: NodeId,
    /// The last edge charged in the step.
    pub(super) charged: Option<u32>,
    /// The words of the step, if ways are kept.
    pub(super) said: Said,
}

/// What happened to a new item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    New,
    Recombined,
    Pruned,
}

#[derive(Debug)]
pub(super) struct Nodes {
    nodes: IndexVec<NodeId, Node>,
    /// The step model's state of each node; empty without such a model, which then costs nothing.
    steps: Vec<StepState>,
    /// Pairs of states as one number, so that signatures are as short as without a step model.
    pairs: HashMap<(StateId, StepState), u32>,
    /// By bin, so that the map stays small in a long sentence.
    index: Vec<HashMap<(ItemId, u32), NodeId>>,
    /// The same for items that the step model has been asked about, if it is asked late.
    asked: Vec<HashMap<(ItemId, u32), NodeId>>,
    trails: IndexVec<TrailId, Trail>,
    /// By bin: the items that arrived since it was last worked on.
    bins: Vec<Vec<NodeId>>,
    /// By bin: a full beam of items is at least this good, so worse ones can be turned away.
    thresholds: Vec<f64>,
    /// All ways to all nodes, if they are kept.
    arcs: Vec<Arc>,
    keep_arcs: bool,
    beam: usize,
    /// The cells of the current step's charges.
    local: Vec<Option<TrailId>>,
    pending: Vec<u32>,
    ranked: Vec<NodeId>,
}

impl Nodes {
    pub(super) fn new() -> Self {
        Self {
            nodes: IndexVec::new(),
            steps: Vec::new(),
            pairs: HashMap::default(),
            index: Vec::new(),
            asked: Vec::new(),
            trails: IndexVec::new(),
            bins: Vec::new(),
            thresholds: Vec::new(),
            arcs: Vec::new(),
            keep_arcs: false,
            beam: usize::MAX,
            local: Vec::new(),
            pending: Vec::new(),
            ranked: Vec::new(),
        }
    }

    /// Forgets a sentence and keeps the memory. Bins are shrunk to the beam as they fill up if `may_shrink`.
    pub(super) fn reset(&mut self, bins: usize, beam: Beam, keep_arcs: bool, may_shrink: bool) {
        self.nodes.clear();
        self.steps.clear();
        self.pairs.clear();
        self.index.iter_mut().for_each(HashMap::clear);
        if self.index.len() < bins {
            self.index.resize_with(bins, HashMap::default);
        }
        self.asked.iter_mut().for_each(HashMap::clear);
        self.trails.clear();
        // The first cell stands for the empty list; its edge is never looked at.
        self.trails.push(Trail { edge: EdgeId(0), before: TrailId::START, hash: 0 });
        self.bins.iter_mut().for_each(Vec::clear);
        self.bins.resize(bins, Vec::new());
        self.thresholds.clear();
        self.thresholds.resize(bins, f64::NEG_INFINITY);
        self.arcs.clear();
        self.keep_arcs = keep_arcs;
        self.beam = if may_shrink { beam.0 } else { usize::MAX };
    }

    pub(super) fn get(&self, node: NodeId) -> &Node {
        &self.nodes[node]
    }

    pub(super) fn bins(&self) -> usize {
        self.bins.len()
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The step model's state of a node.
    pub(super) fn step_state(&self, node: NodeId) -> StepState {
        self.steps.get(node.index()).copied().unwrap_or_default()
    }

    /// What the models know of an item, as one number.
    #[inline]
    pub(super) fn states<const SILENT: bool>(&mut self, state: StateId, step: StepState) -> u32 {
        if SILENT { state.0 } else { self.pair(state, step) }
    }

    #[inline(never)]
    fn pair(&mut self, state: StateId, step: StepState) -> u32 {
        // What makes no difference needs no pair; there are never two billion states or pairs.
        if step == StepState::ANY {
            return state.0 | 1 << 31;
        }
        let next = self.pairs.len() as u32;
        *self.pairs.entry((state, step)).or_insert(next)
    }

    /// Adds a node, or puts it in the place of another one.
    #[inline]
    pub(super) fn put<const SILENT: bool>(
        &mut self,
        at: Option<NodeId>,
        node: Node,
        step: StepState,
    ) -> NodeId {
        let id = match at {
            Some(id) => {
                self.nodes[id] = node;
                id
            }
            None => self.nodes.push(node),
        };
        if !SILENT {
            self.put_step(id, step);
        }
        id
    }

    #[inline(never)]
    fn put_step(&mut self, id: NodeId, step: StepState) {
        match self.steps.get_mut(id.index()) {
            Some(place) => *place = step,
            None => self.steps.push(step),
        }
    }

    /// The first node, in its bin.
    pub(super) fn start<const SILENT: bool>(
        &mut self,
        item: ItemId,
        state: StateId,
        extra: StepState,
        merit: f64,
        bin: usize,
    ) {
        let node =
            Node { item, state, score: 0.0, merit, trail: TrailId::START, hash: 0, stage: Stage::Waiting };
        let id = self.put::<SILENT>(None, node, extra);
        let signature = (item, self.states::<SILENT>(state, extra));
        self.index[bin].insert(signature, id);
        self.bins[bin].push(id);
    }

    /// What items must reach to stay, by bin.
    pub(super) fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// What an item must reach to stay in a bin.
    #[inline]
    pub(super) fn threshold(&self, bin: usize) -> f64 {
        self.thresholds[bin]
    }

    /// A new step begins: its charges have no cells yet.
    pub(super) fn begin_step(&mut self, application: &Application) {
        self.local.clear();
        self.local.resize(application.trail.len(), None);
    }

    /// The list of edges after a charge of the current step.
    pub(super) fn trail<E: Edges>(
        &mut self,
        forest: &E,
        application: &Application,
        before: TrailId,
        charged: Option<u32>,
    ) -> TrailId {
        self.pending.clear();
        let mut at = charged;
        let mut known = before;
        while let Some(charge) = at {
            if let Some(cell) = self.local[charge as usize] {
                known = cell;
                break;
            }
            self.pending.push(charge);
            at = application.trail[charge as usize].after;
        }
        while let Some(charge) = self.pending.pop() {
            let edge = application.trail[charge as usize].edge;
            let hash = fold(self.trails[known].hash, forest.hash(edge));
            known = self.trails.push(Trail { edge, before: known, hash });
            self.local[charge as usize] = Some(known);
        }
        known
    }

    /// Puts a new item into its bin unless it is hopeless or an equal one is better.
    pub(super) fn insert<E: Edges, const SILENT: bool>(
        &mut self,
        forest: &E,
        application: &Application,
        arrival: &Arrival,
        bin: usize,
    ) -> Fate {
        if arrival.merit < self.thresholds[bin] {
            return Fate::Pruned;
        }
        let Node { trail: before, score: from_score, .. } = self.nodes[arrival.from];
        let signature = (arrival.item, self.states::<SILENT>(arrival.state, arrival.key));
        let known = self.index[bin].get(&signature).copied();
        if let Some(old) = known {
            let Node { score, stage, .. } = self.nodes[old];
            if arrival.score < score && stage != Stage::Dropped && !self.keep_arcs {
                return Fate::Recombined;
            }
        }
        let trail = self.trail(forest, application, before, arrival.charged);
        let hash = self.trails[trail].hash;
        let &Arrival { item, state, extra, score, merit, from, .. } = arrival;
        let node = Node { item, state, score, merit, trail, hash, stage: Stage::Waiting };
        let (id, fate) = match known {
            // An item that comes back better after it was expanded is expanded again.
            Some(old) if self.nodes[old].stage == Stage::Expanded && score > self.nodes[old].score => {
                let id = self.put::<SILENT>(None, node, extra);
                self.index[bin].insert(signature, id);
                self.add(bin, id);
                (id, Fate::Recombined)
            }
            Some(old) => {
                let was = self.nodes[old];
                if was.stage == Stage::Dropped {
                    // It was dropped in an earlier round, or when it was worse: it competes again, by the best way
                    // known.
                    if better(score, hash, was.score, was.hash) {
                        self.put::<SILENT>(Some(old), node, extra);
                    } else {
                        self.nodes[old].stage = Stage::Waiting;
                    }
                    self.add(bin, old);
                } else if was.stage == Stage::Waiting && better(score, hash, was.score, was.hash) {
                    self.put::<SILENT>(Some(old), node, extra);
                }
                (old, Fate::Recombined)
            }
            None => {
                let id = self.put::<SILENT>(None, node, extra);
                self.index[bin].insert(signature, id);
                self.add(bin, id);
                (id, Fate::New)
            }
        };
        if self.keep_arcs {
            let said = arrival.said;
            self.arcs.push(Arc { to: id, from, score: score - from_score, trail, since: before, said });
        }
        fate
    }

    fn add(&mut self, bin: usize, id: NodeId) {
        self.bins[bin].push(id);
        // Shrinking now and then costs little and yields the threshold that saves work.
        if self.bins[bin].len() >= self.beam.saturating_mul(2).max(32) {
            let mut members = std::mem::take(&mut self.bins[bin]);
            members.select_nth_unstable_by(self.beam - 1, |&a, &b| self.order(a, b));
            for &dropped in &members[self.beam..] {
                self.nodes[dropped].stage = Stage::Dropped;
            }
            members.truncate(self.beam);
            self.thresholds[bin] = self.nodes[members[self.beam - 1]].merit;
            self.bins[bin] = members;
        }
    }

    /// Best merit first; ties by content.
    pub(super) fn order(&self, a: NodeId, b: NodeId) -> std::cmp::Ordering {
        let (x, y) = (&self.nodes[a], &self.nodes[b]);
        y.merit.total_cmp(&x.merit).then(x.hash.cmp(&y.hash)).then(a.cmp(&b))
    }

    /// Takes the items of a bin, best merit first; the bin is empty then.
    pub(super) fn take(&mut self, bin: usize, out: &mut Vec<NodeId>) {
        out.clear();
        out.append(&mut self.bins[bin]);
        self.thresholds[bin] = f64::NEG_INFINITY;
        self.sort(out);
    }

    /// Best merit first.
    pub(super) fn sort(&self, nodes: &mut [NodeId]) {
        nodes.sort_unstable_by(|&a, &b| self.order(a, b));
    }

    /// Of items that competed, best first, so many survive and are to be expanded. Returns how many were dropped.
    pub(super) fn survive(&mut self, competing: &[NodeId], survivors: &[NodeId]) -> usize {
        self.ranked.clear();
        self.ranked.extend_from_slice(competing);
        for &node in competing {
            self.nodes[node].stage = Stage::Dropped;
        }
        for &node in survivors {
            self.nodes[node].stage = Stage::Expanded;
        }
        competing.len() - survivors.len()
    }

    pub(super) fn set_stage(&mut self, node: NodeId, stage: Stage) {
        self.nodes[node].stage = stage;
    }

    /// Gives a node another state of the step model, with what it scores more.
    pub(super) fn change(&mut self, node: NodeId, gain: f64, step: StepState) {
        self.nodes[node].score += gain;
        self.nodes[node].merit += gain;
        self.put_step(node, step);
    }

    /// The items of a bin that the step model has been asked about.
    pub(super) fn asked_index(&mut self, bin: usize) -> &mut HashMap<(ItemId, u32), NodeId> {
        if self.asked.len() <= bin {
            self.asked.resize_with(bin + 1, HashMap::default);
        }
        &mut self.asked[bin]
    }

    pub(super) fn keeps_arcs(&self) -> bool {
        self.keep_arcs
    }

    pub(super) fn add_arc(&mut self, arc: Arc) {
        self.arcs.push(arc);
    }

    /// The items that competed when survivors were last taken, best first.
    pub(super) fn ranked(&self) -> &[NodeId] {
        &self.ranked
    }

    /// Adds a complete node, which competes in no bin.
    pub(super) fn complete<const SILENT: bool>(&mut self, arrival: &Arrival, trail: TrailId) -> NodeId {
        let &Arrival { item, state, extra, score, merit, .. } = arrival;
        let hash = self.trails[trail].hash;
        let node = Node { item, state, score, merit, trail, hash, stage: Stage::Expanded };
        self.put::<SILENT>(None, node, extra)
    }

    /// The content hash of a list.
    pub(super) fn hash(&self, trail: TrailId) -> u64 {
        self.trails[trail].hash
    }

    /// The edges of a list back to `since`, oldest first.
    pub(super) fn edges(&self, trail: TrailId, since: TrailId) -> Vec<EdgeId> {
        let mut edges = Vec::new();
        self.edges_into(trail, since, &mut edges);
        edges
    }

    /// The same, in place of what was in `edges`.
    pub(super) fn edges_into(&self, mut trail: TrailId, since: TrailId, edges: &mut Vec<EdgeId>) {
        edges.clear();
        while trail != since && trail.index() != 0 {
            edges.push(self.trails[trail].edge);
            trail = self.trails[trail].before;
        }
        edges.reverse();
    }
}
