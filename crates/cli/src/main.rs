//! The `sylvan` program: one file per subcommand in `commands/`; here is only the dispatch.

mod commands;
mod lines;
mod progress;
mod threads;

use std::process::ExitCode;

use clap::Parser;
use commands::Command;
use sylvan_base::InputError;

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
    match Arguments::parse().command.run() {
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
    error.chain().any(|cause| match cause.downcast_ref::<InputError>() {
        Some(InputError::Io { source, .. }) => source.kind() == std::io::ErrorKind::BrokenPipe,
        _ => false,
    })
}
