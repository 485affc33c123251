//! The order of undirected search: what is taken, and what it makes possible.

use hashbrown::hash_table::Entry;
use sylvan_base::Id;
use sylvan_base::hash::fold;
use sylvan_forest::{EdgeId, TranslationForest, VertexId};

use super::agenda::{Agenda, Item, LAST, OnPop, Rest, Way};
use super::candidates::{Complete, Made, Partial, SENTENCE};
use super::missing::Expected;
use super::queue::Top;
use super::yields::{self, Yield};
use super::{Parents, Pop, Undirected};
use crate::TwoSided;
use crate::stop::Stop;

/// The language model is asked about so many candidates of a place for each that it takes.
const ASKED: usize = 3;

/// The best partial item with a certain hole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<S> {
    estimate: f64,
    head: VertexId,
    made: Made,
    added: f64,
    words: Yield<S>,
    /// Where its edge's parts meet.
    joints: usize,
}

/// A search on its way.
pub(super) struct Explorer<'a, M: TwoSided> {
    pub(super) forest: &'a TranslationForest,
    pub(super) lm: &'a M,
    pub(super) config: Undirected,
    pub(super) expected: Expected,
    pub(super) memory: &'a mut Agenda<M::State>,
    /// The items of the candidate that is being made.
    pub(super) tails: Vec<u32>,
}

impl<M: TwoSided> Explorer<'_, M> {
    pub(super) fn explore(&mut self, stop: &Stop, mut on_pop: OnPop<'_>) {
        for edge in self.forest.edge_ids() {
            if self.memory.written.arity(edge) == 0 && self.is_of_use(edge) {
                self.tails.clear();
                self.score_new(edge);
            }
        }
        let mut sentences = 0;
        while let Some((place, top)) = self.memory.queue.take() {
            self.memory.cut_short = self.memory.cut_short || stop.is_due();
            if stop.is_cancelled() {
                return;
            }
            let (estimate, slot) = match top {
                Top::Rough(made) => {
                    self.memory.asked[place] += 1;
                    if self.memory.asked[place] > self.memory.beams[place / 2].saturating_mul(ASKED) {
                        self.memory.queue.close_rough(place);
                        continue;
                    }
                    self.score(Made(made));
                    self.go_on(Made(made));
                    continue;
                }
                Top::Scored(estimate, slot) => (estimate, slot),
            };
            if self.room(place) == 0 {
                // Time was up while it waited.
                continue;
            }
            let waiting = self.memory.queue.len() + 1;
            let (made, score, fresh) = self.take(place, estimate, slot);
            if let Some(on_pop) = &mut on_pop {
                let (words, edges) = self.memory.spell(self.forest, made);
                let edge = self.memory.written.edge(made);
                let vertex = (edge != SENTENCE).then(|| self.head(edge));
                on_pop(&Pop { estimate, score, vertex, words, edges, fresh, waiting });
            }
            if place == self.sentences() {
                sentences += 1;
                if sentences >= self.config.enough || self.memory.cut_short {
                    return;
                }
            } else if self.room(place) == 0 {
                self.memory.queue.clear(place);
                self.forget(place);
            }
        }
    }

    /// The place of whole sentences.
    fn sentences(&self) -> usize {
        2 * self.memory.beams.len()
    }

    /// How many candidates a place can still take. Nobody waits for a place where there is none left.
    pub(super) fn room(&self, place: usize) -> usize {
        let Some(&beam) = self.memory.beams.get(place / 2) else { return usize::MAX };
        let beam = if self.memory.cut_short { 1 } else { beam };
        beam.saturating_sub(self.memory.pops[place / 2][place % 2])
    }

    /// How many are let in at a place that can still take `room`.
    pub(super) fn most(&self, room: usize) -> usize {
        match (self.config.bounded, self.config.parents) {
            (false, _) => usize::MAX,
            (true, Parents::All) => room.saturating_mul(4),
            (true, _) => room,
        }
    }

    pub(super) fn head(&self, edge: EdgeId) -> VertexId {
        self.forest.edge(edge).head
    }

    /// The place of an edge's candidates.
    pub(super) fn place(&self, edge: EdgeId, partial: bool) -> usize {
        2 * self.head(edge).index() + usize::from(partial)
    }

    /// Takes a candidate from a place: what it is, its score, and whether it is something new.
    fn take(&mut self, place: usize, estimate: f64, slot: u32) -> (Made, f64, bool) {
        if place % 2 == 1 {
            self.memory.pops[place / 2][1] += 1;
            let partial = *self.memory.partial.get(slot);
            self.memory.partial.release(slot);
            let score = partial.added + self.memory.written.below(&self.memory.items, partial.made);
            return (partial.made, score, self.context(estimate, &partial));
        }
        let Complete { made, added, .. } = *self.memory.complete.get(slot);
        let score = added + self.memory.written.below(&self.memory.items, made);
        self.memory.complete.release(slot);
        let fresh = place == self.sentences() || {
            self.memory.pops[place / 2][0] += 1;
            self.add(VertexId::from_index(place / 2), slot, score)
        };
        (made, score, fresh)
    }

    /// A partial item is the context of its hole if it is the best so far; whether it is.
    fn context(&mut self, estimate: f64, partial: &Partial<M::State>) -> bool {
        let Some(hole) = self.memory.written.hole(self.forest, partial.made) else { return false };
        let old = self.rough_parent(hole);
        let context = &mut self.memory.contexts[hole.index()];
        if context.as_ref().is_some_and(|context| context.estimate >= estimate) {
            return false;
        }
        let edge = self.memory.written.edge(partial.made);
        let (head, joints) = (self.forest.edge(edge).head, self.forest.target(edge).len() - 1);
        let Partial { made, added, words } = *partial;
        *context = Some(Context { estimate, head, made, added, words, joints });
        if self.config.parents == Parents::All {
            let shift = self.rough_parent(hole) - old;
            let Self { forest, lm, expected, memory, .. } = self;
            let Agenda { queue, contexts, counters, complete, partial, written, items, .. } = &mut **memory;
            let now = |added: f64, made: Made| added + written.below(items, made);
            let context = contexts[hole.index()].as_ref();
            let context = context.map(|context| (context, now(context.added, context.made)));
            let around = Around { forest, lm: *lm, expected, context };
            queue.estimate(2 * hole.index(), shift, |slot| {
                let Complete { made, added, state } = complete.get(slot);
                let score = now(*added, *made);
                let (estimate, queries) = around.estimate(hole, score, &Yield::Whole(*state));
                counters.lm_queries += queries as u64;
                estimate
            });
            queue.estimate(2 * hole.index() + 1, shift, |slot| {
                let Partial { made, added, words } = partial.get(slot);
                let missing = written.hole(forest, *made).map_or(0.0, |hole| expected.child(hole));
                let (estimate, queries) = around.estimate(hole, now(*added, *made) + missing, words);
                counters.lm_queries += queries as u64;
                estimate
            });
        }
        true
    }

    /// A complete candidate as an item; whether there was none with its words' boundary.
    fn add(&mut self, vertex: VertexId, slot: u32, score: f64) -> bool {
        let Agenda { items, rest, known, ways, counters, of_vertex, complete, .. } = &mut *self.memory;
        let Complete { made, added, ref state } = *complete.get(slot);
        let lm = self.lm;
        let hash = |state: &M::State, vertex: VertexId| fold(lm.state_hash(state), u64::from(vertex.0));
        let same = |&other: &u32| {
            items[other as usize].vertex == vertex && lm.same(&rest[other as usize].state, state)
        };
        let hash_of = |&other: &u32| hash(&rest[other as usize].state, items[other as usize].vertex);
        let way = ways.len() as u32;
        match known.entry(hash(state, vertex), same, hash_of) {
            Entry::Occupied(place) => {
                counters.recombined += 1;
                let old = *place.get() as usize;
                ways.push(Way { made, added, next: rest[old].ways });
                rest[old].ways = way;
                if score > items[old].score {
                    (items[old].score, rest[old].best) = (score, way);
                }
                false
            }
            Entry::Vacant(place) => {
                let (item, rank) = (items.len() as u32, of_vertex[vertex.index()].len() as u32);
                place.insert(item);
                items.push(Item { score, vertex, rank });
                rest.push(Rest { state: *state, hash: 0, ways: way, best: way });
                ways.push(Way { made, added, next: LAST });
                of_vertex[vertex.index()].push(item);
                if vertex == self.forest.goal() {
                    self.add_sentence(item);
                }
                match self.config.is_lazy() {
                    true => self.grow(vertex, item),
                    false => self.combine_all(vertex, item),
                }
                true
            }
        }
    }

    /// An item of the goal as a whole sentence.
    fn add_sentence(&mut self, item: u32) {
        let (score, state) = (self.memory.items[item as usize].score, self.memory.rest[item as usize].state);
        let gain = self.lm.sentence(&state);
        self.memory.counters.lm_queries += self.lm.open(&state) as u64 + 1;
        self.memory.goals.push((item, gain));
        let made = self.memory.written.write(SENTENCE, &[item]);
        let (place, score) = (self.sentences(), score + gain);
        let slot = self.memory.complete.put(Complete { made, added: gain, state });
        self.memory.queue.add(place, score, usize::MAX, slot);
    }

    /// The edges that a vertex is a tail of, as numbers of uses.
    pub(super) fn uses(&self, vertex: VertexId) -> std::ops::Range<usize> {
        let start = vertex.index().checked_sub(1).map_or(0, |before| self.memory.uses_end[before]);
        start as usize..self.memory.uses_end[vertex.index()] as usize
    }

    /// What is to be added to an edge's parts for a rough estimate.
    pub(super) fn around(&self, edge: EdgeId) -> f64 {
        let joints = self.forest.target(edge).len() - 1;
        self.memory.changes.expected(self.config.slack()) * joints as f64 + self.rough_parent(self.head(edge))
    }

    /// What a rough estimate expects around a vertex.
    fn rough_parent(&self, vertex: VertexId) -> f64 {
        match &self.memory.contexts[vertex.index()] {
            None => self.expected.parent(vertex),
            Some(context) => {
                let joints = self.memory.changes.expected(self.config.slack()) * context.joints as f64;
                let below = self.memory.written.below(&self.memory.items, context.made);
                context.added + below + joints + self.expected.parent(context.head)
            }
        }
    }

    /// Whether a sentence can have an edge.
    pub(super) fn is_of_use(&self, edge: EdgeId) -> bool {
        self.expected.parent(self.head(edge)) > f64::NEG_INFINITY
    }

    /// Scores the candidate that is being made.
    pub(super) fn score_new(&mut self, edge: EdgeId) {
        let made = self.memory.written.write(edge, &self.tails);
        self.score(made);
    }

    /// Scores a candidate and queues it.
    fn score(&mut self, made: Made) {
        let Self { forest, lm, expected, memory, .. } = self;
        let (edge, tails) = (memory.written.edge(made), memory.written.tails(made));
        let (known, queries) = yields::known(forest, *lm, &memory.bundles, edge, tails, |item| {
            (memory.items[item as usize].score, &memory.rest[item as usize].state)
        });
        let hole = memory.written.hole(forest, made);
        let head = forest.edge(edge).head;
        let context = memory.contexts[head.index()].as_ref();
        let context = context
            .map(|context| (context, context.added + memory.written.below(&memory.items, context.made)));
        let around = Around { forest, lm: *lm, expected, context };
        let missing = hole.map_or(0.0, |hole| expected.child(hole));
        let (estimate, more) = around.estimate(head, known.score + missing, &known.words);
        memory.counters.items += 1;
        if hole.is_none() {
            memory.changes.add(forest.target(edge).len() - 1, known.added - memory.own[edge.index()]);
        }
        memory.counters.lm_queries += (queries + more) as u64;
        let place = 2 * head.index() + usize::from(hole.is_some());
        let room = self.room(place);
        if room == 0 || !self.memory.queue.admits(place, estimate) {
            self.memory.counters.pruned += 1;
            return;
        }
        let most = self.most(room);
        let Agenda { queue, complete, partial, .. } = &mut *self.memory;
        let slot = match known.words {
            Yield::Whole(state) => complete.put(Complete { made, added: known.added, state }),
            words => partial.put(Partial { made, added: known.added, words }),
        };
        queue.add(place, estimate, most, slot);
        self.forget(place);
    }

    /// Those who were sent away from a place are gone.
    fn forget(&mut self, place: usize) {
        let Agenda { queue, complete, partial, counters, .. } = &mut *self.memory;
        for slot in queue.sent_away.drain(..) {
            counters.pruned += 1;
            match place % 2 {
                0 => complete.release(slot),
                _ => partial.release(slot),
            }
        }
    }
}

/// What is known around a vertex.
struct Around<'a, M: TwoSided> {
    forest: &'a TranslationForest,
    lm: &'a M,
    expected: &'a Expected,
    /// With its score.
    context: Option<(&'a Context<M::State>, f64)>,
}

impl<M: TwoSided> Around<'_, M> {
    /// H of a candidate for a vertex, with what is expected in its hole; and the words scored for it.
    fn estimate(&self, vertex: VertexId, score: f64, words: &Yield<M::State>) -> (f64, usize) {
        let Some((context, outer)) = self.context else {
            return (score + self.expected.parent(vertex), 0);
        };
        let begins = self.forest.begins(context.head) && !self.forest.begins(vertex);
        let (change, queries) = yields::fill(self.lm, begins, &context.words, words);
        (score + outer + change + self.expected.parent(context.head), queries)
    }
}
