//! Pairwise ranked optimisation (Hopkins & May 2011): of two translations the better one should score higher.
//!
//! Pairs are drawn at random, those that differ most in worth are kept, and a logistic regression learns to tell
//! which is better. Its weights are mixed with the old ones, as lists change slowly under small steps.

use sylvan_base::Rng;
use sylvan_eval::Metric;

use crate::mert::{Optimum, length, set_length};
use crate::pool::{Pool, Values};
use crate::swap::Text;

/// Settings of the learner; the defaults are the paper's.
#[derive(Debug, Clone, PartialEq)]
pub struct ProConfig {
    /// Pairs drawn per sentence.
    pub drawn: usize,
    /// Pairs kept per sentence.
    pub kept: usize,
    /// How much two translations must differ in worth.
    pub least: f64,
    /// The share of the new weights when mixed with the old ones.
    pub mixing: f64,
    /// Strength of the quadratic penalty on weights.
    pub penalty: f64,
    /// The random seed.
    pub seed: u64,
}

impl Default for ProConfig {
    fn default() -> Self {
        Self { drawn: 5000, kept: 50, least: 0.05, mixing: 0.5, penalty: 1e-4, seed: 1 }
    }
}

/// Learns weights from a pool, beginning with `start`.
pub fn pro<M: Metric>(pool: &Pool<'_, M>, start: &[f64], config: &ProConfig) -> Optimum {
    let text = Text::of_winners(pool, start);
    let mut pairs: Vec<(&Values, &Values)> = Vec::new();
    for sentence in 0..pool.len() {
        let entries = pool.entries(sentence);
        if entries.len() < 2 {
            continue;
        }
        let mut rng = Rng::for_item(config.seed, sentence as u64);
        let worth = text.worth(sentence);
        let mut drawn: Vec<(f64, usize, usize)> = Vec::new();
        for _ in 0..config.drawn {
            let (a, b) = (rng.below(entries.len()), rng.below(entries.len()));
            let difference = worth[a] - worth[b];
            if difference.abs() >= config.least {
                drawn.push(if difference > 0.0 { (difference, a, b) } else { (-difference, b, a) });
            }
        }
        drawn.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        drawn.dedup();
        let kept = drawn.into_iter().take(config.kept);
        pairs.extend(kept.map(|(_, better, worse)| (&entries[better].values, &entries[worse].values)));
    }
    let mut learnt = regression(&pairs, start, config.penalty);
    // Mixed at equal length: regression says nothing about the old scale.
    set_length(&mut learnt, length(start).max(1e-3));
    let mixed: Vec<f64> = start
        .iter()
        .zip(&learnt)
        .map(|(old, new)| (1.0 - config.mixing) * old + config.mixing * new)
        .collect();
    let gain = pool.gain(&mixed);
    Optimum { weights: mixed, gain }
}

/// Logistic regression on differences: maximises the probability that the better one wins, by L-BFGS (Nocedal 1980).
fn regression(pairs: &[(&Values, &Values)], start: &[f64], penalty: f64) -> Vec<f64> {
    const MEMORY: usize = 8;
    const MOST: usize = 60;
    if pairs.is_empty() {
        return start.to_vec();
    }
    let loss = |weights: &[f64], gradient: &mut Vec<f64>| {
        let share = 1.0 / pairs.len() as f64;
        gradient.clear();
        gradient.extend(weights.iter().map(|weight| penalty * weight));
        let mut sum = 0.5 * penalty * dot(weights, weights);
        for (better, worse) in pairs {
            let margin = better.dot(weights) - worse.dot(weights);
            // ln(1 + e^-margin) without overflow.
            sum += share * ((-margin.abs()).exp().ln_1p() + (-margin).max(0.0));
            let push = -share / (1.0 + margin.exp());
            better.iter().for_each(|(feature, value)| gradient[feature] += push * value);
            worse.iter().for_each(|(feature, value)| gradient[feature] -= push * value);
        }
        sum
    };
    let mut weights = start.to_vec();
    let mut gradient = Vec::new();
    let mut value = loss(&weights, &mut gradient);
    let mut history: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..MOST {
        let direction = two_loops(&gradient, &history);
        let slope = dot(&direction, &gradient);
        if slope >= -1e-12 {
            break;
        }
        let (mut step, mut moved) = (1.0, None);
        let mut next_gradient = Vec::new();
        for _ in 0..30 {
            let trial: Vec<f64> = weights.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
            let found = loss(&trial, &mut next_gradient);
            if found <= value + 1e-4 * step * slope {
                moved = Some((trial, found));
                break;
            }
            step *= 0.5;
        }
        let Some((next, found)) = moved else { break };
        let change: Vec<f64> = next.iter().zip(&weights).map(|(a, b)| a - b).collect();
        let turn: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        if dot(&change, &turn) > 1e-14 {
            history.push((change, turn));
            if history.len() > MEMORY {
                history.remove(0);
            }
        }
        let improvement = value - found;
        (weights, gradient, value) = (next, next_gradient, found);
        if improvement < 1e-9 {
            break;
        }
    }
    weights
}

/// The quasi-Newton direction from the last changes of weights and gradient.
fn two_loops(gradient: &[f64], history: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut q = gradient.to_vec();
    let mut alphas = Vec::with_capacity(history.len());
    for (change, turn) in history.iter().rev() {
        let alpha = dot(change, &q) / dot(change, turn);
        q.iter_mut().zip(turn).for_each(|(q, t)| *q -= alpha * t);
        alphas.push(alpha);
    }
    if let Some((change, turn)) = history.last() {
        let scale = dot(change, turn) / dot(turn, turn);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((change, turn), alpha) in history.iter().zip(alphas.iter().rev()) {
        let beta = dot(turn, &q) / dot(change, turn);
        q.iter_mut().zip(change).for_each(|(q, c)| *q += (alpha - beta) * c);
    }
    q.iter_mut().for_each(|q| *q = -*q);
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
