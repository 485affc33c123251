//! Paired bootstrap (Koehn 2004; the p-value as in sacreBLEU, after Riezler & Maxwell 2005).
//!
//! Test sets of the same size are drawn from the sentences with replacement, the same ones for both systems. The
//! differences are shifted to the mean that they have if the systems are equal, and the p-value is the share of
//! shifted differences that still exceed the observed one.

use sylvan_base::Rng;

use super::{Replicates, mean_score, p_value};
use crate::Metric;

/// Where 95 of 100 samples lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The mean over samples.
    pub mean: f64,
    /// One in forty samples lies below.
    pub low: f64,
    /// One in forty samples lies above.
    pub high: f64,
}

impl Interval {
    /// Sorts the samples. There must be at least one.
    fn of(mut samples: Vec<f64>) -> Self {
        let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
        samples.sort_by(f64::total_cmp);
        let cut = samples.len() / 40;
        let at = |index: usize| samples.get(index).copied().unwrap_or(f64::NAN);
        Self { mean, low: at(cut), high: at(samples.len().saturating_sub(cut + 1)) }
    }
}

/// Where the score of a system lies on `samples` test sets drawn like its own. There must be lines and samples.
pub fn interval<M: Metric>(metric: &M, lines: &[M::Stats], samples: usize, seed: u64) -> Interval {
    let score = |sample: usize| {
        let mut rng = Rng::for_item(seed, sample as u64);
        let mut total = M::Stats::default();
        for _ in 0..lines.len() {
            total += lines[rng.below(lines.len())];
        }
        metric.value(&total)
    };
    Interval::of((0..samples).map(score).collect())
}

/// What the samples say about a system and its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The probability of such a difference by chance alone.
    pub p_value: f64,
    /// The baseline's score.
    pub base: Interval,
    /// The system's score.
    pub system: Interval,
    /// The system's score minus the baseline's.
    pub difference: Interval,
    /// The share of samples in which the system is better.
    pub better: f64,
}

/// Compares a system with a baseline on `samples` test sets. There must be lines, replicates and samples.
pub fn bootstrap<M: Metric>(
    metric: &M,
    base: &Replicates<M::Stats>,
    system: &Replicates<M::Stats>,
    samples: usize,
    seed: u64,
) -> Bootstrap {
    let lines = base.first().map_or(0, Vec::len);
    let mut scores = [Vec::with_capacity(samples), Vec::with_capacity(samples)];
    let mut drawn = Vec::with_capacity(lines);
    for sample in 0..samples {
        let mut rng = Rng::for_item(seed, sample as u64);
        drawn.clear();
        drawn.extend((0..lines).map(|_| rng.below(lines)));
        for (replicates, scores) in [base, system].into_iter().zip(&mut scores) {
            let one = |lines: &Vec<M::Stats>| {
                let mut total = M::Stats::default();
                for &line in &drawn {
                    total += lines[line];
                }
                metric.value(&total)
            };
            scores.push(replicates.iter().map(one).sum::<f64>() / replicates.len().max(1) as f64);
        }
    }
    let [base_scores, system_scores] = scores;
    let differences: Vec<f64> = system_scores.iter().zip(&base_scores).map(|(s, b)| s - b).collect();
    let seen = (mean_score(metric, system) - mean_score(metric, base)).abs();
    let centre = differences.iter().map(|d| d.abs()).sum::<f64>() / samples.max(1) as f64;
    let extreme = differences.iter().filter(|d| d.abs() - centre > seen).count();
    let better = differences.iter().filter(|&&d| metric.better().gain(d) > 0.0).count();
    Bootstrap {
        p_value: p_value(extreme, samples, seen),
        base: Interval::of(base_scores),
        system: Interval::of(system_scores),
        difference: Interval::of(differences),
        better: better as f64 / samples.max(1) as f64,
    }
}
