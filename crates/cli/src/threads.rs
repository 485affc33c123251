//! How many threads.

use std::num::NonZeroUsize;

use clap::Args;

/// The same option in all commands.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Threads {
    /// Threads; by default as many as there are processors. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Threads {
    /// As many as asked for, if any number was.
    pub(crate) fn asked(self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// The same as [`count`](Self::count).
    pub(crate) fn non_zero(self) -> NonZeroUsize {
        NonZeroUsize::new(self.count()).unwrap_or(NonZeroUsize::MIN)
    }

    /// As many as asked for, or as there are processors.
    pub(crate) fn count(self) -> usize {
        self.asked().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}
