//! Numbers as bytes that sort like numbers, and the key of a rule.
//!
//! The first byte says how many follow (0xxxxxxx none, 10xxxxxx one, 110xxxxx two, 1110xxxx three, 11110000 four),
//! so smaller numbers have smaller bytes and frequent ones are short. A rule's key is its source side as token
//! numbers, its target side with its length, its links with their number: no key is the beginning of another, and
//! keys in order are source sides in the order of the trie.

use sylvan_store::varint::{self, Cursor};

use crate::table::{decode_target, encode_target};
use crate::{Source, TargetSide, WordLink};

/// Appends a number.
#[inline]
pub(crate) fn put(out: &mut Vec<u8>, value: u32) {
    match value {
        0..0x80 => out.push(value as u8),
        0x80..0x4000 => out.extend_from_slice(&(0x8000 | value as u16).to_be_bytes()),
        0x4000..0x20_0000 => out.extend_from_slice(&(0xC0_0000 | value).to_be_bytes()[1..]),
        0x20_0000..0x1000_0000 => out.extend_from_slice(&(0xE000_0000 | value).to_be_bytes()),
        _ => {
            out.push(0xF0);
            out.extend_from_slice(&value.to_be_bytes());
        }
    }
}

/// Takes a number off the front; `None` where there is none.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let first = *bytes.first()?;
    let length = match first {
        0..0x80 => 1,
        0x80..0xC0 => 2,
        0xC0..0xE0 => 3,
        0xE0..0xF0 => 4,
        _ => 5,
    };
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let low = taken[1..].iter().fold(0u32, |value, &byte| (value << 8) | u32::from(byte));
    Some(match length {
        1 => u32::from(first),
        2 => (u32::from(first & 0x3f) << 8) | low,
        3 => (u32::from(first & 0x1f) << 16) | low,
        4 => (u32::from(first & 0x0f) << 24) | low,
        _ => low,
    })
}

/// Appends target side and links to a source side.
pub(crate) fn put_target(out: &mut Vec<u8>, target: &[TargetSide], links: &[WordLink]) {
    put(out, target.len() as u32);
    target.iter().for_each(|&symbol| put(out, encode_target(symbol) as u32));
    put(out, links.len() as u32);
    for &(source, target) in links {
        put(out, source);
        put(out, target);
    }
}

/// How many bytes of a key are its source side; `arity` gives the number of children of a token.
pub(crate) fn source_len(key: &[u8], tokens: &[Source]) -> Option<usize> {
    let mut rest = key;
    let mut open = 1u64;
    while open > 0 {
        let token = tokens.get(take(&mut rest)? as usize)?;
        open -= 1;
        if let Source::Open(_, children) = token {
            open += u64::from(*children);
        }
    }
    Some(key.len() - rest.len())
}

/// The numbers of a source side.
pub(crate) fn take_source(mut bytes: &[u8], out: &mut Vec<u32>) {
    out.clear();
    while let Some(token) = take(&mut bytes) {
        out.push(token);
    }
}

/// Takes a target side off the front.
pub(crate) fn take_target(bytes: &mut &[u8], out: &mut Vec<TargetSide>) -> Option<()> {
    out.clear();
    for _ in 0..take(bytes)? {
        out.push(decode_target(take(bytes)?));
    }
    Some(())
}

/// Takes links off the front.
pub(crate) fn take_links(bytes: &mut &[u8], out: &mut Vec<WordLink>) -> Option<()> {
    out.clear();
    for _ in 0..take(bytes)? {
        out.push((take(bytes)?, take(bytes)?));
    }
    Some(())
}

/// A rule's value: its count, its tallies if the table has any, and the lines that it was seen in, those with the
/// smallest hashes first.
pub(crate) fn put_value(out: &mut Vec<u8>, count: crate::Count, tallies: &[u64], lines: &[u64]) {
    varint::put(out, count.packed());
    tallies.iter().chain(lines).for_each(|&number| varint::put(out, number));
}

/// Reads a value; `tallies` has the right length.
pub(crate) fn read_value(value: &[u8], tallies: &mut [u64], lines: &mut Vec<u64>) -> crate::Count {
    let mut cursor = Cursor::new(value, 0);
    let count = crate::Count::unpacked(cursor.number().unwrap_or(0));
    tallies.iter_mut().for_each(|tally| *tally = cursor.number().unwrap_or(0));
    lines.clear();
    lines.extend(std::iter::from_fn(|| cursor.number()));
    count
}

/// By a random but fixed order of lines, so that the kept ones are a fair sample.
pub(crate) fn line_rank(line: u64) -> (u64, u64) {
    (sylvan_base::hash::content_hash(&line.to_le_bytes()), line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_sort_like_numbers_and_come_back(a in any::<u32>(), b in any::<u32>(), shift in 0u32..32) {
            let (a, b) = (a >> shift, b >> shift);
            let bytes = |value| { let mut out = Vec::new(); put(&mut out, value); out };
            prop_assert_eq!(bytes(a).cmp(&bytes(b)), a.cmp(&b));
            let both = [bytes(a), bytes(b)].concat();
            let mut rest = both.as_slice();
            prop_assert_eq!((take(&mut rest), take(&mut rest), take(&mut rest)), (Some(a), Some(b), None));
        }
    }
}
