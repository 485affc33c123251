//! Long lists that are written once and read from front to back: in memory while there is room, else on disk.
//!
//! A *column* belongs to the n-grams of one length and has one item for each of them, in suffix order. It is cut
//! into *segments*, one per bucket, so that threads can write and read different buckets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sylvan_base::Result;
use sylvan_store::{Scratch, ScratchFile};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Items that are kept or written together.
const CHUNK: usize = 8192;

/// What a column may hold.
pub(crate) trait Item: Copy + Send + Sync + FromBytes + IntoBytes + Immutable + 'static {}
impl<T: Copy + Send + Sync + FromBytes + IntoBytes + Immutable + 'static> Item for T {}

/// Memory that several columns share.
#[derive(Debug)]
pub(crate) struct Pool {
    scratch: Arc<Scratch>,
    memory: Arc<Memory>,
}

/// How many bytes may still be kept, first come, first served; what is read back is the same either way.
#[derive(Debug)]
struct Memory {
    free: AtomicUsize,
}

impl Memory {
    fn take(&self, bytes: usize) -> bool {
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(bytes)).is_ok()
    }
}

impl Pool {
    pub(crate) fn new(scratch: &Arc<Scratch>, memory: usize) -> Self {
        let memory = Arc::new(Memory { free: AtomicUsize::new(memory) });
        Self { scratch: Arc::clone(scratch), memory }
    }

    /// The place for the segments of one column.
    pub(crate) fn shelf(&self) -> Shelf {
        Shelf { file: Arc::new(self.scratch.file()), memory: Arc::clone(&self.memory) }
    }
}

/// Where the segments of one column go.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    file: Arc<ScratchFile>,
    memory: Arc<Memory>,
}

impl Shelf {
    pub(crate) fn writer<T: Item>(&self) -> Writer<T> {
        Writer { segment: Segment { shelf: self.clone(), chunks: Vec::new(), len: 0 }, open: Vec::new() }
    }
}

/// Some consecutive items.
#[derive(Debug)]
enum Chunk<T> {
    Memory(Vec<T>),
    Disk { at: u64, len: usize },
}

/// One bucket of a column.
#[derive(Debug)]
pub(crate) struct Segment<T: Item> {
    shelf: Shelf,
    chunks: Vec<Chunk<T>>,
    len: usize,
}

impl<T: Item> Segment<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn reader(&self) -> Reader<'_, T> {
        Reader { segment: self, chunk: 0, start: 0, at: 0, buffer: Vec::new(), ready: self.len == 0 }
    }
}

impl<T: Item> Drop for Segment<T> {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            if let Chunk::Memory(items) = chunk {
                self.shelf.memory.free.fetch_add(size_of_val(items.as_slice()), Ordering::Relaxed);
            }
        }
    }
}

/// Writes a segment.
#[derive(Debug)]
pub(crate) struct Writer<T: Item> {
    segment: Segment<T>,
    open: Vec<T>,
}

impl<T: Item> Writer<T> {
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> Result<()> {
        self.open.push(item);
        if self.open.len() == CHUNK { self.close() } else { Ok(()) }
    }

    /// Makes a chunk of the open items: where there is room, else on disk.
    fn close(&mut self) -> Result<()> {
        let Self { segment, open } = self;
        segment.len += open.len();
        if segment.shelf.memory.take(size_of_val(open.as_slice())) {
            let mut full = std::mem::take(open);
            full.shrink_to_fit();
            segment.chunks.push(Chunk::Memory(full));
        } else {
            let at = segment.shelf.file.append(open.as_bytes())?;
            segment.chunks.push(Chunk::Disk { at, len: open.len() });
            // The same memory takes the next items.
            open.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Segment<T>> {
        if !self.open.is_empty() {
            self.close()?;
        }
        Ok(self.segment)
    }
}

/// Reads a segment from front to back.
#[derive(Debug)]
pub(crate) struct Reader<'a, T: Item> {
    segment: &'a Segment<T>,
    chunk: usize,
    /// How many items the chunks before this one have.
    start: usize,
    /// The place in this chunk.
    at: usize,
    /// The items of a chunk on disk.
    buffer: Vec<T>,
    /// Whether `buffer` belongs to this chunk, if it is on disk.
    ready: bool,
}

impl<'a, T: Item> Reader<'a, T> {
    /// The next item.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        loop {
            let items = match self.segment.chunks.get(self.chunk) {
                Some(Chunk::Memory(items)) => items.as_slice(),
                Some(&Chunk::Disk { at, len }) => {
                    if !self.ready {
                        self.load(at, len)?;
                    }
                    self.buffer.as_slice()
                }
                None => return Ok(None),
            };
            if let Some(&item) = items.get(self.at) {
                self.at += 1;
                return Ok(Some(item));
            }
            self.start += items.len();
            self.next_chunk();
        }
    }

    fn next_chunk(&mut self) {
        self.chunk += 1;
        self.at = 0;
        self.ready = false;
    }

    #[cold]
    fn load(&mut self, at: u64, len: usize) -> Result<()> {
        self.buffer.resize(len, T::new_zeroed());
        self.segment.shelf.file.read(at, self.buffer.as_mut_slice().as_mut_bytes())?;
        self.ready = true;
        Ok(())
    }

    /// The item at a place that is not before the one read last.
    #[inline]
    pub(crate) fn at(&mut self, index: usize) -> Result<Option<T>> {
        loop {
            let len = match self.segment.chunks.get(self.chunk) {
                Some(Chunk::Memory(items)) => items.len(),
                Some(&Chunk::Disk { len, .. }) => len,
                None => return Ok(None),
            };
            if index - self.start < len {
                self.at = index - self.start;
                let item = self.next();
                // The same place may be asked for again, also when it was the last of its chunk.
                self.at = index - self.start;
                return item;
            }
            self.start += len;
            self.next_chunk();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_read_back_whatever_part_of_them_is_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(dir.path());
        for memory in [0, CHUNK * 4, CHUNK * 9, 1 << 30] {
            let pool = Pool::new(&scratch, memory);
            let shelf = pool.shelf();
            let mut writer = shelf.writer::<u32>();
            let count = CHUNK as u32 * 3 + 5;
            for item in 0..count {
                writer.push(item * 3).unwrap();
            }
            let segment = writer.finish().unwrap();
            assert_eq!(segment.len(), count as usize);
            let mut reader = segment.reader();
            for item in 0..count {
                assert_eq!(reader.next().unwrap(), Some(item * 3));
            }
            assert_eq!(reader.next().unwrap(), None);
            let mut reader = segment.reader();
            for index in [0, 0, 7, 7, CHUNK - 1, CHUNK - 1, CHUNK, CHUNK * 2 + 9, count as usize - 1] {
                assert_eq!(reader.at(index).unwrap(), Some(index as u32 * 3));
            }
            assert_eq!(reader.at(count as usize).unwrap(), None);
            drop(segment);
            assert_eq!(pool.memory.free.load(Ordering::Relaxed), memory);
        }
        assert!(scratch.peak() > 0);
    }
}
