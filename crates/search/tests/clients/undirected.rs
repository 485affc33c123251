//! Undirected search: one best-first queue over items of all vertices, whose order is free (Gesmundo & Henderson 2011).
//!
//! An item may be made while one of its two tails is missing; such a *partial* item then ranks the candidates for its
//! hole (the paper's parent context, propagated to candidates that wait already). What reaches the out-forest are
//! ordinary bottom-up scores.

use sylvan_base::{IndexVec, Rng, Span, Vocab};
use sylvan_forest::{EdgeId, ForestBuilder, InsideOutside, Part, Sum, Target, TranslationForest, VertexId};
use sylvan_search::{
    BoundaryWords, EdgeOrder, KBest, OutForestBuilder, Outcome, TwoSided, brute_force, rescore,
};
use sylvan_testkit::cases;

use crate::common::{HashLm, LIMIT, bigram, close, random_problems};
use crate::spec;

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
type Pop = (f64, VertexId, bool);

struct Undirected<'a, M: TwoSided> {
    forest: &'a TranslationForest,
    lm: &'a M,
    beam: usize,
    /// What the words of a source word that is not translated yet are expected to cost.
    per_word: f64,
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
    trace: Vec<Pop>,
}

impl<'a, M: TwoSided> Undirected<'a, M> {
    fn search(forest: &'a TranslationForest, lm: &'a M, beam: usize, per_word: f64) -> Self {
        let scores = InsideOutside::of(forest, Sum::Best, |_| 0.0);
        let vertices = || forest.vertices();
        let mut new = Self {
            forest,
            lm,
            beam,
            per_word,
            scores,
            items: Vec::new(),
            of_vertex: vertices().map(|_| Vec::new()).collect(),
            arcs: Vec::new(),
            queue: Vec::new(),
            pops: vertices().map(|_| [0; 2]).collect(),
            context: vertices().map(|_| None).collect(),
            trace: Vec::new(),
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
        self.per_word * words as f64
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
        self.pops[self.head(candidate)][partial] < self.beam
    }

    fn push(&mut self, candidate: Candidate) {
        if self.may_pop(&candidate) {
            self.queue.push((self.estimate(&candidate), candidate));
        }
    }

    /// The best of the queue; of equals the one that came first.
    fn pop(&mut self) -> Option<(f64, Candidate)> {
        let best = (0..self.queue.len()).reduce(|best, other| {
            if self.queue[other].0 > self.queue[best].0 + 1e-9 { other } else { best }
        })?;
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
            if self.context[hole].as_ref().is_none_or(|(best, _)| estimate > *best) {
                self.context[hole] = Some((estimate, candidate));
                // Propagate: what waits for this place is ranked anew.
                for index in 0..self.queue.len() {
                    if self.head(&self.queue[index].1) == hole {
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

    /// All candidates with a new item as a tail: with every combination of items for the others, and for two tails
    /// the partial one.
    fn combine(&mut self, item: usize) {
        let vertex = self.items[item].vertex;
        for edge in self.forest.edge_ids() {
            let tails: Vec<VertexId> = self.forest.tails(edge).collect();
            for place in (0..tails.len()).filter(|&place| tails[place] == vertex) {
                let mut ways = vec![Vec::new()];
                for (other, tail) in tails.iter().enumerate() {
                    let choices = if other == place { vec![item] } else { self.of_vertex[*tail].clone() };
                    ways = ways
                        .iter()
                        .flat_map(|way: &Vec<Option<usize>>| {
                            choices.iter().map(move |&choice| [way.as_slice(), &[Some(choice)]].concat())
                        })
                        .collect();
                }
                ways.into_iter().for_each(|tails| self.push(Candidate { edge, tails }));
                if tails.len() == 2 {
                    let mut tails = vec![None, None];
                    tails[place] = Some(item);
                    self.push(Candidate { edge, tails });
                }
            }
        }
    }

    /// The best derivation of the out-forest, whose scores are bottom-up ones whatever the order of the search was.
    fn best(&self) -> Option<Outcome> {
        let goal = self.items.len();
        let mut out = OutForestBuilder::new(goal + 1, EdgeOrder::TailsFirst);
        for (item, edge, tails, score) in &self.arcs {
            out.arc(*item, tails, &[*edge], *score, self.forest);
        }
        for &item in &self.of_vertex[self.forest.goal()] {
            out.arc(goal, &[item as u32], &[], self.lm.sentence(&self.items[item].state), self.forest);
        }
        let out = out.finish(goal);
        let (score, edges) = KBest::new(&out).next()?;
        Some(Outcome { derivation: out.derivation(self.forest, edges), score, counters: Default::default() })
    }
}

#[test]
fn gesmundo_2011_figure_1_i_run() {
    let mut vocab = Vocab::of(["Je", "course", "courir", "cours", "courons"]);
    let word = |text: &str| Part::word(vocab.get(text).unwrap());
    let mut builder = ForestBuilder::new();
    let i = builder.vertex(1, Span::new(0, 1));
    builder.edge(spec(2, -0.2), &[word("Je")]);
    let run = builder.vertex(1, Span::new(1, 2));
    for (id, verb, score) in
        [(3, "course", -0.5), (4, "courir", -0.9), (5, "cours", -1.2), (6, "courons", -1.6)]
    {
        builder.edge(spec(id, score), &[word(verb)]);
    }
    let sentence = builder.vertex(1, Span::new(0, 2));
    builder.edge(spec(1, 0.0), &[Part::Vertex(i), Part::Vertex(run)]);
    let forest = builder.finish(sentence);
    let pairs = [
        ("<s>", "Je", -1.0),
        ("Je", "course", -6.0),
        ("Je", "courir", -5.0),
        ("Je", "cours", -1.0),
        ("Je", "courons", -7.0),
        ("course", "</s>", -1.0),
        ("courir", "</s>", -1.0),
        ("cours", "</s>", -1.0),
        ("courons", "</s>", -1.0),
    ];
    let words = [
        ("Je", -1.8),
        ("course", -2.0),
        ("courir", -2.5),
        ("cours", -3.0),
        ("courons", -3.5),
        ("</s>", -2.0),
    ];
    let lm = bigram(&pairs, &words, &mut vocab, &forest);
    let pieces = BoundaryWords::new(&lm);
    let search = Undirected::search(&forest, &pieces, 1, -1.5);
    let expected = [(-4.0, i, false), (-4.0, sentence, true), (-4.2, run, false), (-4.2, sentence, false)];
    assert_eq!(search.trace.len(), expected.len());
    for (found, expected) in search.trace.iter().zip(expected) {
        assert!(close(found.0, expected.0) && (found.1, found.2) == (expected.1, expected.2), "{found:?}");
    }
    let best = search.best().unwrap();
    assert!(close(best.score, -4.4));
    assert_eq!(vocab.join(&best.words(&forest)), "Je cours");
    assert!(close(rescore(&forest, &lm, &best.derivation), best.score));
}

#[test]
fn undirected_search_without_a_beam_equals_brute_force() {
    random_problems(31, cases(300, 20_000), |problem, shown, rng: &mut Rng| {
        let forest = &problem.forest;
        let lm = HashLm::new(forest, 1 + rng.below(3), rng.next_u64(), 1.0);
        let expected = brute_force(forest, &lm, LIMIT);
        let pieces = BoundaryWords::new(&lm);
        if expected.as_ref().is_some_and(|_| forest.edge_ids().len() > 60) {
            return;
        }
        let found = Undirected::search(forest, &pieces, usize::MAX, -rng.unit()).best();
        assert_eq!(found.is_some(), expected.is_some(), "{shown}");
        // With a beam of one there is an answer as well, and its score is a true one.
        let narrow = Undirected::search(forest, &pieces, 1, -1.0).best();
        assert_eq!(narrow.is_some(), expected.is_some(), "{shown}");
        let (Some(found), Some(narrow), Some(expected)) = (found, narrow, expected) else { return };
        assert!(close(found.score, expected.score), "{} {} {shown}", found.score, expected.score);
        for outcome in [found, narrow] {
            assert!(close(rescore(forest, &lm, &outcome.derivation), outcome.score), "{shown}");
        }
    });
}
