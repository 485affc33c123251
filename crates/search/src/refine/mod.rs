//! Bottom-up search that refines groups of items instead of enumerating them.
//!
//! Heafield, Koehn & Lavie 2013, "Grouping Language Model Boundary Words to Speed K-Best Extraction from Hypergraphs".
//!
//! Cube pruning tries a rule with item after item of its tails, although many of these items have the same
//! outer words and all fail for the same reason. Here a rule is first applied to all items of its tails at
//! once, and what is known of all of them decides how good that is. When such a candidate is the best of the
//! queue, one of its groups is split: its best subgroup, of which more is known, and the rest, of which no
//! more is known.
//!
//! ```text
//! candidate   <e, T1 .. Tk>      e an edge, T_j a group of items of its j-th tail (groups.rs)
//! priority    score(e) + sum of the best scores in T_j + what the language model is known to add at the joints
//!
//! <e, .. T_j ..>
//! --------------------------------------------------------   T_j is no single item; S its best subgroup
//! <e, .. S ..>        <e, .. T_j without S ..>
//!
//! <e, T1 .. Tk>
//! ---------------------------------------   all T_j are single items
//! an item of e's head
//! ```
//!
//! Every combination of items belongs to exactly one candidate at any time, so that without a limit all of them
//! become items and the search is exact.

mod groups;

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::Hash;

use sylvan_base::Id;
use sylvan_base::hash::fold;
use sylvan_forest::{EdgeId, Target, TranslationForest, VertexId};

use crate::chart::{Chart, Item, Losers};
use crate::stop::Stop;
use crate::{Beam, Outcome, TwoSided};
use groups::{Groups, Tail};

/// The best derivation that refinement finds; `None` if the forest has none. The beam is the number of items
/// made per vertex, including those that turn out to have the boundary of another. Without limit the result
/// is exact.
pub fn refine<M: TwoSided>(forest: &TranslationForest, lm: &M, beam: Beam) -> Option<Outcome> {
    Refine::default().search(forest, lm, beam, Losers::Forget, &Stop::NEVER)
}

/// The memory of the search, to be used for many sentences.
#[derive(Debug)]
pub struct Refine<S, V> {
    chart: Chart<S>,
    groups: Groups<V>,
    /// Per bundle how it looks: all of it is known.
    bundles: Vec<V>,
    queue: BinaryHeap<Entry>,
    partial: Vec<Partial>,
    tails: Vec<Tail>,
    whole: Vec<Item<S>>,
}

impl<S, V> Default for Refine<S, V> {
    fn default() -> Self {
        Self {
            chart: Chart::default(),
            groups: Groups::default(),
            bundles: Vec::new(),
            queue: BinaryHeap::new(),
            partial: Vec::new(),
            tails: Vec::new(),
            whole: Vec::new(),
        }
    }
}

/// A candidate of which not all is known.
#[derive(Debug, Clone, Copy)]
struct Partial {
    edge: EdgeId,
    /// Where its tails begin.
    tails: u32,
    score: f64,
}

#[derive(Debug, Clone, Copy)]
enum Candidate {
    Partial(u32),
    Whole(u32),
}

/// A candidate in the queue; ordered by score, then by the content of its best derivation.
#[derive(Debug, Clone, Copy)]
struct Entry {
    score: f64,
    hash: u64,
    candidate: Candidate,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.hash.cmp(&self.hash))
    }
}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}

impl<S: Copy + Eq + Hash, V> Refine<S, V> {
    /// See [`refine`]; what was found on the way can be read from [`chart`](Self::chart).
    pub fn search<M: TwoSided<State = S, Shown = V>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        beam: Beam,
        losers: Losers,
        stop: &Stop,
    ) -> Option<Outcome> {
        self.chart.start(forest, lm, losers);
        self.groups.clear();
        self.bundles.clear();
        let whole = |(_, state): &(f64, S)| lm.show(state, usize::MAX, usize::MAX);
        self.bundles.extend(self.chart.bundles.iter().map(whole));
        for vertex in forest.vertices() {
            let beam = if self.chart.is_cut_short(stop) { Beam(1) } else { beam };
            self.fill(forest, lm, beam, vertex);
            self.groups.add(&self.chart.items, self.chart.cell(vertex));
        }
        self.chart.best(forest, lm)
    }

    /// The items of the last search.
    pub fn chart(&self) -> &Chart<S> {
        &self.chart
    }

    fn fill<M: TwoSided<State = S, Shown = V>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        beam: Beam,
        vertex: VertexId,
    ) {
        self.queue.clear();
        self.partial.clear();
        self.tails.clear();
        self.whole.clear();
        for edge in forest.edges(vertex) {
            let start = self.tails.len();
            for tail in forest.tails(edge) {
                self.tails.push(Tail { group: self.groups.roots[tail.index()], from: 0 });
            }
            self.push(forest, lm, edge, start);
        }
        let mut made = 0;
        while made < beam.0 {
            let Some(entry) = self.queue.pop() else { break };
            match entry.candidate {
                Candidate::Whole(item) => {
                    made += 1;
                    self.chart.add(lm, &self.whole[item as usize]);
                }
                Candidate::Partial(partial) => self.split(forest, lm, self.partial[partial as usize]),
            }
        }
        self.chart.counters.pruned += self.queue.len() as u64;
        self.chart.close(Beam::UNLIMITED);
    }

    /// Splits a group of a candidate: the one of which least is known.
    fn split<M: TwoSided<State = S, Shown = V>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        partial: Partial,
    ) {
        let start = partial.tails as usize;
        let arity = forest.tails(partial.edge).count();
        let groups = &mut self.groups;
        let victim = (start..start + arity)
            .filter(|&index| !groups.is_single(self.tails[index].group))
            .min_by_key(|&index| groups.known(self.tails[index].group));
        let Some(victim) = victim else { return };
        let old = self.tails[victim];
        let (best, rest) = groups.split(lm, &self.chart.items, old);
        if let Some(rest) = rest {
            let score = partial.score - groups.best(old).rank + groups.best(rest).rank;
            let copy = self.tails.len();
            self.tails.extend_from_within(start..start + arity);
            self.tails[copy + victim - start] = rest;
            self.push_partial(forest, Partial { tails: copy as u32, score, ..partial }, arity);
        }
        self.tails[victim] = Tail { group: best, from: 0 };
        self.push(forest, lm, partial.edge, start);
    }

    /// Queues a candidate: as an item if all its tails are items, otherwise by what can be predicted.
    fn push<M: TwoSided<State = S, Shown = V>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        edge: EdgeId,
        start: usize,
    ) {
        let arity = forest.tails(edge).count();
        let tails = &self.tails[start..start + arity];
        if tails.iter().all(|tail| self.groups.is_single(tail.group)) {
            let first = self.chart.tails.len() as u32;
            self.chart.tails.extend(tails.iter().map(|&tail| self.groups.best(tail).item));
            let item = self.chart.combine(forest, lm, edge, first);
            let candidate = Candidate::Whole(self.whole.len() as u32);
            self.queue.push(Entry { score: item.rank, hash: item.hash, candidate });
            self.whole.push(item);
            return;
        }
        let mut queries = 0;
        for tail in tails {
            queries += self.groups.show(lm, &self.chart.items, tail.group);
        }
        let mut score = forest.edge(edge).spec.score;
        let mut next = tails.iter();
        let parts = forest.target(edge).iter().enumerate().map(|(index, &symbol)| {
            let (part_score, part) = match symbol {
                Target::Bundle(bundle) => {
                    (self.chart.bundles[bundle.index()].0, &self.bundles[bundle.index()])
                }
                Target::Vertex(_) => {
                    let tail = next.next().expect("as many tails as vertices");
                    (self.groups.best(*tail).rank, self.groups.shown(tail.group))
                }
            };
            score += part_score;
            queries += if index > 0 { lm.open_shown(part) } else { 0 };
            part
        });
        score += lm.estimate(parts);
        self.chart.counters.lm_queries += queries as u64;
        self.push_partial(forest, Partial { edge, tails: start as u32, score }, arity);
    }

    fn push_partial(&mut self, forest: &TranslationForest, partial: Partial, arity: usize) {
        let start = partial.tails as usize;
        let hash = self.tails[start..start + arity]
            .iter()
            .fold(fold(0, forest.edge(partial.edge).spec.hash), |hash, &tail| {
                fold(hash, self.groups.best(tail).hash)
            });
        let candidate = Candidate::Partial(self.partial.len() as u32);
        self.queue.push(Entry { score: partial.score, hash, candidate });
        self.partial.push(partial);
    }
}
