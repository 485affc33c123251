//! Traditional decoding: bottom-up over the vertices with cube pruning.
//!
//! Chiang 2007; Huang & Chiang 2007. For trees: Liu, Liu & Lin 2006.
//!
//! ```text
//! item   <v, L, R> : w          v a vertex, L and R its boundary (chart_state.rs)
//!
//! e: v -> X1 .. Xk    <t_j, L_j, R_j> : w_j  for the tails t_j of e, in target order
//! -------------------------------------------------------------------------------
//! <v, L, R> : score(e) + sum w_j + language model of what became scorable
//! ```
//!
//! Per vertex, each edge spans a grid over the sorted items of its tails. Candidates are taken from all grids
//! best first, by `w + local(L)`; taking one puts its neighbours into the queue. The language model makes the
//! order only nearly best first, so the cell is sorted at the end.
//!
//! | here | papers |
//! |---|---|
//! | `Item::score` | w |
//! | `Item::rank` | w + local(L): the boundary words' own estimate |
//! | `Cube::beam` | b, distinct items per vertex |
//! | `Cube::pops` | P, candidates taken per vertex, recombined ones included |

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use sylvan_base::hash::fold;
use sylvan_base::{HashMap, HashSet, IndexVec};
use sylvan_forest::{Derivation, EdgeId, Target, TranslationForest, VertexId};

use crate::chart_state::{ChartState, Combiner, complete_sentence};
use crate::outcome::better;
use crate::{Beam, Counters, LanguageModel, Outcome};

/// A translation of one vertex.
#[derive(Debug)]
struct Item<S> {
    state: ChartState<S>,
    score: f64,
    rank: f64,
    hash: u64,
    edge: EdgeId,
    /// Per tail in target order, the index of its item in that vertex's cell.
    tails: Box<[u32]>,
}

/// A candidate in the queue; ordered by rank, then by content.
struct Candidate<S>(Item<S>);

impl<S> Ord for Candidate<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.rank.total_cmp(&other.0.rank).then(other.0.hash.cmp(&self.0.hash))
    }
}
impl<S> PartialOrd for Candidate<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<S> PartialEq for Candidate<S> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<S> Eq for Candidate<S> {}

/// The limits of cube pruning, per vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cube {
    /// Distinct items kept.
    pub beam: Beam,
    /// Candidates taken from the queue. Where everything recombines, as in long flat coordinations, the beam
    /// alone would not stop before all combinations are seen.
    pub pops: usize,
}

impl Cube {
    /// The usual limits for a beam: at least 1,000 pops; none at all for an unlimited beam.
    pub fn new(beam: Beam) -> Self {
        Self { beam, pops: beam.0.max(1000) }
    }
}

/// The best derivation that cube pruning finds; `None` if the forest has none.
///
/// Without limits every combination is looked at and the result is exact.
pub fn cube_pruning<L: LanguageModel>(forest: &TranslationForest, lm: &L, limits: Cube) -> Option<Outcome> {
    let mut search = Search { forest, lm, limits, cells: IndexVec::new(), counters: Counters::default() };
    for vertex in forest.vertices() {
        let cell = search.cell(vertex);
        search.cells.push(cell);
    }
    search.best()
}

struct Search<'a, L: LanguageModel> {
    forest: &'a TranslationForest,
    lm: &'a L,
    limits: Cube,
    /// The items of each finished vertex, best rank first.
    cells: IndexVec<VertexId, Vec<Item<L::State>>>,
    counters: Counters,
}

impl<L: LanguageModel> Search<'_, L> {
    fn cell(&mut self, vertex: VertexId) -> Vec<Item<L::State>> {
        let mut queue = BinaryHeap::new();
        let mut seen: HashSet<(EdgeId, Box<[u32]>)> = HashSet::default();
        for edge in self.forest.edges(vertex) {
            let corner: Box<[u32]> = self.forest.tails(edge).map(|_| 0).collect();
            queue.push(Candidate(self.combine(edge, corner)));
        }
        let mut cell: Vec<Item<L::State>> = Vec::new();
        let mut known: HashMap<ChartState<L::State>, usize> = HashMap::default();
        let mut pops = 0;
        while cell.len() < self.limits.beam.0 && pops < self.limits.pops {
            let Some(Candidate(item)) = queue.pop() else { break };
            pops += 1;
            for (axis, tail) in self.forest.tails(item.edge).enumerate() {
                let mut neighbour = item.tails.clone();
                neighbour[axis] += 1;
                let exists = (neighbour[axis] as usize) < self.cells[tail].len();
                if exists && seen.insert((item.edge, neighbour.clone())) {
                    queue.push(Candidate(self.combine(item.edge, neighbour)));
                }
            }
            match known.get(&item.state) {
                None => {
                    known.insert(item.state.clone(), cell.len());
                    cell.push(item);
                }
                Some(&index) => {
                    self.counters.recombined += 1;
                    let old = &mut cell[index];
                    if better(item.score, item.hash, old.score, old.hash) {
                        *old = item;
                    }
                }
            }
        }
        self.counters.pruned += queue.len() as u64;
        cell.sort_by(|a, b| b.rank.total_cmp(&a.rank).then(a.hash.cmp(&b.hash)));
        cell
    }

    /// Applies the inference rule. Every tail has an item with the given index: the forest keeps no edge
    /// with an underivable tail.
    fn combine(&mut self, edge: EdgeId, tails: Box<[u32]>) -> Item<L::State> {
        let spec = self.forest.edge(edge).spec;
        let mut combiner = Combiner::new(self.lm);
        let mut score = spec.score;
        let mut hash = fold(0, spec.hash);
        let mut next = 0;
        for &symbol in self.forest.target(edge) {
            match symbol {
                Target::Bundle(bundle) => combiner.bundle(self.forest, bundle),
                Target::Vertex(vertex) => {
                    let part = &self.cells[vertex][tails[next] as usize];
                    combiner.part(&part.state);
                    score += part.score;
                    hash = fold(hash, part.hash);
                    next += 1;
                }
            }
        }
        let combined = combiner.finish();
        score += combined.score;
        let rank = score + self.lm.local(&combined.state.left);
        self.counters.items += 1;
        self.counters.lm_queries += combined.lm_queries + combined.state.left.len() as u64;
        Item { state: combined.state, score, rank, hash, edge, tails }
    }

    /// The goal's best item, chosen after the sentence boundaries are scored.
    fn best(mut self) -> Option<Outcome> {
        let goal = self.forest.goal();
        let mut best: Option<(f64, u64, usize)> = None;
        for (index, item) in self.cells[goal].iter().enumerate() {
            let score = item.score + complete_sentence(self.lm, &item.state);
            self.counters.lm_queries += item.state.left.len() as u64 + 1;
            if best.is_none_or(|(s, h, _)| better(score, item.hash, s, h)) {
                best = Some((score, item.hash, index));
            }
        }
        let (score, _, index) = best?;
        Some(Outcome { derivation: self.derivation(goal, index), score, counters: self.counters })
    }

    fn derivation(&self, goal: VertexId, index: usize) -> Derivation {
        let mut edges = Vec::new();
        let mut open = vec![(goal, index)];
        while let Some((vertex, index)) = open.pop() {
            let item = &self.cells[vertex][index];
            edges.push(item.edge);
            let first = open.len();
            open.extend(self.forest.tails(item.edge).zip(item.tails.iter().map(|&tail| tail as usize)));
            open[first..].reverse();
        }
        Derivation::new(edges)
    }
}
