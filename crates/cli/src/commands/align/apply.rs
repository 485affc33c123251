//! `sylvan align apply`: align a text with a saved model.

use std::path::PathBuf;

use clap::Args;
use sylvan_align::{Aligner, Model, ModelKind, Preset};
use sylvan_store::Output;

use super::text::{Results, Text};
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Aligns parallel text with a saved model.
///
/// A model with fertility keeps learning from the new text on top of what it knows, so that words it has
/// never seen are aligned too; links of a line therefore depend on the other lines of the same file. The
/// model file itself does not change.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan align apply --model en-ja.align --source new.en --target new.ja --out links"
)]
pub(crate) struct Apply {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    results: Results,
    /// Also write ln p(target|source) and ln p(source|target) of each pair, separated by a tab.
    #[arg(long, value_name = "FILE")]
    scores: Option<OutPath>,
    /// How much time to spend: fast, default or best.
    #[arg(long, default_value_t = Preset::Default)]
    preset: Preset,
    /// The seed of random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

impl Apply {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let progress = Terminal::default();
        let model = Model::open(&self.model)?;
        // Scores, and models without fertility, need the text in memory.
        let limited = model.kind() == ModelKind::Fertility && self.scores.is_none();
        let bitext = self.text.read(limited, &progress)?;
        let threads = self.threads.count();
        // The model's own pairs count: a small text added to them needs no more sweeps than they did.
        let size = bitext.len() + usize::try_from(model.pairs()).unwrap_or(usize::MAX / 2);
        let method = self.preset.method(size, self.seed);
        let aligner = Aligner::apply(&bitext, &model, &method, threads, &progress)?;
        self.results.write(&bitext, &aligner)?;
        if let Some(path) = &self.scores {
            let mut out = Output::create(path)?;
            let scores = Aligner::scores(&bitext, &model, threads)?;
            let mut written = 0;
            for number in 0..bitext.portions() {
                let portion = bitext.portion(number)?;
                for (&line, [forward, reverse]) in portion.lines().iter().zip(&scores[portion.first()..]) {
                    while written < line {
                        out.line("")?;
                        written += 1;
                    }
                    out.line(&format!("{forward:.4}\t{reverse:.4}"))?;
                    written += 1;
                }
            }
            for _ in written as usize..bitext.total() {
                out.line("")?;
            }
            out.finish()?;
        }
        Ok(())
    }
}
