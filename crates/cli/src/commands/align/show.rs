//! `sylvan align show`: draw an alignment.

use std::path::{Path, PathBuf};

use crate::outputs::OutPath;
use anyhow::Context;
use clap::Args;
use sylvan_align::draw;
use sylvan_corpus::{Alignment, Base};
use sylvan_store::{Output, TextReader};

/// Draws the links of one sentence pair as a matrix.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan align show --source test.en --target test.ja --align links --line 3"
)]
pub(crate) struct Show {
    /// The source text.
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The target text.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// The links, counted from 0.
    #[arg(long, value_name = "FILE")]
    align: PathBuf,
    /// Hand-made links to compare with: wrong links are drawn as +, missing ones as -.
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// The hand-made links count from 1.
    #[arg(long, requires = "gold")]
    gold_one_based: bool,
    /// Which line, counted from 1.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    line: u64,
    /// SVG instead of text.
    #[arg(long)]
    svg: bool,
    /// Where the drawing goes; - for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
}

impl Show {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (source, target) = (self.line_of(&self.source)?, self.line_of(&self.target)?);
        let source: Vec<&str> = source.split_ascii_whitespace().collect();
        let target: Vec<&str> = target.split_ascii_whitespace().collect();
        let read = |path: &PathBuf, base: Base| -> anyhow::Result<Alignment> {
            let line = self.line_of(path)?;
            Alignment::parse_within(&line, base, source.len(), target.len())
                .map_err(|fault| fault.at(path.display().to_string(), self.line).into())
        };
        let links = read(&self.align, Base::Zero)?;
        let base = if self.gold_one_based { Base::One } else { Base::Zero };
        let gold = self.gold.as_ref().map(|path| read(path, base)).transpose()?;
        let draw = if self.svg { draw::svg } else { draw::matrix };
        let mut out = Output::create(&self.out)?;
        out.write(draw(&source, &target, &links, gold.as_ref()).as_bytes())?;
        Ok(out.finish()?)
    }

    fn line_of(&self, path: &Path) -> anyhow::Result<String> {
        let mut reader = TextReader::open(path)?.tolerant();
        while let Some(line) = reader.next_line()? {
            let line = line.to_string();
            if reader.line_number() == self.line {
                return Ok(line);
            }
        }
        None.with_context(|| {
            format!("{}: found {} lines, expected line {}", path.display(), reader.line_number(), self.line)
        })
    }
}
