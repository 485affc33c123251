//! The step model alone, on small problems.

use std::cell::Cell;

use sylvan_base::Rng;
use sylvan_base::hash::fold;
use sylvan_decode::{Parsing, Structured};
use sylvan_forest::{EdgeId, TokenId, TranslationForest};
use sylvan_parse::structured::{Actions, Parses};
use sylvan_search::{
    Beam, Completed, Derivations, Engine, Goals, Incremental, LanguageModel, Limits, Move, Part, Prediction,
    Progress, Run, StepModel, StepModels, StepState, Ways, incremental_search, prediction_search, replay,
    rescore,
};
use sylvan_testkit::cases;

use crate::common::{HashLm, Problem, assert_close, random_problems, toy_b_of, toy_b_plus};
use crate::toy::{Bush, Hashed, Toy, Weights, brute};

type Model<W> = Structured<Box<Parses<Toy<W>>>>;

fn model<W: Weights + Copy>(problem: &Problem, weights: W, weight: f64, parsing: Parsing) -> Model<W> {
    let actions = Toy(weights);
    let ways: Vec<_> = texts(problem)
        .map(|text| {
            let mut ways = Vec::new();
            actions.words(text, &mut ways);
            ways
        })
        .collect();
    Structured::new(Box::new(Parses::new(actions)), ways.iter().map(Vec::as_slice), weight, parsing)
}

fn texts(problem: &Problem) -> impl Iterator<Item = &str> {
    problem.forest.tokens().iter().map(|token| problem.vocab.text(token.word))
}

/// Top-down search with bins as the paper counts them.
fn top_down<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    steps: &mut dyn StepModel,
    limits: Limits,
) -> Option<Completed> {
    let config = Incremental { progress: Progress::AllNodes, ..Incremental::default() };
    let run = Run { steps: Some(steps), ..Run::new(lm) };
    incremental_search(&mut Engine::default(), forest, run, limits, config, None)
}

fn with_bush(problem: &Problem, lm: &impl LanguageModel, limits: Limits) -> (f64, String) {
    let mut steps = model(problem, Bush, 1.0, limits.into());
    let found = top_down(&problem.forest, lm, &mut steps, limits).unwrap();
    (found.score, problem.text(&found.derivation))
}

fn unlimited(ways: Ways) -> Limits {
    Limits { ways, parses: usize::MAX, ..Limits::beam(Beam::UNLIMITED) }
}

#[test]
fn yu_2014_figure_3_one_derivation_step_by_step() {
    let (problem, lm) = toy_b_of(&["r1", "r2", "r3", "s5", "r5"]);
    let limits = unlimited(Ways::Groups(usize::MAX));
    let mut steps = model(&problem, Bush, 1.0, limits.into());
    // The words that each step emits, and the best parse that has made so many reductions after it.
    let (mut score, mut state) = (0.0, steps.begin());
    let expected: [(&str, &[(u32, f64)]); 4] = [
        ("Bush", &[(0, 0.0)]),
        ("held", &[(0, 0.0), (1, 1.0)]),
        ("a meeting with", &[(0, 0.0), (1, 1.0), (2, 2.0), (3, 2.8), (4, 3.1)]),
        ("Sharon", &[(0, 0.0), (1, 1.0), (2, 2.0), (3, 2.9), (4, 3.7), (5, 4.0)]),
    ];
    let token = |text: &str| TokenId(texts(&problem).position(|known| known == text).unwrap() as u32);
    for (words, groups) in expected {
        let words: Vec<TokenId> = words.split(' ').map(token).collect();
        let mut ways = Vec::new();
        steps.advance(state, &Move { words: &words, edges: &[], open: &[] }, &mut ways);
        let [(gain, next)] = ways[..] else { panic!("one set of parses") };
        (score, state) = (score + gain, next);
        let mut parts = Vec::new();
        steps.parts(state, &mut parts);
        for &(reductions, best) in groups {
            let group = parts.iter().filter(|part| part.group == reductions);
            assert_close(group.map(|part| score + part.score).fold(f64::NEG_INFINITY, f64::max), best);
        }
    }
    assert_close(score + steps.finish(state), 4.0);
    let found = top_down(&problem.forest, &lm, &mut steps, limits).unwrap();
    assert_close(found.score, -2.1);
}

#[test]
fn yu_2014_figure_4_which_way_finds_what() {
    let (problem, lm) = toy_b_of(&["r1", "r2", "r3", "s5", "r5"]);
    let run = |beam, ways| {
        let limits = Limits { ways, parses: usize::MAX, ..Limits::beam(Beam(beam)) };
        with_bush(&problem, &lm, limits).0
    };
    let none = usize::MAX;
    assert_close(run(none, Ways::Groups(none)), -2.1);
    assert_close(run(2, Ways::Groups(5)), -2.1);
    assert_close(run(1, Ways::Groups(1)), -3.2);
    assert_close(run(2, Ways::All), -3.2);
    assert_close(run(none, Ways::All), -2.1);
    assert_close(run(none, Ways::Best), -3.2);
    // Parses that do not compete with each other need no room in the beam.
    assert_close(run(1, Ways::Packed), -2.1);
    let packed = |parses| {
        let limits = Limits { ways: Ways::Packed, parses, ..Limits::beam(Beam(1)) };
        with_bush(&problem, &lm, limits).0
    };
    assert_close(packed(1), -3.2);
}

#[test]
fn yu_2014_a_structured_language_model_changes_the_best_translation() {
    let (problem, lm) = toy_b_plus();
    let baseline = Run::new(&lm);
    let found = incremental_search(
        &mut Engine::default(),
        &problem.forest,
        baseline,
        Limits::beam(Beam::UNLIMITED),
        Incremental::default(),
        None,
    );
    let found = found.unwrap();
    assert_close(found.score, -5.9);
    assert_eq!(problem.text(&found.derivation), "Bush held talks with Sharon");
    for ways in [Ways::Groups(usize::MAX), Ways::All, Ways::Packed] {
        let (score, text) = with_bush(&problem, &lm, unlimited(ways));
        assert_close(score, -2.0);
        assert_eq!(text, "Bush held a meeting with Sharon");
    }
    let (score, text) = with_bush(&problem, &lm, unlimited(Ways::Best));
    assert_close(score, -3.1);
    assert_eq!(text, "Bush held a meeting with Sharon");
}

/// A language model that also counts what a step model expects of words.
struct Besides<'l>(&'l HashLm, Vec<f64>);

impl LanguageModel for Besides<'_> {
    type State = <HashLm as LanguageModel>::State;
    fn order(&self) -> usize {
        self.0.order()
    }
    fn begin(&self) -> Self::State {
        self.0.begin()
    }
    fn null(&self) -> Self::State {
        self.0.null()
    }
    fn score(&self, state: Self::State, word: TokenId) -> (f64, Self::State) {
        let (score, next) = self.0.score(state, word);
        (score + self.1[word.0 as usize], next)
    }
    fn end(&self, state: Self::State) -> f64 {
        self.0.end(state)
    }
}

/// Derivations that are few and short enough to go through with all their parses.
fn small_problems(seed: u64, count: usize, mut test: impl FnMut(&Problem, &Derivations<'_>, &mut Rng)) {
    let done = Cell::new(0);
    while done.get() < count {
        random_problems(seed + done.get() as u64, 50, |problem, _, rng| {
            let all = Derivations::of(&problem.forest);
            if all.count() == 0 || all.count() > 60 || done.get() == count {
                return;
            }
            let longest = (0..all.count()).map(|index| all.get(index).tokens(&problem.forest).len()).max();
            if longest.unwrap_or(0) <= 6 {
                done.set(done.get() + 1);
                test(problem, &all, rng);
            }
        });
    }
}

#[test]
fn every_way_is_exact_without_limits() {
    let (mut best_parse_lost, mut narrow, mut case) = (0, 0, 0);
    small_problems(31, cases(400, 20_000), |problem, all, rng| {
        case += 1;
        let weights = Hashed {
            delays: rng.chance(0.3),
            expects: rng.chance(0.5),
            tags: if rng.chance(0.2) { 2 } else { 1 },
            ..Hashed::new(case)
        };
        let lm = HashLm::new(&problem.forest, 2 + rng.below(2), case, 1.0);
        let weight = 0.5;
        let total = |index| {
            let derivation = all.get(index);
            let words: Vec<String> = derivation
                .tokens(&problem.forest)
                .iter()
                .map(|&token| problem.vocab.text(problem.forest.token(token).word).to_string())
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            rescore(&problem.forest, &lm, &derivation) + weight * brute(&Toy(weights), &words)
        };
        let exact = (0..all.count()).map(total).fold(f64::NEG_INFINITY, f64::max);
        let search = |limits: Limits, is_prediction: bool| {
            let mut steps = model(problem, weights, weight, limits.into());
            let lm = Besides(&lm, steps.leave_out_expected());
            let found = if is_prediction {
                let run = Run { steps: Some(&mut steps), ..Run::new(&lm) };
                let config = Prediction::default();
                prediction_search(&mut Engine::default(), &problem.forest, run, limits, config, None)
            } else {
                top_down(&problem.forest, &lm, &mut steps, limits)
            };
            found.map(|found| (found.score, found.derivation))
        };
        for ways in [Ways::All, Ways::Groups(usize::MAX), Ways::Packed] {
            for shortlist in [None, Some(usize::MAX)] {
                let goals = if rng.chance(0.2) { Goals::InBins } else { Goals::Free };
                for is_prediction in [false, true] {
                    let limits = Limits { shortlist, goals, ..unlimited(ways) };
                    let (score, derivation) = search(limits, is_prediction).unwrap();
                    assert_close(score, exact);
                    let mut again = model(problem, weights, weight, limits.into());
                    let (parsed, values) =
                        replay(&mut again, &problem.forest, &derivation, &mut |_, _| {}).unwrap();
                    assert_close(parsed, weight * values[0]);
                    assert_close(rescore(&problem.forest, &lm, &derivation) + parsed, exact);
                }
            }
        }
        let best_parse = search(unlimited(Ways::Best), false).unwrap().0;
        assert!(best_parse <= exact + 1e-9);
        best_parse_lost += usize::from(best_parse < exact - 1e-9);
        // Whatever the limits: what is found is possible.
        let ways = *rng.pick(&[Ways::All, Ways::Best, Ways::Packed, Ways::Groups(1), Ways::Groups(3)]);
        let limits = Limits {
            ways,
            parses: 1 + rng.below(3),
            shortlist: rng.chance(0.5).then(|| 1 + rng.below(3)),
            ..Limits::beam(Beam(1 + rng.below(3)))
        };
        for is_prediction in [false, true] {
            if let Some((score, _)) = search(limits, is_prediction) {
                assert!(score <= exact + 1e-9, "{limits:?}");
                narrow += usize::from(score < exact - 1e-9);
            }
        }
    });
    assert!(best_parse_lost > 0 && narrow > 0, "limits lose something now and then");
}

/// Groups of all items are one group, so that grouping is naive search.
struct OneGroup<M>(M);

impl<M: StepModel> StepModel for OneGroup<M> {
    fn begin(&mut self) -> StepState {
        self.0.begin()
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        self.0.advance(state, step, next);
    }
    fn finish(&mut self, state: StepState) -> f64 {
        self.0.finish(state)
    }
    fn parts(&mut self, state: StepState, parts: &mut Vec<Part>) {
        self.0.parts(state, parts);
        parts.iter_mut().for_each(|part| part.group = 7);
    }
    fn restrict(&mut self, state: StepState, kept: &[bool]) -> (f64, StepState) {
        self.0.restrict(state, kept)
    }
    fn features(&self) -> usize {
        1
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        self.0.values(from, step, to, values);
    }
}

#[test]
fn one_group_is_naive_search() {
    let mut case = 0;
    small_problems(32, cases(200, 5_000), |problem, _, rng| {
        case += 1;
        let lm = HashLm::new(&problem.forest, 2, case, 1.0);
        let beam = Limits { parses: usize::MAX, ..Limits::beam(Beam(1 + rng.below(5))) };
        let grouped = Limits { ways: Ways::Groups(1), ..beam };
        // States must be the same ones.
        let mut one = OneGroup(model(problem, Hashed::new(case), 0.5, grouped.into()));
        let mut naive = model(problem, Hashed::new(case), 0.5, grouped.into());
        let one = top_down(&problem.forest, &lm, &mut one, grouped).map(|found| found.score);
        let naive = top_down(&problem.forest, &lm, &mut naive, Limits { ways: Ways::All, ..beam });
        assert_eq!(one, naive.map(|found| found.score));
    });
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

/// Scores an edge by the one before it: a reordering model in small. Its state is the edge that was charged last.
struct Neighbours(u64);

impl Neighbours {
    fn score(&self, last: u32, edge: EdgeId) -> f64 {
        -((fold(fold(self.0, u64::from(last)), u64::from(edge.0)) % 1000) as f64) / 500.0
    }
}

impl StepModel for Neighbours {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        let mut values = [0.0];
        self.values(state, step, None, &mut values);
        next.push((values[0], step.edges.last().map_or(state, |edge| StepState(edge.0 + 1))));
    }
    fn finish(&mut self, state: StepState) -> f64 {
        -f64::from(state.0 % 3)
    }
    fn features(&self) -> usize {
        1
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, _to: Option<StepState>, values: &mut [f64]) {
        let mut last = from.0;
        for &edge in step.edges {
            values[0] += self.score(last, edge);
            last = edge.0 + 1;
        }
    }
}

/// The parser can wait; what looks at edges cannot, and both count.
#[test]
fn a_model_of_edges_beside_the_parser_is_asked_at_once() {
    let (mut case, mut narrow, mut changed) = (0, 0, 0);
    small_problems(33, cases(300, 10_000), |problem, all, rng| {
        case += 1;
        let lm = HashLm::new(&problem.forest, 2, case, 1.0);
        let both = |limits: Limits| {
            let parser = model(problem, Hashed::new(case), 0.5, limits.into());
            StepModels::new(vec![Box::new(Neighbours(case)), Box::new(parser)])
        };
        let total = |index| {
            let derivation = all.get(index);
            let mut steps = both(unlimited(Ways::Packed));
            let (said, _) = replay(&mut steps, &problem.forest, &derivation, &mut |_, _| {}).unwrap();
            rescore(&problem.forest, &lm, &derivation) + said
        };
        let exact = (0..all.count()).map(total).fold(f64::NEG_INFINITY, f64::max);
        for ways in [Ways::All, Ways::Groups(usize::MAX), Ways::Packed] {
            for shortlist in [None, Some(usize::MAX)] {
                let limits = Limits { shortlist, ..unlimited(ways) };
                let found = top_down(&problem.forest, &lm, &mut both(limits), limits).unwrap();
                assert_close(found.score, exact);
            }
        }
        let limits = Limits { shortlist: Some(1), ..Limits::beam(Beam(1 + rng.below(3))) };
        let late = top_down(&problem.forest, &lm, &mut both(limits), limits).map(|found| found.score);
        let at_once = Limits { shortlist: None, ..limits };
        let at_once = top_down(&problem.forest, &lm, &mut both(at_once), at_once).map(|found| found.score);
        assert!(late.is_none_or(|score| score <= exact + 1e-9));
        narrow += usize::from(late.is_some_and(|score| score < exact - 1e-9));
        changed += usize::from(late != at_once);
    });
    assert!(narrow > 10 && changed > 10, "{narrow} {changed}");
}

#[test]
fn step_models_add_up_side_by_side() {
    let (problem, lm) = toy_b_plus();
    let all = Derivations::of(&problem.forest);
    let texts = |tokens: &[TokenId]| -> Vec<String> {
        tokens.iter().map(|&token| problem.token_text(&[token])).collect()
    };
    let total = |index| {
        let derivation = all.get(index);
        let tokens = derivation.tokens(&problem.forest);
        let words = texts(&tokens);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let parse = brute(&Toy(Bush), &words);
        rescore(&problem.forest, &lm, &derivation) + parse + 0.5 * Letters(&problem).count(&tokens)
    };
    let best = (0..all.count()).map(total).fold(f64::NEG_INFINITY, f64::max);
    for ways in [Ways::All, Ways::Groups(usize::MAX), Ways::Packed] {
        let limits = unlimited(ways);
        let parser = model(&problem, Bush, 1.0, limits.into());
        let mut two = StepModels::new(vec![Box::new(parser), Box::new(Letters(&problem))]);
        let run = Run { steps: two.for_search(), ..Run::new(&lm) };
        let config = Incremental::default();
        let found =
            incremental_search(&mut Engine::default(), &problem.forest, run, limits, config, None).unwrap();
        assert_close(found.score, best);
        let (score, values) = replay(&mut two, &problem.forest, &found.derivation, &mut |_, _| {}).unwrap();
        assert_close(values[0] + 0.5 * values[1], score);
        assert_close(values[1], Letters(&problem).count(&found.derivation.tokens(&problem.forest)));
        assert_close(rescore(&problem.forest, &lm, &found.derivation) + score, found.score);
    }
    // No models at all are none.
    assert!(StepModels::default().for_search().is_none());
}
