//! A structured language model: shift-reduce dependency parsing with toy weights (Yu et al. 2014).

use sylvan_forest::TokenId;
use sylvan_search::{
    Beam, Derivations, Engine, Incremental, Limits, Move, Prediction, Progress, Run, Search, StepModel,
    StepModels, StepState, Ways, incremental_search, prediction_search, replay, rescore,
};

use crate::common::{Problem, TableLm, assert_close, toy_b_of, toy_b_plus};

/// A partial parse: the head's tag, and the tree as text.
type Parse = (&'static str, String);
/// Partial parses, newest last, and the number of reductions.
type Stack = (Vec<Parse>, u32);

/// Weights on the tags of the two topmost trees.
struct Parser<'p> {
    problem: &'p Problem,
    /// By state.
    states: Vec<Stack>,
}

impl<'p> Parser<'p> {
    fn new(problem: &'p Problem) -> Self {
        Self { problem, states: vec![(Vec::new(), 0)] }
    }

    fn shift(&self, token: TokenId) -> Parse {
        let text = self.problem.vocab.text(self.problem.forest.token(token).word);
        let tag = match text {
            "Bush" | "Sharon" => "NNP",
            "held" => "VBD",
            "a" => "DT",
            "meeting" => "NN",
            "talks" => "NNS",
            _ => "IN",
        };
        (tag, text.to_string())
    }

    /// Left and right reduction of the two topmost trees: the weight, and the tree that they become.
    fn reductions(first: &Parse, second: &Parse) -> [(f64, Parse); 2] {
        let (s0, s1) = (first.0, second.0);
        let left = match (s0, s1) {
            ("VBD", "NNP") | ("NN", "DT") => 1.0,
            ("NNP", "VBD") => -0.5,
            _ => 0.0,
        };
        let right = match (s0, s1) {
            ("NN", "VBD") => 0.8,
            ("IN", "VBD") => 0.3,
            ("IN", "NN") => 0.2,
            ("NNP", "IN") => 0.9,
            ("NNP", "VBD") => -0.2,
            _ => 0.0,
        };
        let under_first = (s0, format!("{}<{}", second.1, first.1));
        let under_second = (s1, format!("({}>{})", second.1, first.1));
        [(left, under_first), (right, under_second)]
    }

    fn intern(&mut self, state: Stack) -> StepState {
        let place = self.states.iter().position(|known| *known == state).unwrap_or_else(|| {
            self.states.push(state);
            self.states.len() - 1
        });
        StepState(place as u32)
    }

    /// All stacks after some words.
    fn after(&self, state: StepState, words: &[TokenId]) -> Vec<(f64, Stack)> {
        let mut states = vec![(0.0, self.states[state.0 as usize].clone())];
        for &word in words {
            let shifted = states.into_iter().flat_map(|(score, (mut stack, count))| {
                stack.push(self.shift(word));
                Self::reduced((stack, count), score)
            });
            states = shifted.collect();
        }
        states
    }

    /// All stacks after any number of reductions.
    fn reduced(start: Stack, score: f64) -> Vec<(f64, Stack)> {
        let mut all = vec![(score, start)];
        let mut next = 0;
        while next < all.len() {
            let (score, (stack, count)) = all[next].clone();
            next += 1;
            if let [rest @ .., s1, s0] = stack.as_slice() {
                for (weight, head) in Self::reductions(s0, s1) {
                    let mut stack = rest.to_vec();
                    stack.push(head);
                    all.push((score + weight, (stack, count + 1)));
                }
            }
        }
        all
    }

    /// The best parse of a whole sentence, over all sequences of actions.
    fn best(&self, words: &[TokenId]) -> f64 {
        let states = self.after(StepState(0), words);
        let complete = states.iter().filter(|(_, (stack, _))| stack.len() <= 1);
        complete.map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl StepModel for Parser<'_> {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        for (score, stack) in self.after(state, step.words) {
            let state = self.intern(stack);
            next.push((score, state));
        }
    }
    fn finish(&mut self, state: StepState) -> f64 {
        let stack = self.states[state.0 as usize].clone();
        let done = Self::reduced(stack, 0.0).into_iter().filter(|(_, (stack, _))| stack.len() <= 1);
        done.map(|(score, _)| score).fold(f64::NEG_INFINITY, f64::max)
    }
    /// The number of reductions so far.
    fn group(&self, state: StepState) -> u32 {
        self.states[state.0 as usize].1
    }
    /// One feature with weight 1: the sum of the actions' weights.
    fn features(&self) -> usize {
        1
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        values[0] += match to {
            None => self.finish(from),
            Some(to) => {
                let same = self.after(from, step.words);
                let same = same.into_iter().filter(|(_, stack)| *stack == self.states[to.0 as usize]);
                same.map(|(score, _)| score).fold(f64::NEG_INFINITY, f64::max)
            }
        };
    }
}

/// Half a point for each letter.
struct Letters<'p>(&'p Problem);

impl Letters<'_> {
    fn count(&self, words: &[TokenId]) -> f64 {
        let text = |token: &TokenId| self.0.vocab.text(self.0.forest.token(*token).word).len();
        words.iter().map(text).sum::<usize>() as f64
    }
}

impl StepModel for Letters<'_> {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        next.push((0.5 * self.count(step.words), state));
    }
    fn finish(&mut self, _state: StepState) -> f64 {
        0.0
    }
    fn features(&self) -> usize {
        1
    }
    fn values(&mut self, _from: StepState, step: &Move<'_>, _to: Option<StepState>, values: &mut [f64]) {
        values[0] += self.count(step.words);
    }
}

/// Searches with the parser and checks that what comes back replays to its score.
fn with_parser(problem: &Problem, lm: &TableLm, search: Search) -> (f64, String) {
    let mut parser = Parser::new(problem);
    let run = Run { steps: Some(&mut parser), ..Run::new(lm) };
    let forest = &problem.forest;
    let found = match search {
        Search::Incremental(limits, config) => {
            incremental_search(&mut Engine::default(), forest, run, limits, config, None)
        }
        Search::Prediction(limits, config) => {
            prediction_search(&mut Engine::default(), forest, run, limits, config, None)
        }
        _ => panic!("left to right only"),
    };
    let found = found.unwrap();
    let (score, values) =
        replay(&mut Parser::new(problem), forest, &found.derivation, &mut |_, _| {}).unwrap();
    assert_close(score, values[0]);
    if search.beam() == Beam::UNLIMITED {
        assert_close(rescore(forest, lm, &found.derivation) + score, found.score);
    }
    (found.score, problem.text(&found.derivation))
}

fn top_down(limits: Limits) -> Search {
    Search::Incremental(limits, Incremental { progress: Progress::AllNodes, ..Incremental::default() })
}

#[test]
fn yu_2014_a_structured_language_model_changes_the_best_translation() {
    let (problem, lm) = toy_b_plus();
    let parser = Parser::new(&problem);
    let all = Derivations::of(&problem.forest);
    let total = |index| {
        let derivation = all.get(index);
        rescore(&problem.forest, &lm, &derivation) + parser.best(&derivation.tokens(&problem.forest))
    };
    let best = (0..all.count()).map(total).fold(f64::NEG_INFINITY, f64::max);
    assert_close(best, -2.0);
    let unlimited = Limits::beam(Beam::UNLIMITED);
    let (score, text) = with_parser(&problem, &lm, top_down(unlimited));
    assert_close(score, best);
    assert_eq!(text, "Bush held a meeting with Sharon");
    let grouped = Limits { ways: Ways::Groups(usize::MAX), ..unlimited };
    assert_close(with_parser(&problem, &lm, top_down(grouped)).0, best);
    let prediction = Search::Prediction(unlimited, Prediction::default());
    assert_close(with_parser(&problem, &lm, prediction).0, best);
    // Models side by side: the parser, and one that wants long words.
    let mut two = StepModels::new(vec![Box::new(Parser::new(&problem)), Box::new(Letters(&problem))]);
    let run = Run { steps: two.for_search(), ..Run::new(&lm) };
    let config = Incremental::default();
    let found =
        incremental_search(&mut Engine::default(), &problem.forest, run, unlimited, config, None).unwrap();
    let with_letters = |index| {
        let derivation = all.get(index);
        total(index) + 0.5 * Letters(&problem).count(&derivation.tokens(&problem.forest))
    };
    let best = (0..all.count()).map(with_letters).fold(f64::NEG_INFINITY, f64::max);
    assert_close(found.score, best);
    let (score, values) = replay(&mut two, &problem.forest, &found.derivation, &mut |_, _| {}).unwrap();
    assert_close(values[0] + 0.5 * values[1], score);
    assert_close(values[1], Letters(&problem).count(&found.derivation.tokens(&problem.forest)));
    assert_close(rescore(&problem.forest, &lm, &found.derivation) + score, found.score);
    // No models at all are none.
    assert!(StepModels::default().for_search().is_none());
}

#[test]
fn yu_2014_figure_4_grouping_keeps_what_naive_search_loses() {
    // The one derivation of the paper's figure 3.
    let (problem, lm) = toy_b_of(&["r1", "r2", "r3", "s5", "r5"]);
    let run = |beam, ways| with_parser(&problem, &lm, top_down(Limits { ways, ..Limits::beam(Beam(beam)) })).0;
    assert_close(run(2, Ways::Groups(5)), -2.1);
    assert_close(run(1, Ways::Groups(1)), -3.2);
    assert_close(run(2, Ways::All), -3.2);
    assert_close(run(usize::MAX, Ways::All), -2.1);
}
