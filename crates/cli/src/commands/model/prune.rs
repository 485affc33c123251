//! `sylvan model prune`: a smaller model.

use std::path::PathBuf;

use clap::Args;
use sylvan::decode::file::{Pruned, prune};

use crate::commands::grammar::parse_size;
use crate::outputs::OutPath;

/// Makes a model smaller: drops rules that were rarely seen and that others can make up for, and re-estimates
/// the language model from the text that the model keeps, with fewer n-grams and bits.
///
/// Scores in the manifest are dropped, because they were measured on the larger model; measure again with
/// `sylvan translate` and `sylvan score`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan model prune --size 20M --out small.sylvan enja.sylvan")]
pub(super) struct Prune {
    /// The largest size that the file may have, such as 20M.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    size: usize,
    /// Leave out the training text, for more rules; `sylvan explain` then shows no training lines.
    #[arg(long)]
    no_lines: bool,
    /// Where the smaller model goes.
    #[arg(long, value_name = "MODEL")]
    out: OutPath,
    /// The model.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
}

impl Prune {
    #[allow(clippy::print_stderr)]
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let Pruned { bytes, rules, language_model, lines } =
            prune(&self.model, &self.out, self.size as u64, !self.no_lines)?;
        eprintln!("{bytes} bytes; {} of {} rules", rules[1], rules[0]);
        if language_model[0] != language_model[1] {
            eprintln!("language model: {} bytes, before {}", language_model[1], language_model[0]);
        }
        if !lines {
            eprintln!("no training text");
        }
        Ok(())
    }
}
