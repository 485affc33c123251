//! `sylvan align train`: learn from a text and align it.

use clap::Args;
use sylvan_align::{Aligner, EmConfig, EmModel, Method, Preset};

use super::text::{Results, Text, note};
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Learns a model from parallel text, writes the links and, if asked, the model.
///
/// The presets sample a hidden Markov model with fertility (Östling & Tiedemann 2016) for different lengths
/// of time;
/// --method chooses another model, which needs the whole text in memory. Results are the same bytes at any
/// number of threads and in any memory.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan align train --source train.en --target train.ja --out links --model en-ja.align"
)]
pub(crate) struct Train {
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    results: Results,
    /// Save the model, for `sylvan align apply`.
    #[arg(long, value_name = "FILE")]
    model: Option<OutPath>,
    /// How much time to spend: fast, default or best.
    #[arg(long, default_value_t = Preset::Default)]
    preset: Preset,
    /// The seed of random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Expectation maximisation instead of a preset.
    #[arg(long, value_enum, conflicts_with_all = ["preset", "memory"])]
    method: Option<EmMethod>,
    /// Iterations of the method's last model.
    #[arg(long, value_name = "N", requires = "method")]
    iterations: Option<u16>,
    /// Dirichlet prior of variational Bayes; 0 for plain maximum likelihood.
    #[arg(long, value_name = "ALPHA", requires = "method")]
    alpha: Option<f64>,
    /// Multiply the posteriors of both directions before counting (Liang et al. 2006).
    #[arg(long, requires = "method")]
    agreement: bool,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EmMethod {
    /// IBM model 1.
    Ibm1,
    /// IBM model 2 with a diagonal prior, as in fast_align.
    Diagonal,
    /// Hidden Markov model.
    Hmm,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let progress = Terminal::default();
        let bitext = self.text.read(self.method.is_none(), &progress)?;
        let threads = self.threads.count();
        let method = match self.method {
            None => self.preset.method(bitext.len(), self.seed),
            Some(method) => self.em(method)?,
        };
        let mut report = |iteration: sylvan_align::Iteration| {
            let sylvan_align::Iteration { model, number, forward, reverse } = iteration;
            note(&format!(
                "{model}, iteration {number}: ln p(target|source) {forward:.1}, ln p(source|target) {reverse:.1}"
            ));
        };
        let aligner = Aligner::train(&bitext, &method, threads, &progress, &mut report)?;
        self.results.write(&bitext, &aligner)?;
        if let Some(path) = &self.model {
            aligner.model()?.save(path)?;
        }
        Ok(())
    }

    fn em(&self, method: EmMethod) -> anyhow::Result<Method> {
        let model = match method {
            EmMethod::Ibm1 => EmModel::Ibm1,
            EmMethod::Diagonal => EmModel::Diagonal,
            EmMethod::Hmm => EmModel::Hmm,
        };
        let Method::Em(mut config) = Method::em(model) else { return Ok(Method::em(model)) };
        if let (Some(iterations), Some(last)) = (self.iterations, config.schedule.last_mut()) {
            last.1 = iterations.into();
        }
        if let Some(alpha) = self.alpha {
            anyhow::ensure!(
                (0.0..=100.0).contains(&alpha),
                "found --alpha {alpha}, expected a number from 0 to 100"
            );
            config.alpha = (alpha > 0.0).then_some(alpha);
        }
        Ok(Method::Em(EmConfig { agreement: self.agreement, ..config }))
    }
}
