//! External merge sort of fixed-width records that adds up equal keys.
//!
//! Counting jobs make more records than memory holds, most of them repeated. Records are kept in *buckets*
//! (ranges of the key that the caller chooses), sorted and written as *runs* when a limit is reached, and merged
//! bucket by bucket at the end. Buckets are independent of each other, so threads can sort and merge them at the
//! same time; below the limit no file is touched at all. This is the sort of Heafield et al. 2013, section 3,
//! with a distribution step in front.
//!
//! ```text
//! records --Feeder--> buckets in memory --over the limit--> sorted runs in a scratch file
//!                          \-----------------drain(bucket)----------------/--> sorted records, equal keys added
//! ```
//!
//! What comes out depends on the records alone, not on the limit or the number of threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sylvan_base::{InputError, Result};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A record of fixed width: plain bytes with a key.
pub trait Record: Copy + Send + Sync + FromBytes + IntoBytes + Immutable + 'static {
    /// What records are sorted by.
    type Key: Ord + Copy;
    /// Whether records with equal keys become one.
    const ADDS_UP: bool = true;

    /// The key.
    fn key(&self) -> Self::Key;

    /// Takes over the counts of a record with the same key. Must not depend on the order of calls.
    fn add(&mut self, _other: &Self) {}

    /// Sorts by key; `spare` is memory that the sort may use.
    fn sort(records: &mut Vec<Self>, _spare: &mut Vec<Self>) {
        records.sort_unstable_by_key(Self::key);
    }
}

/// A folder for scratch files, and how much they take.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    live: AtomicU64,
    peak: AtomicU64,
}

impl Scratch {
    /// Scratch files will be made in this folder when they are needed.
    pub fn new(folder: &Path) -> Arc<Self> {
        // The folder of a bare file name is the empty path.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Arc::new(Self { folder: folder.to_path_buf(), live: AtomicU64::new(0), peak: AtomicU64::new(0) })
    }

    /// Peak bytes on disk.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// A scratch file, created when the first byte is written.
    pub fn file(self: &Arc<Self>) -> ScratchFile {
        ScratchFile { scratch: Arc::clone(self), open: Mutex::new(Open { file: None, end: 0 }) }
    }
}

/// A file without a name: the system removes it when the process ends, however it ends.
#[derive(Debug)]
pub struct ScratchFile {
    scratch: Arc<Scratch>,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    file: Option<File>,
    end: u64,
}

impl ScratchFile {
    /// Writes at the end; returns where.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        let folder = &self.scratch.folder;
        let mut open = lock(&self.open);
        let at = open.end;
        if open.file.is_none() {
            open.file = Some(
                tempfile::tempfile_in(folder).map_err(InputError::io(folder, "make a temporary file in"))?,
            );
        }
        let file = open.file.as_mut().expect("it was made above");
        // Reads move the position.
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(bytes))
            .map_err(InputError::io(folder, "write a temporary file in"))?;
        open.end = at + bytes.len() as u64;
        let live = self.scratch.live.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        self.scratch.peak.fetch_max(live, Ordering::Relaxed);
        Ok(at)
    }

    /// Fills `bytes` from a place that was written before.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let mut open = lock(&self.open);
        let missing = || std::io::Error::other("nothing was written");
        let result = match open.file.as_mut() {
            Some(file) => file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes)),
            None => Err(missing()),
        };
        result.map_err(InputError::io(&self.scratch.folder, "read a temporary file in"))
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        self.scratch.live.fetch_sub(lock(&self.open).end, Ordering::Relaxed);
    }
}

/// A panic in another thread ends the work anyway; it must not turn into a second one here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that a feeder hands over at a time.
const HANDFUL: usize = 512;

/// Collects records in buckets and gives them back sorted.
#[derive(Debug)]
pub struct Sorter<R> {
    buckets: Vec<Mutex<Bucket<R>>>,
    file: ScratchFile,
    /// How many records may be in memory.
    limit: usize,
    held: AtomicUsize,
    spilling: Mutex<()>,
    /// Empty vectors left over from spilling. With fresh ones in every round, threads that
    /// allocate what others free would make the process grow far beyond the limit.
    spare: Mutex<Vec<Vec<R>>>,
}

#[derive(Debug)]
struct Bucket<R> {
    /// In memory, in no order.
    held: Vec<Vec<R>>,
    /// On disk, each sorted.
    runs: Vec<Run>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    at: u64,
    records: usize,
}

impl<R: Record> Sorter<R> {
    /// A sorter that holds about `memory` bytes of records before it writes any.
    pub fn new(scratch: &Arc<Scratch>, buckets: usize, memory: usize) -> Self {
        let empty = || Mutex::new(Bucket { held: Vec::new(), runs: Vec::new() });
        Self {
            buckets: (0..buckets).map(|_| empty()).collect(),
            file: scratch.file(),
            limit: memory / size_of::<R>(),
            held: AtomicUsize::new(0),
            spilling: Mutex::new(()),
            spare: Mutex::new(Vec::new()),
        }
    }

    /// A way in for one thread.
    pub fn feeder(&self) -> Feeder<'_, R> {
        Feeder { sorter: self, open: (0..self.buckets.len()).map(|_| Vec::new()).collect() }
    }

    /// Adds records of one bucket that are sorted and added up already. They go to disk at once.
    pub fn add_run(&self, bucket: usize, records: &[R]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let at = self.file.append(records.as_bytes())?;
        lock(&self.buckets[bucket]).runs.push(Run { at, records: records.len() });
        Ok(())
    }

    fn take(&self, bucket: usize, records: Vec<R>) -> Result<()> {
        let held = self.held.fetch_add(records.len(), Ordering::Relaxed) + records.len();
        lock(&self.buckets[bucket]).held.push(records);
        if held > self.limit {
            let _one_at_a_time = lock(&self.spilling);
            // There may be room again for threads that wait.
            if self.held.load(Ordering::Relaxed) > self.limit {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn spill(&self) -> Result<()> {
        // Rests of feeders are smaller than a handful; kept as well, they would become more and more.
        let most = self.limit / HANDFUL + self.buckets.len();
        let (mut records, mut spare) = (Vec::new(), Vec::new());
        for (index, bucket) in self.buckets.iter().enumerate() {
            let held = std::mem::take(&mut lock(bucket).held);
            let before: usize = held.iter().map(Vec::len).sum();
            records.clear();
            records.extend(held.iter().flatten().copied());
            let mut kept = lock(&self.spare);
            kept.extend(held.into_iter().filter(|full| full.capacity() >= HANDFUL));
            kept.truncate(most);
            drop(kept);
            sort(&mut records, &mut spare);
            self.add_run(index, &records)?;
            self.held.fetch_sub(before, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The records of a bucket in the order of their keys; they leave the sorter. All feeders must be finished.
    /// `memory` is for reading runs.
    pub fn drain(&self, bucket: usize, memory: usize) -> Result<Merge<'_, R>> {
        let (held, runs) = {
            let mut bucket = lock(&self.buckets[bucket]);
            (std::mem::take(&mut bucket.held), std::mem::take(&mut bucket.runs))
        };
        let mut records = held.concat();
        drop(held);
        sort(&mut records, &mut Vec::new());
        let portion = (memory / size_of::<R>() / (runs.len() + 1)).clamp(256, 1 << 16);
        let mut sources: Vec<Source<R>> = runs
            .into_iter()
            .map(|run| Source { ready: Vec::new(), next: 0, at: run.at, left: run.records, portion })
            .collect();
        sources.push(Source { ready: records, next: 0, at: 0, left: 0, portion });
        Merge::new(&self.file, sources)
    }
}

/// Sorts, and adds up equal keys.
fn sort<R: Record>(records: &mut Vec<R>, spare: &mut Vec<R>) {
    R::sort(records, spare);
    if R::ADDS_UP {
        records.dedup_by(|next, kept| {
            let same = next.key() == kept.key();
            if same {
                kept.add(next);
            }
            same
        });
    }
}

/// Puts the records of one thread into a [`Sorter`].
#[derive(Debug)]
pub struct Feeder<'a, R> {
    sorter: &'a Sorter<R>,
    open: Vec<Vec<R>>,
}

impl<R: Record> Feeder<'_, R> {
    /// Adds a record. Keys of a lower bucket must be lower than those of a higher one.
    #[inline]
    pub fn push(&mut self, bucket: usize, record: R) -> Result<()> {
        let open = &mut self.open[bucket];
        open.push(record);
        if open.len() >= HANDFUL { self.hand_over(bucket) } else { Ok(()) }
    }

    fn hand_over(&mut self, bucket: usize) -> Result<()> {
        let mut fresh = lock(&self.sorter.spare).pop().unwrap_or_default();
        fresh.clear();
        fresh.reserve(HANDFUL);
        let full = std::mem::replace(&mut self.open[bucket], fresh);
        self.sorter.take(bucket, full)
    }

    /// Hands over what is left.
    pub fn finish(mut self) -> Result<()> {
        for (bucket, mut rest) in std::mem::take(&mut self.open).into_iter().enumerate() {
            if !rest.is_empty() {
                rest.shrink_to_fit();
                self.sorter.take(bucket, rest)?;
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Source<R> {
    ready: Vec<R>,
    next: usize,
    /// Where the rest is on disk, and how much of it.
    at: u64,
    left: usize,
    portion: usize,
}

impl<R: Record> Source<R> {
    fn peek(&mut self, file: &ScratchFile) -> Result<Option<&R>> {
        if self.next == self.ready.len() && self.left > 0 {
            let count = self.left.min(self.portion);
            self.ready.resize(count, R::new_zeroed());
            file.read(self.at, self.ready.as_mut_slice().as_mut_bytes())?;
            self.at += (count * size_of::<R>()) as u64;
            self.left -= count;
            self.next = 0;
        }
        Ok(self.ready.get(self.next))
    }
}

/// The records of one bucket in order.
#[derive(Debug)]
pub struct Merge<'a, R: Record> {
    file: &'a ScratchFile,
    sources: Vec<Source<R>>,
    /// The next key of each source that has one; unused with a single source.
    queue: BinaryHeap<Reverse<(R::Key, usize)>>,
}

impl<'a, R: Record> Merge<'a, R> {
    fn new(file: &'a ScratchFile, mut sources: Vec<Source<R>>) -> Result<Self> {
        let mut queue = BinaryHeap::new();
        for (index, source) in sources.iter_mut().enumerate() {
            if let Some(first) = source.peek(file)? {
                queue.push(Reverse((first.key(), index)));
            }
        }
        Ok(Self { file, sources, queue })
    }

    /// The next record.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<R>> {
        if let [only] = self.sources.as_mut_slice() {
            // Everything is in memory, sorted and added up.
            let record = only.ready.get(only.next).copied();
            only.next += 1;
            return Ok(record);
        }
        self.merged()
    }

    fn merged(&mut self) -> Result<Option<R>> {
        let Some((key, mut record)) = self.pop()? else { return Ok(None) };
        while R::ADDS_UP && self.queue.peek().is_some_and(|Reverse((next, _))| *next == key) {
            if let Some((_, other)) = self.pop()? {
                record.add(&other);
            }
        }
        Ok(Some(record))
    }

    fn pop(&mut self) -> Result<Option<(R::Key, R)>> {
        let Some(mut top) = self.queue.peek_mut() else { return Ok(None) };
        let Reverse((key, index)) = *top;
        let source = &mut self.sources[index];
        let record = source.ready[source.next];
        source.next += 1;
        match source.peek(self.file)? {
            Some(next) => *top = Reverse((next.key(), index)),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        Ok(Some((key, record)))
    }
}

/// Sorts by an integer, byte by byte from the lowest (LSD radix sort); bytes that all keys share cost nothing.
/// Stable, so a wider key is sorted by its low part first.
pub fn radix_sort<R: Copy>(records: &mut Vec<R>, spare: &mut Vec<R>, key: impl Fn(&R) -> u64) {
    let Some(&first) = records.first() else { return };
    let sample = key(&first);
    let varying = records.iter().fold(0, |bits, record| bits | (key(record) ^ sample));
    if records.len() < 200 {
        // Clearing and adding up 256 counters would dominate.
        return records.sort_by_key(key);
    }
    spare.clear();
    spare.resize(records.len(), first);
    for shift in (0..64).step_by(8) {
        if (varying >> shift) & 0xff == 0 {
            continue;
        }
        let digit = |record: &R| (key(record) >> shift) as u8 as usize;
        let mut places = [0usize; 256];
        for record in records.iter() {
            places[digit(record)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        for record in records.iter() {
            let place = &mut places[digit(record)];
            spare[*place] = *record;
            *place += 1;
        }
        std::mem::swap(records, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
    #[repr(C)]
    struct Pair {
        key: u32,
        count: u32,
    }

    impl Record for Pair {
        type Key = u32;
        fn key(&self) -> u32 {
            self.key
        }
        fn add(&mut self, other: &Self) {
            self.count += other.count;
        }
    }

    proptest! {
        #[test]
        fn every_limit_and_thread_count_gives_the_sums(
            keys in prop::collection::vec(0u32..2000, 0..8000),
            memory in 0usize..40_000,
            threads in 1usize..4,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let scratch = Scratch::new(dir.path());
            let sorter = Sorter::new(&scratch, 7, memory);
            std::thread::scope(|scope| {
                for part in keys.chunks(keys.len().div_ceil(threads).max(1)) {
                    let mut feeder = sorter.feeder();
                    scope.spawn(move || {
                        for &key in part {
                            feeder.push(key as usize * 7 / 2000, Pair { key, count: 1 }).unwrap();
                        }
                        feeder.finish().unwrap();
                    });
                }
            });
            let mut expected = BTreeMap::new();
            for &key in &keys {
                *expected.entry(key).or_insert(0u32) += 1;
            }
            let mut found = Vec::new();
            for bucket in 0..7 {
                let mut merge = sorter.drain(bucket, 1000).unwrap();
                while let Some(pair) = merge.next_record().unwrap() {
                    found.push((pair.key, pair.count));
                }
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            // No file has a name while in use, and none is left behind.
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            prop_assert_eq!(scratch.peak() > 0, keys.len() * 8 > memory.max(7));
        }

        #[test]
        fn radix_sort_sorts(mut keys in prop::collection::vec((any::<u64>(), 0u32..3, any::<u8>()), 0..600)) {
            for (key, width, _) in &mut keys {
                *key &= [0xff, 0xffff_00ff, u64::MAX][*width as usize];
            }
            let mut sorted = keys.clone();
            radix_sort(&mut sorted, &mut Vec::new(), |record| record.0);
            keys.sort_by_key(|record| record.0);
            prop_assert_eq!(sorted, keys);
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(&dir.path().join("none"));
        let error = scratch.file().append(b"x").unwrap_err().to_string();
        assert!(error.contains("none: cannot make a temporary file"), "{error}");
    }
}
