//! The out-forest of undirected search while it grows, and all that it keeps in mind.

use std::hash::Hash;

use hashbrown::HashTable;
use sylvan_base::Id;
use sylvan_base::hash::fold;
use sylvan_forest::{BundleId, Derivation, EdgeId, Target, TokenId, TranslationForest, VertexId};

use super::candidates::{Complete, Made, Partial, SENTENCE, Slots, Written};
use super::combinations::Successor;
use super::explorer::{Context, Explorer};
use super::missing::{Changes, Expected};
use super::queue::Queue;
use super::yields::HOLE;
use super::{Pop, Undirected};
use crate::deduction::EdgeOrder;
use crate::focus::Focus;
use crate::out_forest::{OutForest, OutForestBuilder, Words};
use crate::outcome::better;
use crate::said::Said;
use crate::stop::Stop;
use crate::{Counters, Outcome, TwoSided};

/// An item of the out-forest: what candidates with it need to know, in as little memory as possible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// The best so far; in the end, the best there is.
    pub(super) score: f64,
    pub(super) vertex: VertexId,
    /// Which of its vertex's items it is.
    pub(super) rank: u32,
}

/// The rest of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<S> {
    pub(super) state: S,
    /// Content of the best derivation, for ties; only in the end.
    pub(super) hash: u64,
    /// The first of its ways, and the best of them.
    pub(super) ways: u32,
    pub(super) best: u32,
}

/// One way to make an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) made: Made,
    /// What it adds to the scores of its tails.
    pub(super) added: f64,
    pub(super) next: u32,
}

pub(super) const LAST: u32 = u32::MAX;

/// The memory of the search, to be used for many sentences.
#[derive(Debug)]
pub struct Agenda<S> {
    pub(super) items: Vec<Item>,
    pub(super) rest: Vec<Rest<S>>,
    pub(super) ways: Vec<Way>,
    pub(super) written: Written,
    /// Per vertex its items in the order in which they were taken.
    pub(super) of_vertex: Vec<Vec<u32>>,
    pub(super) known: HashTable<u32>,
    pub(super) bundles: Vec<(f64, S)>,
    /// Each edge with its words, without the joints.
    pub(super) own: Vec<f64>,
    /// Per vertex the edges that it is a tail of, and as which.
    pub(super) uses: Vec<(EdgeId, u32)>,
    pub(super) uses_end: Vec<u32>,
    /// Complete and partial candidates taken.
    pub(super) pops: Vec<[usize; 2]>,
    /// Per place, about how many candidates the language model was asked later than they were made.
    pub(super) asked: Vec<usize>,
    /// What it said.
    pub(super) changes: Changes,
    /// How many each vertex takes of either.
    pub(super) beams: Vec<usize>,
    pub(super) contexts: Vec<Option<Context<S>>>,
    /// Per edge how many of its tails have no item yet, and per vertex the candidates that wait for its next one.
    pub(super) lacking: Vec<u32>,
    pub(super) successors: Vec<Vec<Successor>>,
    pub(super) queue: Queue,
    pub(super) complete: Slots<Complete<S>>,
    pub(super) partial: Slots<Partial<S>>,
    /// Items of the goal, and what they gain as the whole sentence.
    pub(super) goals: Vec<(u32, f64)>,
    pub(super) counters: Counters,
    pub(super) cut_short: bool,
}

impl<S> Default for Agenda<S> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            rest: Vec::new(),
            ways: Vec::new(),
            written: Written::default(),
            of_vertex: Vec::new(),
            known: HashTable::new(),
            bundles: Vec::new(),
            own: Vec::new(),
            uses: Vec::new(),
            uses_end: Vec::new(),
            pops: Vec::new(),
            contexts: Vec::new(),
            beams: Vec::new(),
            asked: Vec::new(),
            changes: Changes::default(),
            lacking: Vec::new(),
            successors: Vec::new(),
            queue: Queue::default(),
            complete: Slots::default(),
            partial: Slots::default(),
            goals: Vec::new(),
            counters: Counters::default(),
            cut_short: false,
        }
    }
}

/// What is told of each candidate that is taken.
pub(super) type OnPop<'a> = Option<&'a mut dyn FnMut(&Pop)>;

impl<S: Copy + Eq + Hash> Agenda<S> {
    /// See [`undirected`](crate::undirected); each candidate that is taken is shown to `on_pop`; what was found can be read from [`out_forest`](Self::out_forest).
    pub fn search<M: TwoSided<State = S>>(
        &mut self,
        forest: &TranslationForest,
        lm: &M,
        config: Undirected,
        stop: &Stop,
        on_pop: OnPop<'_>,
    ) -> Option<Outcome> {
        self.start(forest, lm);
        let expected = Expected::new(forest, config.missing, |bundle| self.bundles[bundle.index()].0);
        self.beams.clear();
        let beam = config.beam.0;
        match config.focus {
            false => self.beams.resize(self.of_vertex.len(), beam),
            true => {
                let focus = Focus::new(forest, |bundle| self.bundles[bundle.index()].0);
                self.beams.extend(forest.vertices().map(|vertex| focus.share(vertex, beam)));
            }
        }
        Explorer { forest, lm, config, expected, memory: self, tails: Vec::new() }.explore(stop, on_pop);
        self.finish(forest)
    }

    /// Whether the last search was cut short by its deadline.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short
    }

    fn start<M: TwoSided<State = S>>(&mut self, forest: &TranslationForest, lm: &M) {
        let vertices = forest.vertices().len();
        self.items.clear();
        self.rest.clear();
        self.ways.clear();
        self.written.start(forest);
        self.of_vertex.iter_mut().for_each(Vec::clear);
        self.of_vertex.resize_with(vertices, Vec::new);
        self.known.clear();
        self.pops.clear();
        self.pops.resize(vertices, [0; 2]);
        self.contexts.clear();
        self.contexts.resize(vertices, None);
        // Two places for each vertex, complete and partial, and one for whole sentences.
        self.queue.start(2 * vertices + 1);
        self.complete.clear();
        self.partial.clear();
        self.goals.clear();
        self.counters = Counters::default();
        self.cut_short = false;
        self.changes = Changes::default();
        self.asked.clear();
        self.asked.resize(2 * vertices, 0);
        self.bundles.clear();
        for index in 0..forest.bundle_count() {
            let words = forest.bundle(BundleId::from_index(index));
            self.counters.lm_queries += words.len() as u64;
            self.bundles.push(lm.piece(words));
        }
        self.own.clear();
        self.lacking.clear();
        self.successors.iter_mut().for_each(Vec::clear);
        self.successors.resize_with(vertices, Vec::new);
        self.uses_end.clear();
        self.uses_end.resize(vertices + 1, 0);
        for edge in forest.edge_ids() {
            let mut own = forest.edge(edge).spec.score;
            for symbol in forest.target(edge) {
                match symbol {
                    Target::Bundle(bundle) => own += self.bundles[bundle.index()].0,
                    Target::Vertex(tail) => self.uses_end[tail.index() + 1] += 1,
                }
            }
            self.own.push(own);
            self.lacking.push(self.written.arity(edge) as u32);
        }
        // Where each vertex begins; filling moves that to where it ends.
        for vertex in 0..vertices {
            self.uses_end[vertex + 1] += self.uses_end[vertex];
        }
        self.uses.clear();
        self.uses.resize(self.uses_end[vertices] as usize, (EdgeId(0), 0));
        for edge in forest.edge_ids() {
            for (place, tail) in forest.tails(edge).enumerate() {
                let at = &mut self.uses_end[tail.index()];
                self.uses[*at as usize] = (edge, place as u32);
                *at += 1;
            }
        }
    }

    /// The best derivation: scores once more, tails before heads.
    fn finish(&mut self, forest: &TranslationForest) -> Option<Outcome> {
        for vertex in forest.vertices() {
            for &item in &self.of_vertex[vertex.index()] {
                let mut best: Option<(f64, u64, u32)> = None;
                let mut at = self.rest[item as usize].ways;
                while at != LAST {
                    let Way { made, added, next } = self.ways[at as usize];
                    let edge = self.written.edge(made);
                    let (mut score, mut hash) = (added, fold(0, forest.edge(edge).spec.hash));
                    for &tail in self.written.tails(made) {
                        score += self.items[tail as usize].score;
                        hash = fold(hash, self.rest[tail as usize].hash);
                    }
                    if best.is_none_or(|(s, h, _)| better(score, hash, s, h)) {
                        best = Some((score, hash, at));
                    }
                    at = next;
                }
                if let Some((score, hash, way)) = best {
                    self.items[item as usize].score = score;
                    let rest = &mut self.rest[item as usize];
                    (rest.hash, rest.best) = (hash, way);
                }
            }
        }
        let mut best: Option<(f64, u64, u32)> = None;
        for &(item, gain) in &self.goals {
            let (score, hash) = (self.items[item as usize].score, self.rest[item as usize].hash);
            if best.is_none_or(|(s, h, _)| better(score + gain, hash, s, h)) {
                best = Some((score + gain, hash, item));
            }
        }
        let (score, _, item) = best?;
        let mut edges = Vec::new();
        let mut open = vec![item];
        while let Some(item) = open.pop() {
            let way = self.ways[self.rest[item as usize].best as usize];
            edges.push(self.written.edge(way.made));
            open.extend(self.written.tails(way.made).iter().rev());
        }
        Some(Outcome { derivation: Derivation::new(edges), score, counters: self.counters })
    }

    /// Everything that was found, with one more node that all complete translations lead to.
    pub fn out_forest(&self, forest: &TranslationForest) -> OutForest {
        let goal = self.items.len();
        let mut builder = OutForestBuilder::new(goal + 1, EdgeOrder::TailsFirst);
        for (index, rest) in self.rest.iter().enumerate() {
            let mut at = rest.ways;
            while at != LAST {
                let way = self.ways[at as usize];
                let (tails, edge) = (self.written.tails(way.made), self.written.edge(way.made));
                builder.arc(index, tails, &[edge], Words::Around, way.added, forest);
                at = way.next;
            }
        }
        for &(item, gain) in &self.goals {
            builder.arc(goal, &[item], &[], Words::After(Said::NOTHING), gain, forest);
        }
        builder.finish(goal)
    }

    /// The words of a candidate by the best derivations so far, `None` for the hole; and its edges, tails first. Derivations
    /// may be as deep as input likes, so what is still to be spelt is kept on a stack.
    pub(super) fn spell(
        &self,
        forest: &TranslationForest,
        made: Made,
    ) -> (Vec<Option<TokenId>>, Vec<EdgeId>) {
        enum Open {
            Made(Made),
            Words(BundleId),
            Hole,
            End(EdgeId),
        }
        let item = |item: u32| match item {
            HOLE => Open::Hole,
            item => Open::Made(self.ways[self.rest[item as usize].best as usize].made),
        };
        let (mut words, mut edges) = (Vec::new(), Vec::new());
        let mut open = vec![Open::Made(made)];
        while let Some(next) = open.pop() {
            match next {
                Open::Words(bundle) => words.extend(forest.bundle(bundle).iter().copied().map(Some)),
                Open::Hole => words.push(None),
                Open::End(edge) => edges.push(edge),
                Open::Made(made) => {
                    let edge = self.written.edge(made);
                    let mut tails = self.written.tails(made).iter().rev().map(|&tail| item(tail));
                    if edge == SENTENCE {
                        open.extend(tails);
                        continue;
                    }
                    open.push(Open::End(edge));
                    for symbol in forest.target(edge).iter().rev() {
                        match symbol {
                            Target::Bundle(bundle) => open.push(Open::Words(*bundle)),
                            Target::Vertex(_) => open.extend(tails.next()),
                        }
                    }
                }
            }
        }
        (words, edges)
    }
}
