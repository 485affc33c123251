//! `sylvan lm structured`: a language model of the trees that sentences have.

use std::path::PathBuf;

use clap::Args;
use sylvan_parse::Parser;
use sylvan_parse::structured::FromText;
use sylvan_store::read_lines;

use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Learns a structured language model: words are scored by the dependency tree that they build.
///
/// The text is parsed, and probabilities of words and of the steps of a parser that works from left to right are learnt
/// from the trees. The model is used beside others in left-to-right search (`sylvan train --structured-lm` does all of
/// this; `sylvan tune` and `sylvan decode` take the file with --structured-lm). `sylvan lm query` scores text with it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan parser train --kind dependency --train en.conllu --out en.parser\n  \
    sylvan lm structured --parser en.parser --text train.en --out en.slm"
)]
pub(crate) struct Structured {
    /// A dependency parser, made by `sylvan parser train`.
    #[arg(long, value_name = "PARSER")]
    parser: PathBuf,
    /// The text: words separated by spaces, one sentence per line. Repeat for several files.
    #[arg(long, value_name = "FILE", required = true)]
    text: Vec<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    /// How many parts of speech a word may have; which one it has is then decided by its tree.
    #[arg(long, value_name = "N", default_value_t = FromText::default().tags as u8, value_parser = clap::value_parser!(u8).range(1..=16))]
    tags: u8,
    /// States that the parser keeps per step.
    #[arg(long, value_name = "N", default_value_t = FromText::default().beam as u32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    beam: u32,
    #[command(flatten)]
    threads: Threads,
}

impl Structured {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let parser = Parser::open(&self.parser)?;
        let mut lines = Vec::new();
        for text in &self.text {
            lines.append(&mut read_lines(text)?);
        }
        let names: Vec<String> = self.text.iter().map(|path| path.display().to_string()).collect();
        anyhow::ensure!(
            lines.iter().any(|line| !line.trim().is_empty()),
            "{}: found no words, expected sentences, one per line, their words separated by spaces",
            names.join(", ")
        );
        let learning = FromText {
            beam: self.beam as usize,
            tags: usize::from(self.tags),
            threads: self.threads.count(),
        };
        let kind = parser.kind().name();
        let Some(model) = learning.learn(&parser, &lines, &Terminal::default()) else {
            anyhow::bail!(
                "{}: found a {kind} parser, expected a dependency parser: sylvan parser train --kind dependency",
                self.parser.display()
            );
        };
        Ok(model.write(&self.out)?)
    }
}
