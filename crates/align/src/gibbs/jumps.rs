//! How far links jump: a distribution over signed distances, estimated anew after each sweep.

const FURTHEST: usize = 30;
/// How many distances are distinguished; longer ones share the outermost.
pub(crate) const BUCKETS: usize = 2 * FURTHEST + 1;
const PRIOR: f32 = 0.5;

#[derive(Debug, Clone)]
pub(super) struct Jumps {
    /// By distance from the most negative to the most positive that a sentence can have.
    values: Vec<f32>,
    /// The same backwards.
    reversed: Vec<f32>,
    counts: Vec<u32>,
    /// Counts of a saved model.
    base: Vec<f32>,
    reach: usize,
}

fn bucket(distance: isize) -> usize {
    let furthest = FURTHEST as isize;
    (distance.clamp(-furthest, furthest) + furthest) as usize
}

impl Jumps {
    /// For sentences up to `longest` given words; `base` is what a saved model has counted.
    pub(super) fn new(longest: usize, base: &[f32]) -> Self {
        let reach = longest + 1;
        let size = 2 * reach + 1;
        let mut jumps = Self {
            values: vec![0.0; size],
            reversed: vec![0.0; size],
            counts: vec![0; BUCKETS],
            base: base.to_vec(),
            reach,
        };
        jumps.update();
        jumps
    }

    /// A link at `to` follows one at `from` (0: none yet; the position after the last word: no more).
    #[inline]
    pub(super) fn count(&mut self, from: usize, to: usize) {
        self.counts[bucket(to as isize - from as isize)] += 1;
    }

    /// For each position 1..=n the values of the jumps to it from `previous` and from it to `next`.
    #[inline]
    pub(super) fn around(&self, previous: usize, next: usize, n: usize) -> (&[f32], &[f32]) {
        let from = self.reach + 1 - previous;
        let to = self.reach + 1 - next;
        (&self.values[from..from + n], &self.reversed[to..to + n])
    }

    #[inline]
    pub(super) fn across(&self, previous: usize, next: usize) -> f32 {
        self.values[self.reach + next - previous]
    }

    /// What the last sweep counted.
    pub(super) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// Forgets the counts, before a sweep.
    pub(super) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Estimates the distribution from the counts, after a sweep.
    pub(super) fn update(&mut self) {
        let base = |bucket: usize| self.base.get(bucket).map_or(PRIOR, |base| base + PRIOR);
        let weights: Vec<f32> =
            self.counts.iter().enumerate().map(|(bucket, &count)| count as f32 + base(bucket)).collect();
        let sum: f32 = weights.iter().sum();
        for at in 0..self.values.len() {
            let distance = at as isize - self.reach as isize;
            self.values[at] = weights[bucket(distance)] / sum;
        }
        for (value, &other) in self.reversed.iter_mut().zip(self.values.iter().rev()) {
            *value = other;
        }
    }
}
