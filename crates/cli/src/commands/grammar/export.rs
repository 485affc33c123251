//! `sylvan grammar export`: a rule table as text.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::Grammar;
use sylvan_rules::formats::{TextFormat, export};
use sylvan_store::Output;

/// Writes a rule table as text that another toolkit reads.
///
/// Travatar's format holds all of a rule, and importing it again gives the same translations. Moses' format holds the
/// source tree as a property beside flat sides; cdec's and Joshua's has no place for inner nodes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar export --format travatar enja.rules rule-table.gz")]
pub(crate) struct Export {
    /// The format.
    #[arg(long, value_enum)]
    format: Foreign,
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// Where the text goes, compressed if it ends in .gz or .zst; - for standard output.
    #[arg(value_name = "OUT")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Foreign {
    /// Travatar's rule tables.
    Travatar,
    /// Moses' rule tables.
    Moses,
    /// cdec's and Joshua's grammars.
    Cdec,
}

impl Export {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let grammar = Grammar::open(&self.rules)?;
        let format = match self.format {
            Foreign::Travatar => TextFormat::Travatar,
            Foreign::Moses => TextFormat::Moses,
            Foreign::Cdec => TextFormat::Cdec,
        };
        let mut out = Output::create(&self.out)?;
        export(&grammar, &grammar.vocab(), format, &mut out)?;
        Ok(out.finish()?)
    }
}
