//! Batch MIRA on n-best lists (Cherry & Foster 2012): large-margin learning that copes with thousands of features.
//!
//! For each sentence the *hope* translation scores high and is good, the *fear* translation scores high and is bad;
//! weights move just far enough for hope to beat fear by the difference of their worth, but no farther than `step`.
//! Weights are averaged over all updates, and the average of the best pass is the result.
//!
//! The paper judges a sentence within a decaying sum of earlier ones; here it is judged within the whole text
//! (`swap.rs`), which needs no decay.

use std::cmp::Ordering;

use sylvan_base::Rng;
use sylvan_eval::Metric;

use crate::mert::Optimum;
use crate::pool::{Pool, Values};
use crate::swap::Text;

/// Settings of the learner.
#[derive(Debug, Clone, PartialEq)]
pub struct MiraConfig {
    /// Passes over the sentences.
    pub passes: usize,
    /// The largest step: C of the paper.
    pub step: f64,
    /// The random seed for the order of sentences.
    pub seed: u64,
}

impl Default for MiraConfig {
    fn default() -> Self {
        Self { passes: 60, step: 0.01, seed: 1 }
    }
}

/// Learns weights from a pool, beginning with `start`. Never worse on the pool than `start`.
pub fn mira<M: Metric>(pool: &Pool<'_, M>, start: &[f64], config: &MiraConfig) -> Optimum {
    let mut weights = start.to_vec();
    let mut sum = vec![0.0; weights.len()];
    let mut updates = 0.0;
    let mut best = Optimum { weights: start.to_vec(), gain: pool.gain(start) };
    let mut order: Vec<usize> = (0..pool.len()).filter(|&s| !pool.entries(s).is_empty()).collect();
    let mut rng = Rng::new(config.seed);
    let mut text = Text::of_winners(pool, start);
    for _ in 0..config.passes {
        rng.shuffle(&mut order);
        for &sentence in &order {
            let entries = pool.entries(sentence);
            let worth = text.worth(sentence);
            let scores: Vec<f64> = entries.iter().map(|entry| entry.values.dot(&weights)).collect();
            let hope = arg_max(scores.iter().zip(&worth).map(|(score, worth)| score + worth));
            let fear = arg_max(scores.iter().zip(&worth).map(|(score, worth)| score - worth));
            let (cost, margin) = (worth[hope] - worth[fear], scores[hope] - scores[fear]);
            // Hope and fear are chosen so that the margin is never more than the cost, but for rounding.
            let missing = f64::max(cost - margin, 0.0);
            let size = distance(&entries[hope].values, &entries[fear].values);
            if size > 0.0 {
                let step = config.step.min(missing / size);
                add(&mut weights, &entries[hope].values, step);
                add(&mut weights, &entries[fear].values, -step);
            }
            // The model's own choice stands in the text, as in the paper.
            text.choose(sentence, arg_max(scores.iter().copied()));
            sum.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += weight);
            updates += 1.0;
        }
        let mean: Vec<f64> = sum.iter().map(|sum| sum / f64::max(updates, 1.0)).collect();
        let gain = pool.gain(&mean);
        if gain > best.gain {
            best = Optimum { weights: mean, gain };
        }
    }
    best
}

/// The first of the largest, of at least one.
fn arg_max(values: impl Iterator<Item = f64>) -> usize {
    let best = values.enumerate().reduce(|best, other| if other.1 > best.1 { other } else { best });
    best.expect("sentences without translations are left out").0
}

fn add(weights: &mut [f64], values: &Values, factor: f64) {
    values.iter().for_each(|(feature, value)| weights[feature] += factor * value);
}

/// The squared Euclidean distance.
fn distance(a: &Values, b: &Values) -> f64 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut sum = 0.0;
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return sum,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((x, _)), Some((y, _))) => x.cmp(y),
        };
        let first = a.next_if(|_| order.is_le()).map_or(0.0, |(_, value)| value);
        let second = b.next_if(|_| order.is_ge()).map_or(0.0, |(_, value)| value);
        let difference = first - second;
        sum += difference * difference;
    }
}
