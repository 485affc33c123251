//! How much an exact search has done, and whether it may go on.

/// The search reached a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

/// Counts joins.
pub(super) struct Meter<'s> {
    pub(super) done: u64,
    limit: u64,
    next_question: u64,
    stop: &'s mut dyn FnMut() -> bool,
}

/// Joins between two questions whether to stop: less than a millisecond.
const BETWEEN: u64 = 20_000;

impl<'s> Meter<'s> {
    pub(super) fn new(limit: u64, stop: &'s mut dyn FnMut() -> bool) -> Self {
        Self { done: 0, limit, next_question: BETWEEN.min(limit.saturating_add(1)), stop }
    }

    #[inline]
    pub(super) fn count(&mut self, joins: u64) -> Result<(), Stopped> {
        self.done += joins;
        if self.done >= self.next_question { self.question() } else { Ok(()) }
    }

    fn question(&mut self) -> Result<(), Stopped> {
        self.next_question = (self.done + BETWEEN).min(self.limit.saturating_add(1));
        if self.done > self.limit || (self.stop)() { Err(Stopped) } else { Ok(()) }
    }
}
