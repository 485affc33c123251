//! Pickles of what has a file: its path, and the hash of what is in it.

use std::io::Read;
use std::path::{Path, PathBuf};

use sylvan_base::InputError;
use sylvan_base::hash::ContentHasher;

use crate::errors::Refused;

/// The path of an object that was opened, and the hash of what its file holds now.
pub(crate) fn file(path: Option<&PathBuf>) -> Result<(PathBuf, u64), Refused> {
    match path {
        Some(path) => Ok((path.clone(), hash(path)?)),
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

/// Pickles are opened elsewhere.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Refused> {
    Ok(std::path::absolute(path).map_err(InputError::io(path, "find"))?)
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
