//! `sylvan truecase`: tokens in their usual case.

use std::path::{Path, PathBuf};

use crate::outputs::OutPath;
use anyhow::bail;
use clap::Args;
use sylvan_store::{Output, TextReader};
use sylvan_text::{Truecaser, TruecaserTrainer};

/// Gives the first words of sentences the case that they have elsewhere, or all words lower case.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan truecase --train --model en.case train.tok.en\n  \
    sylvan truecase --model en.case < test.tok.en > test.true.en")]
pub(crate) struct Truecase {
    /// What was learnt, one word per line.
    #[arg(long, value_name = "FILE", required_unless_present = "lowercase")]
    model: Option<OutPath>,
    /// Learn from the text and write the model.
    #[arg(long, requires = "model")]
    train: bool,
    /// Only make everything lower case; needs no model.
    #[arg(long, conflicts_with_all = ["model", "train"])]
    lowercase: bool,
    /// Tokenised text; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

impl Truecase {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut reader = TextReader::open(&self.file)?.tolerant();
        let Some(model) = &self.model else {
            let mut out = Output::create(Path::new("-"))?;
            while let Some(line) = reader.next_line()? {
                out.line(&line.to_lowercase())?;
            }
            return Ok(out.finish()?);
        };
        if self.train {
            let mut trainer = TruecaserTrainer::default();
            while let Some(line) = reader.next_line()? {
                trainer.add(&line.split_whitespace().collect::<Vec<_>>());
            }
            if reader.line_number() == 0 {
                bail!("{}: found no lines, expected text to learn from", self.file.display());
            }
            return Ok(trainer.finish().write(model)?);
        }
        let truecaser = Truecaser::open(model)?;
        let mut out = Output::create(Path::new("-"))?;
        while let Some(line) = reader.next_line()? {
            out.line(&truecaser.apply(&line.split_whitespace().collect::<Vec<_>>()).join(" "))?;
        }
        Ok(out.finish()?)
    }
}
