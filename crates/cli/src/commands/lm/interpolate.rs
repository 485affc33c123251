//! `sylvan lm interpolate`: one language model from several.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use sylvan_lm::{Lm, Mixture, Perplexity};
use sylvan_store::{Output, TextReader};

use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Mixes language models into one back-off model, with weights that suit a held-out text.
///
/// Prints the weights, and how well each model and the mixture predict the text: perplexity over all words, and
/// over the words that the model knows.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan lm interpolate --lm news.arpa --lm book.arpa --tune dev.en --out mix.arpa"
)]
pub(crate) struct Interpolate {
    /// A model; repeat the option for each.
    #[arg(long, value_name = "FILE", required = true)]
    lm: Vec<PathBuf>,
    /// A text that the models were not estimated from, one sentence per line.
    #[arg(long, value_name = "FILE", required_unless_present = "weights")]
    tune: Option<PathBuf>,
    /// Use these weights, one per model, instead of tuned ones: "0.3 0.7".
    #[arg(long, value_name = "NUMBERS")]
    weights: Option<String>,
    /// Where the mixture goes, as ARPA text; compressed if the name ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    #[command(flatten)]
    threads: Threads,
}

impl Interpolate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let threads = self.threads.count();
        let mut out = Output::create(&self.out)?;
        let mut models = Vec::new();
        for path in &self.lm {
            let model = Lm::open(path)?;
            anyhow::ensure!(
                model.is_listed(),
                "{}: found a model that keeps hashes of its n-grams, expected one that keeps their words; \
                 give the ARPA file or a model compiled with --layout trie",
                path.display()
            );
            models.push(model);
        }
        let mut mixture = Mixture::new(models).context("expected at least one --lm")?;
        if let Some(text) = &self.weights {
            let numbers: Vec<f64> = text
                .split_ascii_whitespace()
                .map(|field| {
                    field.parse().with_context(|| format!("--weights: found {field:?}, expected a number"))
                })
                .collect::<anyhow::Result<_>>()?;
            mixture = mixture.with_weights(&numbers).with_context(|| {
                format!(
                    "--weights: found {text:?}, expected {} numbers of at least 0, not all 0",
                    self.lm.len()
                )
            })?;
        }
        let mut lines = Vec::new();
        if let Some(path) = &self.tune {
            let tuned = mixture.tune(&mut TextReader::open(path)?.tolerant(), self.weights.is_none())?;
            lines.push("   weight  perplexity  without unknown  unknown".to_string());
            for ((model, perplexity), weight) in self.lm.iter().zip(&tuned.models).zip(mixture.weights()) {
                lines.push(row(Some(*weight), perplexity, &model.display().to_string()));
            }
            lines.push(row(None, &tuned.mixture, "the mixture"));
        } else {
            for (model, weight) in self.lm.iter().zip(mixture.weights()) {
                lines.push(format!("{weight:9.6}  {}", model.display()));
            }
        }
        let counts = mixture.write_arpa(&mut out, threads, &Terminal::default())?;
        out.finish()?;
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        lines.push(format!("n-grams: {}", counts.join(" ")));
        // The model may have gone to standard output.
        if *self.out == *Path::new("-") {
            return Ok(());
        }
        let mut report = Output::create(Path::new("-"))?;
        for line in lines {
            report.line(&line)?;
        }
        Ok(report.finish()?)
    }
}

fn row(weight: Option<f64>, perplexity: &Perplexity, name: &str) -> String {
    let weight = weight.map_or_else(|| " ".repeat(9), |weight| format!("{weight:9.6}"));
    let (with, without) = (perplexity.with_unknown(), perplexity.without_unknown());
    format!("{weight}  {with:10.2}  {without:15.2}  {:7}  {name}", perplexity.unknown)
}
