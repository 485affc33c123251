//! How many links a given word has: a distribution for each word, estimated anew after each sweep.
//!
//! Rare words borrow from all others: the prior of a word's distribution is the distribution of all words.

/// Fertilities above this count as this.
pub(super) const LIMIT: usize = 7;
/// How many fertilities are distinguished.
pub(crate) const SIZE: usize = LIMIT + 1;
/// How many observations the prior is worth.
const STRENGTH: f32 = 2.0;

#[derive(Debug, Clone)]
pub(super) struct Fertility {
    counts: Vec<[u32; SIZE]>,
    /// Counts of a saved model, by type.
    base: Vec<[f32; SIZE]>,
    /// p(k + 1) / p(k).
    ratios: Vec<[f32; SIZE]>,
}

impl Fertility {
    /// For `types` types; `base` is what a saved model has counted, or empty.
    pub(super) fn new(types: usize, base: Vec<[f32; SIZE]>) -> Self {
        let (counts, ratios) = (vec![[0; SIZE]; types], vec![[1.0; SIZE]; types]);
        let mut fertility = Self { counts, base, ratios };
        if !fertility.base.is_empty() {
            fertility.update();
        }
        fertility
    }

    /// What the last sweep counted.
    pub(super) fn counts(&self) -> &[[u32; SIZE]] {
        &self.counts
    }

    /// Forgets the counts, before a sweep.
    pub(super) fn clear(&mut self) {
        self.counts.fill([0; SIZE]);
    }

    /// How much likelier a word is to have one more link than `degree`.
    #[inline]
    pub(super) fn ratio(&self, word: u32, degree: u16) -> f32 {
        self.ratios[word as usize][(degree as usize).min(LIMIT)]
    }

    #[inline]
    pub(super) fn count(&mut self, word: u32, degree: u16) {
        self.counts[word as usize][degree as usize] += 1;
    }

    /// Estimates the distributions from the counts, after a sweep.
    pub(super) fn update(&mut self) {
        let zero = [0f32; SIZE];
        let base = |word: usize| self.base.get(word).unwrap_or(&zero);
        let mut all = [0.5f64; SIZE];
        for (word, counts) in self.counts.iter().enumerate() {
            for ((sum, &count), &more) in all.iter_mut().zip(counts).zip(base(word)) {
                *sum += f64::from(count) + f64::from(more);
            }
        }
        let sum: f64 = all.iter().sum();
        let prior = all.map(|count| (count / sum) as f32 * STRENGTH);
        for (word, (ratios, counts)) in self.ratios.iter_mut().zip(&self.counts).enumerate() {
            let base = base(word);
            let weight = |degree: usize| counts[degree] as f32 + base[degree] + prior[degree];
            for (degree, ratio) in ratios.iter_mut().enumerate() {
                let degree = degree.min(LIMIT - 1);
                *ratio = weight(degree + 1) / weight(degree);
            }
        }
    }
}
