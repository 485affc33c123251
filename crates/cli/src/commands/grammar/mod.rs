//! `sylvan grammar`: rule tables.

mod compile;
mod export;
mod extract;
mod filter;
mod flat_options;
mod import;
mod info;
mod options;
mod score;
mod show;
mod verify;

use clap::{Args, Subcommand};
pub(crate) use extract::parse_size;

/// Learns, scores, compiles, shows and converts rule tables.
#[derive(Debug, Args)]
pub(crate) struct Grammar {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Extract(Box<extract::Extract>),
    Score(score::Score),
    Compile(compile::Compile),
    Filter(filter::Filter),
    Export(export::Export),
    Import(import::Import),
    Info(info::Info),
    Show(show::Show),
    Verify(verify::Verify),
}

impl Grammar {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Compile(command) => command.run(),
            Command::Export(command) => command.run(),
            Command::Filter(command) => command.run(),
            Command::Score(command) => command.run(),
            Command::Extract(command) => command.run(),
            Command::Import(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Verify(command) => command.run(),
        }
    }
}
