//! Traditional decoding: bottom-up over the vertices with cube pruning.
//!
//! Chiang 2007; Huang & Chiang 2007. For trees: Liu, Liu & Lin 2006.
//!
//! ```text
//! item   <v, B> : w          v a vertex, B the boundary of its words (two_sided.rs)
//!
//! e: v -> X1 .. Xk    <t_j, B_j> : w_j  for the tails t_j of e, in target order
//! ----------------------------------------------------------------------------------
//! <v, B> : score(e) + sum w_j + what the language model changes where the parts meet
//! ```
//!
//! Per vertex, each edge spans a grid over the sorted items of its tails. Candidates are taken from all grids
//! best first; taking one puts its neighbours into the queue. The language model makes the order only nearly best
//! first, so the cell is sorted at the end.
//!
//! A cell of the grid is reached from one neighbour only, the one that is smaller by one in the last coordinate
//! that is not 0, so no cell is seen twice and nothing needs to be remembered.
//!
//! | here | papers |
//! |---|---|
//! | `Item::score` | w + local(L): words without history are charged without it |
//! | `Cube::beam` | b, distinct items per vertex |
//! | `Cube::pops` | P, candidates taken per vertex, recombined ones included |

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sylvan_base::Id;
use sylvan_forest::{EdgeId, Target, TranslationForest, VertexId};

use crate::chart::{BoundaryEstimate, Chart, Item, Losers};
use crate::focus::Focus;
use crate::stop::Stop;
use crate::total::Total;
use crate::{Beam, Outcome, TwoSided};

/// The settings of cube pruning; limits are per vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cube {
    /// Distinct items kept.
    pub beam: Beam,
    /// Candidates taken from the queue. Where everything recombines, as in long flat coordinations, the beam
    /// alone would not stop before all combinations are seen.
    pub pops: usize,
    /// How items are compared.
    pub boundary: BoundaryEstimate,
    /// No cubes: all combinations of the tails' items are made, and the best kept (Liu, Liu & Lin 2006). `pops` is not
    /// used.
    pub plain: bool,
    /// Vertices that promise less get fewer pops, and the first candidate of an edge is made only when the queue comes
    /// down to what its parts promise (`focus.rs`). In the papers all vertices get the same, and all first candidates are
    /// made at once.
    pub focus: bool,
}

impl Cube {
    /// The usual limits for a beam: at least 1,000 pops; none at all for an unlimited beam.
    pub fn new(beam: Beam) -> Self {
        Self { beam, pops: beam.0.max(1000), boundary: BoundaryEstimate::Rest, plain: false, focus: false }
    }

    /// With a focus: three pops for each item of the beam where a vertex promises most.
    pub fn focused(beam: Beam) -> Self {
        Self { pops: beam.0.saturating_mul(3), focus: true, ..Self::new(beam) }
    }
}

/// The best derivation that cube pruning finds; `None` if the forest has none.
///
/// Without limits every combination is looked at and the result is exact.
pub fn cube_pruning<M: TwoSided>(forest: &TranslationForest, lm: &M, limits: Cube) -> Option<Outcome> {
    CubePruning::default().search(forest, lm, limits, Losers::Forget, &Stop::NEVER)
}

/// The memory of the search, to be used for many sentences.
#[derive(Debug)]
pub struct CubePruning<S> {
    chart: Chart<S>,
    queue: BinaryHeap<Entry>,
    /// Where the queue's entries point to.
    candidates: Vec<Item<S>>,
    /// Edges whose first candidate has not been made, the most promising last.
    waiting: Vec<Promise>,
    focus: Focus,
}

/// What an edge's parts add up to.
#[derive(Debug, Clone, Copy)]
struct Promise {
    score: f64,
    edge: EdgeId,
    corner: u32,
}

impl<S> Default for CubePruning<S> {
    fn default() -> Self {
        Self {
            chart: Chart::default(),
            queue: BinaryHeap::new(),
            candidates: Vec::new(),
            waiting: Vec::new(),
            focus: Focus::default(),
        }
    }
}

/// A candidate in the queue; ordered by rank, then by content, then by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    rank: Total,
    hash: Reverse<u64>,
    candidate: Reverse<u32>,
}

impl<S: Copy + Eq + std::hash::Hash> CubePruning<S> {
    /// See [`cube_pruning`]; what was found on the way can be read from [`chart`](Self::chart).
    pub fn search<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        limits: Cube,
        losers: Losers,
        stop: &Stop,
    ) -> Option<Outcome> {
        self.chart.start(forest, lm, losers);
        self.chart.boundary = limits.boundary;
        if limits.focus {
            let Self { chart, focus, .. } = self;
            *focus = Focus::new(forest, |bundle| chart.bundles[bundle.index()].0);
        }
        for vertex in forest.vertices() {
            let pops = if limits.focus { self.focus.share(vertex, limits.pops) } else { limits.pops };
            let limits = Cube { pops, ..limits };
            let narrow = Cube { beam: Beam(1), plain: false, ..limits };
            let limits = if self.chart.is_cut_short(stop) { narrow } else { limits };
            if limits.plain {
                self.combine_all(forest, lm, vertex);
            } else {
                self.fill(forest, lm, limits, vertex);
            }
            self.chart.close(limits.beam);
        }
        self.chart.best(forest, lm)
    }

    /// The items of the last search.
    pub fn chart(&self) -> &Chart<S> {
        &self.chart
    }

    fn fill<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        limits: Cube,
        vertex: VertexId,
    ) {
        self.queue.clear();
        self.candidates.clear();
        self.waiting.clear();
        for edge in forest.edges(vertex) {
            let corner = self.chart.tails.len() as u32;
            for tail in forest.tails(edge) {
                let first = self.chart.cell(tail).start;
                self.chart.tails.push(first);
            }
            if limits.focus {
                let score = self.promise(forest, edge, corner);
                self.waiting.push(Promise { score, edge, corner });
            } else {
                self.push(forest, lm, edge, corner);
            }
        }
        let content = |promise: &Promise| (forest.edge(promise.edge).spec.hash, promise.edge);
        self.waiting
            .sort_unstable_by(|a, b| a.score.total_cmp(&b.score).then_with(|| content(b).cmp(&content(a))));
        let slack = self.focus.slack();
        let mut pops = 0;
        while self.chart.distinct() < limits.beam.0 && pops < limits.pops {
            while let Some(&Promise { score, edge, corner }) = self.waiting.last() {
                if self.queue.peek().is_some_and(|best| best.rank.0 > score + slack) {
                    break;
                }
                self.waiting.pop();
                self.push(forest, lm, edge, corner);
            }
            let Some(entry) = self.queue.pop() else { break };
            pops += 1;
            let item = &self.candidates[entry.candidate.0 as usize];
            let (edge, tails) = (item.edge, item.tails as usize);
            self.chart.add(lm, item);
            self.push_neighbours(forest, lm, edge, tails);
        }
        self.chart.counters.pruned += (self.queue.len() + self.waiting.len()) as u64;
    }

    /// An edge's score with its words and the best items of its tails.
    fn promise(&self, forest: &TranslationForest, edge: EdgeId, corner: u32) -> f64 {
        let mut tails = self.chart.tails[corner as usize..].iter();
        let parts = forest.target(edge).iter().map(|symbol| match symbol {
            Target::Bundle(bundle) => self.chart.bundles[bundle.index()].0,
            Target::Vertex(_) => tails.next().map_or(0.0, |&item| self.chart.items[item as usize].rank),
        });
        forest.edge(edge).spec.score + parts.sum::<f64>()
    }

    /// Every edge with every combination of its tails' items.
    fn combine_all<M: TwoSided<State = S>>(&mut self, forest: &TranslationForest, lm: &M, vertex: VertexId) {
        for edge in forest.edges(vertex) {
            let cells: Vec<_> = forest.tails(edge).map(|tail| self.chart.cell(tail)).collect();
            let mut at: Vec<u32> = cells.iter().map(|cell| cell.start).collect();
            loop {
                let tails = self.chart.tails.len() as u32;
                self.chart.tails.extend_from_slice(&at);
                let item = self.chart.combine(forest, lm, edge, tails);
                self.chart.add(lm, &item);
                // The next combination, the last tail's items running fastest.
                let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < cells[axis].end) else {
                    break;
                };
                at[axis] += 1;
                for later in axis + 1..at.len() {
                    at[later] = cells[later].start;
                }
            }
        }
    }

    fn push_neighbours<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        edge: EdgeId,
        tails: usize,
    ) {
        let arity = forest.tails(edge).count();
        for (axis, tail) in (0..arity).rev().zip(forest.tails(edge).rev()) {
            let cell = self.chart.cell(tail);
            let at = self.chart.tails[tails + axis];
            if at + 1 < cell.end {
                let start = self.chart.tails.len();
                self.chart.tails.extend_from_within(tails..tails + arity);
                self.chart.tails[start + axis] += 1;
                self.push(forest, lm, edge, start as u32);
            }
            if at > cell.start {
                break;
            }
        }
    }

    fn push<M: TwoSided<State = S>>(&mut self, forest: &TranslationForest, lm: &M, edge: EdgeId, tails: u32) {
        let item = self.chart.combine(forest, lm, edge, tails);
        let candidate = Reverse(self.candidates.len() as u32);
        self.queue.push(Entry { rank: Total(item.rank), hash: Reverse(item.hash), candidate });
        self.candidates.push(item);
    }
}
