//! Probabilities by context, with back-off: one flat hash table of 64-bit keys.
//!
//! A key stands for a context and an outcome, or for a context alone; its value is the logarithm of a probability, or of
//! the share that is left for outcomes that were not seen there. Keys are hashes: two of a hundred million that are equal
//! are not to be expected.

use sylvan_base::hash::fold;
use sylvan_store::Section;

use super::contexts::Contexts;

/// Keys and values; a key of 0 is a free place.
#[derive(Debug, Clone)]
pub(super) struct Table {
    keys: Section<u64>,
    values: Section<f32>,
}

/// The key of an outcome in a context.
pub(super) fn outcome_key(context: u64, outcome: u32) -> u64 {
    fold(context, u64::from(outcome) + 1).max(1)
}

/// The key of a context.
pub(super) fn context_key(context: u64) -> u64 {
    fold(context, u64::MAX).max(1)
}

impl Table {
    /// A table of entries with different keys.
    pub(super) fn new(entries: &[(u64, f32)]) -> Self {
        let places = (entries.len() * 3 / 2 + 1).next_power_of_two();
        let (mut keys, mut values) = (vec![0; places], vec![0.0; places]);
        for &(key, value) in entries {
            let mut at = key as usize & (places - 1);
            while keys[at] != 0 && keys[at] != key {
                at = (at + 1) & (places - 1);
            }
            (keys[at], values[at]) = (key, value);
        }
        Self { keys: Section::from_vec(keys), values: Section::from_vec(values) }
    }

    /// `None` if sections cannot be those of a table.
    pub(super) fn from_sections(keys: Section<u64>, values: Section<f32>) -> Option<Self> {
        let fits = keys.len().is_power_of_two() && keys.len() == values.len() && keys.contains(&0);
        fits.then_some(Self { keys, values })
    }

    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.values
    }

    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<f32> {
        let mask = self.keys.len() - 1;
        let mut at = key as usize & mask;
        loop {
            match self.keys[at] {
                0 => return None,
                known if known == key => return Some(self.values[at]),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The logarithm of the probability of an outcome; `uniform` is that of what was seen nowhere.
    pub(super) fn log_probability(&self, contexts: &Contexts, outcome: u32, uniform: f64) -> f64 {
        let mut backed_off = 0.0;
        for &context in contexts {
            if let Some(found) = self.get(outcome_key(context, outcome)) {
                return backed_off + f64::from(found);
            }
            // Where nothing was seen, all is left.
            backed_off += f64::from(self.get(context_key(context)).unwrap_or(0.0));
        }
        backed_off + uniform
    }
}
