//! `sylvan grammar`: rule tables.

mod import;
mod info;
mod verify;

use clap::{Args, Subcommand};

/// Learns, scores, compiles, shows and converts rule tables.
#[derive(Debug, Args)]
pub(crate) struct Grammar {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Import(import::Import),
    Info(info::Info),
    Verify(verify::Verify),
}

impl Grammar {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Import(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Verify(command) => command.run(),
        }
    }
}
