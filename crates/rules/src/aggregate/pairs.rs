//! Pairs of keys and values in memory, sorted and written as runs when a limit is reached.

use std::sync::Arc;

use sylvan_base::Result;
use sylvan_store::varint::put;
use sylvan_store::{Scratch, ScratchFile};

use super::RuleValues;

/// A pair in the arena: the key, then the value. `eight` are the eight bytes of the key that the sort looks at.
#[derive(Debug, Clone, Copy)]
struct Entry {
    eight: u64,
    at: u32,
    key: u32,
    value: u32,
}

/// Collects pairs in any order, for one thread.
#[derive(Debug)]
pub(crate) struct Pairs {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    limit: usize,
    merge: RuleValues,
    file: ScratchFile,
    runs: Vec<(u64, u64)>,
}

/// What one thread collected: pairs in memory in order, and runs on disk.
#[derive(Debug)]
pub(crate) struct SortedPairs {
    pub(super) arena: Vec<u8>,
    entries: Vec<Entry>,
    pub(super) file: ScratchFile,
    pub(super) runs: Vec<(u64, u64)>,
    pub(super) merge: RuleValues,
}

/// Offsets in the arena have 32 bits.
const MOST: usize = 3 << 30;

impl Pairs {
    /// Holds about `memory` bytes before it writes any.
    pub(crate) fn new(scratch: &Arc<Scratch>, memory: usize, merge: RuleValues) -> Self {
        Self {
            arena: Vec::new(),
            entries: Vec::new(),
            limit: memory.clamp(1 << 12, MOST),
            merge,
            file: scratch.file(),
            runs: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let at = self.arena.len() as u32;
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(value);
        self.entries.push(Entry { eight: 0, at, key: key.len() as u32, value: value.len() as u32 });
        if self.arena.len() + self.entries.len() * size_of::<Entry>() >= self.limit {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        sort(&mut self.entries, &self.arena);
        let mut out = Vec::with_capacity(1 << 17);
        let (mut key, mut value, mut before) = (Vec::new(), Vec::new(), Vec::new());
        let (mut start, mut length) = (None, 0u64);
        let mut next = 0;
        while next_merged(&self.arena, &self.entries, &mut next, self.merge, &mut key, &mut value) {
            // Neighbours begin alike.
            let shared = key.iter().zip(&before).take_while(|(a, b)| a == b).count();
            put(&mut out, shared as u64);
            put(&mut out, (key.len() - shared) as u64);
            put(&mut out, value.len() as u64);
            out.extend_from_slice(&key[shared..]);
            out.extend_from_slice(&value);
            std::mem::swap(&mut key, &mut before);
            if out.len() >= 1 << 16 {
                start.get_or_insert(self.file.append(&out)?);
                length += out.len() as u64;
                out.clear();
            }
        }
        if !out.is_empty() {
            start.get_or_insert(self.file.append(&out)?);
            length += out.len() as u64;
        }
        if let Some(start) = start {
            self.runs.push((start, length));
        }
        self.arena.clear();
        self.entries.clear();
        Ok(())
    }

    /// Sorts what is in memory.
    pub(crate) fn finish(mut self) -> SortedPairs {
        sort(&mut self.entries, &self.arena);
        let Self { arena, entries, file, runs, merge, .. } = self;
        SortedPairs { arena, entries, file, runs, merge }
    }
}

impl SortedPairs {
    /// The next pair in memory, equal keys merged.
    pub(super) fn next(&self, next: &mut usize, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
        next_merged(&self.arena, &self.entries, next, self.merge, key, value)
    }
}

fn next_merged(
    arena: &[u8],
    entries: &[Entry],
    next: &mut usize,
    merge: RuleValues,
    key: &mut Vec<u8>,
    value: &mut Vec<u8>,
) -> bool {
    let Some(first) = entries.get(*next) else { return false };
    *next += 1;
    key.clear();
    key.extend_from_slice(key_of(arena, first));
    value.clear();
    value.extend_from_slice(value_of(arena, first));
    while let Some(other) = entries.get(*next).filter(|other| key_of(arena, other) == key.as_slice()) {
        merge.merge(value, value_of(arena, other));
        *next += 1;
    }
    true
}

fn key_of<'a>(arena: &'a [u8], entry: &Entry) -> &'a [u8] {
    &arena[entry.at as usize..(entry.at + entry.key) as usize]
}

fn value_of<'a>(arena: &'a [u8], entry: &Entry) -> &'a [u8] {
    let start = (entry.at + entry.key) as usize;
    &arena[start..start + entry.value as usize]
}

/// Sorts by eight bytes of the keys, then stretches of equal ones by the next eight, and so on: comparisons stay
/// inside the entries, and the arena is read once per eight bytes (a multikey quicksort with cached characters).
fn sort(entries: &mut [Entry], arena: &[u8]) {
    let mut work = vec![(0, entries.len(), 0usize)];
    while let Some((start, end, depth)) = work.pop() {
        let part = &mut entries[start..end];
        if part.len() < 24 {
            let rest = |entry: &Entry| key_of(arena, entry).get(depth..).unwrap_or(&[]);
            part.sort_unstable_by(|a, b| rest(a).cmp(rest(b)).then(a.at.cmp(&b.at)));
            continue;
        }
        let mut all_ended = true;
        for entry in part.iter_mut() {
            let key = key_of(arena, entry);
            entry.eight = match key.get(depth..depth + 8) {
                Some(&[a, b, c, d, e, f, g, h]) => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
                _ => {
                    let mut bytes = [0; 8];
                    let rest = key.get(depth..).unwrap_or(&[]);
                    bytes[..rest.len()].copy_from_slice(rest);
                    u64::from_be_bytes(bytes)
                }
            };
            all_ended &= key.len() <= depth;
        }
        if all_ended {
            // Equal keys; their order among each other does not matter, values merge in any order.
            continue;
        }
        part.sort_unstable_by_key(|entry| entry.eight);
        let mut first = 0;
        while first < part.len() {
            let same = part[first..].iter().take_while(|entry| entry.eight == part[first].eight).count();
            if same > 1 {
                work.push((start + first, start + first + same, depth + 8));
            }
            first += same;
        }
    }
}
