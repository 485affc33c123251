//! `sylvan lm info`: what is in a language model?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_lm::Lm;
use sylvan_store::Output;

/// Shows the kind, order and sizes of a language model.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan lm info en.lm")]
pub(crate) struct Info {
    /// The model: ARPA text or compiled.
    #[arg(value_name = "FILE")]
    lm: PathBuf,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let lm = Lm::open(&self.lm)?;
        let info = lm.info();
        let mut out = Output::create(Path::new("-"))?;
        out.line(&format!("layout        {}", info.layout))?;
        out.line(&format!("order         {}", lm.order()))?;
        out.line(&format!("words         {}", lm.vocab_len()))?;
        for (count, n) in info.counts.iter().zip(1..) {
            out.line(&format!("{n}-grams       {count}"))?;
        }
        if let Some(bits) = info.quantize {
            out.line(&format!("quantised to  {bits} bits"))?;
        }
        out.line(&format!("bounds        {}", if info.bounds { "yes" } else { "no" }))?;
        for (name, bytes) in &info.sections {
            out.line(&format!("section       {name:<8} {bytes:>14} bytes"))?;
        }
        Ok(out.finish()?)
    }
}
