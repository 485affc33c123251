//! What a search did: its work in numbers, and for left-to-right searches what stood in each bin,
//! for undirected search when the parts of the answer were taken.

use serde::Serialize;

use sylvan_base::HashMap;
use sylvan_forest::EdgeId;
use sylvan_search::{Search, SearchName, TraceItem};

use crate::worker::Decoded;

/// How many items of a bin are shown; all that agree with the answer are shown as well.
const SHOWN: usize = 8;

/// A search in numbers, and step by step where it goes from left to right.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchView {
    /// Its name, as on the command line.
    pub name: String,
    /// How wide it was.
    pub beam: Option<usize>,
    /// Partial translations made.
    pub items: u64,
    /// Of these, those that met one with the same future.
    pub recombined: u64,
    /// Of the rest, those that a beam dropped.
    pub pruned: u64,
    /// Words that language models were asked for.
    pub lm_queries: u64,
    /// For exact search: how much better any translation can be; 0 proves the optimum.
    pub gap: Option<f64>,
    /// Left-to-right searches: bins in order.
    pub bins: Vec<Bin>,
    /// Undirected search: the parts of the answer in the order in which they were taken.
    pub taken: Vec<Taken>,
}

/// A part of the answer that undirected search took from its queue.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Taken {
    /// How many were taken before it, parts of the answer or not.
    pub before: usize,
    /// How many waited, itself included.
    pub waiting: usize,
    /// Where it belongs.
    pub place: String,
    /// Its words; `_` for what was missing.
    pub words: String,
    /// Its score.
    pub score: f64,
    /// The estimate of a sentence with it.
    pub estimate: f64,
}

/// What stood where items competed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Bin {
    /// How much of the source is covered.
    pub bin: usize,
    /// The round in the bin, for searches whose steps may lead back into one.
    pub round: Option<usize>,
    /// How many items competed.
    pub competed: usize,
    /// How many the beam kept.
    pub kept: usize,
    /// The best of them, then the best of those that it dropped.
    pub items: Vec<Item>,
}

/// An item in the notation of the search's paper.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Item {
    /// The stack: what is still to come follows the dot.
    pub stack: String,
    /// The target words so far, where the stack does not show them.
    pub words: Option<String>,
    /// The score so far.
    pub score: f64,
    /// The estimate of the rest.
    pub future: f64,
    /// Whether the beam kept it.
    pub kept: bool,
    /// Whether its rules so far are those that the answer begins with.
    pub agrees: bool,
}

pub(super) fn view(decoded: &Decoded, trace: &[TraceItem], search: Search) -> SearchView {
    let beam = search.beam().0;
    let counters = decoded.counters;
    SearchView {
        name: search.name().to_string(),
        beam: (beam != usize::MAX).then_some(beam),
        items: counters.items,
        recombined: counters.recombined,
        pruned: counters.pruned,
        lm_queries: counters.lm_queries,
        gap: decoded.gap.filter(|gap| gap.is_finite()),
        bins: if search.name() == SearchName::Undirected { Vec::new() } else { bins(trace) },
        taken: if search.name() == SearchName::Undirected { taken(trace) } else { Vec::new() },
    }
}

/// Of all that was taken, what the answer is made of. Tails first, its rules are a run of the answer's.
fn taken(trace: &[TraceItem]) -> Vec<Taken> {
    let Some((answer, before)) = trace.split_last() else { return Vec::new() };
    let mut ends: HashMap<EdgeId, Vec<usize>> = HashMap::default();
    for (place, &edge) in answer.edges.iter().enumerate() {
        ends.entry(edge).or_default().push(place);
    }
    let is_part = |edges: &[EdgeId]| {
        let places = edges.last().and_then(|last| ends.get(last));
        places.is_some_and(|places| places.iter().any(|&end| answer.edges[..=end].ends_with(edges)))
    };
    let parts = before.iter().filter(|item| is_part(&item.edges));
    let taken = parts.map(|item| Taken {
        before: item.bin,
        waiting: item.among,
        place: item.stack.clone(),
        words: item.words.clone().unwrap_or_default(),
        score: item.score,
        estimate: item.score + item.future,
    });
    taken.collect()
}

fn bins(trace: &[TraceItem]) -> Vec<Bin> {
    let Some((answer, before)) = trace.split_last() else { return Vec::new() };
    let item = |item: &TraceItem| Item {
        stack: item.stack.clone(),
        words: item.words.clone(),
        score: item.score,
        future: item.future,
        kept: item.kept,
        agrees: answer.edges.starts_with(&item.edges),
    };
    let mut bins = Vec::new();
    for round in before.chunk_by(|a, b| (a.bin, a.round) == (b.bin, b.round)) {
        let Some(first) = round.first() else { continue };
        let mut shown = Vec::new();
        for (index, one) in round.iter().enumerate() {
            let one = item(one);
            if index < SHOWN || one.agrees || !one.kept {
                shown.push(one);
            }
        }
        bins.push(Bin {
            bin: first.bin,
            round: first.round,
            competed: first.among,
            kept: round.iter().filter(|item| item.kept).count(),
            items: shown,
        });
    }
    bins.push(Bin { bin: answer.bin, round: None, competed: 1, kept: 1, items: vec![item(answer)] });
    bins
}
