//! The best point on a line through weight space, exactly (Och 2003).
//!
//! Between two points where some sentence changes its winner nothing changes, so the metric is a step function of
//! gamma. All steps are visited in order; statistics are updated, not recomputed.

use sylvan_eval::Metric;

use crate::envelope::Segment;

/// Something with winners along a line: n-best lists or forests.
pub trait Space: Sync {
    /// The metric.
    type Metric: Metric;

    /// The metric.
    fn metric(&self) -> &Self::Metric;

    /// How many sentences there are.
    fn sentences(&self) -> usize;

    /// How many features there are.
    fn dimensions(&self) -> usize;

    /// What depends on the weights alone and serves all directions.
    type Prepared: Sync;

    /// Prepares for lines through `weights`.
    fn prepare(&self, weights: &[f64]) -> Self::Prepared;

    /// The winners of a sentence along a line, left to right, with what they contribute. Nothing for a sentence
    /// without translations.
    fn winners(
        &self,
        sentence: usize,
        prepared: &Self::Prepared,
        direction: &Direction,
        out: &mut Vec<(Segment, <Self::Metric as Metric>::Stats)>,
    );
}

/// A direction in weight space.
#[derive(Debug, Clone, PartialEq)]
pub enum Direction {
    /// One feature.
    Axis(usize),
    /// Any.
    Vector(Vec<f64>),
}

impl Direction {
    /// How far a weight moves.
    pub fn of(&self, feature: usize) -> f64 {
        match self {
            Self::Axis(axis) => f64::from(u8::from(*axis == feature)),
            Self::Vector(vector) => vector[feature],
        }
    }
}

/// The best point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// How far to go.
    pub gamma: f64,
    /// The metric there, turned so that more is better.
    pub gain: f64,
}

/// How far beyond the outermost step is well inside, where everything beyond is the best.
const BEYOND: f64 = 0.1;

/// Intervals that are relatively narrower than this are rounding: several lines meet in one point, as the sums of
/// two forests' lines always do. No point could be chosen inside such an interval.
const NARROW: f64 = 1e-10;

/// Finds the best interval of a line and its middle; of an interval without end the point next to 0 that is well
/// inside. Among equals it takes the one with 0 inside, else the widest, else the leftmost.
pub fn line_search<S: Space>(space: &S, prepared: &S::Prepared, direction: &Direction) -> Point {
    let metric = space.metric();
    let mut total = <S::Metric as Metric>::Stats::default();
    // Where a winner changes: what goes and what comes.
    let mut steps = Vec::new();
    let mut winners = Vec::new();
    for sentence in 0..space.sentences() {
        winners.clear();
        space.winners(sentence, prepared, direction, &mut winners);
        for (index, &(segment, stats)) in winners.iter().enumerate() {
            match index.checked_sub(1) {
                None => total += stats,
                Some(before) => steps.push((segment.start, winners[before].1, stats)),
            }
        }
    }
    // Stable: steps at the same place stay in the order of sentences.
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gain = |total: &_| metric.better().gain(metric.value(total));
    let mut best: Option<(f64, Interval)> = None;
    let mut start = f64::NEG_INFINITY;
    let mut next = 0;
    loop {
        let end = steps.get(next).map_or(f64::INFINITY, |step| step.0);
        let interval = Interval { start, end };
        let here = gain(&total);
        let wins = best.is_none_or(|(held, before)| here > held || (here == held && interval.beats(before)));
        if wins {
            best = Some((here, interval));
        }
        let Some(&(at, ..)) = steps.get(next) else { break };
        while let Some(&(place, old, new)) = steps.get(next) {
            if place - at > NARROW * (1.0 + at.abs()) {
                break;
            }
            total += new;
            total -= old;
            next += 1;
        }
        start = steps[next - 1].0;
    }
    let (gain, interval) = best.unwrap_or((f64::NEG_INFINITY, Interval { start, end: f64::INFINITY }));
    Point { gamma: interval.middle(), gain }
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    start: f64,
    end: f64,
}

impl Interval {
    /// On a step two translations win at once, so that weights there promise nothing.
    fn has_zero(self) -> bool {
        self.start < 0.0 && 0.0 < self.end
    }

    fn beats(self, other: Self) -> bool {
        match (self.has_zero(), other.has_zero()) {
            (true, false) => true,
            (false, true) => false,
            _ => self.end - self.start > other.end - other.start,
        }
    }

    fn middle(self) -> f64 {
        match (self.start.is_finite(), self.end.is_finite()) {
            (true, true) => f64::midpoint(self.start, self.end),
            (true, false) => f64::max(0.0, self.start + BEYOND),
            (false, true) => f64::min(0.0, self.end - BEYOND),
            (false, false) => 0.0,
        }
    }
}
