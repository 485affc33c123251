//! Probabilities by context, with back-off, in flat hash tables of 64-bit keys.
//!
//! Keys are hashes of what is seen; that two of a hundred million are equal is not to be expected. Actions: a context has
//! the probabilities of all of them. Words: a context has the share that it leaves for words that were not seen in it, and
//! each word that was seen in it has an entry of its own. What costs is memory that is far away, so a context is looked for
//! once per stack, and words only in those that are there.

use sylvan_base::hash::fold;
use sylvan_store::Section;

use super::contexts::{Contexts, LEVELS, Legal, action_contexts};
use super::{ACTIONS, GenerativeTree};
use crate::structured::Top;

/// Keys and so many values for each; a key of 0 is a free place.
#[derive(Debug, Clone)]
pub(super) struct Table {
    keys: Section<u64>,
    values: Section<f32>,
    width: usize,
}

/// The key of an outcome in a context.
pub(super) fn outcome_key(context: u64, outcome: u32) -> u64 {
    fold(context, u64::from(outcome) + 1).max(1)
}

/// The key of a context.
pub(super) fn context_key(context: u64) -> u64 {
    fold(context, u64::MAX).max(1)
}

/// Where a key is looked for first.
#[inline]
fn first_place(key: u64, places: usize) -> usize {
    ((u128::from(key) * places as u128) >> 64) as usize
}

impl Table {
    /// A table of entries with different keys.
    pub(super) fn new<const WIDTH: usize>(entries: &[(u64, [f32; WIDTH])]) -> Self {
        let places = entries.len() + entries.len() / 2 + 2;
        let (mut keys, mut values) = (vec![0; places], vec![0.0; places * WIDTH]);
        for &(key, value) in entries {
            let mut at = first_place(key, places);
            while keys[at] != 0 && keys[at] != key {
                at = (at + 1) % places;
            }
            keys[at] = key;
            values[at * WIDTH..][..WIDTH].copy_from_slice(&value);
        }
        Self { keys: Section::from_vec(keys), values: Section::from_vec(values), width: WIDTH }
    }

    /// `None` if sections cannot be those of a table.
    pub(super) fn from_sections(keys: Section<u64>, values: Section<f32>, width: usize) -> Option<Self> {
        let fits = values.len() == keys.len() * width && keys.contains(&0);
        fits.then_some(Self { keys, values, width })
    }

    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    pub(super) fn values(&self) -> &[f32] {
        &self.values
    }

    #[inline]
    fn get(&self, key: u64) -> Option<&[f32]> {
        let mut at = first_place(key, self.keys.len());
        loop {
            match self.keys[at] {
                0 => return None,
                known if known == key => return self.values.get(at * self.width..(at + 1) * self.width),
                _ if at + 1 == self.keys.len() => at = 0,
                _ => at += 1,
            }
        }
    }
}

/// Probabilities of actions.
#[derive(Debug, Clone)]
pub(super) struct Decisions(pub(super) Table);

impl Decisions {
    /// The logarithms of the probabilities of all actions, in the most specific context that was seen.
    pub(super) fn decide(&self, top: Top<'_, GenerativeTree>) -> [f32; ACTIONS] {
        let legal = Legal::of(top);
        if legal == Legal::Shift {
            return [0.0; ACTIONS];
        }
        let contexts = action_contexts(top);
        let found = contexts.iter().find_map(|&context| self.0.get(context_key(context))?.try_into().ok());
        found.unwrap_or([legal.uniform() as f32; ACTIONS])
    }
}

/// Probabilities of words.
#[derive(Debug, Clone)]
pub(super) struct Outcomes(pub(super) Table);

/// Contexts, and the logarithm of what each leaves to those after it: nothing was seen where all is left.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenContexts {
    contexts: Contexts,
    left: [Option<f32>; LEVELS],
}

impl Outcomes {
    /// Looks for contexts.
    pub(super) fn see(&self, contexts: &Contexts) -> SeenContexts {
        let left =
            contexts.map(|context| self.0.get(context_key(context)).and_then(|left| left.first().copied()));
        SeenContexts { contexts: *contexts, left }
    }

    /// The logarithm of the probability of an outcome; `uniform` is that of what was seen nowhere.
    pub(super) fn log_probability(&self, seen: &SeenContexts, outcome: u32, uniform: f64) -> f64 {
        let mut backed_off = 0.0;
        for (&context, left) in seen.contexts.iter().zip(seen.left) {
            let Some(left) = left else { continue };
            if let Some([found]) = self.0.get(outcome_key(context, outcome)) {
                return backed_off + f64::from(*found);
            }
            backed_off += f64::from(left);
        }
        backed_off + uniform
    }
}
