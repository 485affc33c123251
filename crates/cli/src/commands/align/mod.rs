//! `sylvan align`: word alignment.

mod apply;
mod eval;
mod links;
mod show;
mod symmetrize;
mod text;
mod train;

use clap::{Args, Subcommand};

/// Aligns the words of parallel text, judges links and draws them.
#[derive(Debug, Args)]
pub(crate) struct Align {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Train),
    Apply(apply::Apply),
    Symmetrize(symmetrize::Symmetrize),
    Eval(eval::Eval),
    Show(show::Show),
}

impl Align {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Train(command) => command.run(),
            Command::Apply(command) => command.run(),
            Command::Symmetrize(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Show(command) => command.run(),
        }
    }
}
