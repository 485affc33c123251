//! Weights once they are learnt: rows of one byte per weight, in two flat sections that a file maps.
//!
//! ```text
//! lines   32 x u16 each   where 29 buckets begin and end in the pool: a base of 32 bits, then 30 offsets from it
//! pool    bytes           rows, bucket by bucket
//! row     u16             12 bits of the key, 4 bits of shape
//!         shape 1 to 7    the set of those of the actions 0, 1, 2 that have weights; a byte (codes.rs) for each
//!         shape 8 to 14   the number of actions plus 7; each action with its weight: two bytes
//!         shape 15        a byte, the number of actions minus 1; the actions and weights
//! ```
//!
//! The upper half of a key chooses the bucket, of which there is one for two rows. Finding a row is one look at
//! `lines`, at a single line of the cache, and then a few neighbouring bytes. Two keys of a bucket that agree in 12
//! bits are confused; that happens to one absent feature in 2,000 and costs nothing measurable. Parsers whose structure
//! is decided by three actions pay 3 bytes for a feature and one for each of its weights.

use sylvan_base::{Result, prefetch};
use sylvan_store::{ContainerWriter, Name, Section};

use super::average::Average;
use super::beam::Weights;
use super::codes::VALUES;
use super::system::MAX_ACTIONS;

/// Rows per bucket.
const BUCKET: usize = 2;
/// Numbers in a line, and the buckets that it describes.
const LINE: usize = 32;
const BUCKETS: usize = 29;
/// Actions that a shape can name.
const NAMED: u8 = 3;
const LONG: usize = 15;
/// How many rows are looked up together.
const AT_ONCE: usize = 32;
const HEADER: usize = 2;
const FINGERPRINT: u16 = 0xFFF0;

/// The bytes of a row after its head, by shape; 0 where a byte of their own gives the number.
const LENGTHS: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 2, 4, 6, 8, 10, 12, 14, 0];
/// The actions that the shapes 0 to 7 name.
const MEMBERS: [[u8; 3]; 8] =
    [[0; 3], [0; 3], [1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 2, 0], [1, 2, 0], [0, 1, 2]];

/// Packed weights.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    lines: Section<u16>,
    pool: Section<u8>,
}

/// The bytes that a row takes in the pool, by its actions.
pub(crate) fn row_bytes(actions: impl Iterator<Item = u8>) -> usize {
    let (mut count, mut named) = (0, true);
    for action in actions {
        count += 1;
        named &= action < NAMED;
    }
    match count {
        0 => 0,
        count if named => HEADER + count,
        count => HEADER + usize::from(count > LONG - 1 - 7) + 2 * count,
    }
}

/// The bytes that `rows` take besides the pool.
pub(crate) fn line_bytes(rows: usize) -> usize {
    lines_for(rows) * LINE * 2
}

fn lines_for(rows: usize) -> usize {
    rows.div_ceil(BUCKET * BUCKETS).max(1)
}

impl Rows {
    /// Packs weights that are sorted by key and action.
    pub(crate) fn pack(weights: &[Average]) -> Self {
        let rows = weights.chunk_by(|a, b| a.key == b.key).count();
        let mut lines = lines_for(rows);
        loop {
            if let Some(rows) = Self::pack_into(weights, lines) {
                return rows;
            }
            lines *= 2;
        }
    }

    /// `None` if a line has more bytes than its offsets can express.
    fn pack_into(weights: &[Average], count: usize) -> Option<Self> {
        let mut pool: Vec<u8> = Vec::new();
        let mut ends = Vec::with_capacity(count * BUCKETS);
        // Buckets go by the upper half of the key, so sorted keys fill them in order.
        for row in weights.chunk_by(|a, b| a.key == b.key) {
            let bucket = bucket_of(row[0].key, count);
            ends.resize(bucket.max(ends.len()), pool.len());
            push_row(row, &mut pool);
        }
        ends.resize(count * BUCKETS, pool.len());
        let mut lines: Vec<u16> = Vec::with_capacity(count * LINE);
        let mut base = 0;
        for ends in ends.chunks(BUCKETS) {
            lines.extend([base as u16, (base >> 16) as u16, 0]);
            for &end in ends {
                lines.push(u16::try_from(end - base).ok()?);
            }
            base = ends.last().copied().unwrap_or(base);
        }
        Some(Self { lines: Section::from_vec(lines), pool: Section::from_vec(pool) })
    }

    /// Rows from sections that [`write`](Self::write) wrote; `None` if they cannot be such.
    pub(crate) fn from_sections(lines: Section<u16>, pool: Section<u8>) -> Option<Self> {
        (lines.len() >= LINE && lines.len().is_multiple_of(LINE)).then_some(Self { lines, pool })
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        let mut rest: &[u8] = &self.pool;
        let mut count = 0;
        while let Some((_, after)) = split_row(head_of(rest), rest) {
            (rest, count) = (after, count + 1);
        }
        count
    }

    /// Writes the sections.
    pub(crate) fn write(&self, writer: &mut ContainerWriter, names: [Name; 2]) -> Result<()> {
        writer.section(names[0], &self.lines)?;
        writer.section(names[1], &self.pool)
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len() * 2 + self.pool.len()
    }

    /// Where the line of a key begins, and where in it the bucket is described.
    #[inline]
    fn place(&self, key: u64) -> (usize, usize) {
        let bucket = bucket_of(key, self.lines.len() / LINE);
        (bucket / BUCKETS * LINE, bucket % BUCKETS + 2)
    }

    /// The bucket of a key; empty where a file is damaged.
    #[inline]
    fn bucket(&self, key: u64) -> &[u8] {
        let (line, place) = self.place(key);
        let line = &self.lines[line..line + LINE];
        let base = usize::from(line[0]) | usize::from(line[1]) << 16;
        let (start, end) = (base + usize::from(line[place]), base + usize::from(line[place + 1]));
        self.pool.get(start..end).unwrap_or_default()
    }
}

#[inline]
fn bucket_of(key: u64, lines: usize) -> usize {
    (((key >> 32) * (lines * BUCKETS) as u64) >> 32) as usize
}

#[inline]
fn fingerprint(key: u64) -> u16 {
    key as u16 & FINGERPRINT
}

fn push_row(row: &[Average], pool: &mut Vec<u8>) {
    let named = row.iter().all(|weight| weight.action < NAMED);
    let shape = match row.len() {
        _ if named => row.iter().fold(0, |set, weight| set | 1 << weight.action),
        count => (count + 7).min(LONG),
    };
    pool.extend_from_slice(&(fingerprint(row[0].key) | shape as u16).to_le_bytes());
    if shape == LONG {
        pool.push((row.len() - 1) as u8);
    }
    for weight in row {
        if !named {
            pool.push(weight.action);
        }
        pool.push(weight.code);
    }
}

/// The head of the first row of a part of the pool; 0 if there is none.
#[inline]
fn head_of(bytes: &[u8]) -> u16 {
    match bytes {
        [low, high, ..] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    }
}

/// The entries of the first row, whose head is given, and what follows it; none where a file is damaged.
#[inline]
fn split_row(head: u16, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = bytes.get(HEADER..)?;
    match (LENGTHS[usize::from(head & 15)], rest) {
        (0, [more, rest @ ..]) => rest.split_at_checked(2 * (usize::from(*more) + 1)),
        (0, []) => None,
        (length, rest) => rest.split_at_checked(usize::from(length)),
    }
}

/// Adds the weights of a row.
#[inline]
fn add_row(head: u16, entries: &[u8], scores: &mut [i32; MAX_ACTIONS]) {
    match MEMBERS.get(usize::from(head & 15)) {
        Some(actions) => {
            for (&action, &code) in actions.iter().zip(entries) {
                scores[usize::from(action)] += VALUES[usize::from(code)];
            }
        }
        None => {
            for entry in entries.chunks_exact(2) {
                scores[usize::from(entry[0])] += VALUES[usize::from(entry[1])];
            }
        }
    }
}

impl Weights for Rows {
    #[inline]
    fn add(&self, keys: &[u64], scores: &mut [i32; MAX_ACTIONS]) {
        for keys in keys.chunks(AT_ONCE) {
            // Each row takes two dependent cache misses. All are prefetched before any is waited for: rows branch on
            // what they find, and a mispredicted branch would hold up all later loads.
            for &key in keys {
                prefetch(&self.lines[self.place(key.max(1)).0]);
            }
            let mut buckets: [&[u8]; AT_ONCE] = [&[]; AT_ONCE];
            for (bucket, &key) in buckets.iter_mut().zip(keys) {
                *bucket = self.bucket(key.max(1));
                if let Some(first) = bucket.first() {
                    prefetch(first);
                }
            }
            for (mut bucket, &key) in buckets.into_iter().zip(keys) {
                let wanted = fingerprint(key.max(1));
                let mut head = head_of(bucket);
                while head != 0 {
                    let Some((entries, after)) = split_row(head, bucket) else { break };
                    if head & FINGERPRINT == wanted {
                        add_row(head, entries, scores);
                        break;
                    }
                    bucket = after;
                    head = head_of(bucket);
                }
            }
        }
    }
}
