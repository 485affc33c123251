//! `sylvan align symmetrize`: combine the links of two directions.

use std::path::PathBuf;

use clap::Args;
use sylvan_align::{Heuristic, symmetrize};
use sylvan_corpus::Alignment;
use sylvan_store::Output;

use super::links::{LinkFormat, for_each_line};
use crate::outputs::OutPath;

/// Combines two files of links, both as source-target pairs, as the tool atools does.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan align symmetrize --symmetrize grow-diag --forward fwd --reverse rev --out links"
)]
pub(crate) struct Symmetrize {
    /// Links from the model in which target words pick source words.
    #[arg(long, value_name = "FILE")]
    forward: PathBuf,
    /// Links from the reverse model, also written source-target.
    #[arg(long, value_name = "FILE")]
    reverse: PathBuf,
    /// forward, reverse, intersection, union, grow-diag, grow-diag-final, grow-diag-final-and or itg.
    #[arg(long, default_value_t = Heuristic::GrowDiag)]
    symmetrize: Heuristic,
    /// How the links are written, in all files.
    #[arg(long, value_enum, default_value = "pharaoh")]
    link_format: LinkFormat,
    /// The combined links; - for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
}

impl Symmetrize {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !matches!(self.symmetrize, Heuristic::Posterior(_) | Heuristic::Mean(_)),
            "found --symmetrize {}, expected one that needs no posteriors; give it to align train or apply",
            self.symmetrize
        );
        let base = self.link_format.base();
        let mut out = Output::create(&self.out)?;
        for_each_line((&self.forward, base), (&self.reverse, base), |forward, reverse| {
            let links = symmetrize(forward.sure(), reverse.sure(), self.symmetrize);
            Ok(out.line(&Alignment::new(links, Vec::new()).to_text(base))?)
        })?;
        Ok(out.finish()?)
    }
}
