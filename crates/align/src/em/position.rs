//! Where links go: one E-step of each model on one sentence pair.
//!
//! Everything here works on a dense matrix of translation probabilities in rows by generated word, so that the
//! models know nothing of slots, directions or the rest of the text.

use std::collections::BTreeMap;

use super::Direction;
use super::diagonal::Diagonal;
use super::hmm::Hmm;
use crate::side::Side;
use crate::work::Fixed;

/// A model of positions and its parameters.
#[derive(Debug, Clone)]
pub(crate) enum Position {
    /// IBM 1: each given word and no word at all have the same chance.
    Uniform,
    Diagonal(Diagonal),
    Hmm(Box<Hmm>),
}

impl Position {
    pub(crate) fn diagonal(null: f64) -> Self {
        Self::Diagonal(Diagonal::new(null))
    }

    pub(crate) fn hmm(null: f64, smoothing: f64) -> Self {
        Self::Hmm(Box::new(Hmm::new(null, smoothing)))
    }

    /// A diagonal model with a known tension.
    pub(crate) fn diagonal_with(null: f64, tension: f64) -> Self {
        Self::Diagonal(Diagonal::with_tension(null, tension))
    }

    /// A hidden Markov model with known jump weights, if they are sound.
    pub(crate) fn hmm_with(null: f64, smoothing: f64, jumps: Vec<f64>) -> Option<Self> {
        Hmm::with_jumps(null, smoothing, jumps).map(|hmm| Self::Hmm(Box::new(hmm)))
    }

    /// A hidden Markov model from a sampler's counts of jumps by distance.
    pub(crate) fn hmm_from_counts(null: f64, counts: &[f64]) -> Option<Self> {
        Self::hmm_with(null.clamp(0.01, 0.5), 0.0, Hmm::weights_of(counts))
    }

    /// The parameters as a saved model keeps them.
    pub(crate) fn numbers(&self) -> Vec<f32> {
        match self {
            Self::Uniform => Vec::new(),
            Self::Diagonal(diagonal) => vec![diagonal.tension as f32],
            Self::Hmm(hmm) => hmm.jumps.iter().map(|&jump| jump as f32).collect(),
        }
    }

    /// Forgets what was computed from parameters that have changed.
    pub(crate) fn prepare(&mut self) {
        if let Self::Hmm(hmm) = self {
            hmm.prepare();
        }
    }

    /// Fills the posteriors of `scratch` and returns the log-likelihood of the generated sentence.
    pub(crate) fn posteriors(&self, scratch: &mut Scratch, statistics: Option<&mut Statistics>) -> f64 {
        match self {
            Self::Uniform => {
                let prior = 1.0 / (scratch.given + 1) as f32;
                scratch.independent(|_, priors| {
                    priors.fill(prior);
                    prior
                })
            }
            Self::Diagonal(diagonal) => diagonal.posteriors(scratch, statistics),
            Self::Hmm(hmm) => hmm.posteriors(scratch, statistics),
        }
    }

    /// The M-step.
    pub(crate) fn update(&mut self, statistics: &Statistics) {
        match self {
            Self::Uniform => {}
            Self::Diagonal(diagonal) => diagonal.update(statistics),
            Self::Hmm(hmm) => hmm.update(statistics),
        }
    }
}

/// What an E-step counts besides links, in sums that do not depend on their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics {
    /// Diagonal: the sum over links of their distance from the diagonal.
    pub(crate) distance: Fixed,
    /// Diagonal: the number of linked words.
    pub(crate) linked: Fixed,
    /// Diagonal: how many sentences have these lengths (given, generated).
    pub(crate) lengths: BTreeMap<(u32, u32), u64>,
    /// HMM: expected jumps by bucket.
    pub(crate) jumps: Vec<Fixed>,
    /// HMM: expected departures from position `i` of sentences with `n` words: `[n][i]`.
    pub(crate) departures: Vec<Vec<Fixed>>,
}

impl Statistics {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.distance.merge(other.distance);
        self.linked.merge(other.linked);
        for (&lengths, &count) in &other.lengths {
            *self.lengths.entry(lengths).or_default() += count;
        }
        add_all(&mut self.jumps, &other.jumps);
        if self.departures.len() < other.departures.len() {
            self.departures.resize(other.departures.len(), Vec::new());
        }
        for (sums, others) in self.departures.iter_mut().zip(&other.departures) {
            add_all(sums, others);
        }
    }
}

fn add_all(sums: &mut Vec<Fixed>, others: &[Fixed]) {
    if sums.len() < others.len() {
        sums.resize(others.len(), Fixed::default());
    }
    for (sum, &other) in sums.iter_mut().zip(others) {
        sum.merge(other);
    }
}

/// The matrices of one sentence pair, kept from pair to pair. Rows by generated word.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) given: usize,
    pub(crate) generated: usize,
    /// `t(generated j | given i)` at `j * given + i`.
    pub(crate) emission: Vec<f32>,
    pub(crate) null_emission: Vec<f32>,
    pub(crate) posterior: Vec<f32>,
    pub(crate) null_posterior: Vec<f32>,
    /// For the models' own use.
    pub(crate) work: Vec<f32>,
}

/// No probability is smaller: the links of a word that nothing explains stay defined.
const LEAST: f32 = 1e-30;

impl Scratch {
    pub(crate) fn resize(&mut self, given: usize, generated: usize) {
        (self.given, self.generated) = (given, generated);
        self.emission.resize(given * generated, 0.0);
        self.null_emission.resize(generated, 0.0);
        self.posterior.resize(given * generated, 0.0);
        self.null_posterior.resize(generated, 0.0);
    }

    /// Looks up the translation probabilities of a sentence pair.
    pub(crate) fn fill(&mut self, direction: &Direction, slots: &[u32], generated: &[u32], given: usize) {
        self.resize(given, generated.len());
        let table = &direction.lexicon.table;
        match direction.given {
            Side::Target => {
                for (cell, &slot) in self.emission.iter_mut().zip(slots) {
                    *cell = table[slot as usize].max(LEAST);
                }
            }
            Side::Source => {
                for (i, row) in slots.chunks_exact(generated.len()).enumerate() {
                    for (j, &slot) in row.iter().enumerate() {
                        self.emission[j * given + i] = table[slot as usize].max(LEAST);
                    }
                }
            }
        }
        for (cell, &word) in self.null_emission.iter_mut().zip(generated) {
            *cell = direction.lexicon.null[word as usize].max(LEAST);
        }
    }

    /// Writes the posteriors in rows by source word.
    pub(crate) fn copy_to(&self, given: Side, links: &mut [f32], null: &mut [f32]) {
        match given {
            Side::Target => links.copy_from_slice(&self.posterior),
            Side::Source => {
                for (i, row) in links.chunks_exact_mut(self.generated).enumerate() {
                    for (j, cell) in row.iter_mut().enumerate() {
                        *cell = self.posterior[j * self.given + i];
                    }
                }
            }
        }
        null.copy_from_slice(&self.null_posterior);
    }

    /// Posteriors of models whose links do not depend on each other. `prior` fills the probabilities of the given
    /// positions for a generated one and returns that of no link.
    pub(crate) fn independent(&mut self, prior: impl Fn(usize, &mut [f32]) -> f32) -> f64 {
        let mut likelihood = 0.0;
        // Products of a few sums between logarithms: the logarithm is what costs.
        let mut product = 1.0f64;
        for j in 0..self.generated {
            let row = j * self.given..(j + 1) * self.given;
            let (posterior, emission) = (&mut self.posterior[row.clone()], &self.emission[row]);
            let null = prior(j, posterior) * self.null_emission[j];
            let mut sum = null;
            for (cell, &emission) in posterior.iter_mut().zip(emission) {
                *cell *= emission;
                sum += *cell;
            }
            let scale = 1.0 / sum;
            for cell in posterior {
                *cell *= scale;
            }
            self.null_posterior[j] = null * scale;
            product *= f64::from(sum);
            if product < 1e-200 {
                likelihood += libm::log(product);
                product = 1.0;
            }
        }
        likelihood + libm::log(product)
    }
}
