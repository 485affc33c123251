//! `sylvan grammar export`: a rule table as text.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::Grammar;
use sylvan_rules::formats::export;
use sylvan_store::Output;

use super::import::Foreign;
use crate::outputs::OutPath;

/// Writes a rule table as text that another toolkit can read.
///
/// Travatar's format holds everything about a rule; Moses' and cdec's hold the rule and its features.
/// Importing any of these again gives the same translations. Joshua's has no place for inner nodes, so only
/// rules of one level come back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar export --format travatar enja.rules --out rule-table.gz")]
pub(crate) struct Export {
    /// The format.
    #[arg(long, value_enum)]
    format: Foreign,
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Where the text goes, compressed if it ends in .gz or .zst; - for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
}

impl Export {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let mut out = Output::create(&self.out)?;
        export(&grammar, &grammar.vocab(), self.format.into(), &mut out)?;
        Ok(out.finish()?)
    }
}
