//! Does a difference between two systems mean anything?
//!
//! | test | question | paper |
//! |---|---|---|
//! | [`bootstrap`] | would other test sentences show it too? | Koehn 2004 |
//! | [`randomization`] | would it vanish if outputs changed hands? | Riezler & Maxwell 2005; Clark et al. 2011 |
//! | [`sign`] | do more sentences gain than lose? | Collins et al. 2005 |
//!
//! A system is one output or, where its training is repeated with other seeds, several: replicates (Clark et
//! al. 2011). Its score is the mean over them. Random numbers come from the seed and the number of the sample
//! alone, so results do not depend on the order of the work.

mod bootstrap;
mod randomization;
mod sign;

use crate::{Better, Metric};
pub use bootstrap::{Bootstrap, Interval, bootstrap, interval};
pub use randomization::randomization;
pub use sign::{SignTest, Tally, sign, two_sided};

/// A system: the statistics of its lines, once per replicate. All have the same number of lines.
pub type Replicates<S> = [Vec<S>];

/// The score of a system: the mean over its replicates.
pub fn mean_score<M: Metric>(metric: &M, system: &Replicates<M::Stats>) -> f64 {
    let scores = system.iter().map(|lines| metric.value(&metric.sum(lines)));
    scores.sum::<f64>() / system.len().max(1) as f64
}

/// Which sentences change the score of the baseline for the better and which for the worse when the system's
/// translation takes the place of the baseline's (Collins et al. 2005, section 4.2).
pub fn tally<M: Metric>(metric: &M, base: &[M::Stats], system: &[M::Stats]) -> Tally {
    let total = metric.sum(base);
    let before = metric.value(&total);
    let mut tally = Tally::default();
    for (&old, &new) in base.iter().zip(system) {
        let mut swapped = total;
        swapped -= old;
        swapped += new;
        let gain = match metric.better() {
            Better::Higher => metric.value(&swapped) - before,
            Better::Lower => before - metric.value(&swapped),
        };
        if gain > 0.0 {
            tally.wins += 1;
        } else if gain < 0.0 {
            tally.losses += 1;
        } else {
            tally.ties += 1;
        }
    }
    tally
}

/// The share of samples more extreme than the difference `seen`, which itself counts as one more sample.
fn p_value(extreme: usize, samples: usize, seen: f64) -> f64 {
    // No difference at all is what chance brings most easily; samples that are equal too are not more extreme.
    if seen == 0.0 { 1.0 } else { (extreme + 1) as f64 / (samples + 1) as f64 }
}
