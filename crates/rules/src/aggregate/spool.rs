//! Records that are written once and read once, in order: in memory up to a limit, then in a scratch file.

use std::sync::Arc;

use sylvan_base::Result;
use sylvan_store::varint::{Cursor, put};
use sylvan_store::{Scratch, ScratchFile};

/// Writes records.
#[derive(Debug)]
pub(crate) struct Spool {
    buffer: Vec<u8>,
    limit: usize,
    file: ScratchFile,
    written: u64,
}

impl Spool {
    pub(crate) fn new(scratch: &Arc<Scratch>, memory: usize) -> Self {
        Self { buffer: Vec::new(), limit: memory.max(1 << 12), file: scratch.file(), written: 0 }
    }

    pub(crate) fn push(&mut self, record: &[u8]) -> Result<()> {
        put(&mut self.buffer, record.len() as u64);
        self.buffer.extend_from_slice(record);
        if self.buffer.len() >= self.limit {
            self.file.append(&self.buffer)?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Calls `each` with every record in the order in which they came.
    pub(crate) fn read(&self, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut held = Vec::new();
        let mut at = 0;
        while at < self.written {
            let count = (self.written - at).min(1 << 18);
            let start = held.len();
            held.resize(start + count as usize, 0);
            self.file.read(at, &mut held[start..])?;
            at += count;
            let used = records(&held, &mut each)?;
            held.drain(..used);
        }
        debug_assert!(held.is_empty(), "the file ends with a whole record");
        records(&self.buffer, &mut each)?;
        Ok(())
    }
}

fn records(bytes: &[u8], each: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<usize> {
    let mut used = 0;
    loop {
        let mut cursor = Cursor::new(bytes, used);
        let record = cursor.small().and_then(|length| cursor.bytes(length as usize));
        let Some(record) = record else { return Ok(used) };
        each(record)?;
        used = cursor.at();
    }
}
