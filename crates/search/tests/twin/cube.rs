//! Cube pruning (Chiang 2007; Huang & Chiang 2007) once more, with whole translations for items.
//!
//! - *Item* of a vertex: an edge and an item of each of its tails. Its score is that of its edges and of its words as a
//!   piece without history; its rank adds the model's better guess at the first words. Its content is the fold over the
//!   edge's hash and then the contents of the tails' items, in target order.
//! - *Grid* of an edge: the items of its tails, best first. The corner may be taken from the start, any other cell once
//!   its predecessor was taken, the cell that is smaller by one in its last coordinate that is not 0.
//! - Of the cells that may be taken the one with the highest rank, then the smallest content, then the one that could
//!   be taken first, is next. It ends with `beam` items of different states, or after `pops` cells.
//!   A plain beam takes all cells, edge by edge, the last coordinate running fastest, and keeps the best `beam`.
//! - With a *focus* a vertex's pops are multiplied by exp(-gap / scale), but stay 30 or more where they were: the gap is
//!   what the best derivation through the vertex lacks to the best of all, edges and words without history alone; the
//!   scale is the middle gap of all vertices that have a derivation, of those that have one if that is none. And corners may be taken best first, by the sum of
//!   their parts, each once the best cell that may be taken is not better than that sum by more than the scale.
//! - *Rank* may also leave out the better guess, or all that words without history score.
//! - *Recombination*: of items whose pieces have the same state the one with the higher score, then the smaller
//!   content, stays. In the end items are sorted by rank, then content, then by when their state was first met.

use sylvan_base::hash::fold;
use sylvan_forest::{EdgeId, Target, TokenId, TranslationForest, VertexId};
use sylvan_search::{BoundaryEstimate, Cube, Derivations, TwoSided};

use super::engine::descending;

/// A translation of a vertex.
#[derive(Debug, Clone)]
pub struct Item<S> {
    pub score: f64,
    pub edge: EdgeId,
    /// Places of the tails' items among those of their vertices.
    pub tails: Vec<usize>,
    words: Vec<TokenId>,
    /// The scores of all edges.
    edges_score: f64,
    state: S,
    rank: f64,
    content: u64,
}

/// All that a search found.
#[derive(Debug)]
pub struct Cells<S> {
    /// By vertex, best first.
    pub items: Vec<Vec<Item<S>>>,
    /// The best complete item's place among those of the goal, and its score in the sentence.
    pub best: Option<(usize, f64)>,
    /// At how many vertices cells were left because of the beam, and because of the pops.
    pub beam_bound: usize,
    pub pops_bound: usize,
}

/// Searches; see the definitions above.
pub fn search<M: TwoSided>(forest: &TranslationForest, lm: &M, limits: Cube) -> Cells<M::State> {
    let mut cells = Cells { items: Vec::new(), best: None, beam_bound: 0, pops_bound: 0 };
    let (gaps, scale) = if limits.focus { gaps(forest, lm) } else { (Vec::new(), 0.0) };
    for vertex in forest.vertices() {
        let mut limits = limits;
        if let Some(gap) = gaps.get(vertex.0 as usize).filter(|gap| **gap > 1e-9)
            && limits.pops < usize::MAX
        {
            let share = (limits.pops as f64 * (-gap / scale).exp()) as usize;
            limits.pops = share.max(limits.pops.min(30));
        }
        let found = fill(forest, lm, limits, scale, vertex, &mut cells);
        cells.items.push(found);
    }
    for (place, item) in cells.items[forest.goal().0 as usize].iter().enumerate() {
        let score = item.score + lm.sentence(&item.state);
        let goal = &cells.items[forest.goal().0 as usize];
        let is_better = cells.best.is_none_or(|(old, old_score)| {
            score > old_score || score == old_score && item.content < goal[old].content
        });
        if is_better {
            cells.best = Some((place, score));
        }
    }
    cells
}

fn fill<M: TwoSided>(
    forest: &TranslationForest,
    lm: &M,
    limits: Cube,
    scale: f64,
    vertex: VertexId,
    cells: &mut Cells<M::State>,
) -> Vec<Item<M::State>> {
    let mut found: Vec<Item<M::State>> = Vec::new();
    let mut may_be_taken: Vec<Item<M::State>> = Vec::new();
    let mut waiting: Vec<(f64, Item<M::State>)> = Vec::new();
    for edge in forest.edges(vertex) {
        let corner = combine(forest, lm, limits, cells, edge, vec![0; forest.tails(edge).count()]);
        if limits.focus {
            waiting.push((promise(forest, lm, cells, edge), corner));
        } else {
            may_be_taken.push(corner);
        }
    }
    let content = |item: &Item<M::State>| forest.edge(item.edge).spec.hash;
    waiting.sort_by(|(a, x), (b, y)| descending(*a, *b).then(content(x).cmp(&content(y))));
    for pops in 0.. {
        if !limits.plain && (pops >= limits.pops || found.len() >= limits.beam.0) {
            break;
        }
        while let Some((promised, _)) = waiting.first() {
            if may_be_taken.iter().any(|item| item.rank > promised + scale) {
                break;
            }
            may_be_taken.push(waiting.remove(0).1);
        }
        let best = (0..may_be_taken.len()).min_by(|&a, &b| {
            let (a, b) = (&may_be_taken[a], &may_be_taken[b]);
            if limits.plain {
                return a.edge.cmp(&b.edge).then_with(|| a.tails.cmp(&b.tails));
            }
            descending(a.rank, b.rank).then(a.content.cmp(&b.content))
        });
        let Some(best) = best else { break };
        let taken = may_be_taken.remove(best);
        // The last coordinate first, as its cells could be taken before those of the others.
        for (axis, tail) in forest.tails(taken.edge).enumerate().collect::<Vec<_>>().into_iter().rev() {
            let mut place = taken.tails.clone();
            place[axis] += 1;
            if place[axis] < cells.items[tail.0 as usize].len() && predecessor(&place) == taken.tails {
                may_be_taken.push(combine(forest, lm, limits, cells, taken.edge, place));
            }
        }
        match found.iter_mut().find(|item| lm.same(&item.state, &taken.state)) {
            None => found.push(taken),
            Some(old) => {
                if taken.score > old.score || taken.score == old.score && taken.content < old.content {
                    *old = taken;
                }
            }
        }
    }
    if !may_be_taken.is_empty() || !waiting.is_empty() {
        let bound = if found.len() >= limits.beam.0 { &mut cells.beam_bound } else { &mut cells.pops_bound };
        *bound += 1;
    }
    found.sort_by(|a, b| descending(a.rank, b.rank).then(a.content.cmp(&b.content)));
    cells.beam_bound += usize::from(found.len() > limits.beam.0);
    found.truncate(limits.beam.0);
    found
}

/// An edge with its words and the best items of its tails, without what happens where they meet.
fn promise<M: TwoSided>(forest: &TranslationForest, lm: &M, cells: &Cells<M::State>, edge: EdgeId) -> f64 {
    let parts = forest.target(edge).iter().map(|&symbol| match symbol {
        Target::Bundle(bundle) => lm.piece(forest.bundle(bundle)).0,
        Target::Vertex(tail) => cells.items[tail.0 as usize][0].rank,
    });
    forest.edge(edge).spec.score + parts.sum::<f64>()
}

/// What each vertex lacks, by looking at all derivations; and the middle of what they lack.
fn gaps<M: TwoSided>(forest: &TranslationForest, lm: &M) -> (Vec<f64>, f64) {
    let mut best = vec![f64::NEG_INFINITY; forest.vertices().count()];
    let all = Derivations::of(forest);
    for derivation in (0..all.count()).map(|number| all.get(number)) {
        let mut score = 0.0;
        for &edge in derivation.edges() {
            score += forest.edge(edge).spec.score;
            for symbol in forest.target(edge) {
                if let Target::Bundle(bundle) = symbol {
                    score += lm.piece(forest.bundle(*bundle)).0;
                }
            }
        }
        for &edge in derivation.edges() {
            let through = &mut best[forest.edge(edge).head.0 as usize];
            *through = through.max(score);
        }
    }
    let total = best[forest.goal().0 as usize];
    let gaps: Vec<f64> = best.iter().map(|through| total - through).collect();
    let mut finite: Vec<f64> = gaps.iter().copied().filter(|gap| gap.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    let above: Vec<f64> = finite.iter().copied().filter(|gap| *gap > 1e-9).collect();
    let scale = match finite[finite.len() / 2] {
        middle if middle > 1e-9 => middle,
        _ => above.get(above.len() / 2).copied().unwrap_or(0.0),
    };
    (gaps, scale)
}

/// The cell that must be taken before this one.
fn predecessor(place: &[usize]) -> Vec<usize> {
    let mut place = place.to_vec();
    if let Some(last) = place.iter_mut().rev().find(|coordinate| **coordinate > 0) {
        *last -= 1;
    }
    place
}

fn combine<M: TwoSided>(
    forest: &TranslationForest,
    lm: &M,
    limits: Cube,
    cells: &Cells<M::State>,
    edge: EdgeId,
    tails: Vec<usize>,
) -> Item<M::State> {
    let mut words: Vec<TokenId> = Vec::new();
    let mut edges_score = forest.edge(edge).spec.score;
    let mut content = fold(0, forest.edge(edge).spec.hash);
    let mut places = tails.iter();
    for &symbol in forest.target(edge) {
        match symbol {
            Target::Bundle(bundle) => words.extend_from_slice(forest.bundle(bundle)),
            Target::Vertex(tail) => {
                let place = *places.next().expect("a place for each tail");
                let item = &cells.items[tail.0 as usize][place];
                words.extend_from_slice(&item.words);
                edges_score += item.edges_score;
                content = fold(content, item.content);
            }
        }
    }
    let (words_score, state) = lm.piece(&words);
    let score = edges_score + words_score;
    let rank = match limits.boundary {
        BoundaryEstimate::None => score - lm.without_history(&state),
        BoundaryEstimate::Local => score,
        BoundaryEstimate::Rest => score + lm.rest(&state),
    };
    Item { score, edge, tails, words, edges_score, state, rank, content }
}

impl<S> Cells<S> {
    /// The edges of the best complete item, heads first.
    pub fn derivation(&self, forest: &TranslationForest) -> Option<Vec<EdgeId>> {
        let mut edges = Vec::new();
        let mut open = vec![(forest.goal(), self.best?.0)];
        while let Some((vertex, place)) = open.pop() {
            let item = &self.items[vertex.0 as usize][place];
            edges.push(item.edge);
            let below: Vec<(VertexId, usize)> =
                forest.tails(item.edge).zip(item.tails.iter().copied()).collect();
            open.extend(below.into_iter().rev());
        }
        Some(edges)
    }
}
