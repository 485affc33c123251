//! `sylvan man`: manual pages.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use sylvan_base::InputError;

/// Writes manual pages, one for each command: sylvan.1, sylvan-train.1, ..
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan man --out ~/.local/share/man/man1 && man sylvan-train")]
pub(crate) struct Man {
    /// The folder for the pages; it is made if it does not exist.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.out).map_err(InputError::io(&self.out, "create"))?;
        let command = crate::Arguments::command().disable_help_subcommand(true);
        clap_mangen::generate_to(command, &self.out).map_err(InputError::io(&self.out, "write"))?;
        Ok(())
    }
}
