//! How long-running work reports progress without knowing about terminals.

/// Receives the progress of one stage. The program draws it; libraries and tests use [`Silent`].
pub trait Progress: Sync {
    /// A stage begins; `total` is the amount of work if it is known.
    fn begin(&self, stage: &str, total: Option<u64>);
    /// How much of the stage is done in total, not since the last call.
    fn at(&self, done: u64);
    /// The stage is over.
    fn end(&self);
}

/// Reports nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn at(&self, _done: u64) {}
    fn end(&self) {}
}
