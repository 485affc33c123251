//! Expectation maximisation: IBM 1, the diagonal IBM 2, the hidden Markov model; both directions at a time.
//!
//! ```text
//! parameters --E-step, per sentence--> posteriors of all token pairs --M-step, per word--> parameters
//! ```
//!
//! The E-step writes the posteriors of a block of sentences into one array; the M-step lets each source word
//! collect its own rows of it. So counts need no locks, are added in the order of the text whatever the number
//! of threads, and the memory for posteriors is bounded by the size of a block.

mod diagonal;
mod hmm;
mod lexicon;
mod position;

use sylvan_base::Progress;

use crate::bitext::Bitext;
use crate::pairs::{Occurrences, Once, Pairs};
use crate::posteriors::Posteriors;
use crate::side::Side;
use crate::work::{self, Fixed};

pub(crate) use lexicon::Lexicon;
pub(crate) use position::{Position, Scratch, Statistics};

/// A model of where links go; all share the translation table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmModel {
    /// All positions alike (Brown et al. 1993).
    Ibm1,
    /// Links near the diagonal are likelier (Dyer, Chahuneau & Smith 2013).
    Diagonal,
    /// Links near the last link are likelier (Vogel, Ney & Tillmann 1996).
    Hmm,
}

impl EmModel {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ibm1 => "IBM 1",
            Self::Diagonal => "diagonal IBM 2",
            Self::Hmm => "HMM",
        }
    }
}

/// What is trained, and how.
#[derive(Debug, Clone)]
pub struct EmConfig {
    /// Models in order with their numbers of iterations; each starts from the table of the one before.
    pub schedule: Vec<(EmModel, usize)>,
    /// Dirichlet prior of variational Bayes on the translation table; none is plain maximum likelihood.
    pub alpha: Option<f64>,
    /// The probability that a word has no link, for the diagonal model and the HMM.
    pub null: f64,
    /// How much of the HMM's jump probability is spread evenly over all positions.
    pub jump_smoothing: f64,
    /// Multiply the directions' posteriors before counting (Liang, Taskar & Klein 2006).
    pub agreement: bool,
}

impl Default for EmConfig {
    fn default() -> Self {
        Self {
            schedule: vec![(EmModel::Ibm1, 5), (EmModel::Hmm, 5)],
            alpha: Some(0.01),
            null: 0.08,
            jump_smoothing: 0.1,
            agreement: false,
        }
    }
}

/// One iteration, for progress reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Which model.
    pub model: &'static str,
    /// Counted from 1, within the model.
    pub number: usize,
    /// ln of the probability of the target text given the source text, before the iteration changed anything.
    pub forward: f64,
    /// The same of the reverse model.
    pub reverse: f64,
}

/// Token pairs per block; memory for posteriors is eight bytes each.
const BLOCK: usize = 1 << 23;
/// Token pairs per job.
const JOB: usize = 1 << 17;

/// One direction's parameters. `given` is the side whose words are picked.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) given: Side,
    pub(crate) lexicon: Lexicon,
    pub(crate) position: Position,
}

/// A trained pair of models together with the text it was trained on.
#[derive(Debug)]
pub(crate) struct Em<'a> {
    bitext: &'a Bitext,
    pairs: Pairs,
    /// Forward, reverse.
    directions: [Direction; 2],
    config: EmConfig,
}

impl<'a> Em<'a> {
    /// Trains; the callback `report` gets each iteration.
    pub(crate) fn train(
        bitext: &'a Bitext,
        config: EmConfig,
        threads: usize,
        progress: &dyn Progress,
        report: &mut dyn FnMut(Iteration),
    ) -> Self {
        progress.begin("pairing words", None);
        let pairs = Pairs::build(bitext, Once::Own);
        progress.end();
        let directions = [Side::Source, Side::Target].map(|given| Direction {
            given,
            lexicon: Lexicon::uniform(bitext, &pairs, given),
            position: Position::Uniform,
        });
        let mut em = Self { bitext, pairs, directions, config };
        for (model, iterations) in em.config.schedule.clone() {
            for direction in &mut em.directions {
                direction.position = match model {
                    EmModel::Ibm1 => Position::Uniform,
                    EmModel::Diagonal => Position::diagonal(em.config.null),
                    EmModel::Hmm => Position::hmm(em.config.null, em.config.jump_smoothing),
                };
            }
            for number in 1..=iterations {
                let stage = format!("{} {number}/{iterations}", model.name());
                let [forward, reverse] = em.iterate(threads, &stage, progress);
                report(Iteration { model: model.name(), number, forward, reverse });
            }
        }
        for direction in &mut em.directions {
            direction.position.prepare();
        }
        em
    }

    /// Models with known parameters: translation tables and positions, forward and reverse.
    pub(crate) fn known(
        bitext: &'a Bitext,
        pairs: Pairs,
        lexicons: [Lexicon; 2],
        positions: [Position; 2],
    ) -> Self {
        let [forward, reverse] = lexicons;
        let [forward_position, reverse_position] = positions;
        let directions = [
            Direction { given: Side::Source, lexicon: forward, position: forward_position },
            Direction { given: Side::Target, lexicon: reverse, position: reverse_position },
        ];
        let config = EmConfig { schedule: Vec::new(), ..EmConfig::default() };
        Self { bitext, pairs, directions, config }
    }

    pub(crate) fn config(&self) -> &EmConfig {
        &self.config
    }

    pub(crate) fn directions(&self) -> &[Direction; 2] {
        &self.directions
    }

    /// How many different words each type meets when it is given.
    pub(crate) fn degree(&self, given: Side) -> &[u32] {
        self.pairs.degree(given)
    }

    /// One E- and M-step; returns the log-likelihoods before it.
    fn iterate(&mut self, threads: usize, stage: &str, progress: &dyn Progress) -> [f64; 2] {
        let blocks = work::cut(0..self.bitext.len(), BLOCK, |pair| self.pairs.range(pair).len());
        let mut counts = [0, 1].map(|_| vec![0f32; self.pairs.len()]);
        let mut null_counts = [0, 1].map(|_| vec![0f64; self.bitext.vocab().len()]);
        let mut statistics = [Statistics::default(), Statistics::default()];
        let mut likelihood = [Fixed::default(); 2];
        for direction in &mut self.directions {
            direction.position.prepare();
        }
        progress.begin(stage, Some(self.bitext.len() as u64));
        for block in blocks {
            let done = block.end as u64;
            let posteriors = self.expect(threads, block.clone(), &mut statistics, &mut likelihood);
            for (direction, null_counts) in self.directions.iter().zip(&mut null_counts) {
                let which = usize::from(direction.given == Side::Target);
                let generated = self.bitext.side(direction.given.other());
                let range = generated.start(block.start)..generated.range(block.end - 1).end;
                for (&word, &null) in generated.words[range].iter().zip(&posteriors.null[which]) {
                    null_counts[word as usize] += f64::from(null);
                }
            }
            self.collect(threads, block, &posteriors, &mut counts);
            progress.at(done);
        }
        progress.end();
        let [forward, reverse] = counts;
        let [null_forward, null_reverse] = null_counts;
        let parts = [(forward, null_forward), (reverse, null_reverse)];
        for ((direction, (counts, null_counts)), statistics) in
            self.directions.iter_mut().zip(parts).zip(&statistics)
        {
            direction.lexicon.update(counts, &null_counts, &self.pairs, self.config.alpha, threads);
            direction.position.update(statistics);
        }
        likelihood.map(Fixed::value)
    }

    /// The E-step of a block.
    fn expect(
        &self,
        threads: usize,
        block: std::ops::Range<usize>,
        statistics: &mut [Statistics; 2],
        likelihood: &mut [Fixed; 2],
    ) -> BlockPosteriors {
        let mut out = BlockPosteriors::new(self.bitext, &self.pairs, &block);
        let mut jobs = Vec::new();
        {
            let [mut forward, mut reverse] = out.links.each_mut().map(Vec::as_mut_slice);
            let [mut null_forward, mut null_reverse] = out.null.each_mut().map(Vec::as_mut_slice);
            for run in work::cut(block, JOB, |pair| self.pairs.range(pair).len()) {
                let cells = self.pairs.range(run.end - 1).end - self.pairs.range(run.start).start;
                let words = |side: Side| {
                    let words = self.bitext.side(side);
                    words.range(run.end - 1).end - words.start(run.start)
                };
                let links = [work::take(&mut forward, cells), work::take(&mut reverse, cells)];
                let null = [
                    work::take(&mut null_forward, words(Side::Target)),
                    work::take(&mut null_reverse, words(Side::Source)),
                ];
                jobs.push((run, links, null));
            }
        }
        let results = work::run(threads, jobs, |(run, [forward, reverse], null)| {
            let mut scratch = Scratch::default();
            let mut sums = [Statistics::default(), Statistics::default()];
            let mut likelihood = [Fixed::default(); 2];
            let links = [&mut *forward, &mut *reverse];
            for ((direction, null), which) in self.directions.iter().zip(null).zip(0..) {
                let (mut cell, mut word) = (0, 0);
                for pair in run.clone() {
                    let cells = self.pairs.range(pair).len();
                    let words = self.bitext.words(direction.given.other(), pair).len();
                    let value = self.expect_pair(
                        direction,
                        pair,
                        &mut links[which][cell..cell + cells],
                        &mut null[word..word + words],
                        &mut scratch,
                        Some(&mut sums[which]),
                    );
                    likelihood[which].add(value);
                    cell += cells;
                    word += words;
                }
            }
            if self.config.agreement {
                for (a, b) in forward.iter_mut().zip(reverse) {
                    let product = *a * *b;
                    (*a, *b) = (product, product);
                }
            }
            (sums, likelihood)
        });
        for (sums, values) in results {
            for which in 0..2 {
                statistics[which].merge(&sums[which]);
                likelihood[which].merge(values[which]);
            }
        }
        out
    }

    /// The E-step of one sentence pair and direction.
    fn expect_pair(
        &self,
        direction: &Direction,
        pair: usize,
        links: &mut [f32],
        null: &mut [f32],
        scratch: &mut Scratch,
        statistics: Option<&mut Statistics>,
    ) -> f64 {
        let slots = self.pairs.of(pair);
        let generated = self.bitext.words(direction.given.other(), pair);
        let given = self.bitext.words(direction.given, pair).len();
        scratch.fill(direction, slots, generated, given);
        let value = direction.position.posteriors(scratch, statistics);
        scratch.copy_to(direction.given, links, null);
        value
    }

    /// The M-step's sums of a block: every source word collects its own rows.
    fn collect(
        &self,
        threads: usize,
        block: std::ops::Range<usize>,
        posteriors: &BlockPosteriors,
        counts: &mut [Vec<f32>; 2],
    ) {
        let source = self.bitext.side(Side::Source);
        let first = source.start(block.start);
        let words = &source.words[first..source.range(block.end - 1).end];
        let mut sentence_of = vec![0u32; words.len()];
        for pair in block.clone() {
            let range = source.range(pair);
            sentence_of[range.start - first..range.end - first].fill(pair as u32);
        }
        let types = self.bitext.vocab().len();
        let occurrences = Occurrences::new(words, types);
        let base = self.pairs.range(block.start).start;
        let [mut forward, mut reverse] = counts.each_mut().map(Vec::as_mut_slice);
        let mut jobs = Vec::new();
        for run in work::cut(0..types, JOB / 8, |word| occurrences.of(word).len()) {
            let slots = self.pairs.row(run.end - 1).end - self.pairs.row(run.start).start;
            jobs.push((run, work::take(&mut forward, slots), work::take(&mut reverse, slots)));
        }
        work::run(threads, jobs, |(run, forward, reverse)| {
            let origin = self.pairs.row(run.start).start;
            let mut sums: Vec<[f64; 2]> = Vec::new();
            for word in run {
                let tokens = occurrences.of(word);
                if tokens.is_empty() {
                    continue;
                }
                let row = self.pairs.row(word);
                sums.clear();
                sums.resize(row.len(), [0.0; 2]);
                for &token in tokens {
                    let pair = sentence_of[token as usize] as usize;
                    let width = self.bitext.words(Side::Target, pair).len();
                    let i = first + token as usize - source.start(pair);
                    let cells = i * width..(i + 1) * width;
                    let at = self.pairs.range(pair).start - base;
                    let slots = &self.pairs.of(pair)[cells.clone()];
                    let cells = at + cells.start..at + cells.end;
                    let rows = posteriors.links[0][cells.clone()].iter().zip(&posteriors.links[1][cells]);
                    for (&slot, (&a, &b)) in slots.iter().zip(rows) {
                        let sum = &mut sums[slot as usize - row.start];
                        sum[0] += f64::from(a);
                        sum[1] += f64::from(b);
                    }
                }
                for (slot, sum) in row.zip(&sums) {
                    forward[slot - origin] += sum[0] as f32;
                    reverse[slot - origin] += sum[1] as f32;
                }
            }
        });
    }

    /// What the trained models believe about a sentence pair of the training text.
    pub(crate) fn posteriors(&self, pair: usize, out: &mut Posteriors, scratch: &mut Scratch) -> [f64; 2] {
        let lengths = [Side::Source, Side::Target].map(|side| self.bitext.words(side, pair).len());
        out.reset(lengths[0], lengths[1]);
        let mut null = vec![0.0; lengths[0].max(lengths[1])];
        let [forward, reverse] = &self.directions;
        [
            self.expect_pair(forward, pair, &mut out.forward, &mut null[..lengths[1]], scratch, None),
            self.expect_pair(reverse, pair, &mut out.reverse, &mut null[..lengths[0]], scratch, None),
        ]
    }
}

/// The posteriors of a block of sentence pairs, forward and reverse.
#[derive(Debug)]
struct BlockPosteriors {
    links: [Vec<f32>; 2],
    /// Of no link, for each word of the generated side.
    null: [Vec<f32>; 2],
}

impl BlockPosteriors {
    fn new(bitext: &Bitext, pairs: &Pairs, block: &std::ops::Range<usize>) -> Self {
        let cells = pairs.range(block.end - 1).end - pairs.range(block.start).start;
        let words = |side: Side| {
            let words = bitext.side(side);
            words.range(block.end - 1).end - words.start(block.start)
        };
        Self {
            links: [vec![0.0; cells], vec![0.0; cells]],
            null: [vec![0.0; words(Side::Target)], vec![0.0; words(Side::Source)]],
        }
    }
}
