//! `sylvan lm verify`: is a language model intact?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_lm::Lm;
use sylvan_parse::structured::StructuredLm;
use sylvan_store::Output;

/// Reads a whole language model and checks it: checksums and structure of compiled files, every line of ARPA
/// text.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan lm verify en.lm")]
pub(crate) struct Verify {
    /// The model: ARPA text or compiled, or a structured one.
    #[arg(value_name = "FILE")]
    lm: PathBuf,
}

impl Verify {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        // A structured model is checked whenever it is opened.
        match StructuredLm::is_one(&self.lm) {
            true => drop(StructuredLm::open(&self.lm)?),
            false => Lm::open(&self.lm)?.verify()?,
        }
        let mut out = Output::create(Path::new("-"))?;
        out.line(&format!("{}: sound", self.lm.display()))?;
        Ok(out.finish()?)
    }
}
