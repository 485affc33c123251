//! `sylvan lm info`: what is in a language model?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_lm::Lm;
use sylvan_parse::structured::StructuredLm;
use sylvan_store::Output;

/// Shows the kind, order and sizes of a language model.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan lm info en.lm")]
pub(crate) struct Info {
    /// The model: ARPA text or compiled, or a structured one.
    #[arg(value_name = "FILE")]
    lm: PathBuf,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        if StructuredLm::is_one(&self.lm) {
            return self.structured();
        }
        let lm = Lm::open(&self.lm)?;
        let info = lm.info();
        let mut out = Output::create(Path::new("-"))?;
        out.line(&format!("layout        {}", info.layout))?;
        out.line(&format!("order         {}", lm.order()))?;
        match lm.classed_words() {
            Some(words) => {
                out.line(&format!("words         {words}"))?;
                out.line(&format!("classes       {}", lm.vocab_len()))?;
            }
            None => out.line(&format!("words         {}", lm.vocab_len()))?,
        }
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

    fn structured(&self) -> anyhow::Result<()> {
        let mut out = Output::create(Path::new("-"))?;
        let (kind, tags, notes) = match StructuredLm::open(&self.lm)? {
            StructuredLm::Perceptron(model) => {
                let parser = model.parser();
                ("weights of a parser", parser.tags().join(" "), parser.notes().to_vec())
            }
            StructuredLm::Generative(model) => {
                ("probabilities", model.tags().join(" "), model.notes().to_vec())
            }
        };
        out.line(&format!("structured    {kind}"))?;
        out.line(&format!("tags          {tags}"))?;
        for (name, value) in &notes {
            out.line(&format!("{name:<13} {value}"))?;
        }
        Ok(out.finish()?)
    }
}
