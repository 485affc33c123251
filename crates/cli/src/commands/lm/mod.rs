//! `sylvan lm`: language models.

mod classes;
mod compile;
mod estimate;
mod info;
mod interpolate;
mod query;
mod structured;
mod verify;

use clap::{Args, Subcommand};

/// Estimates, compiles, queries and mixes language models.
#[derive(Debug, Args)]
pub(crate) struct Lm {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Estimate(estimate::Estimate),
    Classes(classes::Learn),
    Compile(compile::Compile),
    Query(query::Query),
    Interpolate(interpolate::Interpolate),
    Structured(structured::Structured),
    Info(info::Info),
    Verify(verify::Verify),
}

impl Lm {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Estimate(command) => command.run(),
            Command::Classes(command) => command.run(),
            Command::Compile(command) => command.run(),
            Command::Query(command) => command.run(),
            Command::Interpolate(command) => command.run(),
            Command::Structured(command) => command.run(),
            Command::Info(command) => command.run(),
            Command::Verify(command) => command.run(),
        }
    }
}
