//! The `sylvan` program: one file per subcommand in `commands/`; here is only the dispatch.

mod bad_lines;
mod commands;
mod interrupt;
mod lines;
mod outputs;
mod progress;
mod renamed;
mod threads;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser};
use commands::Command;

/// Left-to-right, syntax-based machine translation.
#[derive(Debug, Parser)]
#[command(name = "sylvan", version, about, max_term_width = 100)]
#[command(after_help = "Start here:\n  sylvan demo                      \
    the whole pipeline on the built-in corpus\n  sylvan COMMAND --help            options and an example")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has stopped, as in `sylvan ... | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => match error.downcast::<Exit>() {
            Ok(Exit { code, error }) => {
                if let Some(error) = error {
                    complain(&error);
                }
                ExitCode::from(code)
            }
            Err(error) => {
                complain(&error);
                ExitCode::FAILURE
            }
        },
    }
}

fn run() -> anyhow::Result<()> {
    let matches = Arguments::command().try_get_matches().unwrap_or_else(|error| refuse(&error));
    outputs::check(&matches)?;
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error));
    if !arguments.command.hears_signals() {
        interrupt::clean_up_when_told_to_stop();
    }
    arguments.command.run()
}

/// Says what is wrong with the command line, or helps; and what an option is called now that had another name.
fn refuse(error: &clap::Error) -> ! {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { error.exit() };
    let mut command = Arguments::command();
    let mut name = command.get_name().to_string();
    for word in std::env::args().skip(1) {
        let Some(inner) = command.find_subcommand(&word).cloned() else { break };
        name = format!("{name} {word}");
        command = inner;
    }
    if let Some(advice) = renamed::advice(&name, found) {
        complain(&anyhow::anyhow!("{name}: found {found}, which is now {advice}; see `{name} --help`"));
        std::process::exit(2);
    }
    error.exit()
}

/// Neither plain success nor plain failure: the exit code is part of the command's answer.
#[derive(Debug)]
pub(crate) struct Exit {
    /// The exit code.
    pub(crate) code: u8,
    /// What to say on standard error, if anything.
    pub(crate) error: Option<anyhow::Error>,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}", self.code)
    }
}

impl std::error::Error for Exit {}

#[allow(clippy::print_stderr)]
fn complain(error: &anyhow::Error) {
    eprintln!("error: {}", message(error));
}

/// The error and its causes, without causes that the message already contains.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message.push_str(": ");
            message.push_str(&cause);
        }
    }
    message
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(is))
}
