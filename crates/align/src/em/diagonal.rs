//! The reparameterised IBM 2 of Dyer, Chahuneau & Smith (2013): one number, the tension, says how strongly links
//! keep to the diagonal.
//!
//! ```text
//! p(no link) = p0        p(i | j, n, m) = (1 - p0) exp(-tension * |i/n - j/m|) / Z      i, j from 1
//! ```
//!
//! The terms on each side of the diagonal are geometric series, so a row costs two exponentials. The tension is
//! fitted by gradient steps on the difference between the expected distance under the posteriors and under the
//! model. The authors' program computes both differently in details (positions from 0 in one, lengths swapped in
//! the other); here they are what the paper says.

use super::position::{Scratch, Statistics};

#[derive(Debug, Clone)]
pub(crate) struct Diagonal {
    pub(crate) null: f64,
    pub(crate) tension: f64,
    fitted: usize,
}

const STEPS: usize = 8;
const RATE: f64 = 20.0;
const LIMITS: (f64, f64) = (0.1, 14.0);

impl Diagonal {
    pub(crate) fn new(null: f64) -> Self {
        Self { null, tension: 4.0, fitted: 0 }
    }

    pub(crate) fn with_tension(null: f64, tension: f64) -> Self {
        Self { null, tension, fitted: 0 }
    }

    /// Probabilities of all positions for generated word `j` of `generated`; `weights` has one place for each.
    pub(crate) fn row(&self, j: usize, generated: usize, weights: &mut [f32]) {
        let given = weights.len();
        let n = given as f64;
        let centre = (j + 1) as f64 / generated as f64 * n;
        // Positions up to `split` lie at or below the diagonal.
        let split = (centre as usize).min(given);
        let ratio = libm::exp(-self.tension / n);
        let mut sum = 0.0;
        let mut weight = libm::exp(-self.tension * (centre - split as f64) / n);
        for cell in weights[..split].iter_mut().rev() {
            *cell = weight as f32;
            sum += weight;
            weight *= ratio;
        }
        weight = libm::exp(-self.tension * ((split + 1) as f64 - centre) / n);
        for cell in &mut weights[split..] {
            *cell = weight as f32;
            sum += weight;
            weight *= ratio;
        }
        let scale = ((1.0 - self.null) / sum) as f32;
        for cell in weights {
            *cell *= scale;
        }
    }

    pub(crate) fn posteriors(&self, scratch: &mut Scratch, statistics: Option<&mut Statistics>) -> f64 {
        let generated = scratch.generated;
        let likelihood = scratch.independent(|j, priors| {
            self.row(j, generated, priors);
            self.null as f32
        });
        if let Some(statistics) = statistics {
            let (mut distance, mut linked) = (0.0, 0.0);
            for (j, row) in scratch.posterior.chunks_exact(scratch.given).enumerate() {
                for (i, &cell) in row.iter().enumerate() {
                    distance += f64::from(cell) * gap(i, scratch.given, j, generated);
                    linked += f64::from(cell);
                }
            }
            statistics.distance.add(distance);
            statistics.linked.add(linked);
            *statistics.lengths.entry((scratch.given as u32, generated as u32)).or_default() += 1;
        }
        likelihood
    }

    /// Fits the tension, from the second iteration on: the first one's posteriors know nothing of words.
    pub(crate) fn update(&mut self, statistics: &Statistics) {
        self.fitted += 1;
        let linked = statistics.linked.value();
        if self.fitted < 2 || linked <= 0.0 {
            return;
        }
        let empirical = statistics.distance.value() / linked;
        let mut row = Vec::new();
        for _ in 0..STEPS {
            let (mut model, mut words) = (0.0, 0.0);
            for (&(given, generated), &count) in &statistics.lengths {
                row.resize(given as usize, 0.0f32);
                let count = count as f64;
                for j in 0..generated as usize {
                    self.row(j, generated as usize, &mut row);
                    let gaps = row.iter().enumerate();
                    let expected: f64 = gaps
                        .map(|(i, &p)| f64::from(p) * gap(i, given as usize, j, generated as usize))
                        .sum();
                    model += count * expected / (1.0 - self.null);
                }
                words += count * f64::from(generated);
            }
            self.tension += RATE * (model / words - empirical);
            self.tension = self.tension.clamp(LIMITS.0, LIMITS.1);
        }
    }
}

/// How far a link is from the diagonal.
fn gap(i: usize, given: usize, j: usize, generated: usize) -> f64 {
    ((i + 1) as f64 / given as f64 - (j + 1) as f64 / generated as f64).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_formula() {
        let diagonal = Diagonal::with_tension(0.08, 5.5);
        for given in 1..9 {
            for generated in 1..9 {
                for j in 0..generated {
                    let mut row = vec![0.0; given];
                    diagonal.row(j, generated, &mut row);
                    let weight = |i| (-5.5 * gap(i, given, j, generated)).exp();
                    let sum: f64 = (0..given).map(weight).sum();
                    for (i, &found) in row.iter().enumerate() {
                        let expected = 0.92 * weight(i) / sum;
                        assert!((f64::from(found) - expected).abs() < 1e-6, "{given} {generated} {j} {i}");
                    }
                }
            }
        }
    }
}
