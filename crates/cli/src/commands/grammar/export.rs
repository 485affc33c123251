//! `sylvan grammar export`: a rule table as text.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::Grammar;
use sylvan_rules::formats::{export, export_reordering};
use sylvan_store::Output;

use super::import::Foreign;
use crate::outputs::OutPath;

/// Writes a rule table as text that another toolkit can read.
///
/// Travatar's format holds everything about a rule; Moses' and cdec's hold the rule and its features.
/// Importing any of these again gives the same translations. Joshua's has no place for inner nodes, so only
/// rules of one level come back. Hiero rules and phrase pairs are written as the toolkit writes those, so that
/// importing them again needs --kind; Moses keeps the orientations of phrase pairs in a table of their own.
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
    /// Also write the orientations of phrase pairs, or of the phrase pairs of left-to-right rules, as a reordering table of
    /// Moses.
    #[arg(long, value_name = "FILE")]
    reordering: Option<OutPath>,
}

impl Export {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let mut out = Output::create(&self.out)?;
        export(&grammar, &grammar.vocab(), self.format.into(), &mut out)?;
        out.finish()?;
        if let Some(path) = &self.reordering {
            let mut out = Output::create(path)?;
            export_reordering(&grammar, &grammar.vocab(), &mut out)?;
            out.finish()?;
        }
        Ok(())
    }
}
