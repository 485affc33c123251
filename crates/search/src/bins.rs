//! The engine of left-to-right search: bins, beams, grids.
//!
//! Bins are worked through in order. In each, items with equal signature (deduction item and language-model
//! state) have recombined on arrival; the best `beam` by merit, score plus future, survive. The survivors of one
//! class span a grid with the class's options; cells of all grids are taken best first by the sum of the item's
//! part and the option's estimate, up to `pops` per bin. Without limits every cell is taken and the search is
//! exact.
//!
//! Steps may lead back into the same bin (a scan that covers no source word). Such items form the bin's next
//! *round*, which is pruned on its own; an item that comes back better than it was is expanded again. Rounds end
//! because no step can be repeated forever in an acyclic forest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, IndexVec, Symbol, define_id};
use sylvan_forest::{EdgeId, TranslationForest};

use crate::deduction::{Application, Choice, Deduction};
use crate::outcome::better;
use crate::{Beam, Counters, LanguageModel, Outcome};

/// How much a left-to-right search may keep and try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Distinct items kept per bin and round.
    pub beam: Beam,
    /// Cells (an item and an option) tried per bin and round.
    pub pops: usize,
}

impl Limits {
    /// A beam, and every option of every item that it keeps.
    pub fn beam(beam: Beam) -> Self {
        Self { beam, pops: usize::MAX }
    }
}

impl From<Beam> for Limits {
    fn from(beam: Beam) -> Self {
        Self::beam(beam)
    }
}

define_id!(
    /// An item with its language-model state and score.
    NodeId
);

define_id!(
    /// A list of edges, newest first: how a node was reached.
    TrailId
);

impl TrailId {
    const START: TrailId = TrailId(0);
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
struct Node<I, S> {
    item: I,
    state: S,
    score: f64,
    trail: TrailId,
    hash: u64,
}

/// An item as a trace shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Visit<I> {
    /// Its bin, and the round in it.
    pub bin: usize,
    /// Rounds are counted from 0.
    pub round: usize,
    /// The item.
    pub item: I,
    /// Score so far; for a complete item, `</s>` included.
    pub score: f64,
    /// Estimate of what is left, without `</s>`.
    pub future: f64,
    /// The edges charged so far.
    pub edges: Vec<EdgeId>,
}

/// Somebody who wants to see the items.
pub(crate) type OnVisit<'v, I> = Option<&'v mut dyn FnMut(&Visit<I>)>;

type Signature<D, S> = (<D as Deduction>::Item, S);
type Bin<D, S> = HashMap<Signature<D, S>, NodeId>;

/// Runs a deduction over a forest; `None` if no complete item was reached.
pub(crate) fn search<D: Deduction, L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    deduction: &mut D,
    limits: Limits,
    mut on_visit: OnVisit<'_, D::Item>,
) -> Option<Outcome> {
    let mut search = Search {
        forest,
        lm,
        deduction,
        nodes: IndexVec::new(),
        // The first cell stands for the empty list; its edge is never looked at.
        trails: IndexVec::from_vec(vec![Trail { edge: EdgeId(0), before: TrailId::START, hash: 0 }]),
        local: Vec::new(),
        goal: None,
        counters: Counters::default(),
    };
    let axiom = search.deduction.axiom();
    let first = Node { item: axiom, state: lm.begin(), score: 0.0, trail: TrailId::START, hash: 0 };
    let mut bins: Vec<Bin<D, L::State>> =
        (0..search.deduction.bins()).map(|_| Bin::<D, _>::default()).collect();
    let start = search.deduction.bin(axiom);
    let first_id = search.nodes.push(first);
    bins[start].insert((axiom, lm.begin()), first_id);
    let mut grids = Grids::new();
    for bin in start..bins.len() {
        // Signatures expanded in earlier rounds, with the score that they had.
        let mut expanded: HashMap<Signature<D, L::State>, f64> = HashMap::default();
        for round in 0.. {
            let arrived = std::mem::take(&mut bins[bin]);
            let survivors = search.survivors(arrived, limits.beam, &expanded);
            if survivors.is_empty() {
                break;
            }
            for &node in &survivors {
                let Node { item, state, score, .. } = search.nodes[node];
                expanded.insert((item, state), score);
                if let Some(on_visit) = &mut on_visit {
                    on_visit(&search.visit(bin, round, node));
                }
            }
            grids.fill(search.deduction, &search.nodes, &survivors);
            for _ in 0..limits.pops {
                let Some((node, choice)) = grids.next() else { break };
                search.step(node, choice, &mut bins, &mut grids.application);
            }
        }
    }
    let (goal, score) = search.goal?;
    if let Some(on_visit) = &mut on_visit {
        let last = search.deduction.bins() - 1;
        on_visit(&Visit { score, future: 0.0, ..search.visit(last, 0, goal) });
    }
    let edges = search.edges_to(goal);
    Some(Outcome { derivation: search.deduction.derivation(edges), score, counters: search.counters })
}

struct Search<'a, D: Deduction, L: LanguageModel> {
    forest: &'a TranslationForest,
    lm: &'a L,
    deduction: &'a mut D,
    nodes: IndexVec<NodeId, Node<D::Item, L::State>>,
    trails: IndexVec<TrailId, Trail>,
    /// The cells of the charges of the step at work.
    local: Vec<TrailId>,
    /// The best complete item and its score with `</s>`.
    goal: Option<(NodeId, f64)>,
    counters: Counters,
}

impl<D: Deduction, L: LanguageModel> Search<'_, D, L> {
    /// Takes one option of one item and puts what comes of it into bins.
    fn step(
        &mut self,
        from: NodeId,
        choice: u32,
        bins: &mut [Bin<D, L::State>],
        application: &mut Application<D::Item>,
    ) {
        application.clear();
        let Node { item, mut state, score, trail, .. } = self.nodes[from];
        self.deduction.apply(item, choice, application);
        let mut gained = 0.0;
        for &bundle in &application.bundles {
            let words: &[Symbol] = self.forest.bundle(bundle);
            let (gain, next) = self.lm.run(state, words);
            self.counters.lm_queries += words.len() as u64;
            gained += gain;
            state = next;
        }
        self.local.clear();
        for charge in &application.trail {
            let before = charge.after.map_or(trail, |after| self.local[after as usize]);
            let hash = fold(self.trails[before].hash, self.forest.edge(charge.edge).spec.hash);
            self.local.push(self.trails.push(Trail { edge: charge.edge, before, hash }));
        }
        for successor in &application.successors {
            let trail = successor.charged.map_or(trail, |charge| self.local[charge as usize]);
            let score = score + successor.score + gained;
            let hash = self.trails[trail].hash;
            let node = Node { item: successor.item, state, score, trail, hash };
            self.counters.items += 1;
            if self.deduction.class(successor.item).is_none() {
                self.finish(node);
            } else {
                let bin = &mut bins[self.deduction.bin(successor.item)];
                self.insert(bin, node);
            }
        }
    }

    fn insert(&mut self, bin: &mut Bin<D, L::State>, node: Node<D::Item, L::State>) {
        let signature = (node.item, node.state);
        match bin.get(&signature) {
            None => {
                let id = self.nodes.push(node);
                bin.insert(signature, id);
            }
            Some(&old) => {
                self.counters.recombined += 1;
                let known = &mut self.nodes[old];
                if better(node.score, node.hash, known.score, known.hash) {
                    *known = node;
                }
            }
        }
    }

    /// Complete items do not compete in a bin: the best is all that is wanted of them.
    fn finish(&mut self, node: Node<D::Item, L::State>) {
        let score = node.score + self.lm.end(node.state);
        self.counters.lm_queries += 1;
        let best = self.goal.is_none_or(|(goal, best)| better(score, node.hash, best, self.nodes[goal].hash));
        if best {
            let id = self.nodes.push(node);
            self.goal = Some((id, score));
        }
    }

    /// The items that the beam keeps, best merit first. Items that came back no better than they were
    /// expanded are gone.
    fn survivors(
        &mut self,
        bin: Bin<D, L::State>,
        beam: Beam,
        expanded: &HashMap<Signature<D, L::State>, f64>,
    ) -> Vec<NodeId> {
        let mut ranked: Vec<(f64, NodeId)> = bin
            .into_iter()
            .filter(|(signature, id)| {
                expanded.get(signature).is_none_or(|&before| self.nodes[*id].score > before)
            })
            .map(|(_, id)| (self.nodes[id].score + self.deduction.future(self.nodes[id].item), id))
            .collect();
        let order = |a: &(f64, NodeId), b: &(f64, NodeId)| {
            b.0.total_cmp(&a.0).then_with(|| self.nodes[a.1].hash.cmp(&self.nodes[b.1].hash))
        };
        if ranked.len() > beam.0 {
            self.counters.pruned += (ranked.len() - beam.0) as u64;
            ranked.select_nth_unstable_by(beam.0, order);
            ranked.truncate(beam.0);
        }
        ranked.sort_by(order);
        ranked.into_iter().map(|(_, id)| id).collect()
    }

    fn edges_to(&self, node: NodeId) -> Vec<EdgeId> {
        let mut edges = Vec::new();
        let mut trail = self.nodes[node].trail;
        while trail != TrailId::START {
            edges.push(self.trails[trail].edge);
            trail = self.trails[trail].before;
        }
        edges.reverse();
        edges
    }

    fn visit(&self, bin: usize, round: usize, id: NodeId) -> Visit<D::Item> {
        let node = &self.nodes[id];
        let future = self.deduction.future(node.item);
        Visit { bin, round, item: node.item, score: node.score, future, edges: self.edges_to(id) }
    }
}

/// The combinations of the items of one round with their options, taken best first.
struct Grids<D: Deduction> {
    /// Sorted options, once per class and sentence.
    options: HashMap<D::Class, std::ops::Range<usize>>,
    pool: Vec<Choice>,
    rows: Vec<Row>,
    grids: Vec<Grid>,
    heap: BinaryHeap<Cell>,
    application: Application<D::Item>,
}

/// The items of one class: a range of rows, and the class's options.
struct Grid {
    rows: std::ops::Range<usize>,
    options: std::ops::Range<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    node: NodeId,
    /// Score and the estimate of all but the option.
    merit: f64,
    hash: u64,
}

/// A place in a grid that is worth trying next.
#[derive(Debug, Clone, Copy)]
struct Cell {
    merit: f64,
    hash: u64,
    grid: u32,
    row: u32,
    option: u32,
}

impl Ord for Cell {
    fn cmp(&self, other: &Self) -> Ordering {
        self.merit
            .total_cmp(&other.merit)
            .then_with(|| other.hash.cmp(&self.hash))
            .then_with(|| (other.row, other.option).cmp(&(self.row, self.option)))
    }
}
impl PartialOrd for Cell {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Cell {}

impl<D: Deduction> Grids<D> {
    fn new() -> Self {
        Self {
            options: HashMap::default(),
            pool: Vec::new(),
            rows: Vec::new(),
            grids: Vec::new(),
            heap: BinaryHeap::new(),
            application: Application::default(),
        }
    }

    /// Arranges the survivors of a round, which come best merit first, into one grid per class.
    fn fill<S: Copy>(
        &mut self,
        deduction: &mut D,
        nodes: &IndexVec<NodeId, Node<D::Item, S>>,
        survivors: &[NodeId],
    ) {
        self.rows.clear();
        self.grids.clear();
        self.heap.clear();
        // Classes in the order of their best item, which no hash map decides.
        let mut members: Vec<(D::Class, Vec<NodeId>)> = Vec::new();
        let mut place: HashMap<D::Class, usize> = HashMap::default();
        for &node in survivors {
            let Some(class) = deduction.class(nodes[node].item) else { continue };
            let at = *place.entry(class).or_insert_with(|| {
                members.push((class, Vec::new()));
                members.len() - 1
            });
            members[at].1.push(node);
        }
        for (class, members) in members {
            let options = self.options_of(deduction, class);
            let first = self.rows.len();
            self.rows.extend(members.into_iter().map(|node| {
                let Node { item, score, hash, .. } = nodes[node];
                Row { node, merit: score + deduction.rest(item), hash }
            }));
            self.rows[first..].sort_by(|a, b| b.merit.total_cmp(&a.merit).then(a.hash.cmp(&b.hash)));
            self.grids.push(Grid { rows: first..self.rows.len(), options });
            self.push(self.grids.len() - 1, first, 0);
        }
    }

    fn options_of(&mut self, deduction: &mut D, class: D::Class) -> std::ops::Range<usize> {
        if let Some(range) = self.options.get(&class) {
            return range.clone();
        }
        let start = self.pool.len();
        deduction.options(class, &mut self.pool);
        self.pool[start..].sort_by(|a, b| b.estimate.total_cmp(&a.estimate).then(a.id.cmp(&b.id)));
        let range = start..self.pool.len();
        self.options.insert(class, range.clone());
        range
    }

    fn push(&mut self, grid: usize, row: usize, option: usize) {
        let Grid { rows, options } = &self.grids[grid];
        if row < rows.end && options.start + option < options.end {
            let choice = self.pool[options.start + option];
            let Row { merit, hash, .. } = self.rows[row];
            let (grid, row, option) = (grid as u32, row as u32, option as u32);
            self.heap.push(Cell { merit: merit + choice.estimate, hash, grid, row, option });
        }
    }

    /// The best cell left. Each cell has one predecessor, so none is met twice: the next option of the same row,
    /// and from a row's first option also the next row's.
    fn next(&mut self) -> Option<(NodeId, u32)> {
        let cell = self.heap.pop()?;
        let (grid, row, option) = (cell.grid as usize, cell.row as usize, cell.option as usize);
        self.push(grid, row, option + 1);
        if option == 0 {
            self.push(grid, row + 1, 0);
        }
        let choice = self.pool[self.grids[grid].options.start + option];
        Some((self.rows[row].node, choice.id))
    }
}
