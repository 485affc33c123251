//! Rules that wait for being sorted, in few bytes: no more than their text would take.

use sylvan_store::varint::{Cursor, put};

use super::tokens::TokenId;
use super::{Count, RuleCount, WordLink, decode_target, encode_target};
use crate::TargetSide;

/// Rules in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct PendingRules {
    /// Source sides, one after the other, and where each ends.
    tokens: Vec<TokenId>,
    token_ends: Vec<usize>,
    /// Everything else, and where each rule's part ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// A rule that was read back.
#[derive(Debug, Default)]
pub(super) struct PendingRule {
    pub(super) target: Vec<TargetSide>,
    /// Numbered values; features that are not here are 0.
    pub(super) values: Vec<(u32, f32)>,
    pub(super) count: RuleCount,
    pub(super) links: Vec<WordLink>,
}

impl PendingRules {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn push(
        &mut self,
        source: impl Iterator<Item = TokenId>,
        target: &[TargetSide],
        values: impl ExactSizeIterator<Item = (u32, f32)>,
        count: RuleCount,
        links: &[WordLink],
    ) {
        self.tokens.extend(source);
        self.token_ends.push(self.tokens.len());
        let bytes = &mut self.bytes;
        put(bytes, target.len() as u64);
        target.iter().for_each(|&symbol| put(bytes, encode_target(symbol)));
        put(bytes, values.len() as u64);
        for (number, value) in values {
            put(bytes, u64::from(number));
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        [count.rule, count.source, count.target].into_iter().for_each(|count| put(bytes, count.packed()));
        put(bytes, links.len() as u64);
        for &(source, target) in links {
            put(bytes, u64::from(source));
            put(bytes, u64::from(target));
        }
        self.ends.push(bytes.len());
    }

    pub(super) fn source(&self, rule: u32) -> &[TokenId] {
        let place = rule as usize;
        let start = if place == 0 { 0 } else { self.token_ends[place - 1] };
        &self.tokens[start..self.token_ends[place]]
    }

    /// Reads a rule into memory that can be used again.
    pub(super) fn read(&self, rule: u32, into: &mut PendingRule) {
        let start = if rule == 0 { 0 } else { self.ends[rule as usize - 1] };
        let mut cursor = Cursor::new(&self.bytes, start);
        into.target.clear();
        into.values.clear();
        into.links.clear();
        Self::fill(&mut cursor, into).expect("what was written can be read");
    }

    fn fill(cursor: &mut Cursor<'_>, into: &mut PendingRule) -> Option<()> {
        for _ in 0..cursor.number()? {
            into.target.push(decode_target(cursor.small()?));
        }
        for _ in 0..cursor.number()? {
            let number = cursor.small()?;
            let value = f32::from_le_bytes(cursor.bytes(4)?.try_into().ok()?);
            into.values.push((number, value));
        }
        let mut count = || Some(Count::unpacked(cursor.number()?));
        into.count = RuleCount { rule: count()?, source: count()?, target: count()? };
        for _ in 0..cursor.number()? {
            into.links.push((cursor.small()?, cursor.small()?));
        }
        Some(())
    }
}
