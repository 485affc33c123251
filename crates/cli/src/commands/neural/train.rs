//! `sylvan neural train`: learns a network from two texts.

use std::path::PathBuf;

use clap::Args;
use sylvan_neural::Size;
use sylvan_neural::train::{Config, Epoch, Pace, train};

use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Learns a network from parallel text: a small encoder-decoder that says how probable each word of a translation is.
///
/// It reads words and parts of rare words, which it learns as well. After each pass through the text the file is written
/// if the other text has become more probable, and what is needed to go on is kept beside it: call the command again
/// after an interruption. The same bytes come out at any number of threads and on any processor.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan neural train --source train.en --target train.de --dev-source dev.en --dev-target dev.de \
    --out ende.neural\n  sylvan neural score --model ende.neural --source dev.en --target dev.de | head"
)]
pub(crate) struct Train {
    /// The source text: words separated by spaces, one sentence per line.
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Its translation, line by line.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Another source text, which tells when to stop.
    #[arg(long, value_name = "FILE")]
    dev_source: PathBuf,
    /// Its translation.
    #[arg(long, value_name = "FILE")]
    dev_target: PathBuf,
    /// Where the network goes.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    /// The most units of each language: words, and parts of rarer ones.
    #[arg(long, value_name = "N", default_value_t = Config::default().units[0])]
    units: usize,
    /// Numbers between layers.
    #[arg(long, value_name = "N", default_value_t = Size::default().width)]
    width: usize,
    /// Numbers inside the layers that see one place alone.
    #[arg(long, value_name = "N", default_value_t = Size::default().inner)]
    inner: usize,
    /// Heads of each attention; must divide the width.
    #[arg(long, value_name = "N", default_value_t = Size::default().heads)]
    heads: usize,
    /// Layers that read the source.
    #[arg(long, value_name = "N", default_value_t = Size::default().encoder)]
    encoder_layers: usize,
    /// Layers that say the target.
    #[arg(long, value_name = "N", default_value_t = Size::default().decoder)]
    decoder_layers: usize,
    /// Passes through the text, at most; by default as many as show it two million pairs, at least 10 and at most 200.
    #[arg(long, value_name = "N")]
    epochs: Option<u32>,
    /// Passes without an improvement after which to stop.
    #[arg(long, value_name = "N", default_value_t = Config::default().patience)]
    patience: u32,
    /// Target units of a batch.
    #[arg(long, value_name = "N", default_value_t = Config::default().batch)]
    batch: usize,
    /// Share of numbers that are left out while learning.
    #[arg(long, value_name = "P", default_value_t = Config::default().dropout)]
    dropout: f32,
    /// Share of units that are read as nothing while learning.
    #[arg(long, value_name = "P", default_value_t = Config::default().unread)]
    unread: f32,
    /// Share of each probability that is spread over everything while learning.
    #[arg(long, value_name = "P", default_value_t = Config::default().smoothing)]
    smoothing: f32,
    /// The longest step of a parameter.
    #[arg(long, value_name = "X", default_value_t = Pace::default().rate)]
    rate: f64,
    /// Steps until steps are as long.
    #[arg(long, value_name = "N", default_value_t = Pace::default().warm_up)]
    warm_up: u64,
    /// Where random numbers begin.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let size = Size {
            width: self.width,
            inner: self.inner,
            heads: self.heads,
            encoder: self.encoder_layers,
            decoder: self.decoder_layers,
        };
        anyhow::ensure!(
            size.is_sane(),
            "{size:?}: found no network, expected a width that --heads divides, and a layer of the decoder at least"
        );
        for (name, share) in
            [("dropout", self.dropout), ("unread", self.unread), ("smoothing", self.smoothing)]
        {
            anyhow::ensure!(
                (0.0..0.9).contains(&share),
                "--{name} {share}: expected 0 or more and less than 0.9"
            );
        }
        anyhow::ensure!(self.rate > 0.0, "--rate {}: expected more than 0; 0.001 is usual", self.rate);
        let config = Config {
            train: [self.source, self.target],
            dev: [self.dev_source, self.dev_target],
            out: self.out.to_path_buf(),
            size,
            units: [self.units; 2],
            epochs: self.epochs,
            patience: self.patience,
            batch: self.batch.max(1),
            dropout: self.dropout,
            unread: self.unread,
            smoothing: self.smoothing,
            pace: Pace { rate: self.rate, warm_up: self.warm_up, ..Pace::default() },
            seed: self.seed,
            threads: self.threads.count(),
        };
        Ok(train(&config, &Terminal::default(), &mut |epoch| say(&epoch))?)
    }
}

#[allow(clippy::print_stderr)]
fn say(epoch: &Epoch) {
    eprintln!("{epoch}");
}
