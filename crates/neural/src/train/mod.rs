//! Training: batches, their slopes by parameter, and steps against them.
//!
//! A batch is divided into a fixed number of slices, whatever the number of threads; each slice adds up slopes of its own,
//! and these are added in the order of the slices. So the same bytes come out at any number of threads.

mod adam;
mod state;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sylvan_base::{InputError, Progress, Result, Rng, parallel};
use sylvan_corpus::ParallelReader;

use adam::Adam;
pub use adam::Pace;
use state::State;

use crate::file::NeuralModel;
use crate::network::{Network, Noise, Pair, Size};
use crate::parameters::Parameters;
use crate::tape::Tape;
use crate::units::Units;

/// The parts of a batch that are computed side by side.
const SLICES: usize = 4;

/// What a network is trained on, and how.
#[derive(Debug, Clone)]
pub struct Config {
    /// Lines of words, in pairs: what is learnt.
    pub train: [PathBuf; 2],
    /// Lines of words, in pairs: what tells when to stop.
    pub dev: [PathBuf; 2],
    /// Where the network goes.
    pub out: PathBuf,
    /// How large it is.
    pub size: Size,
    /// The most units of source and target.
    pub units: [usize; 2],
    /// Passes through the text, at most; by default as many as [`usual_epochs`] says.
    pub epochs: Option<u32>,
    /// Passes without an improvement after which to stop.
    pub patience: u32,
    /// Target units of a batch.
    pub batch: usize,
    /// Share of numbers that are left out of each layer.
    pub dropout: f32,
    /// Share of units that are read as nothing.
    pub unread: f32,
    /// Share of each probability that is spread over everything.
    pub smoothing: f32,
    /// How fast to learn.
    pub pace: Pace,
    /// Where random numbers begin.
    pub seed: u64,
    /// Threads; they change no byte.
    pub threads: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            train: <[PathBuf; 2]>::default(),
            dev: <[PathBuf; 2]>::default(),
            out: PathBuf::new(),
            size: Size::default(),
            units: [6_000; 2],
            epochs: None,
            patience: 5,
            batch: 1_500,
            dropout: 0.3,
            unread: 0.1,
            smoothing: 0.1,
            pace: Pace::default(),
            seed: 1,
            threads: 1,
        }
    }
}

impl Config {
    /// What its result depends on besides the texts, in words.
    pub fn settings(&self) -> String {
        let Self { size, units, epochs, patience, batch, dropout, unread, smoothing, pace, seed, .. } = self;
        format!(
            "{size:?} {units:?} {epochs:?} {patience} {batch} {dropout} {unread} {smoothing} {pace:?} {seed}"
        )
    }
}

/// The pairs that a network sees in all passes together, if nothing else is asked for.
const SEEN: usize = 2_000_000;

/// How many passes through as many pairs are usual: a small text is read more often, so that a network of it takes enough
/// steps.
pub fn usual_epochs(pairs: usize) -> u32 {
    (SEEN / pairs.max(1)).clamp(10, 200) as u32
}

/// What a pass through the text came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: u32,
    /// Nats per target unit of the text that was learnt, noise included.
    pub train: f64,
    /// And of the other text, without noise, by the mean of the parameters.
    pub dev: f64,
    /// Whether that is better than before, and was written.
    pub is_best: bool,
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, train, dev, is_best } = self;
        let note = if *is_best { "" } else { ", no better" };
        write!(
            f,
            "pass {number:>2}: {train:.3} nats a unit while learning; of other text {:.2} choices a unit{note}",
            dev.exp()
        )
    }
}

/// Trains a network, or goes on where it was interrupted. `say` is told of each pass.
pub fn train(config: &Config, progress: &dyn Progress, say: &mut dyn FnMut(Epoch)) -> Result<()> {
    let (train, dev) = (read(&config.train)?, read(&config.dev)?);
    let units = [0, 1].map(|side| {
        let lines = train[side].iter().map(String::as_str);
        Units::learn_from_lines(lines, config.units[side])
    });
    let pairs = |[source, target]: &[Vec<String>; 2]| -> Vec<Pair> {
        let lines = source.iter().zip(target);
        let pairs = lines.map(|(s, t)| Pair { source: units[0].of_line(s), target: units[1].of_line(t) });
        pairs.filter(|pair| pair.source.len() > 1 && pair.target.len() > 1).filter(is_short).collect()
    };
    let (train, dev) = (pairs(&train), pairs(&dev));
    for (pairs, paths) in [(&train, &config.train), (&dev, &config.dev)] {
        if pairs.is_empty() {
            return Err(nothing(&paths[0]));
        }
    }
    let (network, layout, starts) = Network::new(config.size, [units[0].len(), units[1].len()]);
    let mut trainer = Trainer { config, network, slices: Vec::new(), tapes: Vec::new() };
    trainer.slices.resize_with(SLICES, || vec![0.0; layout.len()]);
    trainer.tapes.resize_with(config.threads.clamp(1, SLICES), Tape::default);
    let start = || State::new(Parameters::start(layout.clone(), &starts, config.seed));
    let mut state = State::resume(config, &layout, &train)?.unwrap_or_else(start);
    let epochs = config.epochs.unwrap_or_else(|| usual_epochs(train.len()));
    while state.epoch < epochs && state.epochs_since_best < config.patience {
        let loss = trainer.epoch(&mut state, &train, progress);
        let dev =
            trainer.perplexity(&Parameters { layout: layout.clone(), values: state.adam.mean.clone() }, &dev);
        state.epoch += 1;
        let is_best = dev < state.best;
        state.epochs_since_best = if is_best { 0 } else { state.epochs_since_best + 1 };
        if is_best {
            state.best = dev;
            NeuralModel::write(&config.out, config.size, &units, &layout, &state.adam.mean)?;
        }
        state.keep(config, &train)?;
        say(Epoch { number: state.epoch, train: loss, dev, is_best });
    }
    state.done(config)
}

fn nothing(path: &Path) -> InputError {
    InputError::Format {
        path: path.to_path_buf(),
        found: "no words".into(),
        expected: "sentences, one per line, their words separated by spaces".into(),
        advice: format!("sentences of more than {LONGEST} units are left out"),
    }
}

/// The two sides of a text.
fn read(paths: &[PathBuf; 2]) -> Result<[Vec<String>; 2]> {
    let mut sides = <[Vec<String>; 2]>::default();
    let mut reader = ParallelReader::open(paths)?;
    while let Some([source, target]) = reader.next_lines()? {
        sides[0].push(source.clone());
        sides[1].push(target.clone());
    }
    Ok(sides)
}

/// The most units of a sentence: longer ones cost more than they teach.
const LONGEST: usize = 150;

fn is_short(pair: &Pair) -> bool {
    pair.source.len() <= LONGEST && pair.target.len() <= LONGEST
}

struct Trainer<'c> {
    config: &'c Config,
    network: Network,
    /// By slice: the slopes of its loss.
    slices: Vec<Vec<f32>>,
    /// By thread.
    tapes: Vec<Tape>,
}

impl Trainer<'_> {
    /// A pass through the text; the loss per unit.
    fn epoch(&mut self, state: &mut State, pairs: &[Pair], progress: &dyn Progress) -> f64 {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        Rng::for_item(self.config.seed, u64::from(state.epoch)).shuffle(&mut order);
        progress.begin(&format!("epoch {}", state.epoch + 1), Some(pairs.len() as u64));
        let (mut done, mut loss, mut units) = (0, 0.0, 0);
        while done < order.len() {
            let (mut end, mut size) = (done, 0);
            while end < order.len() && size < self.config.batch {
                size += pairs[order[end]].target.len();
                end += 1;
            }
            let batch: Vec<&Pair> = order[done..end].iter().map(|&number| &pairs[number]).collect();
            let rng = Rng::for_item(self.config.seed ^ 0x006E_6F69_7365, state.adam.steps);
            loss += self.slopes(&state.parameters, &batch, size, rng);
            state.adam.step(
                &mut state.parameters.values,
                &mut self.slices,
                self.config.pace,
                self.config.threads,
            );
            units += size;
            done = end;
            progress.at(done as u64);
        }
        progress.end();
        loss / units.max(1) as f64
    }

    /// The slopes of a batch, by slice; its loss.
    fn slopes(&mut self, parameters: &Parameters, batch: &[&Pair], size: usize, mut rng: Rng) -> f64 {
        let Self { config, network, slices, tapes } = self;
        let share = batch.len().div_ceil(SLICES).max(1);
        let mut parts: Vec<&[&Pair]> = batch.chunks(share).collect();
        parts.resize(SLICES, &[]);
        let work = parts.into_iter().zip(slices.iter_mut());
        let work = work.map(|(part, slopes)| (part, Rng::new(rng.next_u64()), Mutex::new(slopes)));
        let work: Vec<_> = work.collect();
        let losses = parallel::map_with(tapes, &work, |tape, _, (part, rng, slopes)| {
            let mut slopes = slopes.lock().unwrap_or_else(PoisonError::into_inner);
            slopes.fill(0.0);
            if part.is_empty() {
                return 0.0;
            }
            tape.clear();
            let mut rng = rng.clone();
            let mut noise = Noise { dropout: config.dropout, unread: config.unread, rng: &mut rng };
            let how = (config.smoothing, 1.0 / size as f32);
            let [loss, _] = network.loss(parameters, tape, part, &mut noise, how);
            tape.backward(parameters, &mut slopes);
            loss
        });
        losses.iter().sum()
    }

    /// Nats per target unit, without noise.
    fn perplexity(&mut self, parameters: &Parameters, pairs: &[Pair]) -> f64 {
        let Self { network, tapes, .. } = self;
        let parts: Vec<&[Pair]> = pairs.chunks(32).collect();
        let losses = parallel::map_with(tapes, &parts, |tape, _, part| {
            tape.clear();
            let mut rng = Rng::new(0);
            let mut noise = Noise { dropout: 0.0, unread: 0.0, rng: &mut rng };
            let part: Vec<&Pair> = part.iter().collect();
            network.loss(parameters, tape, &part, &mut noise, (0.0, 1.0))[1]
        });
        let units: usize = pairs.iter().map(|pair| pair.target.len()).sum();
        losses.iter().sum::<f64>() / units.max(1) as f64
    }
}
