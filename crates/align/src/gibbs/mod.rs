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
//! One chain of one direction is one job: chains run in parallel, and nothing depends on how many do. A text
//! whose pairs of tokens do not fit into memory is still sampled, with the same result: it is read
//! portion by portion, counts of links are hashed, links and sums of probabilities live in scratch files, and fewer
//! chains run at a time.

mod chain;
mod counts;
mod fertility;
mod jumps;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sylvan_base::{Progress, Result};

use crate::bitext::Bitext;
use crate::meetings::Meetings;
use crate::pairs::{Once, Pairs};
use crate::portion::Portion;
use crate::posteriors::Posteriors;
use crate::shelf::Shelf;
use crate::side::Side;
use crate::work;
use chain::{Chain, Stage};
pub(crate) use counts::PairTable;
use counts::{BySlot, Counts, Hashed};
pub(crate) use fertility::SIZE as FERTILITIES;
pub(crate) use jumps::BUCKETS as JUMPS;

/// How long to sample, and with which priors.
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
    /// The random seed.
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

/// Counts of a saved model, under the numbers of the present text; all empty without one.
#[derive(Debug, Default)]
pub(crate) struct Base {
    /// By pair of types.
    pub(crate) counts: BaseCounts,
    /// By given type, with the model's prior.
    pub(crate) totals: Vec<f32>,
    /// By generated type.
    pub(crate) nulls: Vec<f32>,
    pub(crate) null_total: f32,
    pub(crate) jumps: Vec<f32>,
    pub(crate) fertility: Vec<[f32; FERTILITIES]>,
}

/// Counts of a saved model, as the present text is kept.
#[derive(Debug, Default)]
pub(crate) enum BaseCounts {
    #[default]
    None,
    BySlot(Vec<f32>),
    /// Bits of floating-point numbers.
    Hashed(PairTable),
}

/// Makes the counts of a saved model for both directions, given the slots of a text; hashed without them.
pub(crate) type MakeBase<'a> = dyn Fn(Option<&Pairs>) -> [Base; 2] + 'a;

/// Averaged posteriors of the text that was sampled, and what the last sweeps counted.
#[derive(Debug)]
pub(crate) struct Gibbs {
    /// How many different words each type meets, as a source and as a target word.
    degrees: [Vec<u32>; 2],
    /// What one is in `Sums::links`.
    scale: f32,
    /// Forward, reverse.
    sums: [Sums; 2],
}

/// Sums over the chains of one direction. Integers, so that the order of the chains does not matter.
#[derive(Debug)]
pub(crate) struct Sums {
    /// Probabilities of links, in rows by generated word.
    links: Shelf,
    pub(crate) jumps: Vec<u64>,
    pub(crate) fertility: Vec<[u32; FERTILITIES]>,
}

impl Sums {
    fn add(
        &mut self,
        (links, portions): (Shelf, usize),
        jumps: &[u32],
        fertility: &[[u32; FERTILITIES]],
    ) -> Result<()> {
        self.jumps.resize(jumps.len(), 0);
        self.fertility.resize(fertility.len(), [0; FERTILITIES]);
        for (a, &b) in self.jumps.iter_mut().zip(jumps) {
            *a += u64::from(b);
        }
        for (a, b) in self.fertility.as_flattened_mut().iter_mut().zip(fertility.as_flattened()) {
            *a = a.saturating_add(*b);
        }
        self.links.add(links, portions)
    }
}

/// What is known about the pairs of words of a text.
enum Known {
    /// A slot for each pair of tokens.
    Slots(Pairs),
    /// Numbers only, for texts that do not fit.
    Meetings(Meetings),
}

impl Known {
    fn degree(&self, side: Side) -> &[u32] {
        match self {
            Self::Slots(pairs) => pairs.degree(side),
            Self::Meetings(meetings) => meetings.degree(side),
        }
    }
}

/// Bytes that a pair of tokens takes when all are kept: its slot and sums of both directions, and for each chain
/// that runs its own sums; with the arrays over slots it is a bit more.
fn needed(bitext: &Bitext, threads: usize) -> u64 {
    bitext.cells().saturating_mul(9 + 2 * threads as u64)
}

impl Gibbs {
    /// Samples. `base` makes the counts of a saved model for each direction.
    pub(crate) fn train(
        bitext: &Bitext,
        config: &GibbsConfig,
        base: Option<&MakeBase<'_>>,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let limit = bitext.memory().limit;
        let jobs = 2 * config.chains;
        let fits = needed(bitext, threads.min(jobs)) <= limit as u64 && bitext.cells() < u64::from(u32::MAX);
        let known = if fits && bitext.is_resident() {
            let once = if base.is_some() { Once::OwnFromOne } else { Once::Shared };
            progress.begin("pairing words", None);
            let pairs = Pairs::build(bitext, once);
            progress.end();
            Known::Slots(pairs)
        } else {
            Known::Meetings(Meetings::count(bitext, limit / 4, progress)?)
        };
        let pairs = if let Known::Slots(pairs) = &known { Some(pairs) } else { None };
        let base = base.map_or_else(Default::default, |make| make(pairs));
        let run = Run { bitext, config, known: &known, base: &base, progress, done: AtomicU64::new(0) };
        let sums = run.all(run.at_a_time(threads)?)?;
        let degrees = [Side::Source, Side::Target].map(|side| known.degree(side).to_vec());
        let scale = 1.0 / (config.unit() * config.parts() as f32);
        Ok(Self { degrees, scale, sums })
    }

    /// How many different words each type meets when it is given.
    pub(crate) fn degree(&self, given: Side) -> &[u32] {
        &self.degrees[given as usize]
    }

    /// Forward and reverse sums.
    pub(crate) fn sums(&self) -> &[Sums; 2] {
        &self.sums
    }

    /// Shows the posteriors of each pair of a portion.
    pub(crate) fn for_portion(
        &self,
        number: usize,
        portion: &Portion<'_>,
        mut see: impl FnMut(usize, &Posteriors),
    ) -> Result<()> {
        let mut spare = [Vec::new(), Vec::new()];
        let sums = self.read(number, &mut spare)?;
        let mut out = Posteriors::default();
        let mut start = 0;
        for index in 0..portion.len() {
            self.fill(portion, index, sums, start, &mut out);
            see(index, &out);
            start += portion.cells(index);
        }
        Ok(())
    }

    /// The posteriors of one pair of a portion.
    pub(crate) fn posteriors(
        &self,
        number: usize,
        portion: &Portion<'_>,
        index: usize,
        out: &mut Posteriors,
    ) -> Result<()> {
        let mut spare = [Vec::new(), Vec::new()];
        let sums = self.read(number, &mut spare)?;
        let start = (0..index).map(|index| portion.cells(index)).sum();
        self.fill(portion, index, sums, start, out);
        Ok(())
    }

    /// The sums of a portion, forward and reverse.
    fn read<'a>(&'a self, number: usize, spare: &'a mut [Vec<u16>; 2]) -> Result<[&'a [u16]; 2]> {
        let ([forward, reverse], [a, b]) = (&self.sums, spare);
        Ok([forward.links.get(number, a)?, reverse.links.get(number, b)?])
    }

    fn fill(
        &self,
        portion: &Portion<'_>,
        index: usize,
        sums: [&[u16]; 2],
        start: usize,
        out: &mut Posteriors,
    ) {
        let [source, target] = [Side::Source, Side::Target].map(|side| portion.words(side, index).len());
        let [forward, reverse] = sums.map(|sums| &sums[start..start + source * target]);
        out.reset(source, target);
        for i in 0..source {
            for j in 0..target {
                out.forward[i * target + j] = f32::from(forward[j * source + i]) * self.scale;
                out.reverse[i * target + j] = f32::from(reverse[i * target + j]) * self.scale;
            }
        }
    }
}

impl GibbsConfig {
    /// How many sweeps are summed up.
    fn parts(&self) -> usize {
        (self.chains * self.collect).max(1)
    }

    /// What one is in the sums: those of all chains and sweeps must fit 16 bits, with room for rounding.
    fn unit(&self) -> f32 {
        (60_000 / self.parts()).max(1) as f32
    }
}

/// All chains of a training.
struct Run<'r> {
    bitext: &'r Bitext,
    config: &'r GibbsConfig,
    known: &'r Known,
    base: &'r [Base; 2],
    progress: &'r dyn Progress,
    done: AtomicU64,
}

impl Run<'_> {
    fn all(&self, threads: usize) -> Result<[Sums; 2]> {
        let chains = 0..self.config.chains as u64;
        let jobs: Vec<(u64, Side)> =
            chains.flat_map(|chain| [(chain, Side::Source), (chain, Side::Target)]).collect();
        self.progress.begin("sampling", Some((self.config.sweeps() * jobs.len()) as u64));
        let empty = || Sums { links: self.shelf(), jumps: Vec::new(), fertility: Vec::new() };
        let sums = [Mutex::new(empty()), Mutex::new(empty())];
        let results = work::run(threads, jobs, |(number, given)| {
            let sums = &sums[given as usize];
            let base = &self.base[given as usize].counts;
            match self.known {
                Known::Slots(pairs) => self.chain(number, given, BySlot::new(pairs, given, base), sums),
                Known::Meetings(meetings) => {
                    self.chain(number, given, Hashed::new(meetings, given, base), sums)
                }
            }
        });
        results.into_iter().collect::<Result<()>>()?;
        self.progress.end();
        Ok(sums.map(|sums| sums.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }

    /// How many chains fit into the memory at a time. Hash tables are largest at the start, when links are random,
    /// so a chain is started and thrown away to find out.
    fn at_a_time(&self, threads: usize) -> Result<usize> {
        let Known::Meetings(meetings) = self.known else { return Ok(threads) };
        if threads == 1 {
            return Ok(1);
        }
        let mut largest = 0;
        for given in [Side::Source, Side::Target] {
            let base = &self.base[given as usize];
            let start = (given, Hashed::new(meetings, given, &base.counts), self.shelf());
            let degree = |side| self.known.degree(side);
            largest = largest.max(Chain::new(self.bitext, start, degree, self.config, base, 0)?.bytes());
        }
        Ok(threads
            .min(self.bitext.memory().limit.saturating_sub(self.bitext.bytes()) / largest.max(1))
            .max(1))
    }

    fn shelf(&self) -> Shelf {
        let scratch = match self.known {
            Known::Slots(_) => None,
            Known::Meetings(_) => Some(&self.bitext.memory().scratch),
        };
        Shelf::new(self.bitext.portions(), scratch)
    }

    fn chain(&self, number: u64, given: Side, counts: impl Counts, sums: &Mutex<Sums>) -> Result<()> {
        let config = self.config;
        let seed = config.seed.wrapping_mul(0x1_0000).wrapping_add(2 * number + given as u64);
        let degree = |side| self.known.degree(side);
        let start = (given, counts, self.shelf());
        let mut chain = Chain::new(self.bitext, start, degree, config, &self.base[given as usize], seed)?;
        let mut links = self.shelf();
        let stages = [
            (Stage::Words, config.words),
            (Stage::Jumps, config.jumps),
            (Stage::Fertility, config.fertility),
        ];
        let mut left = config.sweeps();
        for stage in stages.into_iter().flat_map(|(stage, sweeps)| std::iter::repeat_n(stage, sweeps)) {
            let collect = (left <= config.collect).then_some(&mut links);
            chain.sweep(stage, collect, config.unit())?;
            left -= 1;
            self.progress.at(self.done.fetch_add(1, Ordering::Relaxed) + 1);
        }
        let mut sums = sums.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sums.add((links, self.bitext.portions()), chain.jump_counts(), chain.fertility_counts())
    }
}
