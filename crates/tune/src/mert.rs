//! Minimum error rate training (Och 2003): exact line searches along features and random directions, from the
//! current weights and from random ones.

use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_base::{Progress, Rng, Silent, parallel};

use crate::line_search::{Direction, Space, line_search};

/// Settings of the optimiser.
#[derive(Debug, Clone, PartialEq)]
pub struct MertConfig {
    /// Random starts besides the current weights.
    pub restarts: usize,
    /// Random directions besides the features, drawn anew at each step.
    pub random_directions: usize,
    /// The random seed.
    pub seed: u64,
    /// Threads; the result does not depend on it.
    pub threads: usize,
}

impl Default for MertConfig {
    fn default() -> Self {
        Self { restarts: 12, random_directions: 6, seed: 1, threads: 1 }
    }
}

/// Weights and what they gain.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// One weight per feature.
    pub weights: Vec<f64>,
    /// The metric, turned so that more is better.
    pub gain: f64,
}

/// A step must gain more than this: differences below are rounding.
const LEAST: f64 = 1e-7;
/// More steps than any start needs.
const MOST_STEPS: usize = 100;

/// The best weights that climbing from `start` and from random points finds. Never worse than `start` itself.
///
/// `spread` says how far random starts lie from 0, per feature; a feature whose spread is 0 keeps its weight. The
/// result has the length (sum of absolute values) of `start`, unless that is 0: the metric does not depend on the
/// length, but weights are easier to read if it stays.
pub fn mert<S: Space>(space: &S, start: &[f64], spread: &[f64], config: &MertConfig) -> Optimum {
    mert_with(space, start, spread, config, &Silent)
}

/// The same, with news of how far it is.
pub(crate) fn mert_with<S: Space>(
    space: &S,
    start: &[f64],
    spread: &[f64],
    config: &MertConfig,
    progress: &dyn Progress,
) -> Optimum {
    let numbers: Vec<usize> = (0..=config.restarts).collect();
    progress.begin("choosing weights", Some(numbers.len() as u64));
    let done = AtomicU64::new(0);
    let all = parallel::map(
        &numbers,
        config.threads,
        || (),
        |(), _, &number| {
            let mut rng = Rng::for_item(config.seed, number as u64);
            let from: Vec<f64> = match number {
                0 => start.to_vec(),
                // Random signs only where the start has none: a feature whose sign is known keeps it.
                _ => start
                    .iter()
                    .zip(spread)
                    .map(|(&at, &spread)| random_weight(at, spread, &mut rng))
                    .collect(),
            };
            let optimum = climb(space, from, spread, config.random_directions, &mut rng);
            progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
            optimum
        },
    );
    progress.end();
    let best =
        all.into_iter().reduce(|best, other| if other.gain > best.gain + LEAST { other } else { best });
    let mut best = best.unwrap_or(Optimum { weights: start.to_vec(), gain: f64::NEG_INFINITY });
    set_length(&mut best.weights, length(start));
    best
}

fn random_weight(at: f64, spread: f64, rng: &mut Rng) -> f64 {
    if spread == 0.0 {
        return at;
    }
    let size = rng.unit() * spread;
    if at == 0.0 { if rng.chance(0.5) { size } else { -size } } else { size.copysign(at) }
}

/// Climbs until no direction gains any more.
fn climb<S: Space>(
    space: &S,
    mut weights: Vec<f64>,
    spread: &[f64],
    random: usize,
    rng: &mut Rng,
) -> Optimum {
    let free = |feature: usize| spread.get(feature).is_none_or(|spread| *spread > 0.0);
    let mut gain = f64::NEG_INFINITY;
    for _ in 0..MOST_STEPS {
        let prepared = space.prepare(&weights);
        let axes = (0..space.dimensions()).filter(|&feature| free(feature)).map(Direction::Axis);
        let random: Vec<Direction> = (0..random)
            .map(|_| {
                let mut one = |feature| if free(feature) { 2.0 * rng.unit() - 1.0 } else { 0.0 };
                Direction::Vector((0..space.dimensions()).map(&mut one).collect())
            })
            .collect();
        let points = axes.chain(random).map(|direction| {
            let point = line_search(space, &prepared, &direction);
            (point, direction)
        });
        // Of equals the first.
        let best = points.reduce(|best, other| if other.0.gain > best.0.gain { other } else { best });
        let (point, direction) = best.unwrap_or_else(|| {
            let nowhere = Direction::Vector(vec![0.0; space.dimensions()]);
            (line_search(space, &prepared, &nowhere), nowhere)
        });
        if point.gain <= gain + LEAST {
            break;
        }
        gain = point.gain;
        for (feature, weight) in weights.iter_mut().enumerate() {
            *weight += point.gamma * direction.of(feature);
        }
    }
    Optimum { weights, gain }
}

/// The sum of absolute values.
pub(crate) fn length(weights: &[f64]) -> f64 {
    weights.iter().map(|weight| weight.abs()).sum()
}

/// Scales weights to a length; leaves them alone where that is impossible.
pub(crate) fn set_length(weights: &mut [f64], wanted: f64) {
    let found = length(weights);
    if found > 0.0 && wanted > 0.0 {
        weights.iter_mut().for_each(|weight| *weight *= wanted / found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_weights_keep_known_signs_and_stay_within_the_spread() {
        let mut rng = Rng::new(1);
        let mut draw = |at: f64, spread: f64| -> (f64, f64) {
            let all: Vec<f64> = (0..200).map(|_| random_weight(at, spread, &mut rng)).collect();
            (
                all.iter().copied().fold(f64::INFINITY, f64::min),
                all.into_iter().fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let within = |(low, high): (f64, f64), least: f64, most: f64| {
            // All of the range, and no more.
            let near = 0.05 * (most - least);
            least <= low && low < least + near && most - near < high && high <= most
        };
        assert!(within(draw(0.1, 2.0), 0.0, 2.0));
        assert!(within(draw(-9.0, 0.5), -0.5, 0.0));
        assert!(within(draw(0.0, 0.5), -0.5, 0.5));
        assert_eq!(draw(0.3, 0.0), (0.3, 0.3));
        assert_eq!(draw(0.0, 0.0), (0.0, 0.0));
    }

    #[test]
    fn lengths_are_sums_of_absolute_values() {
        assert_eq!(length(&[0.5, -1.5, 0.0]), 2.0);
        let mut weights = [0.5, -1.5, 0.0];
        set_length(&mut weights, 8.0);
        assert_eq!(weights, [2.0, -6.0, 0.0]);
        set_length(&mut weights, 0.0);
        assert_eq!(weights, [2.0, -6.0, 0.0], "no length is wanted");
        let mut none = [0.0, 0.0];
        set_length(&mut none, 3.0);
        assert_eq!(none, [0.0, 0.0], "there is nothing to scale");
    }
}
