//! Undirected search by its definition: a list in place of the queue, everything estimated anew whenever it is looked at.

use sylvan_base::IndexVec;
use sylvan_forest::{EdgeId, InsideOutside, Sum, Target, TranslationForest, VertexId};
use sylvan_search::{
    EdgeOrder, KBest, OutForestBuilder, Outcome, Parents, Said, TwoSided, Undirected as Settings, Words,
};

/// A candidate: an edge with an item for each tail; `None` is a hole.
#[derive(Clone, PartialEq)]
struct Candidate {
    edge: EdgeId,
    tails: Vec<Option<usize>>,
}

/// An item of the out-forest: its vertex, the boundary of its words, its best score so far.
struct Item<S> {
    vertex: VertexId,
    state: S,
    score: f64,
}

/// A popped item as a trace shows it: estimate of the whole, vertex, whether it has a hole.
pub type Pop = (f64, VertexId, bool);

pub struct Undirected<'a, M: TwoSided> {
    forest: &'a TranslationForest,
    lm: &'a M,
    settings: Settings,
    scores: InsideOutside,
    items: Vec<Item<M::State>>,
    of_vertex: IndexVec<VertexId, Vec<usize>>,
    /// Arcs of the out-forest: item, edge, tails, what the arc adds.
    arcs: Vec<(usize, EdgeId, Vec<u32>, f64)>,
    queue: Vec<(f64, Candidate)>,
    /// Pops of each vertex: complete items, and partial ones.
    pops: IndexVec<VertexId, [usize; 2]>,
    /// Per vertex the best popped partial item that it would complete.
    context: IndexVec<VertexId, Option<(f64, Candidate)>>,
    pub trace: Vec<Pop>,
    /// Whether two candidates were ever as good as one another, so that rounding decided.
    pub tied: bool,
}

impl<'a, M: TwoSided> Undirected<'a, M> {
    pub fn search(forest: &'a TranslationForest, lm: &'a M, settings: Settings) -> Self {
        let share = f64::from(settings.missing.share) / 1000.0;
        let scores = InsideOutside::of(forest, Sum::Best, |bundle| share * lm.piece(forest.bundle(bundle)).0);
        let vertices = || forest.vertices();
        let mut new = Self {
            forest,
            lm,
            settings,
            scores,
            items: Vec::new(),
            of_vertex: vertices().map(|_| Vec::new()).collect(),
            arcs: Vec::new(),
            queue: Vec::new(),
            pops: vertices().map(|_| [0; 2]).collect(),
            context: vertices().map(|_| None).collect(),
            trace: Vec::new(),
            tied: false,
        };
        for edge in forest.edge_ids().filter(|&edge| forest.tails(edge).next().is_none()) {
            new.push(Candidate { edge, tails: Vec::new() });
        }
        while let Some((estimate, candidate)) = new.pop() {
            new.take(estimate, candidate);
        }
        new
    }

    fn head(&self, candidate: &Candidate) -> VertexId {
        self.forest.edge(candidate.edge).head
    }

    fn hole(&self, candidate: &Candidate) -> Option<VertexId> {
        let hole = candidate.tails.iter().position(Option::is_none)?;
        self.forest.tails(candidate.edge).nth(hole)
    }

    /// The score of what is known of a candidate, and the pieces between its holes. `filled` goes into the hole.
    fn known(&self, candidate: &Candidate, filled: Option<(f64, &[M::State])>) -> (f64, Vec<M::State>) {
        let mut score = self.forest.edge(candidate.edge).spec.score;
        let mut segments: Vec<Vec<M::State>> = vec![Vec::new()];
        let mut tails = candidate.tails.iter();
        for &symbol in self.forest.target(candidate.edge) {
            let part = match symbol {
                Target::Bundle(bundle) => Some(self.lm.piece(self.forest.bundle(bundle))),
                Target::Vertex(_) => {
                    let item = tails.next().unwrap().map(|item| &self.items[item]);
                    item.map(|item| (item.score, item.state))
                }
            };
            match (part, filled) {
                (Some((gain, state)), _) => {
                    score += gain;
                    segments.last_mut().unwrap().push(state);
                }
                (None, Some((gain, inner))) => {
                    score += gain;
                    for (place, &state) in inner.iter().enumerate() {
                        if place > 0 {
                            segments.push(Vec::new());
                        }
                        segments.last_mut().unwrap().push(state);
                    }
                }
                (None, None) => segments.push(Vec::new()),
            }
        }
        let mut joined = Vec::new();
        for segment in &segments {
            let (change, state) = self.lm.join(segment.iter());
            score += change;
            joined.push(state);
        }
        (score, joined)
    }

    fn context_cost(&self, words: usize) -> f64 {
        let Settings { missing, .. } = self.settings;
        let once = if words > 0 { f64::from(missing.once) } else { 0.0 };
        (f64::from(missing.per_word) * words as f64 + once) / 1000.0
    }

    /// The estimate of the best derivation with a candidate: what is known, and guesses for the links that are missing.
    fn estimate(&self, candidate: &Candidate) -> f64 {
        let (score, segments) = self.known(candidate, None);
        let head = self.head(candidate);
        let hole = self
            .hole(candidate)
            .map_or(0.0, |hole| self.scores.inside(hole) + self.context_cost(self.forest.span(hole).len()));
        let (score, top) = match &self.context[head] {
            Some((_, parent)) => (self.known(parent, Some((score, &segments))).0, self.head(parent)),
            None => (score, head),
        };
        let whole = self.forest.span(self.forest.goal()).len();
        let outside = self.context_cost(whole - self.forest.span(top).len());
        score + hole + self.scores.outside(top) + outside
    }

    fn may_pop(&self, candidate: &Candidate) -> bool {
        let partial = usize::from(self.hole(candidate).is_some());
        self.pops[self.head(candidate)][partial] < self.settings.beam.0
    }

    fn push(&mut self, candidate: Candidate) {
        if self.may_pop(&candidate) && self.scores.outside(self.head(&candidate)) > f64::NEG_INFINITY {
            self.queue.push((self.estimate(&candidate), candidate));
        }
    }

    /// The best of the queue; of equals the one that came first.
    fn pop(&mut self) -> Option<(f64, Candidate)> {
        let best = (0..self.queue.len()).reduce(|best, other| {
            if self.queue[other].0 > self.queue[best].0 + 1e-9 { other } else { best }
        })?;
        let near = |other: &f64| (other - self.queue[best].0).abs() < 1e-7;
        self.tied |= self.queue.iter().filter(|(estimate, _)| near(estimate)).count() > 1;
        Some(self.queue.remove(best))
    }

    fn take(&mut self, estimate: f64, candidate: Candidate) {
        if !self.may_pop(&candidate) {
            return;
        }
        let (head, hole) = (self.head(&candidate), self.hole(&candidate));
        self.pops[head][usize::from(hole.is_some())] += 1;
        self.trace.push((estimate, head, hole.is_some()));
        if let Some(hole) = hole {
            let best = self.context[hole].as_ref().map(|(best, _)| *best);
            self.tied |= best.is_some_and(|best| (estimate - best).abs() < 1e-7);
            if best.is_none_or(|best| estimate > best) {
                self.context[hole] = Some((estimate, candidate));
                // What waits for this place is ranked anew.
                for index in 0..self.queue.len() {
                    if self.settings.parents == Parents::All && self.head(&self.queue[index].1) == hole {
                        self.queue[index].0 = self.estimate(&self.queue[index].1);
                    }
                }
            }
            return;
        }
        let (score, states) = self.known(&candidate, None);
        let below: f64 = candidate.tails.iter().flatten().map(|&tail| self.items[tail].score).sum();
        let equal = self.of_vertex[head].iter().copied().find(|&item| self.items[item].state == states[0]);
        let item = equal.unwrap_or(self.items.len());
        let tails = candidate.tails.iter().flatten().map(|&tail| tail as u32).collect();
        self.arcs.push((item, candidate.edge, tails, score - below));
        if let Some(equal) = equal {
            self.items[equal].score = self.items[equal].score.max(score);
            return;
        }
        self.items.push(Item { vertex: head, state: states[0], score });
        self.of_vertex[head].push(item);
        self.combine(item);
    }

    /// All candidates with a new item as a tail: with every combination of items for the others, and with a hole.
    fn combine(&mut self, item: usize) {
        let vertex = self.items[item].vertex;
        let partial = self.settings.parents != Parents::None;
        for edge in self.forest.edge_ids() {
            let tails: Vec<VertexId> = self.forest.tails(edge).collect();
            for place in (0..tails.len()).filter(|&place| tails[place] == vertex) {
                let holes = (0..tails.len()).filter(|&hole| partial && hole != place).map(Some);
                for hole in std::iter::once(None).chain(holes) {
                    let mut ways = vec![Vec::new()];
                    for (other, tail) in tails.iter().enumerate() {
                        let choices: Vec<Option<usize>> = match other {
                            _ if Some(other) == hole => vec![None],
                            _ if other == place => vec![Some(item)],
                            _ => self.of_vertex[*tail].iter().copied().map(Some).collect(),
                        };
                        ways = ways
                            .iter()
                            .flat_map(|way: &Vec<Option<usize>>| {
                                choices.iter().map(move |&choice| [way.as_slice(), &[choice]].concat())
                            })
                            .collect();
                    }
                    ways.into_iter().for_each(|tails| self.push(Candidate { edge, tails }));
                }
            }
        }
    }

    /// The best derivation of the out-forest, whose scores are bottom-up ones whatever the order of the search was.
    pub fn best(&self) -> Option<Outcome> {
        let goal = self.items.len();
        let mut out = OutForestBuilder::new(goal + 1, EdgeOrder::TailsFirst);
        for (item, edge, tails, score) in &self.arcs {
            out.arc(*item, tails, &[*edge], Words::Around, *score, self.forest);
        }
        for &item in &self.of_vertex[self.forest.goal()] {
            let end = self.lm.sentence(&self.items[item].state);
            out.arc(goal, &[item as u32], &[], Words::After(Said::NOTHING), end, self.forest);
        }
        let out = out.finish(goal);
        let (score, edges) = KBest::new(&out).next()?;
        Some(Outcome { derivation: out.derivation(self.forest, edges), score, counters: Default::default() })
    }
}
