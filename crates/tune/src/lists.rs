//! N-best lists as a space for line searches.
//!
//! Features are laid out by column, so that the slopes of a line along one feature are a slice.

use sylvan_eval::Metric;

use crate::envelope::{Line, Segment, upper_envelope};
use crate::line_search::{Direction, Space};
use crate::pool::Pool;

/// A pool, laid out for line searches.
#[derive(Debug)]
pub struct Lists<'p, M: Metric> {
    metric: &'p M,
    dimensions: usize,
    sentences: Vec<Sentence<M::Stats>>,
}

#[derive(Debug)]
struct Sentence<S> {
    stats: Vec<S>,
    /// `columns[feature * stats.len() + candidate]`.
    columns: Vec<f32>,
}

impl<'p, M: Metric> Lists<'p, M> {
    /// Lays out a pool with `dimensions` features.
    pub fn new(pool: &Pool<'p, M>, dimensions: usize) -> Self {
        let sentences = (0..pool.len()).map(|sentence| {
            let entries = pool.entries(sentence);
            let mut columns = vec![0.0; dimensions * entries.len()];
            for (row, entry) in entries.iter().enumerate() {
                for (feature, value) in entry.values.iter().filter(|(feature, _)| *feature < dimensions) {
                    columns[feature * entries.len() + row] = value as f32;
                }
            }
            Sentence { stats: entries.iter().map(|entry| entry.stats).collect(), columns }
        });
        Self { metric: pool.metric(), dimensions, sentences: sentences.collect() }
    }

    /// The lines of a sentence's translations.
    pub(crate) fn lines(&self, sentence: usize, prepared: &[Vec<f64>], direction: &Direction) -> Vec<Line> {
        let (sentence, scores) = (&self.sentences[sentence], &prepared[sentence]);
        let line = |(&intercept, slope): (&f64, f64)| Line { slope, intercept };
        match direction {
            Direction::Axis(axis) => {
                let column = sentence.columns.chunks_exact(sentence.stats.len().max(1)).nth(*axis);
                let slopes = column.unwrap_or_default().iter().map(|&value| f64::from(value));
                scores.iter().zip(slopes).map(line).collect()
            }
            Direction::Vector(vector) => {
                let slopes = sentence.products(|feature| vector[feature]);
                scores.iter().zip(slopes).map(line).collect()
            }
        }
    }

    /// What a translation of a sentence contributes.
    pub(crate) fn stats(&self, sentence: usize, translation: usize) -> M::Stats {
        self.sentences[sentence].stats[translation]
    }
}

impl<M: Metric> Space for Lists<'_, M> {
    type Metric = M;
    /// The score of each translation, by sentence.
    type Prepared = Vec<Vec<f64>>;

    fn metric(&self) -> &M {
        self.metric
    }

    fn sentences(&self) -> usize {
        self.sentences.len()
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn prepare(&self, weights: &[f64]) -> Self::Prepared {
        self.sentences.iter().map(|sentence| sentence.products(|feature| weights[feature])).collect()
    }

    fn winners(
        &self,
        sentence: usize,
        prepared: &Self::Prepared,
        direction: &Direction,
        out: &mut Vec<(Segment, M::Stats)>,
    ) {
        let lines = self.lines(sentence, prepared, direction);
        let mut segments = Vec::new();
        upper_envelope(&lines, &mut segments);
        out.extend(segments.into_iter().map(|segment| (segment, self.stats(sentence, segment.line))));
    }
}

impl<S> Sentence<S> {
    /// Each translation's features times a vector, features in order.
    fn products(&self, vector: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.stats.len()];
        if sums.is_empty() {
            return sums;
        }
        for (feature, column) in self.columns.chunks_exact(sums.len()).enumerate() {
            let factor = vector(feature);
            if factor != 0.0 {
                sums.iter_mut().zip(column).for_each(|(sum, &value)| *sum += factor * f64::from(value));
            }
        }
        sums
    }
}
