//! The subcommands.

mod align;
mod check;
mod compare;
mod decode;
mod demo;
mod detokenize;
mod explain;
mod grammar;
mod language;
mod lm;
mod metric;
mod model;
mod model_options;
mod parser;
mod sample;
mod score;
mod searching;
mod split;
mod tokenize;
mod train;
mod translate;
mod trees;
mod truecase;
mod tune;

use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Align(align::Align),
    Check(check::Check),
    Compare(compare::Compare),
    Decode(decode::Decode),
    Demo(demo::Demo),
    Explain(explain::Explain),
    Grammar(grammar::Grammar),
    Detokenize(detokenize::Detokenize),
    Lm(lm::Lm),
    Model(model::Model),
    Parser(parser::Parser),
    Sample(sample::Sample),
    Score(score::Score),
    Split(split::Split),
    Tokenize(tokenize::Tokenize),
    Train(Box<train::Train>),
    Translate(translate::Translate),
    Trees(trees::Trees),
    Truecase(truecase::Truecase),
    Tune(tune::Tune),
}

impl Command {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Align(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Decode(command) => command.run(),
            Self::Demo(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Grammar(command) => command.run(),
            Self::Detokenize(command) => command.run(),
            Self::Lm(command) => command.run(),
            Self::Model(command) => command.run(),
            Self::Parser(command) => command.run(),
            Self::Sample(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Split(command) => command.run(),
            Self::Tokenize(command) => command.run(),
            Self::Train(command) => command.run(),
            Self::Translate(command) => command.run(),
            Self::Trees(command) => command.run(),
            Self::Truecase(command) => command.run(),
            Self::Tune(command) => command.run(),
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
