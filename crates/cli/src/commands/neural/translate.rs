//! `sylvan neural translate`: what the network says on its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use sylvan_base::parallel;
use sylvan_neural::{NeuralModel, Reader};
use sylvan_store::{Output, TextReader};

use crate::threads::Threads;

/// Translates with the network alone, without rules: to see what it knows. Nothing can be said of where its words are
/// from; `sylvan translate` with a model that has it uses both.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan neural translate --model ende.neural < dev.en | sylvan score --ref dev.de --tokenize none"
)]
pub(crate) struct Translate {
    /// The network.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Text to translate: words separated by spaces, one sentence per line.
    #[arg(value_name = "FILE", default_value = "-")]
    text: PathBuf,
    /// How many beginnings go on from each place.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    beam: u16,
    #[command(flatten)]
    threads: Threads,
}

/// Lines that are translated before they are written.
const TOGETHER: usize = 256;

impl Translate {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let reader = Arc::new(Reader::new(Arc::new(NeuralModel::open(&self.model)?)));
        let mut text = TextReader::open(&self.text)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        loop {
            let mut lines = Vec::new();
            while lines.len() < TOGETHER {
                match text.next_line()? {
                    Some(line) => lines.push(line.to_string()),
                    None => break,
                }
            }
            if lines.is_empty() {
                return Ok(out.finish()?);
            }
            let beam = usize::from(self.beam);
            let said = parallel::map(
                &lines,
                self.threads.count(),
                || (),
                |(), _, line| reader.translate(line, beam),
            );
            for line in said {
                out.line(&line)?;
            }
        }
    }
}
