//! What one sentence's translation is worth: the metric of the whole text with it in its place.
//!
//! BLEU of a single sentence is a poor guide to BLEU of a text. Metrics here are sums over lines, so the text's score
//! with another translation of one line costs two additions; learners that work sentence by sentence use that.

use sylvan_eval::Metric;

use crate::pool::Pool;

/// A text of one translation per sentence that learners try replacements in.
#[derive(Debug)]
pub(crate) struct Text<'p, 'm, M: Metric> {
    pool: &'p Pool<'m, M>,
    total: M::Stats,
    chosen: Vec<Option<usize>>,
    /// Sentences with translations.
    size: f64,
}

impl<'p, 'm, M: Metric> Text<'p, 'm, M> {
    /// The winners of these weights.
    pub(crate) fn of_winners(pool: &'p Pool<'m, M>, weights: &[f64]) -> Self {
        let chosen: Vec<Option<usize>> =
            (0..pool.len()).map(|sentence| pool.best(sentence, weights)).collect();
        let size = chosen.iter().flatten().count() as f64;
        Self { pool, total: pool.total_stats(weights), chosen, size }
    }

    /// What each translation of a sentence is worth, on a scale on which a perfect sentence is worth about 1 more
    /// than a useless one.
    pub(crate) fn worth(&self, sentence: usize) -> Vec<f64> {
        let metric = self.pool.metric();
        let mut rest = self.total;
        if let Some(chosen) = self.chosen[sentence] {
            rest -= self.pool.entries(sentence)[chosen].stats;
        }
        let worth = self.pool.entries(sentence).iter().map(|entry| {
            let mut total = rest;
            total += entry.stats;
            metric.better().gain(metric.value(&total)) / 100.0 * self.size
        });
        worth.collect()
    }

    /// Puts another translation in.
    pub(crate) fn choose(&mut self, sentence: usize, entry: usize) {
        if let Some(before) = self.chosen[sentence].replace(entry) {
            self.total -= self.pool.entries(sentence)[before].stats;
        }
        self.total += self.pool.entries(sentence)[entry].stats;
    }
}
