//! Steps against the slope (Kingma & Ba 2015), and the mean of the parameters along the way.

use std::sync::{Mutex, PoisonError};

use sylvan_base::parallel;

use crate::functions::{LANES, add_scaled};
use crate::kernel::{wide, widely};

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

    /// One step against the sum of the slopes, which replaces the first of them.
    pub(super) fn step(&mut self, values: &mut [f32], slopes: &mut [Vec<f32>], pace: Pace, threads: usize) {
        self.steps += 1;
        let Some((total, others)) = slopes.split_first_mut() else { return };
        let blocks: Vec<_> =
            total.chunks_mut(BLOCK).enumerate().map(|(at, block)| (at * BLOCK, Mutex::new(block))).collect();
        let squares = parallel::map(
            &blocks,
            threads,
            || (),
            |(), _, (from, block)| {
                let mut block = block.lock().unwrap_or_else(PoisonError::into_inner);
                wide(|| {
                    for other in others.iter() {
                        add_scaled(&mut block, 1.0, &other[*from..]);
                    }
                });
                square(&block)
            },
        );
        drop(blocks);
        let norm = squares.iter().sum::<f64>().sqrt();
        let scale = if norm > pace.most { pace.most / norm } else { 1.0 } as f32;
        let corrected = |kept: f32| 1.0 - libm::pow(f64::from(kept), self.steps as f64);
        let rate = (pace.at(self.steps) / corrected(KEPT[0])) as f32;
        let second_scale = (1.0 / corrected(KEPT[1])) as f32;
        let recent = RECENT.max(1.0 / (self.steps as f64 / 10.0 + 1.0)) as f32;
        let rows = values.chunks_mut(BLOCK).zip(self.first.chunks_mut(BLOCK));
        let rows = rows.zip(self.second.chunks_mut(BLOCK)).zip(self.mean.chunks_mut(BLOCK));
        let work: Vec<_> = rows.zip(total.chunks(BLOCK)).map(Mutex::new).collect();
        parallel::map(
            &work,
            threads,
            || (),
            |(), _, rows| {
                let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
                let ((((values, first), second), mean), slopes) = &mut *rows;
                wide(|| {
                    let means = first.iter_mut().zip(second.iter_mut());
                    let values = values.iter_mut().zip(mean.iter_mut());
                    for (((value, mean), (first, second)), slope) in values.zip(means).zip(*slopes) {
                        let slope = slope * scale;
                        *first = KEPT[0] * *first + (1.0 - KEPT[0]) * slope;
                        *second = KEPT[1] * *second + (1.0 - KEPT[1]) * slope * slope;
                        *value -= rate * *first / ((*second * second_scale).sqrt() + 1e-9);
                        *mean += (*value - *mean) * recent;
                    }
                });
            },
        );
    }
}

widely! {
    /// The sum of the squares, in lanes, as it is added up on every processor.
    fn square(values: &[f32]) -> f64 {
        let (whole, rest) = values.as_chunks::<LANES>();
        let mut lanes = [0.0_f64; LANES];
        for values in whole {
            for (sum, value) in lanes.iter_mut().zip(values) {
                *sum += f64::from(*value) * f64::from(*value);
            }
        }
        lanes.into_iter().chain(rest.iter().map(|value| f64::from(*value) * f64::from(*value))).sum()
    }
}
