//! What is on the disk under a temporary name, so that a program that is told to stop can take it away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file or folder that must not outlive the program; it is forgotten, not removed, when this is dropped.
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Remembers a path. To be called before it is made.
    pub fn new(path: &Path) -> Self {
        let path = path.to_path_buf();
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Self { path }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

/// Removes everything that is half-written. Only for a program about to end: whoever begins or finishes an output
/// after this waits for ever.
pub fn remove_unfinished() {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in std::mem::take(&mut *all) {
        // Nothing can be done about a failure here.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
    // Other threads still run.
    std::mem::forget(all);
}
