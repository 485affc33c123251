//! How often each target side was seen: rules sorted by target side, added up, and sorted back.

use std::sync::Arc;

use sylvan_base::Result;
use sylvan_base::hash::{content_hash, fold};
use sylvan_store::{Record, Scratch, Sorter, radix_sort};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::TargetKey;
use super::smoothing::Partners;
use crate::aggregate::key;
use crate::table::encode_target;
use crate::{Count, Source, TargetSide};

/// A rule under the hash of its target side: 96 bits, so that among a billion of them two are alike by chance once
/// in ten billion tables.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct ByTarget {
    hash: u64,
    more: u32,
    rule: u32,
    count: u64,
}

impl Record for ByTarget {
    type Key = (u64, u32, u32);
    const ADDS_UP: bool = false;

    fn key(&self) -> Self::Key {
        (self.hash, self.more, self.rule)
    }

    fn sort(records: &mut Vec<Self>, spare: &mut Vec<Self>) {
        radix_sort(records, spare, |record| (u64::from(record.more) << 32) | u64::from(record.rule));
        radix_sort(records, spare, |record| record.hash);
    }
}

/// A rule with what is known about its target side.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct ByRule {
    count: u64,
    rule: u32,
    ones: u32,
    twos: u32,
    more: u32,
}

impl Record for ByRule {
    type Key = u32;
    const ADDS_UP: bool = false;

    fn key(&self) -> u32 {
        self.rule
    }

    fn sort(records: &mut Vec<Self>, spare: &mut Vec<Self>) {
        radix_sort(records, spare, |record| u64::from(record.rule));
    }
}

/// Buckets: records of one are sorted together.
const BUCKETS: usize = 64;

/// Takes rules in order.
pub(super) struct TargetSorter {
    sorter: Sorter<ByTarget>,
    scratch: Arc<Scratch>,
    memory: usize,
    /// Handed over in batches.
    waiting: Vec<ByTarget>,
    rules: u32,
    bytes: Vec<u8>,
}

impl TargetSorter {
    pub(super) fn new(scratch: &Arc<Scratch>, memory: usize) -> Self {
        Self {
            sorter: Sorter::new(scratch, BUCKETS, memory),
            scratch: Arc::clone(scratch),
            memory,
            waiting: Vec::new(),
            rules: 0,
            bytes: Vec::new(),
        }
    }

    /// The next rule.
    pub(super) fn add(
        &mut self,
        source: &[Source],
        target: &[TargetSide],
        count: Count,
        target_key: TargetKey,
    ) -> Result<()> {
        self.bytes.clear();
        if let (TargetKey::Labelled, Some(Source::Open(root, _))) = (target_key, source.first()) {
            key::put(&mut self.bytes, root.0);
        }
        for &symbol in target {
            key::put(&mut self.bytes, encode_target(symbol) as u32);
            if let (TargetKey::Labelled, TargetSide::Var(variable)) = (target_key, symbol) {
                let mut labels = source.iter().filter_map(|token| match token {
                    Source::Var(label) => Some(label.0),
                    _ => None,
                });
                key::put(&mut self.bytes, labels.nth(variable as usize).unwrap_or(0));
            }
        }
        let hash = content_hash(&self.bytes);
        self.bytes.push(0x2e);
        let more = fold(hash, content_hash(&self.bytes)) as u32;
        self.waiting.push(ByTarget { hash, more, rule: self.rules, count: count.0 });
        self.rules += 1;
        if self.waiting.len() >= 1 << 16 { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<()> {
        let mut feeder = self.sorter.feeder();
        for record in self.waiting.drain(..) {
            feeder.push((record.hash >> 58) as usize, record)?;
        }
        feeder.finish()
    }

    /// Adds up, and sorts back into the order of the rules.
    pub(super) fn finish(mut self, rules: u64) -> Result<TargetCounts> {
        self.hand_over()?;
        let back: Sorter<ByRule> = Sorter::new(&self.scratch, BUCKETS, self.memory);
        let per_bucket = rules.div_ceil(BUCKETS as u64).max(1);
        let mut feeder = back.feeder();
        let mut group: Vec<ByTarget> = Vec::new();
        let mut close = |group: &mut Vec<ByTarget>| -> Result<()> {
            let mut partners = Partners::default();
            let mut sum = Count::default();
            for record in group.iter() {
                partners.add(Count(record.count));
                sum += Count(record.count);
            }
            let Partners { ones, twos, more } = partners;
            for record in group.drain(..) {
                let bucket = (u64::from(record.rule) / per_bucket) as usize;
                feeder.push(bucket, ByRule { count: sum.0, rule: record.rule, ones, twos, more })?;
            }
            Ok(())
        };
        for bucket in 0..BUCKETS {
            let mut merge = self.sorter.drain(bucket, self.memory / 4)?;
            while let Some(record) = merge.next_record()? {
                if group.first().is_some_and(|first| (first.hash, first.more) != (record.hash, record.more)) {
                    close(&mut group)?;
                }
                group.push(record);
            }
            close(&mut group)?;
        }
        feeder.finish()?;
        Ok(TargetCounts { back, memory: self.memory, bucket: 0, ready: Vec::new().into_iter() })
    }
}

/// What is known about one target side.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetCount {
    pub(super) count: Count,
    pub(super) partners: Partners,
}

/// The counts of target sides, rule by rule.
pub(super) struct TargetCounts {
    back: Sorter<ByRule>,
    memory: usize,
    bucket: usize,
    ready: std::vec::IntoIter<ByRule>,
}

impl TargetCounts {
    /// That of the next rule.
    pub(super) fn next(&mut self) -> Result<TargetCount> {
        loop {
            if let Some(ByRule { count, ones, twos, more, .. }) = self.ready.next() {
                return Ok(TargetCount { count: Count(count), partners: Partners { ones, twos, more } });
            }
            assert!(self.bucket < BUCKETS, "every rule has a target side");
            let mut merge = self.back.drain(self.bucket, self.memory / 4)?;
            let mut records = Vec::new();
            while let Some(record) = merge.next_record()? {
                records.push(record);
            }
            self.ready = records.into_iter();
            self.bucket += 1;
        }
    }
}
