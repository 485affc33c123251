//! The subcommands.

mod demo;
mod grammar;
mod lm;
mod parser;
mod sample;
mod score;
mod trees;

use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Grammar(grammar::Grammar),
    Lm(lm::Lm),
    Parser(parser::Parser),
    Sample(sample::Sample),
    Score(score::Score),
    Trees(trees::Trees),
}

impl Command {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Grammar(command) => command.run(),
            Self::Lm(command) => command.run(),
            Self::Parser(command) => command.run(),
            Self::Sample(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Trees(command) => command.run(),
        }
    }
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: one JSON object.
    Json,
}
