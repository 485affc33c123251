//! What searches tell about their steps: traces as papers write them, the places still open when a derivation is
//! replayed, questions whether to stop, and how much is done between two looks at the clock.
#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use common::Problem;
use sylvan_base::{Span, Symbol, Vocab};
use sylvan_forest::{EdgeSpec, ForestBuilder, Layer, Part, RuleRef, TranslationForest};
use sylvan_search::{
    Beam, BoundaryWords, Engine, Incremental, Limits, Move, NoLanguageModel, Run, Search, StepModel,
    StepState, Stop, incremental_search, replay,
};

/// Two children that change places around a word; one of them has a child of its own.
fn swapped() -> Problem {
    let rules = [
        ("", "S(x1:A x2:B) -> x2 w x1", -1.0),
        ("", "A(x1:C a) -> p x1", -2.0),
        ("", "C(c) -> s", -16.0),
        ("", "B(b) -> q r", -4.0),
        ("", "B(b) -> ", -8.0),
    ];
    Problem::new("(S (A (C c) a) (B b))", &rules)
}

fn lines(search: &str, forest: &TranslationForest, vocab: &Vocab) -> Vec<String> {
    let search: Search = search.parse().unwrap();
    let items = search.trace(forest, Run::new(&BoundaryWords::new(&NoLanguageModel)), vocab);
    items.iter().map(|item| format!("{} {} {}", item.line(), item.kept, item.among)).collect()
}

#[test]
fn traces_are_written_as_papers_write_them() {
    let problem = swapped();
    let of = |search| lines(search, &problem.forest, &problem.vocab);
    let expected = [
        "0\t[. S]\t\t0.0000\t-23.0000 true 1",
        "1\t[. B w A]\t\t-1.0000\t-22.0000 true 1",
        "2\t[. A]\tq r w\t-5.0000\t-18.0000 true 1",
        "3\t[. C]\tq r w p\t-7.0000\t-16.0000 true 1",
        "4\t[. ]\tq r w p s\t-23.0000\t0.0000 true 1",
    ];
    assert_eq!(of("incremental:10"), expected);
    let expected = [
        "0.0\t[. S]\t0.0000\t-23.0000 true 1",
        "1.0\t[. S] [B .]\t-4.0000\t-19.0000 true 1",
        "1.1\t[. S] [B w .]\t-4.0000\t-19.0000 true 1",
        "2.0\t[. S] [B w . A] [p .]\t-4.0000\t-19.0000 true 1",
        "3.0\t[S .]\t-23.0000\t0.0000 true 1",
    ];
    assert_eq!(of("prediction:10"), expected);
    // Without a language model all estimates are true: what is best is taken, wherever it is.
    let expected = [
        "0\tC[0,1)\ts\t-16.0000\t-7.0000 true 3",
        "1\tB[2,3)\tq r\t-4.0000\t-19.0000 true 3",
        "2\tA[0,2)\tp s\t-18.0000\t-5.0000 true 2",
        "3\tS[0,3)\tq r w p s\t-23.0000\t0.0000 true 2",
        "4\tsentence\tq r w p s\t-23.0000\t0.0000 true 2",
    ];
    assert_eq!(of("undirected:10")[..5], expected);
    assert_eq!(of("undirected:10").last().unwrap(), "0\tanswer\tq r w p s\t-23.0000\t0.0000 true 1");
    // Searches without bins have no steps to show.
    assert!(of("cube:10").is_empty() && of("refine:10").is_empty() && of("exact:10").is_empty());
}

#[test]
fn traces_of_phrases_show_what_is_translated() {
    let mut vocab = Vocab::new();
    let words = vocab.intern_words("x y");
    let mut builder = ForestBuilder::new();
    builder.reordering(-1.0, sylvan_forest::Neighbour::Phrase);
    let first = builder.vertex(1, Span::new(0, 1));
    builder.edge(spec(0, -2.0), &[Part::word(words[0])]);
    let second = builder.vertex(1, Span::new(1, 2));
    builder.edge(spec(1, -4.0), &[Part::word(words[1])]);
    let whole = builder.vertex(1, Span::new(0, 2));
    builder.edge(spec(2, 0.0), &[Part::Vertex(first), Part::Vertex(second)]);
    let forest = builder.finish(whole);
    let expected = [
        "0\t..\t\t0.0000\t-6.0000 true 1",
        "1\t*.\tx\t-2.0000\t-4.0000 true 2",
        "1\t.*\ty\t-5.0000\t-2.0000 true 2",
        "2\t**\tx y\t-6.0000\t0.0000 true 1",
    ];
    assert_eq!(lines("stacks:10", &forest, &vocab), expected);
}

fn spec(id: u32, score: f64) -> EdgeSpec {
    EdgeSpec { rule: RuleRef { layer: Layer::Grammar, id }, score, nodes: 1, hash: u64::from(id) }
}

/// A chain of edges, each with a word before the next.
fn chain(length: u32) -> TranslationForest {
    let mut builder = ForestBuilder::new();
    let mut below = None;
    for id in 0..length {
        let vertex = builder.vertex(id + 1, Span::new((length - 1 - id) as usize, length as usize));
        let word = Part::word(Symbol(id));
        match below {
            None => builder.edge(spec(id, -1.0), &[word]),
            Some(below) => builder.edge(spec(id, -1.0), &[word, Part::Vertex(below)]),
        }
        below = Some(vertex);
    }
    builder.finish(below.unwrap())
}

/// Keeps what it is told: the words, and the first open place. Two ways to go on lead to the same state.
#[derive(Default)]
struct Listener {
    wants: bool,
    heard: Vec<(usize, Option<Span>)>,
    valued: Vec<(usize, usize, Option<Span>, bool)>,
}

impl StepModel for Listener {
    fn begin(&mut self) -> StepState {
        StepState(0)
    }
    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        self.heard.push((step.words.len(), step.open.first().copied()));
        // The better way comes second, and the worse one third.
        next.extend([-2.0, -1.0, -4.0].map(|score| (score, StepState(state.0 + 1))));
    }
    fn finish(&mut self, state: StepState) -> f64 {
        -f64::from(state.0) / 4.0
    }
    fn wants_frontier(&self) -> bool {
        self.wants
    }
    fn features(&self) -> usize {
        2
    }
    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        let (words, edges) = (step.words.len(), step.edges.len());
        self.valued.push((words, edges, step.open.first().copied(), to == Some(StepState(from.0 + 1))));
        values[0] += 1.0;
        values[1] += f64::from(from.0);
    }
}

#[test]
fn replay_tells_what_is_open_after_each_edge() {
    let forest = chain(4);
    let found = sylvan_search::brute_force(&forest, &NoLanguageModel, 10).unwrap();
    for wants in [true, false] {
        let mut model = Listener { wants, ..Listener::default() };
        let mut asked = Vec::new();
        let mut open = |edges: usize, out: &mut Vec<Span>| {
            asked.push(edges);
            // Nothing is left from the last call.
            assert!(out.is_empty());
            out.push(Span::new(edges, 4));
        };
        let (score, values) = replay(&mut model, &forest, &found.derivation, &mut open).unwrap();
        assert_eq!(score, -4.0 - 1.0);
        // Four steps and the end; the numbers of the states that they start from.
        assert_eq!(values, [5.0, 0.0 + 1.0 + 2.0 + 3.0 + 4.0]);
        let place = |edges: usize| wants.then(|| Span::new(edges, 4));
        assert_eq!(asked, if wants { vec![1, 2, 3, 4] } else { vec![] });
        assert_eq!(model.heard, [1, 2, 3, 4].map(|edges| (1, place(edges))));
        let steps = [4, 3, 2, 1].map(|edges| (1, 1, place(edges), true));
        assert_eq!(model.valued, [&[(0, 0, None, false)][..], &steps].concat());
    }
}

/// A goal with many edges of one word each.
fn wide(edges: u32) -> TranslationForest {
    let mut builder = ForestBuilder::new();
    let goal = builder.vertex(1, Span::new(0, 1));
    for id in 0..edges {
        builder.edge(spec(id, -f64::from(id)), &[Part::word(Symbol(id))]);
    }
    builder.finish(goal)
}

#[test]
fn the_clock_is_looked_at_every_256_cells() {
    let due = Stop { deadline: Some(Instant::now() - Duration::from_secs(1)), ..Stop::NEVER };
    let forest = wide(400);
    let items = |stop: &Stop, pops| {
        let run = Run { stop, ..Run::new(&NoLanguageModel) };
        let limits = Limits::grids(Beam(500), pops);
        let mut engine = Engine::default();
        let found = incremental_search(&mut engine, &forest, run, limits, Incremental::default(), None);
        let found = found.unwrap();
        (found.counters.items, found.cut_short)
    };
    assert_eq!(items(&Stop::NEVER, 1_000), (400, false));
    assert_eq!(items(&Stop::NEVER, 300), (300, false));
    assert_eq!(items(&due, 1_000), (256, true));
    assert_eq!(items(&due, 200), (200, true));
}
