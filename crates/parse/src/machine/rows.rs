//! Weights when they are learned: averaged, pruned, 16 bits each, in two flat sections that a file maps.
//!
//! ```text
//! starts   b + 1 x u32   where each bucket begins in the pool, and the end
//! pool     bytes         per row: 16 bits of the key, u8 count, count x { u8 action, i16 weight }
//! ```
//!
//! The upper half of a key chooses the bucket, of which there is one for two rows. Finding a row is one look at
//! `starts`, which fits the cache, and then a few neighbouring bytes. Two keys of a bucket that agree in 16 bits
//! are confused; that happens to one absent feature in about 30,000 and costs nothing measurable.

use sylvan_base::Result;
use sylvan_store::{ContainerWriter, Name, Section};

use super::beam::Weights;
use super::system::MAX_ACTIONS;
use super::table::Table;

/// Weights are stored as multiples of 1 / this, unless one is too large for it.
const UNIT: f64 = 512.0;
/// Rows per bucket.
const BUCKET: usize = 2;
/// How many rows are looked up together.
const AT_ONCE: usize = 32;
const HEADER: usize = 3;
const ENTRY: usize = 3;

/// Averaged weights.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) starts: Section<u32>,
    pub(crate) pool: Section<u8>,
}

impl Rows {
    /// The mean over tables of the average of all weights over `time` updates, without those whose size is below
    /// `least`.
    pub(crate) fn average(tables: &[&Table], time: i64, least: f64) -> Self {
        let share = 1.0 / tables.len().max(1) as f64;
        let average = |weight: i32, sum: i64| f64::from(weight) - sum as f64 / time.max(1) as f64;
        let mut entries: Vec<(u64, u8, f32)> = Vec::new();
        for table in tables {
            for (key, row) in table.rows() {
                let averages = row.map(|(action, weight, sum)| (action, average(weight, sum)));
                let averages = averages.filter(|&(_, average)| average != 0.0);
                entries.extend(averages.map(|(action, average)| (key, action, (average * share) as f32)));
            }
        }
        // Stable, so that the sums below have one order.
        entries.sort_by_key(|&(key, action, _)| (key, action));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        entries.retain(|&(_, _, average)| f64::from(average).abs() >= least);
        let largest = entries.iter().fold(0f64, |most, &(_, _, average)| most.max(f64::from(average).abs()));
        let unit = UNIT.min(f64::from(i16::MAX) / largest.max(1.0));
        let quantised = |average: f32| (f64::from(average) * unit).round() as i16;
        entries.retain(|&(_, _, average)| quantised(average) != 0);
        let rows = entries.chunk_by(|a, b| a.0 == b.0).count();
        let buckets = rows.div_ceil(BUCKET).max(1);
        let mut starts = vec![0u32];
        let mut pool: Vec<u8> = Vec::with_capacity(rows * HEADER + entries.len() * ENTRY);
        // Buckets go by the upper half of the key, so sorted keys fill them in order.
        for row in entries.chunk_by(|a, b| a.0 == b.0) {
            let key = row[0].0;
            let bucket = bucket_of(key, buckets);
            while starts.len() <= bucket {
                starts.push(pool.len() as u32);
            }
            pool.extend_from_slice(&(key as u16).to_le_bytes());
            pool.push((row.len() - 1) as u8);
            for &(_, action, average) in row {
                pool.push(action);
                pool.extend_from_slice(&quantised(average).to_le_bytes());
            }
        }
        while starts.len() <= buckets {
            starts.push(pool.len() as u32);
        }
        Self { starts: Section::from_vec(starts), pool: Section::from_vec(pool) }
    }

    /// The same weights without the smallest, so many that the rest takes at most `limit` bytes if it can be done.
    pub(crate) fn within(&self, limit: usize) -> Self {
        if self.bytes() <= limit {
            return self.clone();
        }
        // Bytes by the size of the largest weight of a row and of single weights, to find where to cut.
        let mut sizes = vec![0usize; 1 << 16];
        for row in self.all_rows() {
            let mut largest = 0;
            for (_, weight) in entries(row.1) {
                sizes[usize::from(weight.unsigned_abs())] += ENTRY;
                largest = largest.max(weight.unsigned_abs());
            }
            sizes[usize::from(largest)] += HEADER;
        }
        let mut left = self.starts.len() * 4;
        let least = (0..sizes.len()).rev().find(|&size| {
            left += sizes[size];
            left > limit
        });
        let least = least.map_or(0, |size| size + 1);
        let mut starts = vec![0u32];
        let mut pool = Vec::new();
        for bucket in 0..self.starts.len() - 1 {
            let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
            for (head, row) in rows_of(self.pool.get(range).unwrap_or_default()) {
                let kept: Vec<(u8, i16)> =
                    entries(row).filter(|(_, weight)| usize::from(weight.unsigned_abs()) >= least).collect();
                if kept.is_empty() {
                    continue;
                }
                pool.extend_from_slice(&head);
                pool.push((kept.len() - 1) as u8);
                for (action, weight) in kept {
                    pool.push(action);
                    pool.extend_from_slice(&weight.to_le_bytes());
                }
            }
            starts.push(pool.len() as u32);
        }
        Self { starts: Section::from_vec(starts), pool: Section::from_vec(pool) }
    }

    fn all_rows(&self) -> impl Iterator<Item = ([u8; 2], &[u8])> {
        rows_of(&self.pool)
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.all_rows().count()
    }

    /// Writes the sections.
    pub(crate) fn write(&self, writer: &mut ContainerWriter, names: [Name; 2]) -> Result<()> {
        writer.section(names[0], &self.starts)?;
        writer.section(names[1], &self.pool)
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        self.starts.len() * 4 + self.pool.len()
    }

    /// Where the bucket of a key begins and ends.
    #[inline]
    fn bucket(&self, key: u64) -> (usize, usize) {
        let bucket = bucket_of(key, self.starts.len() - 1);
        (self.starts[bucket] as usize, self.starts[bucket + 1] as usize)
    }

    /// The entries of a row in a bucket; empty if there is none, or where a file is damaged.
    #[inline]
    fn row(&self, key: u64, (start, end): (usize, usize)) -> &[u8] {
        let Some(mut rest) = self.pool.get(start..end) else { return &[] };
        while let [low, high, more, tail @ ..] = rest {
            let length = (usize::from(*more) + 1) * ENTRY;
            let Some((row, after)) = tail.split_at_checked(length) else { return &[] };
            if u16::from_le_bytes([*low, *high]) == key as u16 {
                return row;
            }
            rest = after;
        }
        &[]
    }
}

/// The rows of a part of the pool: the bits of the key, and the entries.
fn rows_of(bytes: &[u8]) -> impl Iterator<Item = ([u8; 2], &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let [low, high, more, tail @ ..] = rest else { return None };
        let (row, after) = tail.split_at_checked((usize::from(*more) + 1) * ENTRY)?;
        rest = after;
        Some(([*low, *high], row))
    })
}

/// The actions and weights of a row.
fn entries(row: &[u8]) -> impl Iterator<Item = (u8, i16)> {
    row.chunks_exact(ENTRY).map(|entry| (entry[0], i16::from_le_bytes([entry[1], entry[2]])))
}

#[inline]
fn bucket_of(key: u64, buckets: usize) -> usize {
    (((key >> 32) * buckets as u64) >> 32) as usize
}

impl Weights for Rows {
    #[inline]
    fn add(&self, keys: &[u64], scores: &mut [i32; MAX_ACTIONS]) {
        for keys in keys.chunks(AT_ONCE) {
            // First all buckets, then all rows: loads that do not wait for each other overlap.
            let mut buckets = [(0, 0); AT_ONCE];
            for (bucket, &key) in buckets.iter_mut().zip(keys) {
                *bucket = self.bucket(key.max(1));
            }
            for (&bucket, &key) in buckets.iter().zip(keys) {
                for entry in self.row(key.max(1), bucket).chunks_exact(ENTRY) {
                    scores[usize::from(entry[0])] += i32::from(i16::from_le_bytes([entry[1], entry[2]]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::key1;
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn rows_give_the_averages_of_the_table() {
        let mut rng = Rng::new(3);
        let mut table = Table::new();
        for time in 0..50 {
            for _ in 0..200 {
                let key = key1(1, rng.below(2000) as u64);
                table.change(key, rng.below(256) as u8, 1 - 2 * rng.below(2) as i32, time);
            }
        }
        let rows = Rows::average(&[&table], 50, 0.0);
        let mut wrong = 0;
        for (key, entries) in table.rows() {
            let mut scores = [0; MAX_ACTIONS];
            rows.add(&[key], &mut scores);
            for (action, weight, sum) in entries {
                let average = f64::from(weight) - sum as f64 / 50.0;
                let found = f64::from(scores[action as usize]) / UNIT;
                wrong += usize::from((average - found).abs() > 0.51 / UNIT);
            }
        }
        assert!(wrong < 10, "{wrong} entries differ by more than rounding and rare collisions");
        // The mean of a table and itself is the table; that of a table and nothing is half of it.
        let add = |rows: &Rows| {
            let mut scores = [0; MAX_ACTIONS];
            table.rows().for_each(|(key, _)| rows.add(&[key], &mut scores));
            scores.map(|score| f64::from(score.abs())).iter().sum::<f64>()
        };
        assert_eq!(add(&Rows::average(&[&table, &table], 50, 0.0)), add(&rows));
        let half = add(&Rows::average(&[&table, &Table::new()], 50, 0.0));
        assert!((half * 2.0 / add(&rows) - 1.0).abs() < 0.1, "{half}");
        let pruned = Rows::average(&[&table], 50, 0.5);
        assert!(pruned.bytes() < rows.bytes());
        let limit = rows.bytes() * 3 / 4;
        let within = rows.within(limit);
        assert!(within.bytes() <= limit && within.bytes() > limit / 2);
        let sum = |rows: &Rows| {
            let mut scores = [0; MAX_ACTIONS];
            for (key, _) in table.rows() {
                rows.add(&[key], &mut scores);
            }
            scores.iter().map(|score| score.abs()).sum::<i32>()
        };
        assert_ne!(sum(&within), sum(&rows));
        assert_eq!(sum(&rows.within(usize::MAX)), sum(&rows));
    }

    #[test]
    fn an_empty_table_has_no_rows() {
        let rows = Rows::average(&[&Table::new()], 0, 0.0);
        let mut scores = [0; MAX_ACTIONS];
        rows.add(&[0, 1, u64::MAX], &mut scores);
        assert_eq!(scores, [0; MAX_ACTIONS]);
    }
}
