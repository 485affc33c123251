//! `sylvan grammar compile`: an exported text table into a file that opens at once.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::import;

use super::import::{Foreign, ImportedKind, say_imported};
use super::options::TreeOptions;
use crate::outputs::OutPath;
use crate::progress::Terminal;

/// Compiles a text table as `export` writes it, after editing by hand or by other tools.
///
/// The same as `import`, but trees are taken to be prepared as `extract` prepares them by default.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar compile edited.txt --out enja.rules")]
pub(crate) struct Compile {
    /// The text table, plain or compressed; - for standard input.
    #[arg(value_name = "IN")]
    table: PathBuf,
    /// The format of the text table.
    #[arg(long, value_enum, default_value = "travatar")]
    format: Foreign,
    /// Where the compiled table goes.
    #[arg(long, value_name = "RULES")]
    out: OutPath,
    /// Round feature values to this many bits each, 1 to 16; without this they are exact.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=16))]
    quantize: Option<u32>,
    #[command(flatten)]
    what: ImportedKind,
    #[command(flatten)]
    trees_as: TreeOptions,
}

impl Compile {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (trees, preprocessing) = (self.trees_as.given(), self.trees_as.preprocessing());
        let config = self.what.config(&trees, preprocessing, self.quantize)?;
        let imported = import(&self.table, self.format.into(), &self.out, &config, &Terminal::default())?;
        say_imported(&imported, config.reordering.is_some());
        Ok(())
    }
}
