//! The Bayesian hidden Markov model with fertility of Östling & Tiedemann (2016), by collapsed Gibbs sampling.
//!
//! ```text
//! p(a_j = i | all other links)  ~  (n(f_i, e_j) + alpha) / (n(f_i) + alpha * |f_i|)      translation
//!                                * jump(i - previous link) * jump(next link - i)         order
//!                                * fertility(f_i, k + 1) / fertility(f_i, k)             how many links f_i has
//! ```
//!
//! where the `n` count the other links and `|f_i|` is the number of words that `f_i` meets. Only links are counted,
//! not expectations, so the tables are as sparse as the text. The probabilities that each link is sampled from,
//! averaged over the last sweeps and over several independent chains, are the posteriors. Jumps and fertilities
//! are estimated from the counts of the sweep before; a word's fertilities fall back on those of all words.
//!
//! One chain of one direction is one job: chains run beside each other, and nothing depends on how many do.

mod chain;
mod fertility;
mod jumps;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_base::Progress;

use crate::bitext::{Bitext, Side};
use crate::pairs::{Once, Pairs};
use crate::posteriors::Posteriors;
use crate::work;
pub(crate) use chain::Base;
use chain::{Chain, Stage};
pub(crate) use fertility::SIZE as FERTILITIES;
pub(crate) use jumps::BUCKETS as JUMPS;

/// How long is sampled, and with which priors.
#[derive(Debug, Clone, PartialEq)]
pub struct GibbsConfig {
    /// Independent chains per direction, whose posteriors are averaged.
    pub chains: usize,
    /// Sweeps with translation alone.
    pub words: usize,
    /// Sweeps with translation and jumps.
    pub jumps: usize,
    /// Sweeps of the whole model.
    pub fertility: usize,
    /// How many of the last sweeps count for the posteriors.
    pub collect: usize,
    /// Dirichlet prior of the translation table.
    pub alpha: f64,
    /// Dirichlet prior of words without a link.
    pub null_alpha: f64,
    /// Prior probability of no link.
    pub null: f64,
    /// Where the random numbers start.
    pub seed: u64,
}

impl Default for GibbsConfig {
    fn default() -> Self {
        Self {
            chains: 1,
            words: 4,
            jumps: 4,
            fertility: 16,
            collect: 8,
            alpha: 0.001,
            null_alpha: 0.001,
            null: 0.2,
            seed: 1,
        }
    }
}

impl GibbsConfig {
    /// Sweeps of one chain.
    pub fn sweeps(&self) -> usize {
        self.words + self.jumps + self.fertility
    }
}

/// Makes the counts of a saved model for both directions, given the slots of a text.
pub(crate) type MakeBase<'a> = dyn Fn(&Pairs) -> [Base; 2] + 'a;

/// Averaged posteriors of the text that was sampled, and what the last sweeps counted.
#[derive(Debug)]
pub(crate) struct Gibbs<'a> {
    bitext: &'a Bitext,
    pairs: Pairs,
    /// What one is in `Sums::links`.
    scale: f32,
    /// Forward, reverse.
    sums: [Sums; 2],
}

/// Sums over the chains of one direction. Integers, so that the order of the chains does not matter.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Probabilities of links, in rows by generated word.
    links: Vec<u16>,
    pub(crate) jumps: Vec<u64>,
    pub(crate) fertility: Vec<[u32; FERTILITIES]>,
}

impl Sums {
    fn add(&mut self, links: Vec<u16>, jumps: &[u32], fertility: &[[u32; FERTILITIES]]) {
        if self.jumps.is_empty() {
            self.links = links;
            self.jumps = vec![0; jumps.len()];
            self.fertility = vec![[0; FERTILITIES]; fertility.len()];
        } else {
            for (a, b) in self.links.iter_mut().zip(links) {
                *a = a.saturating_add(b);
            }
        }
        for (a, &b) in self.jumps.iter_mut().zip(jumps) {
            *a += u64::from(b);
        }
        for (a, b) in self.fertility.as_flattened_mut().iter_mut().zip(fertility.as_flattened()) {
            *a = a.saturating_add(*b);
        }
    }
}

impl<'a> Gibbs<'a> {
    /// Samples. `base` makes the counts of a saved model for each direction, given the slots of this text.
    pub(crate) fn train(
        bitext: &'a Bitext,
        config: &GibbsConfig,
        base: Option<&MakeBase<'_>>,
        threads: usize,
        progress: &dyn Progress,
    ) -> Self {
        progress.begin("pairing words", None);
        let once = if base.is_some() { Once::OwnFromOne } else { Once::Shared };
        let pairs = Pairs::build(bitext, once);
        progress.end();
        let base = base.map_or_else(Default::default, |make| make(&pairs));
        // Sums of all chains and sweeps must fit 16 bits, with room for rounding.
        let parts = (config.chains * config.collect).max(1);
        let scale = (60_000 / parts).max(1) as f32;
        let chains = 0..config.chains as u64;
        let jobs: Vec<(u64, Side)> =
            chains.flat_map(|chain| [(chain, Side::Source), (chain, Side::Target)]).collect();
        progress.begin("sampling", Some((config.sweeps() * jobs.len()) as u64));
        let done = AtomicU64::new(0);
        let sums = [Mutex::new(Sums::default()), Mutex::new(Sums::default())];
        work::run(threads, jobs, |(number, given)| {
            let which = usize::from(given == Side::Target);
            let seed = config.seed.wrapping_mul(0x1_0000).wrapping_add(2 * number + which as u64);
            let mut chain = Chain::new(bitext, &pairs, given, config, &base[which], seed);
            let mut links = vec![0u16; pairs.tokens()];
            let stages = [
                (Stage::Words, config.words),
                (Stage::Jumps, config.jumps),
                (Stage::Fertility, config.fertility),
            ];
            let mut left = config.sweeps();
            for stage in stages.into_iter().flat_map(|(stage, sweeps)| std::iter::repeat_n(stage, sweeps)) {
                let collect = (left <= config.collect).then_some(links.as_mut_slice());
                chain.sweep(stage, collect, scale);
                left -= 1;
                progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
            let mut sums = sums[which].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            sums.add(links, chain.jump_counts(), chain.fertility_counts());
        });
        progress.end();
        let sums = sums.map(|sums| sums.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
        Self { bitext, pairs, scale: 1.0 / (scale * parts as f32), sums }
    }

    /// How many different words each type meets when it is given.
    pub(crate) fn degree(&self, given: Side) -> &[u32] {
        self.pairs.degree(given)
    }

    /// Forward and reverse sums.
    pub(crate) fn sums(&self) -> &[Sums; 2] {
        &self.sums
    }

    pub(crate) fn posteriors(&self, pair: usize, out: &mut Posteriors) {
        let [source, target] = [Side::Source, Side::Target].map(|side| self.bitext.words(side, pair).len());
        out.reset(source, target);
        let cells = self.pairs.range(pair);
        let [forward, reverse] = &self.sums;
        let (forward, reverse) = (&forward.links[cells.clone()], &reverse.links[cells]);
        for i in 0..source {
            for j in 0..target {
                out.forward[i * target + j] = f32::from(forward[j * source + i]) * self.scale;
                out.reverse[i * target + j] = f32::from(reverse[i * target + j]) * self.scale;
            }
        }
    }
}
