//! The best derivation below a vertex that says given words.
//!
//! ```text
//! table[vertex][from] = (to, score, edge, where its tails end)     for words[from..to]
//! ```

use sylvan_base::{HashMap, Id, Symbol};
use sylvan_forest::{EdgeId, Target, TranslationForest, VertexId};

/// How a vertex says some of the words.
#[derive(Debug, Clone)]
struct Way {
    to: usize,
    score: f64,
    edge: EdgeId,
    /// Where each tail ends, in target order.
    ends: Vec<usize>,
}

/// The ways of a vertex by where its words begin; only what there is.
type Ways = HashMap<usize, Vec<Way>>;

/// No part of a sentence has more words. Requests may say anything.
const LONGEST: usize = 1_000;

/// The edges of the derivation below a vertex that says these words, of several the one whose rules score best; heads
/// first, tails in target order. `None` if there is none.
pub fn saying(forest: &TranslationForest, vertex: VertexId, words: &[Symbol]) -> Option<Vec<EdgeId>> {
    if words.len() > LONGEST {
        return None;
    }
    let mut table: Vec<Ways> = vec![Ways::default(); forest.vertices().len()];
    for below in reached(forest, vertex) {
        let mut ways = Ways::default();
        // The top has to say all of them.
        let starts = if below == vertex { 0..1 } else { 0..words.len() + 1 };
        for edge in forest.edges(below) {
            for from in starts.clone() {
                for way in ways_of(forest, edge, words, from, &table) {
                    add(ways.entry(from).or_default(), way, forest);
                }
            }
        }
        table[below.index()] = ways;
    }
    let mut edges = Vec::new();
    let mut open = vec![(vertex, 0, words.len())];
    while let Some((vertex, from, to)) = open.pop() {
        let way = table[vertex.index()].get(&from)?.iter().find(|way| way.to == to)?;
        edges.push(way.edge);
        let mut at = from;
        let mut ends = way.ends.iter();
        let mut tails = Vec::new();
        for symbol in forest.target(way.edge) {
            match symbol {
                Target::Bundle(bundle) => at += forest.bundle(*bundle).len(),
                Target::Vertex(tail) => {
                    let end = *ends.next()?;
                    tails.push((*tail, at, end));
                    at = end;
                }
            }
        }
        open.extend(tails.into_iter().rev());
    }
    Some(edges)
}

/// A vertex and all below it, tails before heads.
pub(super) fn reached(forest: &TranslationForest, vertex: VertexId) -> Vec<VertexId> {
    let mut is_reached = vec![false; vertex.index() + 1];
    is_reached[vertex.index()] = true;
    let mut all = Vec::new();
    for below in (0..=vertex.index()).rev() {
        if !is_reached[below] {
            continue;
        }
        let below = VertexId::from_index(below);
        all.push(below);
        for edge in forest.edges(below) {
            forest.tails(edge).for_each(|tail| is_reached[tail.index()] = true);
        }
    }
    all.reverse();
    all
}

/// Of the ways to the same place the best stays; of equally good ones the one with the smaller hash.
fn add(ways: &mut Vec<Way>, new: Way, forest: &TranslationForest) {
    let hash = |way: &Way| forest.edge(way.edge).spec.hash;
    match ways.iter_mut().find(|way| way.to == new.to) {
        None => ways.push(new),
        Some(known) if new.score > known.score => *known = new,
        Some(known) if new.score == known.score && hash(&new) < hash(known) => *known = new,
        Some(_) => {}
    }
}

/// The ways in which an edge says words from a place on: the best to each place.
fn ways_of(
    forest: &TranslationForest,
    edge: EdgeId,
    words: &[Symbol],
    from: usize,
    table: &[Ways],
) -> Vec<Way> {
    let mut ways = vec![Way { to: from, score: forest.edge(edge).spec.score, edge, ends: Vec::new() }];
    for symbol in forest.target(edge) {
        match symbol {
            Target::Bundle(bundle) => {
                ways.retain_mut(|way| {
                    let said = forest.bundle_words(*bundle);
                    let end = way.to + said.len();
                    let fits = words.get(way.to..end).is_some_and(|here| said.eq(here.iter().copied()));
                    way.to = end;
                    fits
                });
            }
            Target::Vertex(tail) => {
                let mut longer: Vec<Way> = Vec::new();
                for way in &ways {
                    for inner in table[tail.index()].get(&way.to).into_iter().flatten() {
                        let ends = [way.ends.as_slice(), &[inner.to]].concat();
                        let new = Way { to: inner.to, score: way.score + inner.score, edge, ends };
                        match longer.iter_mut().find(|known| known.to == new.to) {
                            None => longer.push(new),
                            Some(known) if new.score > known.score => *known = new,
                            Some(_) => {}
                        }
                    }
                }
                ways = longer;
            }
        }
        if ways.is_empty() {
            break;
        }
    }
    ways
}
