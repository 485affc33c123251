//! Beam search that merges states (Huang & Sagae 2010, "Dynamic programming for linear-time incremental parsing").
//!
//! Two states of a step with the same next word and the same topmost items, as deep as features look, have the same
//! future: the same actions with the same scores. They become one state with several states *below* (its
//! predecessors), and a beam of a few such states stands for exponentially many.
//!
//! | paper | here |
//! |---|---|
//! | prefix cost c | `State::score`: the best way from the start to this state |
//! | inside cost v | `Merged::inside`: the score of building the item on top, its shift excluded |
//! | predictor states π | `Merged::below` |
//! | shift cost ξ | `Merged::shift` |
//!
//! Joining state q with a predecessor p gives the prefix `c(p) + ξ(p) + v(q) + λ` and the inside
//! `v(p) + ξ(p) + v(q) + λ`, with the predecessors of p, where λ is the score of the join in q.

use sylvan_base::HashMap;
use sylvan_base::hash::fold;

use super::beam::Weights;
use super::system::{Effect, MAX_ACTIONS, State, System, View, initial};

/// What a merged state has beyond a plain one.
#[derive(Debug, Clone, Default)]
struct Merged {
    inside: i32,
    /// The score of shifting here.
    shift: i32,
    below: Vec<u32>,
    /// How many ways there are to build the item on top.
    ways: f64,
    /// How the item on top was built: by a shift, by a change of the item of the first state, or by a join of the
    /// items of both.
    built: Option<(u32, Option<u32>)>,
}

/// The memory of a search with merging, used again for each sentence.
pub(crate) struct MergingSearch<I> {
    states: Vec<State<I>>,
    merged: Vec<Merged>,
    beam: Vec<u32>,
    keys: Vec<u64>,
    scores: Box<[i32; MAX_ACTIONS]>,
}

/// A state that may become one of the next step.
struct Candidate<I> {
    state: State<I>,
    merged: Merged,
    signature: u64,
}

/// The result of a search with merging.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) actions: Vec<u8>,
    pub(crate) score: i32,
    /// States that were made, merged ones counted once.
    pub(crate) states: usize,
    /// Whole sequences of actions that the search stands for.
    pub(crate) derivations: f64,
}

impl<I: Copy + Default> MergingSearch<I> {
    pub(crate) fn new() -> Self {
        Self {
            states: Vec::new(),
            merged: Vec::new(),
            beam: Vec::new(),
            keys: Vec::new(),
            scores: Box::new([0; MAX_ACTIONS]),
        }
    }

    /// The best actions for a sentence of at least one word.
    pub(crate) fn run<S, W>(&mut self, system: &S, weights: &W, sentence: &S::Sentence, beam: usize) -> Found
    where
        S: System<Item = I>,
        W: Weights,
    {
        self.states.clear();
        self.states.push(initial());
        self.merged.clear();
        self.merged.push(Merged::default());
        self.beam = vec![0];
        for step in 0..system.steps(sentence) {
            let mut candidates = Vec::new();
            for &at in &self.beam.clone() {
                self.expand(system, weights, sentence, step, at, &mut candidates);
            }
            self.keep(candidates, beam.max(1));
        }
        let best = self.beam[0];
        Found {
            actions: self.actions(best),
            score: self.states[best as usize].score,
            states: self.states.len() - 1,
            derivations: self.derivations(),
        }
    }

    fn expand<S, W>(
        &mut self,
        system: &S,
        weights: &W,
        sentence: &S::Sentence,
        step: usize,
        at: u32,
        candidates: &mut Vec<Candidate<I>>,
    ) where
        S: System<Item = I>,
        W: Weights,
    {
        let view = View { states: &self.states, at, step };
        self.scores[..system.actions()].fill(0);
        self.keys.clear();
        system.shared_keys(sentence, step, &mut self.keys);
        system.keys(sentence, view, &mut self.keys);
        weights.add(&self.keys, &mut self.scores);
        let legal = system.legal(sentence, view);
        let state = *view.state();
        for action in legal.iter() {
            let score = self.scores[action as usize];
            match system.apply(sentence, View { states: &self.states, at, step }, action) {
                Effect::Push(item) => {
                    self.merged[at as usize].shift = score;
                    let state = State {
                        item,
                        below: at,
                        previous: at,
                        next: state.next + 1,
                        score: state.score + score,
                        action,
                    };
                    let merged = Merged { inside: 0, shift: 0, below: vec![at], ways: 1.0, built: None };
                    candidates.push(self.candidate(system, state, merged));
                }
                Effect::Change(item) => {
                    let old = &self.merged[at as usize];
                    let merged = Merged {
                        inside: old.inside + score,
                        shift: 0,
                        below: old.below.clone(),
                        ways: old.ways,
                        built: Some((at, None)),
                    };
                    let state = State {
                        item,
                        below: state.below,
                        previous: at,
                        score: state.score + score,
                        action,
                        ..state
                    };
                    candidates.push(self.candidate(system, state, merged));
                }
                Effect::Join(_) => {
                    for p in self.merged[at as usize].below.clone() {
                        // To features all predecessors are alike, but what is built of them is not.
                        self.states[at as usize].below = p;
                        let view = View { states: &self.states, at, step };
                        let Effect::Join(item) = system.apply(sentence, view, action) else { continue };
                        let (left, right) = (&self.merged[p as usize], &self.merged[at as usize]);
                        let gain = left.shift + right.inside + score;
                        let merged = Merged {
                            inside: left.inside + gain,
                            shift: 0,
                            below: left.below.clone(),
                            ways: left.ways * right.ways,
                            built: Some((p, Some(at))),
                        };
                        let before = &self.states[p as usize];
                        let state = State {
                            item,
                            below: before.below,
                            previous: at,
                            next: state.next,
                            score: before.score + gain,
                            action,
                        };
                        candidates.push(self.candidate(system, state, merged));
                    }
                    self.states[at as usize].below = state.below;
                }
            }
        }
    }

    fn candidate<S: System<Item = I>>(&self, system: &S, state: State<I>, merged: Merged) -> Candidate<I> {
        let mut signature = fold(u64::from(state.next), system.digest(&state.item, 0));
        let mut at = state.below;
        for under in 1..system.depth() {
            let below = &self.states[at as usize];
            // The bottom of the stack must differ from an item that looks like nothing.
            signature = fold(fold(signature, system.digest(&below.item, under)), u64::from(at == 0));
            at = below.below;
        }
        Candidate { state, merged, signature }
    }

    /// Merges candidates and keeps the best.
    fn keep(&mut self, candidates: Vec<Candidate<I>>, beam: usize) {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        // By prefix, then inside; then as they came.
        order.sort_by_key(|&at| {
            let candidate = &candidates[at];
            (std::cmp::Reverse(candidate.state.score), std::cmp::Reverse(candidate.merged.inside), at)
        });
        let mut known: HashMap<u64, u32> = HashMap::default();
        self.beam.clear();
        let mut slots: Vec<Option<Candidate<I>>> = candidates.into_iter().map(Some).collect();
        for at in order {
            let Some(candidate) = slots[at].take() else { continue };
            match known.get(&candidate.signature) {
                Some(&index) => {
                    let merged = &mut self.merged[index as usize];
                    // A different predecessor alone is not a different way of building the item.
                    if candidate.merged.built.is_some() {
                        merged.ways += candidate.merged.ways;
                    }
                    for p in candidate.merged.below {
                        if !merged.below.contains(&p) {
                            merged.below.push(p);
                        }
                    }
                }
                None if self.beam.len() < beam => {
                    let index = self.states.len() as u32;
                    known.insert(candidate.signature, index);
                    self.states.push(candidate.state);
                    self.merged.push(candidate.merged);
                    self.beam.push(index);
                }
                None => {}
            }
        }
    }

    /// The actions of the best way to a state.
    fn actions(&self, at: u32) -> Vec<u8> {
        enum Task {
            /// How the item on top of a state was built.
            Inside(u32),
            Action(u8),
        }
        // From the last item to the first: which state it lies on, by the best predecessor.
        let mut chain = Vec::new();
        let mut at = at;
        while at != 0 {
            chain.push(at);
            let below = &self.merged[at as usize].below;
            let prefix = |&p: &u32| self.states[p as usize].score + self.merged[p as usize].shift;
            at = below.iter().copied().max_by_key(|p| (prefix(p), std::cmp::Reverse(*p))).unwrap_or(0);
        }
        let mut actions = Vec::new();
        let mut tasks: Vec<Task> = chain.iter().map(|&state| Task::Inside(state)).collect();
        while let Some(task) = tasks.pop() {
            let state = match task {
                Task::Action(action) => {
                    actions.push(action);
                    continue;
                }
                Task::Inside(state) => state,
            };
            tasks.push(Task::Action(self.states[state as usize].action));
            match self.merged[state as usize].built {
                None => {}
                Some((before, None)) => tasks.push(Task::Inside(before)),
                Some((left, Some(right))) => {
                    tasks.push(Task::Inside(right));
                    tasks.push(Task::Inside(left));
                }
            }
        }
        actions
    }

    /// How many ways lead to the states of the last step, whose stack is one item.
    fn derivations(&self) -> f64 {
        self.beam.iter().map(|&at| self.merged[at as usize].ways).sum()
    }
}
