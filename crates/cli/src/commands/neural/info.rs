//! `sylvan neural info`: what is in a network?

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_neural::{NeuralModel, Size};
use sylvan_store::Output;

/// Shows the shape of a network and how many numbers it has.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan neural info ende.neural")]
pub(crate) struct Info {
    /// The network.
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Show each of its matrices.
    #[arg(long)]
    parts: bool,
}

impl Info {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let model = NeuralModel::open(&self.model)?;
        let Size { width, inner, heads, encoder, decoder } = model.size();
        let [source, target] = model.units().each_ref().map(sylvan_neural::Units::len);
        let numbers: usize = model.parts().map(|(_, rows, columns)| rows * columns).sum();
        let mut out = Output::create(Path::new("-"))?;
        out.line(&format!("width         {width}, {inner} inside layers, {heads} heads"))?;
        out.line(&format!("layers        {encoder} of the encoder, {decoder} of the decoder"))?;
        out.line(&format!("units         {source} of the source, {target} of the target"))?;
        out.line(&format!("numbers       {numbers}"))?;
        if self.parts {
            for (name, rows, columns) in model.parts() {
                out.line(&format!("{name:<30} {rows:>8} x {columns}"))?;
            }
        }
        Ok(out.finish()?)
    }
}
