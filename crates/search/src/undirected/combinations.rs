//! Which candidates a new item makes: all combinations at once, or one after the other as they are wanted.

use sylvan_base::Id;
use sylvan_forest::{EdgeId, VertexId};

use super::Parents;
use super::agenda::Item;
use super::candidates::Made;
use super::explorer::Explorer;
use super::yields::HOLE;
use crate::TwoSided;

/// A candidate that waits for the next item of its tail number `axis`; all else it has from the one before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Successor {
    before: Made,
    axis: u32,
}

/// As in the paper: every edge with the new item and all items that the other tails have.
impl<M: TwoSided> Explorer<'_, M> {
    pub(super) fn combine_all(&mut self, vertex: VertexId, item: u32) {
        for index in self.uses(vertex) {
            let (edge, place) = self.memory.uses[index];
            let (tails, place) = (self.forest.tails(edge).collect::<Vec<_>>(), place as usize);
            self.choose(edge, &tails, (place, item), None);
            if self.config.parents != Parents::None {
                for hole in (0..tails.len()).filter(|&hole| hole != place) {
                    self.choose(edge, &tails, (place, item), Some(hole));
                }
            }
        }
    }

    fn choose(&mut self, edge: EdgeId, tails: &[VertexId], new: (usize, u32), hole: Option<usize>) {
        if self.room(self.place(edge, hole.is_some())) > 0 && self.is_of_use(edge) {
            self.tails.clear();
            self.choose_next(edge, tails, new, hole);
        }
    }

    fn choose_next(&mut self, edge: EdgeId, tails: &[VertexId], new: (usize, u32), hole: Option<usize>) {
        let at = self.tails.len();
        let go_on = |this: &mut Self, item: u32| {
            this.tails.push(item);
            this.choose_next(edge, tails, new, hole);
            this.tails.pop();
        };
        if at == tails.len() {
            self.score_new(edge);
        } else if at == new.0 {
            go_on(self, new.1);
        } else if Some(at) == hole {
            go_on(self, HOLE);
        } else {
            let vertex = tails[at].index();
            // Where a vertex is a tail twice, every combination is made once.
            let twice = tails[at] == tails[new.0] && at < new.0;
            for index in 0..self.memory.of_vertex[vertex].len() - usize::from(twice) {
                go_on(self, self.memory.of_vertex[vertex][index]);
            }
        }
    }
}

/// As in cube growing: a candidate is made when the one before it in the grid of its edge was wanted, and the item that it
/// needs is there.
impl<M: TwoSided> Explorer<'_, M> {
    pub(super) fn grow(&mut self, vertex: VertexId, item: u32) {
        if self.memory.items[item as usize].rank == 0 {
            for index in self.uses(vertex) {
                let (edge, place) = self.memory.uses[index];
                self.memory.lacking[edge.index()] -= 1;
                if self.is_of_use(edge) {
                    self.begin(edge, place as usize);
                }
            }
        }
        let mut waiting = std::mem::take(&mut self.memory.successors[vertex.index()]);
        for Successor { before, axis } in waiting.drain(..) {
            self.offer_next(before, axis as usize, item);
        }
        // Nobody came in between: who waits for this vertex's next item has taken one that it has.
        self.memory.successors[vertex.index()] = waiting;
    }

    /// The first candidates of an edge whose tail number `place` has its first item.
    fn begin(&mut self, edge: EdgeId, place: usize) {
        let Self { forest, memory, tails, .. } = self;
        let first = |tail: VertexId| memory.of_vertex[tail.index()].first().copied().unwrap_or(HOLE);
        tails.clear();
        tails.extend(forest.tails(edge).map(first));
        let partial = self.config.parents != Parents::None;
        match self.memory.lacking[edge.index()] {
            0 => {
                self.offer_cell(edge);
                if partial {
                    for hole in (0..self.tails.len()).filter(|&hole| hole != place) {
                        let item = std::mem::replace(&mut self.tails[hole], HOLE);
                        self.offer_cell(edge);
                        self.tails[hole] = item;
                    }
                }
            }
            1 if partial && self.tails.contains(&HOLE) => self.offer_cell(edge),
            _ => {}
        }
    }

    /// The neighbours of a candidate in the grid of its edge: each is reached from one other only, the one that is smaller
    /// by one in its last coordinate that is not 0.
    pub(super) fn go_on(&mut self, made: Made) {
        for axis in (0..self.memory.written.tails(made).len()).rev() {
            let item = self.memory.written.tails(made)[axis];
            if item == HOLE {
                continue;
            }
            let Item { vertex, rank, .. } = self.memory.items[item as usize];
            match self.memory.of_vertex[vertex.index()].get(rank as usize + 1) {
                Some(&next) => self.offer_next(made, axis, next),
                None => {
                    let successor = Successor { before: made, axis: axis as u32 };
                    self.memory.successors[vertex.index()].push(successor);
                }
            }
            if rank > 0 {
                break;
            }
        }
    }

    fn offer_next(&mut self, before: Made, axis: usize, item: u32) {
        self.tails.clear();
        self.tails.extend_from_slice(self.memory.written.tails(before));
        self.tails[axis] = item;
        self.offer_cell(self.memory.written.edge(before));
    }

    /// Queues the candidate that has been made by a rough estimate.
    fn offer_cell(&mut self, edge: EdgeId) {
        let mut sum = self.memory.own[edge.index()];
        let mut partial = false;
        for (&item, tail) in self.tails.iter().zip(self.forest.tails(edge)) {
            partial |= item == HOLE;
            sum += match item {
                HOLE => self.expected.child(tail),
                item => self.memory.items[item as usize].score,
            };
        }
        let (place, estimate) = (self.place(edge, partial), sum + self.around(edge));
        let room = self.room(place);
        if room == 0 || !self.memory.queue.admits_rough(place, estimate) {
            self.memory.counters.pruned += 1;
            return;
        }
        let most = self.most(room).saturating_mul(4).saturating_add(16);
        let Made(candidate) = self.memory.written.write(edge, &self.tails);
        self.memory.queue.add_rough(place, estimate, most, candidate);
    }
}
