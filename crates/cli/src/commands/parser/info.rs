//! `sylvan parser info`: what is in a parser model?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_parse::Parser;
use sylvan_store::Output;

/// Shows what a parser model makes, how it was trained and how large it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan parser info en.parser")]
pub(crate) struct Info {
    /// The model.
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Also show how the treebank writes what people write otherwise, a line for each.
    #[arg(long)]
    conventions: bool,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let parser = Parser::open(&self.model)?;
        let mut out = Output::create(Path::new("-"))?;
        let mut line = |name: &str, value: &str| out.line(&format!("{name:<28} {value}"));
        line("kind", parser.kind().name())?;
        line("known words", &parser.known_words().to_string())?;
        line("tags", &parser.tags().len().to_string())?;
        let (tagger, rest) = parser.features();
        line("features of the tagger", &tagger.to_string())?;
        line("features of the parser", &rest.to_string())?;
        let conventions = parser.conventions().to_text();
        line("conventions of the treebank", &conventions.lines().count().to_string())?;
        for (name, value) in parser.notes() {
            line(name, value)?;
        }
        let bytes = std::fs::metadata(&self.model).map_or(0, |data| data.len());
        line("megabytes", &format!("{:.1}", bytes as f64 / 1e6))?;
        if self.conventions {
            conventions.lines().try_for_each(|line| out.line(line))?;
        }
        Ok(out.finish()?)
    }
}
