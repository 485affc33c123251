//! A structured language model as a step model of left-to-right search (Yu, Mi, Huang & Liu 2014).
//!
//! A state is a set of partial parses of the words so far, each with what it scores less than the best. Ways to use the
//! model differ in how many there are and in what they compete with:
//!
//! | way | parses of a state | are dropped |
//! |---|---|---|
//! | best-parse | one | with each step, by the parser alone |
//! | packed | several | with each word, by the parser alone |
//! | naive | several of each number of reductions | in the bin, where all compete |
//! | grouping | the same | in the bin, where those with as many reductions compete |
//!
//! States, and what words make of them, are remembered for the sentence: hypotheses that differ in their rules alone, or
//! in words whose trees are closed, ask for the same.

use std::ops::DerefMut;

use sylvan_base::{HashMap, Id};
use sylvan_forest::TokenId;
use sylvan_parse::structured::{Actions, Keep, Parses, Partial, StackId, WordNumber};
use sylvan_search::{Limits, Move, Part, StepModel, StepState, Ways};

use super::states::{Kept, States};

/// What keeps items with states of a structured language model apart, and how many parses there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsing {
    /// What becomes of several parses.
    pub ways: Ways,
    /// How many are kept: of each number of reductions, or packed into a state.
    pub parses: usize,
    /// Whether parses are compared by their scores alone, as in the paper, and not by what they still owe.
    pub is_plain: bool,
}

impl From<Limits> for Parsing {
    fn from(limits: Limits) -> Self {
        Self { ways: limits.ways, parses: limits.parses, is_plain: limits.plain_parses }
    }
}

/// Where parses compete in bins, so many times those of one number of reductions are kept in all.
const DEPTH: usize = 16;

/// The model over the tokens of one sentence. Its parses may be lent by others that look at the same sentence.
#[derive(Debug)]
pub struct Structured<P> {
    parses: P,
    parsing: Parsing,
    weight: f64,
    /// By token: the ways to read it.
    words: Vec<Vec<(WordNumber, f64)>>,
    /// By token: what is counted elsewhere; empty if nothing is.
    expected: Vec<f64>,
    states: States,
    /// What words make of a state.
    known: HashMap<(StepState, u32), Option<(f64, StepState)>>,
    sequences: HashMap<Box<[TokenId]>, u32>,
    ends: HashMap<StepState, f64>,
    /// Parses before and after a word.
    partials: [Vec<Partial>; 2],
}

impl<A: Actions, P: DerefMut<Target = Parses<A>>> Structured<P> {
    /// A model over a sentence's tokens, given by the ways to read each.
    pub fn new<'t>(
        mut parses: P,
        tokens: impl Iterator<Item = &'t [(A::Word, f64)]>,
        weight: f64,
        parsing: Parsing,
    ) -> Self
    where
        A::Word: 't,
    {
        let words =
            tokens.map(|ways| ways.iter().map(|&(word, score)| (parses.stacks.word(word), score)).collect());
        let words = words.collect();
        // A negative weight would turn the best parses into the worst: the parser chooses, and what it chose counts.
        let ways = match parsing.ways {
            Ways::All | Ways::Groups(_) if weight < 0.0 => Ways::Best,
            ways => ways,
        };
        Self {
            parses,
            parsing: Parsing { ways, ..parsing },
            weight,
            words,
            expected: Vec::new(),
            states: States::default(),
            known: HashMap::default(),
            sequences: HashMap::default(),
            ends: HashMap::default(),
            partials: Default::default(),
        }
    }

    /// Leaves out what each token is expected to add, and returns it, weighted: a search that counts it with its language
    /// model can compare items of which the model has not been asked yet, and knows what words to come will cost.
    pub fn leave_out_expected(&mut self) -> Vec<f64> {
        let actions = self.parses.stacks.actions();
        let expected = self.words.iter().map(|ways| {
            let ways =
                ways.iter().map(|&(word, score)| score + actions.expected(self.parses.stacks.word_of(word)));
            ways.reduce(f64::max).unwrap_or(0.0) * self.weight
        });
        self.expected = expected.collect();
        self.expected.clone()
    }

    /// The parses of a state, to go on with.
    fn load(&mut self, state: StepState) {
        let (parses, _) = self.states.get(state);
        let partials = parses.iter().map(|&(stack, score)| Partial::new(stack, f64::from_bits(score)));
        self.partials[0].clear();
        self.partials[0].extend(partials);
    }

    fn keep(&self) -> Keep {
        match self.parsing.ways {
            Ways::Packed => Keep::in_all(self.parsing.parses),
            // Deep stacks are rare, and time must not grow with their depth.
            _ => {
                let of_each_size = self.parsing.parses;
                Keep { of_each_size, in_all: of_each_size.saturating_mul(DEPTH) }
            }
        }
    }

    /// What words make of a state: the score without weight, and the state.
    fn advanced(&mut self, state: StepState, words: &[TokenId]) -> Option<(f64, StepState)> {
        self.load(state);
        let keep = self.keep();
        for &word in words {
            let [from, to] = &mut self.partials;
            self.parses.advance(from, &self.words[word.index()], keep, to);
            self.partials.swap(0, 1);
        }
        let partials = &mut self.partials[0];
        partials.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.stack.cmp(&b.stack)));
        if matches!(self.parsing.ways, Ways::Best | Ways::Later) {
            partials.truncate(1);
        }
        let best = partials.first()?.score;
        let parses = partials.iter().map(|partial| (partial.stack, (partial.score - best).to_bits()));
        let count = match self.parsing.ways {
            Ways::Groups(_) => self.states.get(state).1 + words.len() as u32,
            _ => 0,
        };
        Some((best, self.states.intern(parses, count)))
    }

    /// The score of ending in a state, without weight.
    fn ended(&mut self, state: StepState) -> f64 {
        if let Some(&known) = self.ends.get(&state) {
            return known;
        }
        self.load(state);
        let found = self.parses.finish(&self.partials[0], self.parsing.parses);
        let end = found.map_or(f64::NEG_INFINITY, |best| best.score);
        self.ends.insert(state, end);
        end
    }

    /// Weighted, without what is counted elsewhere.
    fn weighted(&self, score: f64, words: &[TokenId]) -> f64 {
        let elsewhere = words.iter().filter_map(|word| self.expected.get(word.index()));
        self.weight * score - elsewhere.sum::<f64>()
    }
}

impl<A: Actions, P: DerefMut<Target = Parses<A>>> StepModel for Structured<P> {
    fn begin(&mut self) -> StepState {
        self.states.clear();
        self.known.clear();
        self.sequences.clear();
        self.ends.clear();
        self.states.intern(std::iter::once((StackId::EMPTY, 0)), 0)
    }

    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        if step.words.is_empty() {
            return next.push((0.0, state));
        }
        let sequence = match self.sequences.get(step.words) {
            Some(&known) => known,
            None => {
                let new = self.sequences.len() as u32;
                self.sequences.insert(step.words.into(), new);
                new
            }
        };
        let found = match self.known.get(&(state, sequence)) {
            Some(&known) => known,
            None => {
                let found = self.advanced(state, step.words);
                let found = found.map(|(score, to)| (self.weighted(score, step.words), to));
                self.known.insert((state, sequence), found);
                found
            }
        };
        next.extend(found);
    }

    fn finish(&mut self, state: StepState) -> f64 {
        self.weight * self.ended(state)
    }

    /// The parses; their groups are numbers of reductions.
    fn parts(&mut self, state: StepState, parts: &mut Vec<Part>) {
        let (parses, words) = self.states.get(state);
        parts.extend(parses.iter().map(|&(stack, score)| Part {
            key: u64::from(stack.0),
            score: self.weight * f64::from_bits(score),
            group: words.saturating_sub(self.parses.stacks.size(stack)),
        }));
    }

    fn restrict(&mut self, state: StepState, kept: &[bool]) -> (f64, StepState) {
        let (parses, words) = self.states.get(state);
        let kept = parses.iter().zip(kept).filter(|(_, kept)| **kept).map(|(&parse, _)| parse);
        let parses: Vec<Kept> = kept.collect();
        let best = parses.first().map_or(0.0, |&(_, score)| f64::from_bits(score));
        let relative = |(stack, score)| (stack, (f64::from_bits(score) - best).to_bits());
        (self.weight * best, self.states.intern(parses.into_iter().map(relative), words))
    }

    fn signature(&mut self, state: StepState) -> StepState {
        match self.parsing.ways {
            Ways::Best => StepState::ANY,
            // Sets are rarely equal, and what differs are mostly parses that will never be the best.
            Ways::Packed if self.parsing.parses < usize::MAX => StepState::ANY,
            _ => state,
        }
    }

    fn sees_words_only(&self) -> bool {
        true
    }

    /// One: the score of the parse.
    fn features(&self) -> usize {
        1
    }

    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        values[0] += match to {
            None => self.ended(from),
            Some(to) if step.words.is_empty() => {
                debug_assert_eq!(from, to, "without words nothing changes");
                0.0
            }
            Some(to) => {
                let way = self.advanced(from, step.words).filter(|way| way.1 == to);
                way.map_or(f64::NEG_INFINITY, |way| way.0)
            }
        };
    }
}
