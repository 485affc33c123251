//! How likely each orientation is for a phrase pair: p(o) = (c(o) + s(o)) / sum, previous and next apart.

/// What is added to the counts of orientations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrientationSmoothing {
    /// For each orientation.
    pub constant: f64,
    /// Whether more is added for orientations that are frequent in the whole text: the constant times
    /// (c + 0.1) / all instead of the constant.
    pub global: bool,
}

impl Default for OrientationSmoothing {
    /// Half a count each.
    fn default() -> Self {
        Self { constant: 0.5, global: false }
    }
}

/// What is added to each count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OrientationPriors([f64; 6]);

impl OrientationPriors {
    /// `sums` are the counts of all phrase pairs together.
    pub(super) fn new(smoothing: OrientationSmoothing, sums: &[u64; 6]) -> Self {
        let mut priors = [smoothing.constant; 6];
        if smoothing.global {
            for (priors, sums) in priors.chunks_mut(3).zip(sums.chunks(3)) {
                let all = sums.iter().sum::<u64>().max(1) as f64;
                for (prior, &sum) in priors.iter_mut().zip(sums) {
                    *prior *= (sum as f64 + 0.1) / all;
                }
            }
        }
        Self(priors)
    }

    /// Natural logarithms of the probabilities. Without smoothing an orientation that was never seen gets the
    /// smallest that other features have.
    pub(super) fn features(&self, counts: &[u64]) -> impl Iterator<Item = f32> {
        let mut smoothed = [0.0; 6];
        for ((value, &count), prior) in smoothed.iter_mut().zip(counts).zip(self.0) {
            *value = count as f64 + prior;
        }
        let half = |values: &[f64]| values.iter().sum::<f64>();
        let (before, after) = (half(&smoothed[..3]), half(&smoothed[3..]));
        smoothed.into_iter().enumerate().map(move |(place, value)| {
            let p = value / if place < 3 { before } else { after };
            if p > 0.0 { libm::log(p) as f32 } else { LOWEST }
        })
    }
}

/// As for words that were never linked.
const LOWEST: f32 = -20.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts 2, 0, 1 with half a count each: 2.5, 0.5 and 1.5 of 4.5.
    #[test]
    fn half_a_count_is_added_to_each() {
        let priors = OrientationPriors::new(OrientationSmoothing::default(), &[0; 6]);
        let p: Vec<f32> = priors.features(&[2, 0, 1, 0, 0, 0]).map(f32::exp).collect();
        for (found, expected) in p.iter().zip([0.5556, 0.1111, 0.3333, 0.3333, 0.3333, 0.3333]) {
            assert!((found - expected).abs() < 1e-4, "{p:?}");
        }
    }

    #[test]
    fn frequent_orientations_get_more_if_asked() {
        let smoothing = OrientationSmoothing { global: true, ..OrientationSmoothing::default() };
        let priors = OrientationPriors::new(smoothing, &[6, 1, 3, 10, 0, 0]);
        let p: Vec<f32> = priors.features(&[2, 0, 1, 0, 1, 0]).map(f32::exp).collect();
        // 0.5 * 6.1 / 10, 0.5 * 1.1 / 10, 0.5 * 3.1 / 10 are added.
        let sum = 3.0 + 0.305 + 0.055 + 0.155;
        for (found, expected) in p.iter().zip([2.305 / sum, 0.055 / sum, 1.155 / sum]) {
            assert!((found - expected).abs() < 1e-5, "{p:?}");
        }
        assert!(p[3] > 100.0 * p[5] * 0.9 && p[4] > p[3], "{p:?}");
    }

    #[test]
    fn without_smoothing_nothing_is_infinite() {
        let smoothing = OrientationSmoothing { constant: 0.0, global: false };
        let priors = OrientationPriors::new(smoothing, &[0; 6]);
        let p: Vec<f32> = priors.features(&[1, 0, 0, 0, 0, 0]).collect();
        assert_eq!(p, [0.0, LOWEST, LOWEST, LOWEST, LOWEST, LOWEST]);
    }
}
