//! Steps against the slope (Kingma & Ba 2015), and the mean of the parameters along the way.

use std::sync::{Mutex, PoisonError};

use sylvan_base::parallel;

/// How fast to learn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// The longest step of a parameter.
    pub rate: f64,
    /// Steps until it is reached; after them steps get shorter with the root of their number.
    pub warm_up: u64,
    /// The most that slopes of all parameters may come to; what is more is scaled down.
    pub most: f64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { rate: 1e-3, warm_up: 1_500, most: 1.0 }
    }
}

impl Pace {
    fn at(self, step: u64) -> f64 {
        let (step, warm) = (step.max(1) as f64, self.warm_up.max(1) as f64);
        self.rate * (step / warm).min((warm / step).sqrt())
    }
}

/// How much of a mean of slopes, and of their squares, is kept in each step.
const KEPT: [f32; 2] = [0.9, 0.98];
/// How much of the mean of the parameters comes from each step, once there have been enough.
const RECENT: f64 = 5e-4;

/// The moving means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Adam {
    pub(super) steps: u64,
    pub(super) first: Vec<f32>,
    pub(super) second: Vec<f32>,
    /// Of the parameters themselves.
    pub(super) mean: Vec<f32>,
}

/// Parameters that are gone through together.
const BLOCK: usize = 1 << 14;

impl Adam {
    pub(super) fn new(values: &[f32]) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { steps: 0, first: zeros.clone(), second: zeros, mean: values.to_vec() }
    }

    /// One step against the sum of the slopes.
    pub(super) fn step(&mut self, values: &mut [f32], slopes: &[Vec<f32>], pace: Pace, threads: usize) {
        self.steps += 1;
        let blocks: Vec<usize> = (0..values.len()).step_by(BLOCK).collect();
        let of = |slopes: &[Vec<f32>], place: usize| slopes.iter().fold(0.0_f32, |sum, own| sum + own[place]);
        let squares = parallel::map(
            &blocks,
            threads,
            || (),
            |(), _, &from| {
                let end = (from + BLOCK).min(values.len());
                (from..end).map(|place| f64::from(of(slopes, place)).powi(2)).sum::<f64>()
            },
        );
        let norm = squares.iter().sum::<f64>().sqrt();
        let scale = if norm > pace.most { pace.most / norm } else { 1.0 } as f32;
        let corrected = |kept: f32| 1.0 - libm::pow(f64::from(kept), self.steps as f64);
        let rate = (pace.at(self.steps) / corrected(KEPT[0])) as f32;
        let second_scale = (1.0 / corrected(KEPT[1])) as f32;
        let recent = RECENT.max(1.0 / (self.steps as f64 / 10.0 + 1.0)) as f32;
        let rows = values.chunks_mut(BLOCK).zip(self.first.chunks_mut(BLOCK));
        let rows = rows.zip(self.second.chunks_mut(BLOCK)).zip(self.mean.chunks_mut(BLOCK));
        let work: Vec<_> = rows.zip(&blocks).map(|(rows, &from)| (from, Mutex::new(rows))).collect();
        parallel::map(
            &work,
            threads,
            || (),
            |(), _, (from, rows)| {
                let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                let (((values, first), second), mean) = &mut *rows;
                for place in 0..values.len() {
                    let slope = of(slopes, from + place) * scale;
                    first[place] = KEPT[0] * first[place] + (1.0 - KEPT[0]) * slope;
                    second[place] = KEPT[1] * second[place] + (1.0 - KEPT[1]) * slope * slope;
                    values[place] -= rate * first[place] / ((second[place] * second_scale).sqrt() + 1e-9);
                    mean[place] += (values[place] - mean[place]) * recent;
                }
            },
        );
    }
}
