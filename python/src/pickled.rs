//! Pickles of what has a file: its path, and the hash of what is in it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sylvan_base::InputError;
use sylvan_base::hash::ContentHasher;

use crate::errors::Refused;

/// The file that an object was opened from.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    /// How large it was, and when it was written: enough to see whether it is another one now.
    seen: (u64, Option<SystemTime>),
}

impl File {
    /// A file that is about to be read.
    pub(crate) fn new(path: &Path) -> Result<Self, Refused> {
        // Pickles are opened elsewhere.
        let path = std::path::absolute(path).map_err(InputError::io(path, "find"))?;
        let seen = Self::look(&path)?;
        Ok(Self { path, seen })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn look(path: &Path) -> Result<(u64, Option<SystemTime>), Refused> {
        let about = std::fs::metadata(path).map_err(InputError::io(path, "open"))?;
        Ok((about.len(), about.modified().ok()))
    }
}

/// The path of an object that was opened, and the hash of what its file holds.
pub(crate) fn file(opened: Option<&File>) -> Result<(PathBuf, u64), Refused> {
    match opened {
        Some(File { path, seen }) if File::look(path)? == *seen => Ok((path.clone(), hash(path)?)),
        Some(File { path, .. }) => {
            let found = format!("{}, written since it was opened", path.display());
            Err(Refused::setting("pickling", &found, "the file that was opened; open it again"))
        }
        None => {
            let expected = "one that was saved and opened";
            Err(Refused::setting("pickling", "something that has no file", expected))
        }
    }
}

/// Fails if a file holds something else than when it was pickled.
pub(crate) fn check(path: &Path, content: u64) -> Result<(), Refused> {
    if hash(path)? == content {
        return Ok(());
    }
    let found = format!("{} with other content", path.display());
    Err(Refused::setting("a pickle", &found, "the file that it was made with"))
}

fn hash(path: &Path) -> Result<u64, Refused> {
    let mut file = std::fs::File::open(path).map_err(InputError::io(path, "open"))?;
    let mut hasher = ContentHasher::default();
    let mut part = vec![0; 1 << 18];
    loop {
        match file.read(&mut part).map_err(InputError::io(path, "read"))? {
            0 => return Ok(hasher.finish()),
            size => hasher.update(&part[..size]),
        }
    }
}
