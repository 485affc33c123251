//! `sylvan grammar verify`: is a rule table intact?

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::Grammar;

/// Checks a whole rule table: checksums, strings, and that every rule is well-formed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar verify enja.rules")]
pub(crate) struct Verify {
    /// The table.
    #[arg(value_name = "RULES")]
    rules: PathBuf,
}

impl Verify {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        Ok(Grammar::open(&self.rules)?.verify()?)
    }
}
