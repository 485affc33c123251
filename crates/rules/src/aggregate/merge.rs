//! Merging what several threads collected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sylvan_base::Result;
use sylvan_store::ScratchFile;
use sylvan_store::varint::Cursor;

use super::pairs::SortedPairs;

/// All pairs in the order of their keys, each key once.
#[derive(Debug)]
pub(crate) struct Merged<'a> {
    parts: &'a [SortedPairs],
    sources: Vec<Source<'a>>,
    /// The next key of each source that has one.
    queue: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    /// The pair read last.
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

#[derive(Debug)]
enum Source<'a> {
    Memory { part: &'a SortedPairs, next: usize, value: Vec<u8> },
    Run(RunReader<'a>),
}

#[derive(Debug)]
struct RunReader<'a> {
    file: &'a ScratchFile,
    at: u64,
    left: u64,
    portion: usize,
    ready: Vec<u8>,
    next: usize,
    before: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Merged<'a> {
    /// `memory` is for reading runs.
    pub(crate) fn new(parts: &'a [SortedPairs], memory: usize) -> Result<Self> {
        let runs: usize = parts.iter().map(|part| part.runs.len()).sum();
        let portion = (memory / (runs + 1)).clamp(1 << 12, 1 << 18);
        let mut sources = Vec::new();
        for part in parts {
            sources.push(Source::Memory { part, next: 0, value: Vec::new() });
            for &(at, left) in &part.runs {
                let (ready, before, value) = (Vec::new(), Vec::new(), Vec::new());
                sources.push(Source::Run(RunReader {
                    file: &part.file,
                    at,
                    left,
                    portion,
                    ready,
                    next: 0,
                    before,
                    value,
                }));
            }
        }
        let mut merged =
            Self { parts, sources, queue: BinaryHeap::new(), key: Vec::new(), value: Vec::new() };
        for index in 0..merged.sources.len() {
            merged.refill(index, Vec::new())?;
        }
        Ok(merged)
    }

    /// Reads the next pair into `key` and `value`; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        let Some(Reverse((key, index))) = self.queue.pop() else { return Ok(false) };
        let spare = std::mem::replace(&mut self.key, key);
        std::mem::swap(&mut self.value, self.sources[index].value());
        self.refill(index, spare)?;
        while self.queue.peek().is_some_and(|Reverse((next, _))| *next == self.key) {
            let Some(Reverse((spare, index))) = self.queue.pop() else { break };
            let merge = self.parts[0].merge;
            merge.merge(&mut self.value, self.sources[index].value());
            self.refill(index, spare)?;
        }
        Ok(true)
    }

    fn refill(&mut self, index: usize, mut key: Vec<u8>) -> Result<()> {
        let found = match &mut self.sources[index] {
            Source::Memory { part, next, value } => part.next(next, &mut key, value),
            Source::Run(run) => run.read(&mut key)?,
        };
        if found {
            self.queue.push(Reverse((key, index)));
        }
        Ok(())
    }
}

impl Source<'_> {
    fn value(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Memory { value, .. } => value,
            Self::Run(run) => &mut run.value,
        }
    }
}

impl RunReader<'_> {
    fn read(&mut self, key: &mut Vec<u8>) -> Result<bool> {
        loop {
            if let Some(used) = self.parse(key) {
                self.next = used;
                return Ok(true);
            }
            if self.left == 0 {
                return Ok(false);
            }
            self.ready.drain(..self.next);
            self.next = 0;
            let start = self.ready.len();
            let count = (self.portion as u64).min(self.left) as usize;
            self.ready.resize(start + count, 0);
            self.file.read(self.at, &mut self.ready[start..])?;
            self.at += count as u64;
            self.left -= count as u64;
        }
    }

    /// The pair that begins at `next`, if all of it is there; returns where it ends.
    fn parse(&mut self, key: &mut Vec<u8>) -> Option<usize> {
        let mut cursor = Cursor::new(&self.ready, self.next);
        let shared = cursor.small()? as usize;
        let rest = cursor.small()? as usize;
        let value = cursor.small()? as usize;
        let rest = cursor.bytes(rest)?;
        let value = cursor.bytes(value)?;
        self.before.truncate(shared);
        self.before.extend_from_slice(rest);
        key.clear();
        key.extend_from_slice(&self.before);
        self.value.clear();
        self.value.extend_from_slice(value);
        Some(cursor.at())
    }
}
