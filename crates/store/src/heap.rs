//! Bytes that are only ever appended: in memory up to a limit, then in a scratch file.

use std::sync::Arc;

use sylvan_base::Result;

use crate::runs::{Scratch, ScratchFile};

/// Bytes on their way into a section of a container.
#[derive(Debug, Default)]
pub struct ByteHeap {
    /// What is not in the file.
    bytes: Vec<u8>,
    file: Option<ScratchFile>,
    written: u64,
    limit: usize,
}

impl ByteHeap {
    /// In memory alone.
    pub fn in_memory() -> Self {
        Self { limit: usize::MAX, ..Self::default() }
    }

    /// At most about `memory` bytes in memory.
    pub fn new(scratch: &Arc<Scratch>, memory: usize) -> Self {
        Self { file: Some(scratch.file()), limit: memory.max(1 << 12), ..Self::default() }
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        self.written + self.bytes.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        if let Some(file) = self.file.as_ref().filter(|_| self.bytes.len() >= self.limit) {
            file.append(&self.bytes)?;
            self.written += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }

    /// Calls `each` with all bytes, part by part.
    pub fn read(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut part = Vec::new();
        let mut at = 0;
        while let Some(file) = self.file.as_ref().filter(|_| at < self.written) {
            part.resize((self.written - at).min(1 << 20) as usize, 0);
            file.read(at, &mut part)?;
            each(&part)?;
            at += part.len() as u64;
        }
        each(&self.bytes)
    }

    /// The bytes, if they are all in memory.
    pub fn into_vec(self) -> Option<Vec<u8>> {
        (self.written == 0).then_some(self.bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_in_order_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path());
        let mut heaps = [ByteHeap::new(&scratch, 1), ByteHeap::in_memory()];
        let mut expected = Vec::new();
        for number in 0..30_000u32 {
            let bytes = number.to_le_bytes();
            expected.extend_from_slice(&bytes);
            heaps.iter_mut().for_each(|heap| heap.extend(&bytes).unwrap());
        }
        for heap in &heaps {
            let mut found = Vec::new();
            heap.read(&mut |part| {
                found.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
            assert!(found == expected && heap.len() == expected.len() as u64 && !heap.is_empty());
        }
        let [spilled, whole] = heaps;
        assert!(spilled.written > 100_000 && spilled.into_vec().is_none());
        assert_eq!(whole.into_vec(), Some(expected));
    }
}
