//! `sylvan neural`: networks that read a sentence and say how good a translation is.

mod info;
mod score;
mod train;
mod translate;

use clap::{Args, Subcommand};

/// Trains networks that score translations, and looks at what they say.
#[derive(Debug, Args)]
pub(crate) struct Neural {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Train),
    Score(score::Score),
    Translate(translate::Translate),
    Info(info::Info),
}

impl Neural {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Train(command) => command.run(),
            Command::Score(command) => command.run(),
            Command::Translate(command) => command.run(),
            Command::Info(command) => command.run(),
        }
    }
}
