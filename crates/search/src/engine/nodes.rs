//! The items that a search has reached, how it got there, and which of them compete.

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, Id, IndexVec, define_id};
use sylvan_forest::{EdgeId, Edges};

use super::states::StateId;
use crate::Beam;
use crate::deduction::{Application, ItemId};
use crate::outcome::better;
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
    /// Items of different lanes of a bin do not compete before the step model has been asked.
    pub(super) lane: u32,
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
    /// How many bins there are; there are as many places for each lane.
    bin_count: usize,
    /// By lane and bin: the items that arrived since it was last worked on.
    bins: Vec<Vec<NodeId>>,
    /// By lane and bin: a full beam of items is at least this good, so worse ones can be turned away.
    thresholds: Vec<f64>,
    /// By group: its lane.
    lanes: HashMap<u32, u32>,
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
            bin_count: 0,
            bins: Vec::new(),
            thresholds: Vec::new(),
            lanes: HashMap::default(),
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
        self.bin_count = bins;
        self.lanes.clear();
        self.lanes.insert(0, 0);
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
        self.bin_count
    }

    /// The lane of a group.
    pub(super) fn lane(&mut self, group: u32) -> u32 {
        let next = self.lanes.len() as u32;
        let lane = *self.lanes.entry(group).or_insert(next);
        if lane == next {
            let places = self.bin_count * (next as usize + 1);
            self.bins.resize(places, Vec::new());
            self.thresholds.resize(places, f64::NEG_INFINITY);
        }
        lane
    }

    fn place(&self, lane: u32, bin: usize) -> usize {
        lane as usize * self.bin_count + bin
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
        let next = self.pairs.len() as u32;
        *self.pairs.entry((state, step)).or_insert(next)
    }

    /// Adds a node, or puts it in the place of another one.
    #[inline]
    pub(super) fn put<const SILENT: bool>(&mut self, at: Option<NodeId>, node: Node, step: StepState) -> NodeId {
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

    /// What items of a lane must reach to stay, by bin.
    pub(super) fn thresholds(&self, lane: u32) -> &[f64] {
        &self.thresholds[self.place(lane, 0)..self.place(lane + 1, 0)]
    }

    /// What an item must reach to stay in a bin.
    #[inline]
    pub(super) fn threshold(&self, lane: u32, bin: usize) -> f64 {
        self.thresholds[self.place(lane, bin)]
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
        let place = self.place(arrival.lane, bin);
        if arrival.merit < self.thresholds[place] {
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
                self.add(place, id);
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
                    self.add(place, old);
                } else if was.stage == Stage::Waiting && better(score, hash, was.score, was.hash) {
                    self.put::<SILENT>(Some(old), node, extra);
                }
                (old, Fate::Recombined)
            }
            None => {
                let id = self.put::<SILENT>(None, node, extra);
                self.index[bin].insert(signature, id);
                self.add(place, id);
                (id, Fate::New)
            }
        };
        if self.keep_arcs {
            self.arcs.push(Arc { to: id, from, score: score - from_score, trail, since: before });
        }
        fate
    }

    fn add(&mut self, place: usize, id: NodeId) {
        self.bins[place].push(id);
        // Shrinking now and then costs little and yields the threshold that saves work.
        if self.bins[place].len() >= self.beam.saturating_mul(2).max(32) {
            let mut members = std::mem::take(&mut self.bins[place]);
            members.select_nth_unstable_by(self.beam - 1, |&a, &b| self.order(a, b));
            for &dropped in &members[self.beam..] {
                self.nodes[dropped].stage = Stage::Dropped;
            }
            members.truncate(self.beam);
            self.thresholds[place] = self.nodes[members[self.beam - 1]].merit;
            self.bins[place] = members;
        }
    }

    /// Best merit first; ties by content.
    pub(super) fn order(&self, a: NodeId, b: NodeId) -> std::cmp::Ordering {
        let (x, y) = (&self.nodes[a], &self.nodes[b]);
        y.merit.total_cmp(&x.merit).then(x.hash.cmp(&y.hash)).then(a.cmp(&b))
    }

    /// Takes the items of a bin that `keep` lets through, best merit first, for expansion; the bin is empty then.
    /// Returns how many were dropped.
    pub(super) fn survivors(
        &mut self,
        bin: usize,
        keep: impl FnOnce(&Self, &mut Vec<NodeId>),
        out: &mut Vec<NodeId>,
    ) -> usize {
        out.clear();
        self.ranked.clear();
        let mut ranked = std::mem::take(&mut self.ranked);
        ranked.append(&mut self.bins[bin]);
        self.thresholds[bin] = f64::NEG_INFINITY;
        ranked.sort_unstable_by(|&a, &b| self.order(a, b));
        self.keep(ranked, keep, out)
    }

    /// Of items that the step model has been asked about, those that `keep` lets through.
    pub(super) fn survivors_of(
        &mut self,
        asked: &[NodeId],
        keep: impl FnOnce(&Self, &mut Vec<NodeId>),
        out: &mut Vec<NodeId>,
    ) -> usize {
        out.clear();
        let mut ranked = std::mem::take(&mut self.ranked);
        ranked.clear();
        ranked.extend_from_slice(asked);
        ranked.sort_unstable_by(|&a, &b| self.order(a, b));
        self.keep(ranked, keep, out)
    }

    pub(super) fn lane_count(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Empties a bin.
    pub(super) fn take_bin(&mut self, lane: u32, bin: usize) -> Vec<NodeId> {
        let place = self.place(lane, bin);
        self.thresholds[place] = f64::NEG_INFINITY;
        std::mem::take(&mut self.bins[place])
    }

    /// Gives an emptied bin its memory back.
    pub(super) fn put_back(&mut self, lane: u32, bin: usize, empty: Vec<NodeId>) {
        let place = self.place(lane, bin);
        self.bins[place] = empty;
    }

    pub(super) fn set_stage(&mut self, node: NodeId, stage: Stage) {
        self.nodes[node].stage = stage;
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

    fn keep(
        &mut self,
        ranked: Vec<NodeId>,
        keep: impl FnOnce(&Self, &mut Vec<NodeId>),
        out: &mut Vec<NodeId>,
    ) -> usize {
        let arrived = ranked.len();
        out.extend_from_slice(&ranked);
        keep(self, out);
        for &node in &ranked {
            self.nodes[node].stage = Stage::Dropped;
        }
        for &node in out.iter() {
            self.nodes[node].stage = Stage::Expanded;
        }
        self.ranked = ranked;
        arrived - out.len()
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
    pub(super) fn edges(&self, mut trail: TrailId, since: TrailId) -> Vec<EdgeId> {
        let mut edges = Vec::new();
        while trail != since && trail.index() != 0 {
            edges.push(self.trails[trail].edge);
            trail = self.trails[trail].before;
        }
        edges.reverse();
        edges
    }
}
