//! When a search has to stop: at a deadline, or when it is cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A deadline and a way to cancel. Searches check it now and then; without either it costs nothing.
///
/// After the deadline a search goes on with the narrowest beam, so that there still is an answer; its result says that
/// it was cut short. A cancelled search has no answer.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// From then on only the narrowest beam is used.
    pub deadline: Option<Instant>,
    /// Set by another thread to cancel.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Never.
    pub const NEVER: Stop = Stop { deadline: None, cancel: None };

    /// Whether the search is no longer wanted.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Whether time is up or the search no longer wanted.
    #[inline]
    pub fn is_due(&self) -> bool {
        (self.deadline.is_some() || self.cancel.is_some()) && self.looks_due()
    }

    #[cold]
    fn looks_due(&self) -> bool {
        self.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
