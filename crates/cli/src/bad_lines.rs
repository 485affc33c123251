//! Lines that cannot be read: reported, left empty and counted, or the end if the user wants it so.

use clap::Args;
use sylvan_base::InputError;

/// The same option in all commands that work line by line.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Strictness {
    /// Stop at the first line that cannot be read. Without this, such lines are reported and their output is left
    /// empty.
    #[arg(long)]
    strict: bool,
}

fn is_about_a_line(error: &anyhow::Error) -> bool {
    let inner = match error.downcast_ref() {
        Some(sylvan::Error::Input(inner)) => Some(inner),
        _ => error.downcast_ref(),
    };
    matches!(inner, Some(InputError::Text { .. }))
}

/// Counts bad lines.
#[derive(Debug)]
pub(crate) struct BadLines {
    strict: bool,
    count: u64,
}

impl BadLines {
    pub(crate) fn new(strictness: Strictness) -> Self {
        Self { strict: strictness.strict, count: 0 }
    }

    /// Reports a line that cannot be read. Returns the error if it ends the run: if the user is strict, or if it is
    /// not about one line.
    #[allow(clippy::print_stderr)]
    pub(crate) fn report(&mut self, error: anyhow::Error) -> anyhow::Result<()> {
        if self.strict || !is_about_a_line(&error) {
            return Err(error);
        }
        eprintln!("warning: {}", crate::message(&error));
        self.count += 1;
        Ok(())
    }

    /// Says at the end how many there were.
    #[allow(clippy::print_stderr)]
    pub(crate) fn sum_up(&self, lines: u64) {
        if self.count > 0 {
            eprintln!("warning: {} of {lines} lines could not be read; their output is empty", self.count);
        }
    }
}
