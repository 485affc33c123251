//! The one place that maps files into memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use sylvan_base::{InputError, Result};

/// A read-only view of a whole file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: memmap2::Mmap,
}

impl MappedFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(InputError::io(path, "open"))?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            let source = std::io::Error::other("it is a folder, expected a file");
            return Err(InputError::Io { path: path.to_path_buf(), action: "open", source });
        }
        // SAFETY: the map is private and read-only, and model files are never written in place: `Output` and
        // `ContainerWriter` make a new file and rename it, which leaves the mapped one as it was. Another
        // program that truncates the file under us would raise SIGBUS; no reader can defend against that.
        // All bytes are plain data, so a changed byte can make a number wrong but never a value invalid.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(InputError::io(path, "map"))?;
        Ok(Self { map })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }
}
