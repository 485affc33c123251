//! The hidden Markov model (Vogel, Ney & Tillmann 1996; no-link states as in Och & Ney 2003).
//!
//! The state is the last linked position, 0 before any. A generated word either has no link, with probability
//! `p0`, and leaves the state as it is, or is linked to position `i`:
//!
//! ```text
//! p(i | i') = (1 - p0) * ((1 - s) * c(i - i') / sum over k in 1..=n of c(k - i')  +  s / n)
//! ```
//!
//! with jump weights `c` in buckets clipped at both ends and a share `s` spread evenly. Because the sum depends on
//! how far the sentence reaches on either side, expected jump counts are not the maximum of the M-step; the
//! weights are improved by the minorise-maximise update for Luce's choice model (Hunter 2004), which can never
//! lower the likelihood.

use std::sync::OnceLock;

use super::position::{Scratch, Statistics};
use crate::work::Fixed;

/// Jumps further than this share a bucket.
const FURTHEST: isize = 12;
const BUCKETS: usize = 2 * FURTHEST as usize + 1;
/// Transition matrices are kept for sentences up to this length.
const KEPT: usize = 128;
const STEPS: usize = 4;

#[derive(Debug, Clone)]
pub(crate) struct Hmm {
    pub(crate) null: f64,
    smoothing: f64,
    pub(crate) jumps: Vec<f64>,
    /// By length: what [`Self::fill`] makes.
    matrices: Vec<OnceLock<Vec<f32>>>,
}

fn bucket(jump: isize) -> usize {
    (jump.clamp(-FURTHEST, FURTHEST) + FURTHEST) as usize
}

impl Hmm {
    pub(crate) fn new(null: f64, smoothing: f64) -> Self {
        // Falls off from the next position; anything positive would do.
        let start = |bucket: usize| libm::exp(-0.4 * (bucket as f64 - FURTHEST as f64 - 1.0).abs());
        Self { null, smoothing, jumps: (0..BUCKETS).map(start).collect(), matrices: Vec::new() }
    }

    pub(crate) fn with_jumps(null: f64, smoothing: f64, jumps: Vec<f64>) -> Option<Self> {
        let sound = jumps.len() == BUCKETS && jumps.iter().all(|&jump| jump > 0.0 && jump.is_finite());
        let mut hmm = Self { jumps, ..Self::new(null, smoothing) };
        hmm.prepare();
        sound.then_some(hmm)
    }

    /// Jump weights from counts by distance, the middle one being 0. What lies beyond the buckets is left out: it
    /// shares the outermost weight.
    pub(crate) fn weights_of(counts: &[f64]) -> Vec<f64> {
        let middle = (counts.len() / 2) as isize;
        let count = |jump: isize| usize::try_from(middle + jump).ok().and_then(|at| counts.get(at));
        (-FURTHEST..=FURTHEST).map(|jump| count(jump).unwrap_or(&0.0) + 0.5).collect()
    }

    pub(crate) fn prepare(&mut self) {
        self.matrices = (0..=KEPT).map(|_| OnceLock::new()).collect();
    }

    /// Two matrices, one after the other, each with n + 1 rows (from 0 = start) and n columns: the probability of
    /// going from `i'` to `i` with a link, and the part of it that is due to the jump weights.
    fn matrix(&self, n: usize) -> Vec<f32> {
        let mut both = vec![0f32; 2 * (n + 1) * n];
        let (all, jumps) = both.split_at_mut((n + 1) * n);
        for from in 0..=n {
            let weight = |to: usize| self.jumps[bucket(to as isize + 1 - from as isize)];
            let sum: f64 = (0..n).map(weight).sum();
            for to in 0..n {
                let jump = (1.0 - self.null) * (1.0 - self.smoothing) * weight(to) / sum;
                jumps[from * n + to] = jump as f32;
                all[from * n + to] = (jump + (1.0 - self.null) * self.smoothing / n as f64) as f32;
            }
        }
        both
    }

    /// Forward-backward.
    pub(crate) fn posteriors(&self, scratch: &mut Scratch, statistics: Option<&mut Statistics>) -> f64 {
        let (n, m) = (scratch.given, scratch.generated);
        let owned;
        let both = match self.matrices.get(n) {
            Some(kept) => kept.get_or_init(|| self.matrix(n)),
            None => {
                owned = self.matrix(n);
                &owned
            }
        };
        let (transitions, jumps) = both.split_at((n + 1) * n);
        let null = self.null as f32;
        let states = n + 1;
        let mut work = std::mem::take(&mut scratch.work);
        work.clear();
        // Forward masses after 0..=m words, backward masses, the next backward masses, expected transitions.
        work.resize((m + 1) * states + 2 * states + states * n + n, 0.0);
        let (forward, rest) = work.split_at_mut((m + 1) * states);
        let (backward, rest) = rest.split_at_mut(states);
        let (earlier, rest) = rest.split_at_mut(states);
        let (pairs, ahead) = rest.split_at_mut(states * n);
        forward[0] = 1.0;
        let mut likelihood = 0.0;
        for j in 0..m {
            let (before, after) = forward[j * states..].split_at_mut(states);
            let emission = &scratch.emission[j * n..(j + 1) * n];
            let (unmoved, linked) = after[..states].split_at_mut(1);
            for (from, &mass) in before.iter().enumerate() {
                if mass > 0.0 {
                    for (cell, &p) in linked.iter_mut().zip(&transitions[from * n..(from + 1) * n]) {
                        *cell += mass * p;
                    }
                }
            }
            let unlinked = null * scratch.null_emission[j];
            let mut sum = before[0] * unlinked;
            unmoved[0] = sum;
            for ((cell, &e), &mass) in linked.iter_mut().zip(emission).zip(&before[1..]) {
                *cell = *cell * e + mass * unlinked;
                sum += *cell;
            }
            // Posteriors are divided by the same sums, so that masses stay near one.
            let scale = 1.0 / sum;
            for cell in &mut after[..states] {
                *cell *= scale;
            }
            likelihood += libm::log(f64::from(sum));
            scratch.null_posterior[j] = scale;
        }
        backward.fill(1.0);
        for j in (0..m).rev() {
            let scale = scratch.null_posterior[j];
            let before = &forward[j * states..(j + 1) * states];
            let emission = &scratch.emission[j * n..(j + 1) * n];
            let unlinked = null * scratch.null_emission[j] * scale;
            for ((cell, &e), &b) in ahead.iter_mut().zip(emission).zip(&backward[1..]) {
                *cell = e * b * scale;
            }
            let posterior = &mut scratch.posterior[j * n..(j + 1) * n];
            posterior.fill(0.0);
            let mut no_link = 0.0;
            for (from, &mass) in before.iter().enumerate() {
                no_link += mass * unlinked * backward[from];
                let row = &transitions[from * n..(from + 1) * n];
                earlier[from] = unlinked * backward[from] + dot(row, ahead);
                if mass > 0.0 {
                    let expected = &mut pairs[from * n..(from + 1) * n];
                    for (((cell, sum), &p), &a) in posterior.iter_mut().zip(expected).zip(row).zip(&*ahead) {
                        *cell += mass * p;
                        *sum += mass * a;
                    }
                }
            }
            for (cell, &a) in posterior.iter_mut().zip(&*ahead) {
                *cell *= a;
            }
            scratch.null_posterior[j] = no_link;
            backward.copy_from_slice(earlier);
        }
        if let Some(statistics) = statistics {
            count(statistics, n, pairs, jumps);
        }
        scratch.work = work;
        likelihood
    }

    pub(crate) fn update(&mut self, statistics: &Statistics) {
        let jumps: Vec<f64> = statistics.jumps.iter().map(|sum| sum.value()).collect();
        if jumps.iter().sum::<f64>() <= 0.0 {
            return;
        }
        for _ in 0..STEPS {
            let mut weights = vec![0.0; BUCKETS];
            for (n, departures) in statistics.departures.iter().enumerate() {
                for (from, departures) in departures.iter().enumerate() {
                    let departures = departures.value();
                    if departures <= 0.0 {
                        continue;
                    }
                    let to = |to: usize| bucket(to as isize + 1 - from as isize);
                    let sum: f64 = (0..n).map(|i| self.jumps[to(i)]).sum();
                    for i in 0..n {
                        weights[to(i)] += departures / sum;
                    }
                }
            }
            for ((jump, &count), &weight) in self.jumps.iter_mut().zip(&jumps).zip(&weights) {
                // A jump that never happened keeps a trace, so that it can still happen.
                let next = if weight > 0.0 { count / weight } else { *jump };
                *jump = next.max(1e-12);
            }
            // Only ratios matter.
            let scale = self.jumps.len() as f64 / self.jumps.iter().sum::<f64>();
            for jump in &mut self.jumps {
                *jump *= scale;
            }
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums, so that the compiler may use vectors; the order is fixed all the same.
    let mut sums = [0f32; 8];
    let (a_parts, b_parts) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_parts.remainder().iter().zip(b_parts.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_parts.zip(b_parts) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

fn count(statistics: &mut Statistics, n: usize, pairs: &[f32], jumps: &[f32]) {
    if statistics.jumps.is_empty() {
        statistics.jumps.resize(BUCKETS, Fixed::default());
    }
    if statistics.departures.len() <= n {
        statistics.departures.resize(n + 1, Vec::new());
    }
    statistics.departures[n].resize(n + 1, Fixed::default());
    let mut sums = [0f64; BUCKETS];
    for from in 0..=n {
        let mut departures = 0.0;
        let row = from * n..(from + 1) * n;
        for (to, (&pair, &jump)) in pairs[row.clone()].iter().zip(&jumps[row]).enumerate() {
            let expected = f64::from(pair * jump);
            sums[bucket(to as isize + 1 - from as isize)] += expected;
            departures += expected;
        }
        statistics.departures[n][from].add(departures);
    }
    for (total, &sum) in statistics.jumps.iter_mut().zip(&sums) {
        total.add(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    /// Every alignment of every word, one by one; the likelihood and the posteriors with no link at the end of a row.
    fn enumerate(hmm: &Hmm, scratch: &Scratch) -> (f64, Vec<f64>) {
        let (n, m) = (scratch.given, scratch.generated);
        let (mut total, mut posterior) = (0.0, vec![0.0; m * (n + 1)]);
        for code in 0..(n + 1).pow(m as u32) {
            let links: Vec<usize> = (0..m).map(|j| code / (n + 1).pow(j as u32) % (n + 1)).collect();
            let (mut weight, mut last) = (1.0, 0isize);
            for (j, &link) in links.iter().enumerate() {
                if link == 0 {
                    weight *= hmm.null * f64::from(scratch.null_emission[j]);
                    continue;
                }
                let jump = |to: isize| hmm.jumps[bucket(to - last)];
                let sum: f64 = (1..=n as isize).map(jump).sum();
                let p = (1.0 - hmm.smoothing) * jump(link as isize) / sum + hmm.smoothing / n as f64;
                weight *= (1.0 - hmm.null) * p * f64::from(scratch.emission[j * n + link - 1]);
                last = link as isize;
            }
            total += weight;
            for (j, &link) in links.iter().enumerate() {
                posterior[j * (n + 1) + link] += weight;
            }
        }
        (total.ln(), posterior.into_iter().map(|mass| mass / total).collect())
    }

    #[test]
    fn forward_backward_equals_enumeration() {
        let mut rng = Rng::new(3);
        for case in 0..400 {
            let (n, m) = (1 + case % 4, 1 + rng.below(4));
            let mut hmm = Hmm::new(0.05 + 0.4 * rng.unit(), 0.3 * rng.unit());
            for jump in &mut hmm.jumps {
                *jump = 0.05 + rng.unit();
            }
            hmm.prepare();
            let mut scratch = Scratch::default();
            scratch.resize(n, m);
            for cell in scratch.emission.iter_mut().chain(&mut scratch.null_emission) {
                *cell = (rng.unit() * rng.unit()) as f32 + 1e-4;
            }
            let (likelihood, expected) = enumerate(&hmm, &scratch);
            let mut statistics = Statistics::default();
            let found = hmm.posteriors(&mut scratch, Some(&mut statistics));
            assert!((found - likelihood).abs() < 1e-5, "{found} {likelihood}");
            let mut linked = 0.0;
            for j in 0..m {
                let close = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-5, "case {case}: {a} {b}");
                close(scratch.null_posterior[j], expected[j * (n + 1)]);
                for i in 0..n {
                    close(scratch.posterior[j * n + i], expected[j * (n + 1) + i + 1]);
                    linked += expected[j * (n + 1) + i + 1];
                }
            }
            // Without smoothing every link is a jump.
            let jumps: f64 = statistics.jumps.iter().map(|sum| sum.value()).sum();
            assert!(jumps <= linked + 1e-4, "{jumps} {linked}");
            if hmm.smoothing == 0.0 {
                assert!((jumps - linked).abs() < 1e-4);
            }
        }
    }
}
