//! What bottom-up searches share: the items of finished vertices, in flat arrays that are reused from
//! sentence to sentence.
//!
//! ```text
//! cells   vertex -> range of items          best first, all boundaries different
//! items   boundary, score, edge, place of the tails' items
//! tails   item, item | item | item, item, item | ..
//! ```

use std::hash::Hash;
use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use sylvan_base::Id;
use sylvan_base::hash::fold;
use sylvan_forest::{BundleId, Derivation, EdgeId, Target, TranslationForest, VertexId};

use crate::deduction::EdgeOrder;
use crate::out_forest::{OutForest, OutForestBuilder, Words};
use crate::outcome::better;
use crate::said::Said;
use crate::stop::Stop;
use crate::{Beam, Counters, Outcome, TwoSided};

/// A translation of one vertex.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<S> {
    pub(crate) state: S,
    /// Of the derivation so far; words without history are charged without it.
    pub(crate) score: f64,
    /// The score with a better guess at the words without history, for comparison.
    pub(crate) rank: f64,
    /// Content of the derivation, for ties.
    pub(crate) hash: u64,
    pub(crate) edge: EdgeId,
    /// Where the edge's tails begin.
    pub(crate) tails: u32,
}

/// Another derivation with the boundary of an item, that scored less.
#[derive(Debug, Clone, Copy)]
struct Loser {
    item: u32,
    score: f64,
    edge: EdgeId,
    tails: u32,
}

/// One way to derive an item: an edge, and an item for each of its tails in target order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Way<'c> {
    /// Of the derivation so far.
    pub score: f64,
    /// The rule application.
    pub edge: EdgeId,
    /// Numbers of items.
    pub tails: &'c [u32],
}

/// What the first words of an item, which still lack their history, count for when items are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundaryEstimate {
    /// Nothing: only what is certain.
    None,
    /// What they score without history (Chiang 2007).
    Local,
    /// The better guess that the model has ([`TwoSided::rest`]), if it has one.
    Rest,
}

/// Whether derivations that lose to another one with the same boundary are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Losers {
    /// They are: enough for the best translation.
    #[default]
    Forget,
    /// They are kept, for lists of many translations.
    Keep,
}

/// The items of all vertices finished so far. A search empties it first and reuses its memory.
#[derive(Debug)]
pub struct Chart<S> {
    pub(crate) items: Vec<Item<S>>,
    pub(crate) tails: Vec<u32>,
    /// Where each vertex's items end.
    ends: Vec<u32>,
    /// Per bundle its score and state.
    pub(crate) bundles: Vec<(f64, S)>,
    pub(crate) counters: Counters,
    pub(crate) boundary: BoundaryEstimate,
    cut_short: bool,
    keep: Losers,
    losers: Vec<Loser>,
    /// Where the losers of the current vertex begin.
    fresh_losers: usize,
    /// The current vertex: its items in the order of their discovery, and the same by state.
    cell: Vec<Item<S>>,
    known: HashTable<u32>,
    order: Vec<u32>,
}

impl<S> Default for Chart<S> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            tails: Vec::new(),
            ends: Vec::new(),
            bundles: Vec::new(),
            counters: Counters::default(),
            boundary: BoundaryEstimate::Rest,
            cut_short: false,
            keep: Losers::Forget,
            losers: Vec::new(),
            fresh_losers: 0,
            cell: Vec::new(),
            known: HashTable::new(),
            order: Vec::new(),
        }
    }
}

impl<S: Copy + Eq + Hash> Chart<S> {
    /// Empties the chart and scores the bundles of a forest.
    pub(crate) fn start<M: TwoSided<State = S>>(&mut self, forest: &TranslationForest, lm: &M, keep: Losers) {
        self.items.clear();
        self.tails.clear();
        self.ends.clear();
        self.losers.clear();
        self.fresh_losers = 0;
        self.keep = keep;
        self.counters = Counters::default();
        self.cut_short = false;
        self.cell.clear();
        self.known.clear();
        self.bundles.clear();
        for index in 0..forest.bundle_count() {
            let words = forest.bundle(BundleId::from_index(index));
            self.counters.lm_queries += words.len() as u64;
            self.bundles.push(lm.piece(words));
        }
    }

    /// Whether time is up, so that the search must go on with the narrowest beam.
    pub(crate) fn is_cut_short(&mut self, stop: &Stop) -> bool {
        self.cut_short = self.cut_short || stop.is_due();
        self.cut_short
    }

    /// Whether the last search was cut short by its deadline.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short
    }

    /// The items of a finished vertex, best first.
    pub(crate) fn cell(&self, vertex: VertexId) -> Range<u32> {
        let start = if vertex.0 == 0 { 0 } else { self.ends[vertex.index() - 1] };
        start..self.ends[vertex.index()]
    }

    /// Applies an edge to the items that stand at `tails`. The first part needs no look-up, whatever it is.
    pub(crate) fn combine<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        edge: EdgeId,
        tails: u32,
    ) -> Item<S> {
        let spec = &forest.edge(edge).spec;
        let mut score = spec.score;
        let mut hash = fold(0, spec.hash);
        let mut queries = 0;
        let mut next = tails as usize;
        // A vertex that begins the sentence is begun once: what was begun stays the first part.
        let first = forest.target(edge).first();
        let begun = matches!(first, Some(&Target::Vertex(tail)) if forest.begins(tail));
        let parts = forest.target(edge).iter().enumerate().map(|(index, &symbol)| {
            let (part_score, state) = match symbol {
                Target::Bundle(bundle) => {
                    let (score, state) = &self.bundles[bundle.index()];
                    (*score, state)
                }
                Target::Vertex(_) => {
                    let item = &self.items[self.tails[next] as usize];
                    next += 1;
                    hash = fold(hash, item.hash);
                    (item.score, &item.state)
                }
            };
            score += part_score;
            queries += if index > 0 { lm.open(state) } else { 0 };
            state
        });
        let (change, mut state) = lm.join(parts);
        score += change;
        if forest.begins(forest.edge(edge).head) && !begun {
            queries += lm.open(&state);
            let (change, begun) = lm.begin(&state);
            score += change;
            state = begun;
        }
        self.counters.items += 1;
        self.counters.lm_queries += queries as u64;
        let rank = match self.boundary {
            BoundaryEstimate::None => score - lm.without_history(&state),
            BoundaryEstimate::Local => score,
            BoundaryEstimate::Rest => score + lm.rest(&state),
        };
        Item { state, score, rank, hash, edge, tails }
    }

    /// How many different items the current vertex has so far.
    pub(crate) fn distinct(&self) -> usize {
        self.cell.len()
    }

    /// Adds an item to the current vertex. Of items with equal boundaries the better one stays.
    pub(crate) fn add<M: TwoSided<State = S>>(&mut self, lm: &M, item: &Item<S>) {
        let Self { cell, known, .. } = self;
        let place = known.entry(
            lm.state_hash(&item.state),
            |&other| lm.same(&cell[other as usize].state, &item.state),
            |&other| lm.state_hash(&cell[other as usize].state),
        );
        match place {
            Entry::Vacant(place) => {
                place.insert(cell.len() as u32);
                cell.push(*item);
            }
            Entry::Occupied(place) => {
                self.counters.recombined += 1;
                let index = *place.get();
                let old = &mut cell[index as usize];
                let mut loser = *item;
                if better(item.score, item.hash, old.score, old.hash) {
                    loser = std::mem::replace(old, *item);
                }
                if self.keep == Losers::Keep {
                    let Item { score, edge, tails, .. } = loser;
                    self.losers.push(Loser { item: index, score, edge, tails });
                }
            }
        }
    }

    /// Finishes the current vertex, the next one in the forest's order: its items are sorted, the best kept.
    pub(crate) fn close(&mut self, beam: Beam) {
        let Self { cell, order, items, losers, .. } = self;
        order.clear();
        order.extend(0..cell.len() as u32);
        order.sort_unstable_by(|&a, &b| {
            let (x, y) = (&cell[a as usize], &cell[b as usize]);
            y.rank.total_cmp(&x.rank).then(x.hash.cmp(&y.hash)).then(a.cmp(&b))
        });
        self.counters.pruned += order.len().saturating_sub(beam.0) as u64;
        order.truncate(beam.0);
        let start = items.len();
        items.extend(order.iter().map(|&index| cell[index as usize]));
        self.ends.push(items.len() as u32);
        if losers.len() > self.fresh_losers {
            let mut places = vec![None; cell.len()];
            for (place, &index) in order.iter().enumerate() {
                places[index as usize] = Some((start + place) as u32);
            }
            let fresh = losers.split_off(self.fresh_losers);
            let kept = fresh.into_iter().filter_map(|loser| {
                let item = places[loser.item as usize]?;
                Some(Loser { item, ..loser })
            });
            losers.extend(kept);
            self.fresh_losers = losers.len();
        }
        cell.clear();
        self.known.clear();
    }

    /// The goal's best item, chosen after the sentence boundaries are scored; `None` if the forest is dead.
    pub(crate) fn best<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
    ) -> Option<Outcome> {
        let mut best: Option<(f64, u64, u32)> = None;
        for index in self.cell(forest.goal()) {
            let item = &self.items[index as usize];
            let score = item.score + lm.sentence(&item.state);
            self.counters.lm_queries += lm.open(&item.state) as u64 + 1;
            if best.is_none_or(|(s, h, _)| better(score, item.hash, s, h)) {
                best = Some((score, item.hash, index));
            }
        }
        let (score, _, index) = best?;
        Some(Outcome { derivation: self.derivation(forest, index), score, counters: self.counters })
    }

    fn derivation(&self, forest: &TranslationForest, item: u32) -> Derivation {
        let mut edges = Vec::new();
        let mut open = vec![item];
        while let Some(item) = open.pop() {
            let way = self.best_way(forest, item);
            edges.push(way.edge);
            open.extend(way.tails.iter().rev());
        }
        Derivation::new(edges)
    }

    fn best_way(&self, forest: &TranslationForest, item: u32) -> Way<'_> {
        let Item { score, edge, tails, .. } = self.items[item as usize];
        self.way(forest, score, edge, tails)
    }

    fn way(&self, forest: &TranslationForest, score: f64, edge: EdgeId, tails: u32) -> Way<'_> {
        let arity = forest.tails(edge).count();
        Way { score, edge, tails: &self.tails[tails as usize..tails as usize + arity] }
    }

    /// Numbers of the items of a vertex, best first. Items are numbered vertex by vertex.
    pub fn items(&self, vertex: VertexId) -> Range<u32> {
        self.cell(vertex)
    }

    /// All recorded ways to derive each item, as (item, way): the best way of every item first, then the losers in
    /// the order of their discovery, if they were kept.
    pub fn ways<'c>(&'c self, forest: &'c TranslationForest) -> impl Iterator<Item = (u32, Way<'c>)> {
        let best = (0..self.items.len() as u32).map(|item| (item, self.best_way(forest, item)));
        let losers = self.losers.iter().map(|loser| {
            let Loser { item, score, edge, tails } = *loser;
            (item, self.way(forest, score, edge, tails))
        });
        best.chain(losers)
    }

    /// Everything that was found, with one more node that all complete translations lead to.
    pub fn out_forest<M: TwoSided<State = S>>(&self, forest: &TranslationForest, lm: &M) -> OutForest {
        let goal = self.items.len();
        let mut builder = OutForestBuilder::new(goal + 1, EdgeOrder::TailsFirst);
        for (item, way) in self.ways(forest) {
            let below: f64 = way.tails.iter().map(|&tail| self.items[tail as usize].score).sum();
            builder.arc(item as usize, way.tails, &[way.edge], Words::Around, way.score - below, forest);
        }
        for item in self.cell(forest.goal()) {
            let end = lm.sentence(&self.items[item as usize].state);
            builder.arc(goal, &[item], &[], Words::After(Said::NOTHING), end, forest);
        }
        builder.finish(goal)
    }
}
