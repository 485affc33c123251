//! The one place that maps files into memory.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

use sylvan_base::hash::HashSet;
use sylvan_base::{InputError, Result};

/// A read-only view of a whole file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    map: memmap2::Mmap,
    /// Which pieces were compared with their checksums and found good: start, length, sum. It belongs to the file
    /// and not to a container in it, so that a part that is opened twice is read once.
    good: Mutex<HashSet<[u64; 3]>>,
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
        Ok(Self { map, good: Mutex::default() })
    }

    /// Whether a piece was found good before.
    pub(crate) fn is_good(&self, piece: [u64; 3]) -> bool {
        self.good.lock().is_ok_and(|good| good.contains(&piece))
    }

    /// Remembers that a piece is good.
    pub(crate) fn remember(&self, piece: [u64; 3]) {
        if let Ok(mut good) = self.good.lock() {
            good.insert(piece);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }
}
