//! `sylvan parser verify`: is a parser model intact?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_parse::Parser;
use sylvan_store::Output;

/// Reads a whole parser model and checks it against its checksums.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan parser verify en.parser")]
pub(crate) struct Verify {
    /// The model.
    #[arg(value_name = "FILE")]
    model: PathBuf,
}

impl Verify {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        Parser::verify(&self.model)?;
        let mut out = Output::create(Path::new("-"))?;
        out.line(&format!("{}: sound", self.model.display()))?;
        Ok(out.finish()?)
    }
}
