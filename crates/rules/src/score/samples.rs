//! Of each source side, a sample of its occurrences, as extractors that work sentence by sentence take it
//! (Lopez 2007).
//!
//! Sampled keys have the rank of their occurrence between source side and target side: a hash of where it was
//! found. So those to keep come first, whatever the threads and the memory.

use sylvan_base::Result;

use crate::Source;
use crate::aggregate::{Merged, RuleValues, key};

/// Bytes of a rank.
pub(crate) const RANK: usize = 8;

/// Counted rules in order: all of them, or those of the sample.
pub(super) struct Counts<'m, 'p> {
    merged: &'m mut Merged<'p>,
    /// Occurrences per source side; 0 for all.
    samples: usize,
    values: RuleValues,
    /// The rules of a source side without their ranks, the last in order first.
    ready: Vec<(Vec<u8>, Vec<u8>)>,
    more: bool,
    /// The rule read last.
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
}

impl<'m, 'p> Counts<'m, 'p> {
    pub(super) fn new(merged: &'m mut Merged<'p>, samples: u32, values: RuleValues) -> Result<Self> {
        let samples = samples as usize;
        let more = samples > 0 && merged.advance()?;
        let (ready, key, value) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { merged, samples, values, ready, more, key, value })
    }

    /// Reads the next rule into `key` and `value`; false at the end.
    pub(super) fn advance(&mut self, tokens: &[Source]) -> Result<bool> {
        if self.samples == 0 {
            let found = self.merged.advance()?;
            std::mem::swap(&mut self.key, &mut self.merged.key);
            std::mem::swap(&mut self.value, &mut self.merged.value);
            return Ok(found);
        }
        if self.ready.is_empty() {
            self.sample(tokens)?;
        }
        let Some((key, value)) = self.ready.pop() else { return Ok(false) };
        (self.key, self.value) = (key, value);
        Ok(true)
    }

    /// Reads all of the next source side and keeps the sample.
    fn sample(&mut self, tokens: &[Source]) -> Result<()> {
        if !self.more {
            return Ok(());
        }
        let length = key::source_len(&self.merged.key, tokens).unwrap_or(0);
        let source = self.merged.key[..length].to_vec();
        let (mut rank, mut kept) = (Vec::new(), 0);
        while self.more && self.merged.key.starts_with(&source) {
            let behind = (length + RANK).min(self.merged.key.len());
            let this = &self.merged.key[length..behind];
            if kept == 0 || rank != this {
                rank.clear();
                rank.extend_from_slice(this);
                kept += 1;
            }
            if kept <= self.samples {
                let mut key = source.clone();
                key.extend_from_slice(&self.merged.key[behind..]);
                self.ready.push((key, self.merged.value.clone()));
            }
            self.more = self.merged.advance()?;
        }
        self.ready.sort();
        let values = self.values;
        self.ready.dedup_by(|next, before| {
            let same = next.0 == before.0;
            if same {
                values.merge(&mut before.1, &next.1);
            }
            same
        });
        self.ready.reverse();
        Ok(())
    }
}
