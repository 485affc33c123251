//! `sylvan parser`: constituency trees, dependencies and parts of speech.

mod eval;
mod info;
mod parse;
mod train;
mod verify;

use clap::{Args, Subcommand, ValueEnum};

/// Trains parsers, parses text and measures parses.
#[derive(Debug, Args)]
pub(crate) struct Parser {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(train::Train),
    Parse(parse::Parse),
    Eval(eval::Eval),
    Info(info::Info),
    Verify(verify::Verify),
}

impl Parser {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Train(command) => command.run(),
            Command::Parse(command) => command.run(),
            Command::Eval(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Verify(command) => command.run(),
        }
    }
}

/// What a parser produces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Phrase-structure trees.
    Constituency,
    /// Heads and relations of words.
    Dependency,
    /// Parts of speech.
    Tagger,
}
