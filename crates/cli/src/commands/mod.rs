//! The subcommands.

mod align;
mod check;
mod compare;
mod completions;
mod consensus;
mod decode;
mod demo;
mod detokenize;
mod explain;
mod fit;
mod grammar;
mod language;
mod lm;
mod man;
mod metric;
mod model;
mod model_options;
mod neural;
mod parser;
mod reproduce;
mod sample;
mod score;
mod searching;
mod serve;
mod split;
mod tags;
mod tokenize;
mod train;
mod translate;
mod trees;
mod truecase;
mod tune;

use clap::Subcommand;

/// What to do. The order is that of use: whole pipelines first, then their parts.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Train(Box<train::Train>),
    Translate(translate::Translate),
    Explain(explain::Explain),
    Serve(serve::Serve),
    Model(model::Model),
    Check(check::Check),
    Score(score::Score),
    Compare(compare::Compare),
    Consensus(consensus::Consensus),
    Tokenize(tokenize::Tokenize),
    Detokenize(detokenize::Detokenize),
    Truecase(truecase::Truecase),
    Split(split::Split),
    Tags(tags::Tags),
    Parser(parser::Parser),
    Trees(trees::Trees),
    Align(align::Align),
    Grammar(grammar::Grammar),
    Lm(lm::Lm),
    Neural(neural::Neural),
    Tune(tune::Tune),
    Fit(fit::Fit),
    Decode(decode::Decode),
    Sample(sample::Sample),
    Reproduce(reproduce::Reproduce),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Whether it hears signals itself.
    pub(crate) fn hears_signals(&self) -> bool {
        matches!(self, Self::Serve(_))
    }

    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Train(command) => command.run(),
            Self::Translate(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Model(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Compare(command) => command.run(),
            Self::Consensus(command) => command.run(),
            Self::Tokenize(command) => command.run(),
            Self::Detokenize(command) => command.run(),
            Self::Truecase(command) => command.run(),
            Self::Split(command) => command.run(),
            Self::Tags(command) => command.run(),
            Self::Parser(command) => command.run(),
            Self::Trees(command) => command.run(),
            Self::Align(command) => command.run(),
            Self::Grammar(command) => command.run(),
            Self::Lm(command) => command.run(),
            Self::Neural(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Fit(command) => command.run(),
            Self::Decode(command) => command.run(),
            Self::Sample(command) => command.run(),
            Self::Reproduce(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
