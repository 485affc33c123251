//! The sign test for corpus scores (Collins et al. 2005, section 4.2): a sentence is a win when putting the
//! system's translation of it in place of the baseline's makes the baseline's corpus score better.

use crate::Metric;

/// How many sentences are better, the same and worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Better with the system's translation.
    pub wins: u64,
    /// The same.
    pub ties: u64,
    /// Worse.
    pub losses: u64,
}

/// The result of a sign test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignTest {
    /// The sentences counted.
    pub tally: Tally,
    /// The probability that a fair coin gives wins and losses at least as unequal, either way; ties do not count.
    pub p_value: f64,
}

/// Compares one output of a system with one of the baseline.
pub fn sign<M: Metric>(metric: &M, base: &[M::Stats], system: &[M::Stats]) -> SignTest {
    let tally = super::tally(metric, base, system);
    SignTest { tally, p_value: two_sided(tally.wins, tally.losses) }
}

/// The probability that a fair coin falls at least as unequally as this, either way.
pub fn two_sided(wins: u64, losses: u64) -> f64 {
    let (tosses, fewer) = (wins + losses, wins.min(losses));
    // Terms of the binomial distribution from the rarest on, each from the one before; in logarithms, because
    // 2^-tosses is nothing in floating point when there are many.
    let mut log = -(tosses as f64) * std::f64::consts::LN_2;
    let mut sum = log.exp();
    for k in 1..=fewer {
        log += ((tosses - k + 1) as f64 / k as f64).ln();
        sum += log.exp();
    }
    (2.0 * sum).min(1.0)
}
