//! Forests as a space for line searches: all derivations at once instead of a list of the best (Kumar et al. 2009).
//!
//! The forests are those of the last round. What earlier rounds found is there as well, as the pool of their lists:
//! forests of all rounds would take that many times the memory and the time, and with the last round's alone the
//! weights could run back to where an earlier round was bad.

use std::sync::{Mutex, PoisonError};

use sylvan_base::HashMap;
use sylvan_base::hash::fold;
use sylvan_eval::{Metric, Workspace};

use crate::envelope::{Line, Segment, upper_envelope};
use crate::feature_forest::FeatureForest;
use crate::forest_envelope::{Winner, winners_of};
use crate::line_search::{Direction, Space};
use crate::lists::Lists;
use crate::pool::Pool;

/// A pool, and forests of its sentences: the translations of a sentence are those of both.
pub struct Forests<'p, 'm, M: Metric> {
    pool: &'p Pool<'m, M>,
    lists: Lists<'m, M>,
    forests: &'p [Option<FeatureForest>],
    /// What derivations that have won contribute, by the hash of their edges.
    known: Vec<Mutex<HashMap<u64, M::Stats>>>,
}

impl<'p, 'm, M: Metric> Forests<'p, 'm, M> {
    /// A pool with `dimensions` features, and a forest for each sentence that has one.
    pub fn new(pool: &'p Pool<'m, M>, forests: &'p [Option<FeatureForest>], dimensions: usize) -> Self {
        let known = (0..pool.len()).map(|_| Mutex::default()).collect();
        Self { pool, lists: Lists::new(pool, dimensions), forests, known }
    }

    fn forest(&self, sentence: usize) -> Option<&'p FeatureForest> {
        self.forests.get(sentence).and_then(Option::as_ref)
    }

    /// What a winner contributes. Only derivations that win somewhere are ever read.
    fn stats(&self, sentence: usize, forest: &FeatureForest, Winner { edges, .. }: &Winner) -> M::Stats {
        let key = edges.iter().fold(0, |hash, edge| fold(hash, u64::from(edge.0)));
        let lock = || self.known[sentence].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&stats) = lock().get(&key) {
            return stats;
        }
        let stats = self.pool.judge(sentence, &forest.text(edges), &mut Workspace::default());
        lock().insert(key, stats);
        stats
    }
}

impl<M: Metric> std::fmt::Debug for Forests<'_, '_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Forests of {} sentences", self.pool.len())
    }
}

impl<M: Metric> Space for Forests<'_, '_, M> {
    type Metric = M;
    /// The scores of translations and of arcs, by sentence.
    type Prepared = (Vec<Vec<f64>>, Vec<Vec<f64>>);

    fn metric(&self) -> &M {
        self.lists.metric()
    }

    fn sentences(&self) -> usize {
        self.pool.len()
    }

    fn dimensions(&self) -> usize {
        self.lists.dimensions()
    }

    fn prepare(&self, weights: &[f64]) -> Self::Prepared {
        let arcs = (0..self.sentences()).map(|sentence| {
            let forest = self.forest(sentence).into_iter();
            forest.flat_map(|forest| forest.products(|feature| weights[feature])).collect()
        });
        (self.lists.prepare(weights), arcs.collect())
    }

    fn winners(
        &self,
        sentence: usize,
        (scores, arcs): &Self::Prepared,
        direction: &Direction,
        out: &mut Vec<(Segment, M::Stats)>,
    ) {
        let Some(forest) = self.forest(sentence) else {
            return self.lists.winners(sentence, scores, direction, out);
        };
        let listed = self.lists.lines(sentence, scores, direction);
        let slopes = forest.products(|feature| direction.of(feature));
        let line = |(slope, &intercept)| Line { slope, intercept };
        let lines: Vec<Line> = slopes.zip(&arcs[sentence]).map(line).collect();
        let winners = winners_of(forest, &lines);
        let count = listed.len();
        let lines: Vec<Line> = listed.into_iter().chain(winners.iter().map(|winner| winner.line)).collect();
        let mut segments = Vec::new();
        upper_envelope(&lines, &mut segments);
        out.extend(segments.into_iter().map(|segment| match segment.line.checked_sub(count) {
            None => (segment, self.lists.stats(sentence, segment.line)),
            Some(winner) => (segment, self.stats(sentence, forest, &winners[winner])),
        }));
    }
}
