//! Paths that a command writes to, and the check that none of them is also read.
//!
//! An option of type [`OutPath`] is written, one of type `PathBuf` is read: so one place can check all commands.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

/// Where a command writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutPath(PathBuf);

impl From<OsString> for OutPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl From<OutPath> for PathBuf {
    fn from(path: OutPath) -> Self {
        path.0
    }
}

impl Deref for OutPath {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for OutPath {
    fn as_ref(&self) -> &Path {
        self
    }
}

/// Refuses a command that would write over one of its inputs, or twice to one place.
pub(crate) fn check(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut leaf = matches;
    while let Some((_, inner)) = leaf.subcommand() {
        leaf = inner;
    }
    let (mut read, mut written): (Vec<&Path>, Vec<(&str, &Path)>) = (Vec::new(), Vec::new());
    for name in leaf.ids().map(clap::Id::as_str) {
        // Groups have names as well, and values of other types say so.
        if let Ok(Some(paths)) = leaf.try_get_many::<PathBuf>(name) {
            read.extend(paths.map(PathBuf::as_path));
        }
        if let Ok(Some(paths)) = leaf.try_get_many::<OutPath>(name) {
            written.extend(paths.map(|path| (name, &**path)));
        }
    }
    for (place, &(name, out)) in written.iter().enumerate() {
        let option = name.replace('_', "-");
        anyhow::ensure!(
            !read.iter().any(|path| sylvan_store::is_same_file(path, out)),
            "--{option} {}: this is an input of the same command, which would be lost; choose another name",
            out.display()
        );
        let before = written[..place].iter().find(|(_, other)| sylvan_store::is_same_file(other, out));
        if let Some((other, _)) = before {
            anyhow::bail!(
                "--{option} {}: --{} writes there too; choose another name",
                out.display(),
                other.replace('_', "-")
            );
        }
    }
    Ok(())
}
