//! Runs a search and its twin, and says where they first differ.
// Not every test that includes it uses all of it.
#![allow(dead_code)]

use sylvan_forest::{Derivation, EdgeId, Target, TokenId, TranslationForest, VertexId};
use sylvan_search::{
    Completed, Cube, CubePruning, Engine, Incremental, LanguageModel, Limits, Losers, Prediction,
    PredictionStep, Run, Step, Stop, TwoSided, incremental_search, prediction_search,
};

use super::cube;
use super::engine::{self, Decoder, Found, Tally};
use super::prediction::BottomUp;
use super::top_down::TopDown;

/// What a search showed of an item.
#[derive(Debug, Clone)]
struct Row {
    bin: usize,
    /// Where the trace shows it.
    round: usize,
    /// The frames; in top-down search one, with the residual.
    stack: Vec<(VertexId, Vec<Target>)>,
    /// Where the trace shows them.
    words: Vec<TokenId>,
    score: f64,
    future: f64,
    edges: Vec<EdgeId>,
    among: usize,
}

impl Row {
    /// Whether two rows are the same but for rounding.
    fn agrees(&self, other: &Self, rounding: f64) -> bool {
        let shown = |row: &Self| (row.bin, row.round, row.among);
        shown(self) == shown(other)
            && self.stack == other.stack
            && self.words == other.words
            && self.edges == other.edges
            && close(self.score, other.score, rounding)
            && close(self.future, other.future, rounding)
    }
}

/// Where a search and its twin first differ.
#[derive(Debug)]
pub struct Difference {
    pub what: String,
    /// The values by which the one and the other were chosen, if both have one.
    values: Option<(f64, f64)>,
}

impl Difference {
    fn new(what: String) -> Self {
        Self { what, values: None }
    }

    /// Whether the two were a tie but for rounding, so that order of summation decided.
    pub fn is_rounding(&self) -> bool {
        self.values.is_some_and(|(a, b)| close(a, b, 1e-9))
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

fn close(a: f64, b: f64, rounding: f64) -> bool {
    (a - b).abs() <= rounding
}

/// The engine's items with the same limits, under the twin's eyes. Scores may differ by `rounding`, which is 0 where
/// sums are exact.
pub fn incremental<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: Limits,
    config: Incremental,
    out_forest: bool,
    rounding: f64,
) -> Result<Tally, Difference> {
    let mut rows = Vec::new();
    let mut on_step = |step: &Step| {
        assert!(step.kept, "dropped items were not asked for");
        rows.push(Row {
            bin: step.bin as usize,
            round: 0,
            stack: vec![(forest.goal(), step.residual.clone())],
            words: step.words.clone(),
            score: step.score,
            future: step.future,
            edges: step.edges.clone(),
            among: step.among,
        });
    };
    let run = Run { out_forest, ..Run::new(lm) };
    let found = incremental_search(&mut Engine::default(), forest, run, limits, config, Some(&mut on_step));
    let decoder = TopDown::new(forest, lm, config);
    let expected = engine::search(&decoder, forest, lm, limits);
    // The trace shows futures with what the end of the sentence is expected to cost.
    let end = lm.end(lm.null());
    let all = expected.kept.iter().chain(&expected.goal);
    let expected_rows: Vec<Row> = all
        .map(|kept| {
            let residual = decoder.residual(&kept.stack);
            // Of complete items it shows none.
            let future = if residual.is_empty() { 0.0 } else { kept.future + end };
            let (bin, among) = (kept.bin, kept.among);
            let (words, score, edges) = (kept.words.clone(), kept.score, kept.edges.clone());
            Row { bin, round: 0, stack: vec![(forest.goal(), residual)], words, score, future, edges, among }
        })
        .collect();
    let heads_first = |edges: &[EdgeId]| Derivation::new(edges.to_vec());
    agree(found.is_some(), &rows, &expected_rows, rounding)?;
    conclude(found.as_ref(), &expected, heads_first, rounding)
}

/// See [`incremental`].
pub fn prediction<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    limits: Limits,
    config: Prediction,
    out_forest: bool,
    rounding: f64,
) -> Result<Tally, Difference> {
    let mut rows = Vec::new();
    let mut on_step = |step: &PredictionStep| {
        assert!(step.kept, "dropped items were not asked for");
        rows.push(Row {
            bin: step.bin,
            round: step.round,
            stack: step.frames.clone(),
            words: Vec::new(),
            score: step.score,
            future: step.future,
            edges: step.edges.clone(),
            among: step.among,
        });
    };
    let run = Run { out_forest, ..Run::new(lm) };
    let found = prediction_search(&mut Engine::default(), forest, run, limits, config, Some(&mut on_step));
    let decoder = BottomUp::new(forest, lm, config, out_forest);
    let expected = engine::search(&decoder, forest, lm, limits);
    let all = expected.kept.iter().chain(&expected.goal);
    let expected_rows: Vec<Row> = all
        .map(|kept| {
            let (bin, round, among) = (kept.bin, kept.round, kept.among);
            let future = if decoder.is_complete(&kept.stack) { 0.0 } else { kept.future };
            let (score, edges) = (kept.score, kept.edges.clone());
            let stack = decoder.show(&kept.stack);
            Row { bin, round, stack, words: Vec::new(), score, future, edges, among }
        })
        .collect();
    let tails_first = |edges: &[EdgeId]| Derivation::from_tails_first(forest, edges);
    agree(found.is_some(), &rows, &expected_rows, rounding)?;
    conclude(found.as_ref(), &expected, tails_first, rounding)
}

fn agree(has_answer: bool, rows: &[Row], expected: &[Row], rounding: f64) -> Result<(), Difference> {
    // A search without an answer shows nothing.
    if !has_answer {
        return Ok(());
    }
    match rows.iter().zip(expected).position(|(row, expected)| !row.agrees(expected, rounding)) {
        Some(place) => {
            let (row, expected) = (&rows[place], &expected[place]);
            let what = format!("item {place} is\n{row:?}, not\n{expected:?}");
            // The last row is the answer, for which there is no future.
            let values = (row.score + row.future, expected.score + expected.future);
            Err(Difference { what, values: Some(values) })
        }
        None if rows.len() != expected.len() => {
            Err(Difference::new(format!("{} items, not {}", rows.len(), expected.len())))
        }
        None => Ok(()),
    }
}

fn conclude<S>(
    found: Option<&Completed>,
    expected: &Found<S>,
    derivation: impl Fn(&[EdgeId]) -> Derivation,
    rounding: f64,
) -> Result<Tally, Difference> {
    match (found, &expected.goal) {
        (None, None) => {}
        (Some(found), Some(goal)) => {
            let wanted = (goal.score, derivation(&goal.edges), expected.cut_short);
            let got = (found.score, found.derivation.clone(), found.cut_short);
            if !close(got.0, wanted.0, rounding) || (&got.1, got.2) != (&wanted.1, wanted.2) {
                let what = format!("the answer is {got:?}, not {wanted:?}");
                return Err(Difference { what, values: Some((got.0, wanted.0)) });
            }
            if found.counters.kept != expected.kept.len() as u64 {
                let what = format!("{} items went on, not {}", found.counters.kept, expected.kept.len());
                return Err(Difference::new(what));
            }
        }
        (found, goal) => {
            let what = format!("an answer: {}; the twin: {}", found.is_some(), goal.is_some());
            return Err(Difference::new(what));
        }
    }
    Ok(expected.tally)
}

/// At how many vertices the beam and the pops left cells behind.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bound {
    pub beam: usize,
    pub pops: usize,
}

/// The items of all vertices, in order; see [`incremental`] for `rounding`.
pub fn cube_pruning<M: TwoSided>(
    forest: &TranslationForest,
    lm: &M,
    limits: Cube,
    losers: Losers,
    rounding: f64,
) -> Result<Bound, Difference> {
    let mut cube = CubePruning::default();
    let found = cube.search(forest, lm, limits, losers, &Stop::NEVER);
    let expected = cube::search(forest, lm, limits);
    let chart = cube.chart();
    let ways: Vec<_> = chart.ways(forest).map(|(_, way)| way).collect();
    for vertex in forest.vertices() {
        let items = chart.items(vertex);
        let twins = &expected.items[vertex.0 as usize];
        if items.len() != twins.len() {
            let what = format!("{vertex:?} has {} items, not {}", items.len(), twins.len());
            return Err(Difference::new(what));
        }
        for (number, twin) in items.zip(twins) {
            let way = ways[number as usize];
            let starts = forest.tails(way.edge).map(|tail| chart.items(tail).start);
            let tails: Vec<usize> =
                way.tails.iter().zip(starts).map(|(tail, start)| (tail - start) as usize).collect();
            let (got, wanted) = ((way.score, way.edge, &tails), (twin.score, twin.edge, &twin.tails));
            if !close(got.0, wanted.0, rounding) || (got.1, got.2) != (wanted.1, wanted.2) {
                let what = format!("{vertex:?} has {got:?}, not {wanted:?}");
                return Err(Difference { what, values: Some((got.0, wanted.0)) });
            }
        }
    }
    let got = found.map(|found| (found.score, found.derivation));
    let wanted = expected.derivation(forest).map(Derivation::new);
    let wanted = expected.best.map(|(_, score)| score).zip(wanted);
    let agree = match (&got, &wanted) {
        (Some(got), Some(wanted)) => close(got.0, wanted.0, rounding) && got.1 == wanted.1,
        _ => got == wanted,
    };
    if !agree {
        let what = format!("the answer is {got:?}, not {wanted:?}");
        return Err(Difference { what, values: got.map(|got| got.0).zip(wanted.map(|wanted| wanted.0)) });
    }
    Ok(Bound { beam: expected.beam_bound, pops: expected.pops_bound })
}
