//! `sylvan neural score`: how probable translations are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use sylvan_corpus::ParallelReader;
use sylvan_neural::{NeuralModel, Reader};
use sylvan_store::Output;

/// Says how probable each translation is: the logarithm of the probability of all its words, or of each.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan neural score --model ende.neural --source dev.en --target dev.de --words"
)]
pub(crate) struct Score {
    /// The network.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// The source text: words separated by spaces, one sentence per line.
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Its translation, line by line.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Show each word with its logarithm, and the end of the sentence.
    #[arg(long)]
    words: bool,
}

impl Score {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let reader = Arc::new(Reader::new(Arc::new(NeuralModel::open(&self.model)?)));
        let mut out = Output::create(Path::new("-"))?;
        let mut pairs = ParallelReader::open(&[&self.source, &self.target])?;
        while let Some([source, target]) = pairs.next_lines()? {
            let values = reader.score(source, target);
            if self.words {
                let words = target.split_ascii_whitespace().chain(["</s>"]);
                let shown: Vec<String> =
                    words.zip(&values).map(|(word, value)| format!("{word}={value:.6}")).collect();
                out.line(&shown.join(" "))?;
            } else {
                out.line(&format!("{:.6}", values.iter().sum::<f64>()))?;
            }
        }
        Ok(out.finish()?)
    }
}
