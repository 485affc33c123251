//! Beam search over a transition system, and where a perceptron must learn from it.
//!
//! All states of a step have taken the same number of actions. From each, all legal actions are scored at once; the
//! best `beam` of all of them are the states of the next step. Ties go to the better state before, then to the
//! smaller action, so the result depends on nothing but weights and sentence.
//!
//! When the right actions are known, the search also follows them, in or out of the beam, and notes after each step
//! by how much the best wrong prefix beats the right one. The step where it is most is where to learn (max-violation,
//! Huang, Fayong & Guo 2012); the first step where the right prefix falls out of the beam is that of early update
//! (Collins & Roark 2004).

use super::system::{ActionSet, MAX_ACTIONS, State, System, View, advance, initial};

/// Where scores come from.
pub(crate) trait Weights: Sync {
    /// Adds the weights of all actions in the rows of these features.
    fn add(&self, keys: &[u64], scores: &mut [i32; MAX_ACTIONS]);
}

/// When a search that follows the right actions stops and where the update is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Update {
    /// At the first step where the right prefix is not in the beam.
    Early,
    /// At the step where the best prefix beats the right one by most, at most `horizon` steps after it fell
    /// out of the beam. Later steps rarely have more to teach and cost as much.
    MaxViolation {
        /// How many steps.
        horizon: usize,
    },
    /// At every step of a greedy search that takes a wrong action, with the system saying which ones are right
    /// ([`System::good`]). From the second pass on the search mostly goes where the wrong action leads, so that the
    /// parser learns to make the best of its errors (Goldberg & Nivre 2012).
    Local,
}

/// The memory of a search, used again for each sentence, and its result.
pub(crate) struct Search<I> {
    pub(crate) states: Vec<State<I>>,
    /// The states of the last step, best first.
    pub(crate) beam: Vec<u32>,
    wider: Vec<u32>,
    candidates: Vec<Candidate>,
    keys: Vec<u64>,
    scores: Box<[i32; MAX_ACTIONS]>,
    shared: Box<[i32; MAX_ACTIONS]>,
}

/// An action that may be taken from a state of the beam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    score: i32,
    rank: u32,
    action: u8,
}

impl Candidate {
    /// Smaller is better.
    #[inline]
    fn order(&self) -> (std::cmp::Reverse<i32>, u32, u8) {
        (std::cmp::Reverse(self.score), self.rank, self.action)
    }
}

/// Two states of the same step: the right one and a wrong one that scores at least as much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Violation {
    pub(crate) gold: u32,
    pub(crate) wrong: u32,
}

impl<I: Copy + Default> Search<I> {
    pub(crate) fn new() -> Self {
        Self {
            states: Vec::new(),
            beam: Vec::new(),
            wider: Vec::new(),
            candidates: Vec::new(),
            keys: Vec::new(),
            scores: Box::new([0; MAX_ACTIONS]),
            shared: Box::new([0; MAX_ACTIONS]),
        }
    }

    fn begin(&mut self) {
        self.states.clear();
        self.states.push(initial());
        self.beam.clear();
        self.beam.push(0);
    }

    /// Parses a sentence: `self.beam` are the final states, best first.
    pub(crate) fn run<S, W>(&mut self, system: &S, weights: &W, sentence: &S::Sentence, beam: usize)
    where
        S: System<Item = I>,
        W: Weights,
    {
        self.begin();
        for step in 0..system.steps(sentence) {
            self.step(system, weights, sentence, step, beam);
        }
    }

    /// Parses a sentence whose right actions are known, as far as needed to learn from it; `None` if the search
    /// finds the right ones.
    pub(crate) fn violation<S, W>(
        &mut self,
        system: &S,
        weights: &W,
        sentence: &S::Sentence,
        gold: &[u8],
        beam: usize,
        update: Update,
    ) -> Option<Violation>
    where
        S: System<Item = I>,
        W: Weights,
    {
        self.begin();
        let mut gold_at = 0;
        // Whether the right prefix was in the beam after every step so far, and for how many steps it was not.
        let mut inside = true;
        let mut outside = 0;
        let mut most: Option<(i32, Violation)> = None;
        for (step, &action) in gold.iter().enumerate() {
            self.step(system, weights, sentence, step, beam);
            let before = gold_at;
            gold_at = if inside { self.find(before, action) } else { None }.unwrap_or_else(|| {
                inside = false;
                // The shared scores of this step are still in place.
                self.score_state(system, weights, sentence, before, step);
                let score = self.states[before as usize].score + self.scores[action as usize];
                self.push(system, sentence, before, step, action, score)
            });
            let best = self.beam[0];
            if best != gold_at {
                let violation = Violation { gold: gold_at, wrong: best };
                let by = self.states[best as usize].score - self.states[gold_at as usize].score;
                if by >= 0 && most.is_none_or(|(most, _)| by > most) {
                    most = Some((by, violation));
                }
                if update == Update::Early && !inside {
                    return Some(violation);
                }
            }
            outside += usize::from(!inside);
            if matches!(update, Update::MaxViolation { horizon } if outside > horizon) {
                break;
            }
        }
        let right = inside && self.beam[0] == gold_at;
        if right {
            return None;
        }
        match update {
            Update::MaxViolation { .. } => most.map(|(_, violation)| violation),
            // The right one is in the beam, but not on top.
            Update::Early | Update::Local => Some(Violation { gold: gold_at, wrong: self.beam[0] }),
        }
    }

    /// The state of the beam that followed `before` by `action`.
    fn find(&self, before: u32, action: u8) -> Option<u32> {
        self.beam.iter().copied().find(|&at| {
            let state = &self.states[at as usize];
            state.previous == before && state.action == action
        })
    }

    fn share<S, W>(&mut self, system: &S, weights: &W, sentence: &S::Sentence, step: usize)
    where
        S: System<Item = I>,
        W: Weights,
    {
        self.keys.clear();
        system.shared_keys(sentence, step, &mut self.keys);
        self.shared[..system.actions()].fill(0);
        if !self.keys.is_empty() {
            weights.add(&self.keys, &mut self.shared);
        }
    }

    /// Fills `self.scores` for a state. The shared scores of its step must be there.
    fn score_state<S, W>(&mut self, system: &S, weights: &W, sentence: &S::Sentence, at: u32, step: usize)
    where
        S: System<Item = I>,
        W: Weights,
    {
        let actions = system.actions();
        self.scores[..actions].copy_from_slice(&self.shared[..actions]);
        self.keys.clear();
        system.keys(sentence, View { states: &self.states, at, step }, &mut self.keys);
        weights.add(&self.keys, &mut self.scores);
    }

    fn push<S>(
        &mut self,
        system: &S,
        sentence: &S::Sentence,
        at: u32,
        step: usize,
        action: u8,
        score: i32,
    ) -> u32
    where
        S: System<Item = I>,
    {
        let state = advance(system, sentence, View { states: &self.states, at, step }, action, score);
        let index = self.states.len() as u32;
        self.states.push(state);
        index
    }

    /// Takes one step with all states of the beam.
    fn step<S, W>(&mut self, system: &S, weights: &W, sentence: &S::Sentence, step: usize, beam: usize)
    where
        S: System<Item = I>,
        W: Weights,
    {
        let beam = beam.max(1);
        self.share(system, weights, sentence, step);
        self.candidates.clear();
        // Once there are enough candidates, those below the worst that can survive are not even kept.
        let mut least = i32::MIN;
        for rank in 0..self.beam.len() {
            let at = self.beam[rank];
            let legal = system.legal(sentence, View { states: &self.states, at, step });
            self.score_state(system, weights, sentence, at, step);
            let score = self.states[at as usize].score;
            for action in legal.iter() {
                let score = score + self.scores[action as usize];
                // Later candidates lose ties, so an equal score is not enough.
                if score > least {
                    self.candidates.push(Candidate { score, rank: rank as u32, action });
                }
            }
            if self.candidates.len() >= 2 * beam {
                self.candidates.select_nth_unstable_by_key(beam - 1, Candidate::order);
                self.candidates.truncate(beam);
                least = self.candidates[beam - 1].score;
            }
        }
        self.candidates.sort_unstable_by_key(Candidate::order);
        self.candidates.truncate(beam);
        std::mem::swap(&mut self.beam, &mut self.wider);
        self.beam.clear();
        for index in 0..self.candidates.len() {
            let Candidate { score, rank, action } = self.candidates[index];
            let from = self.wider[rank as usize];
            let state = self.push(system, sentence, from, step, action, score);
            self.beam.push(state);
        }
    }

    /// The actions that led to a state.
    pub(crate) fn actions(&self, at: u32) -> Vec<u8> {
        let mut actions = Vec::new();
        let mut at = at;
        while at != 0 {
            let state = &self.states[at as usize];
            actions.push(state.action);
            at = state.previous;
        }
        actions.reverse();
        actions
    }

    /// The changes that make the right prefix score more against the wrong one: for each feature key and action
    /// on the right way +1, on the wrong way -1. What both share is left out.
    pub(crate) fn changes<S>(
        &mut self,
        system: &S,
        sentence: &S::Sentence,
        violation: Violation,
        out: &mut Vec<(u64, u8, i8)>,
    ) where
        S: System<Item = I>,
    {
        let (gold, wrong) = (self.chain(violation.gold), self.chain(violation.wrong));
        let first = gold.iter().zip(&wrong).take_while(|(gold, wrong)| gold.1 == wrong.1).count();
        for (chain, delta) in [(gold, 1), (wrong, -1)] {
            for (step, &(before, action)) in chain.iter().enumerate().skip(first) {
                self.change(system, sentence, before, step, &[(action, delta)], out);
            }
        }
    }

    /// The changes of some actions' weights in the rows of a state's features.
    fn change<S>(
        &mut self,
        system: &S,
        sentence: &S::Sentence,
        at: u32,
        step: usize,
        actions: &[(u8, i8)],
        out: &mut Vec<(u64, u8, i8)>,
    ) where
        S: System<Item = I>,
    {
        self.keys.clear();
        system.keys(sentence, View { states: &self.states, at, step }, &mut self.keys);
        let own = self.keys.len();
        system.shared_keys(sentence, step, &mut self.keys);
        for (index, &key) in self.keys.iter().enumerate() {
            let applying =
                actions.iter().filter(|&&(action, _)| index >= own || system.applies(index, action));
            out.extend(applying.map(|&(action, delta)| (key, action, delta)));
        }
    }

    /// Parses a sentence greedily and asks for a change wherever the best action is not among the good ones. After a
    /// wrong action the search goes on with it if `explore` says so, otherwise with the best of the good ones.
    pub(crate) fn local<S, W>(
        &mut self,
        system: &S,
        weights: &W,
        sentence: &S::Sentence,
        mut explore: impl FnMut() -> bool,
        out: &mut Vec<(u64, u8, i8)>,
    ) where
        S: System<Item = I>,
        W: Weights,
    {
        self.begin();
        let mut at = 0;
        for step in 0..system.steps(sentence) {
            self.share(system, weights, sentence, step);
            self.score_state(system, weights, sentence, at, step);
            let view = View { states: &self.states, at, step };
            let (legal, good) = (system.legal(sentence, view), system.good(sentence, view));
            let best =
                |set: &ActionSet| set.iter().max_by_key(|&action| (self.scores[action as usize], !action));
            let (Some(found), Some(right)) = (best(&legal), best(&good)) else { return };
            let mut action = found;
            if !good.contains(found) {
                self.change(system, sentence, at, step, &[(right, 1), (found, -1)], out);
                if !explore() {
                    action = right;
                }
            }
            at = self.push(system, sentence, at, step, action, 0);
        }
    }

    /// The states before each action on the way to `at`, and the actions.
    fn chain(&self, at: u32) -> Vec<(u32, u8)> {
        let mut chain = Vec::new();
        let mut at = at;
        while at != 0 {
            let state = &self.states[at as usize];
            chain.push((state.previous, state.action));
            at = state.previous;
        }
        chain.reverse();
        chain
    }
}
