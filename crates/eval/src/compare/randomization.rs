//! Paired approximate randomisation (Riezler & Maxwell 2005), over replicates stratified by sentence (Clark et
//! al. 2011).
//!
//! If the systems are equal, then it does not matter whose output a translation is. So the outputs of each
//! sentence are dealt out anew to the two systems and their replicates, and the p-value is the share of deals
//! after which the scores differ by more than observed.

use sylvan_base::Rng;

use super::{Replicates, mean_score, p_value};
use crate::Metric;

/// The p-value of the difference between two systems over `trials` deals. Both must have the same number of
/// replicates and of lines.
pub fn randomization<M: Metric>(
    metric: &M,
    base: &Replicates<M::Stats>,
    system: &Replicates<M::Stats>,
    trials: usize,
    seed: u64,
) -> f64 {
    let seen = (mean_score(metric, system) - mean_score(metric, base)).abs();
    let lines = base.first().map_or(0, Vec::len);
    let all: Vec<&Vec<M::Stats>> = base.iter().chain(system).collect();
    let mut hands: Vec<usize> = (0..all.len()).collect();
    let mut extreme = 0;
    for trial in 0..trials {
        let mut rng = Rng::for_item(seed, trial as u64);
        let mut totals = vec![M::Stats::default(); all.len()];
        let mut bits = 0u64;
        for line in 0..lines {
            if let [first, second] = all[..] {
                // Two outputs: one coin is enough, and a random number holds 64.
                if line % 64 == 0 {
                    bits = rng.next_u64();
                }
                let swap = bits & 1 == 1;
                bits >>= 1;
                let (a, b) = if swap { (second[line], first[line]) } else { (first[line], second[line]) };
                totals[0] += a;
                totals[1] += b;
            } else {
                rng.shuffle(&mut hands);
                for (total, &hand) in totals.iter_mut().zip(&hands) {
                    *total += all[hand][line];
                }
            }
        }
        let scores: Vec<f64> = totals.iter().map(|total| metric.value(total)).collect();
        let (first, second) = scores.split_at(base.len());
        let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        extreme += usize::from((mean(first) - mean(second)).abs() > seen);
    }
    p_value(extreme, trials, seen)
}
