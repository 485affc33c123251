//! A perfect hash function: each of a known set of keys has a cell of its own, found with one small read.
//!
//! Keys are spread over buckets of about three. A bucket has a *pilot*, one byte, which is mixed into the cells of
//! its keys; it was chosen such that no other key has the same cell (Belazzougui, Botelho & Dietzfelbinger 2009).
//! Choosing goes from the largest bucket to the smallest. When no pilot is free of conflicts, the one that disturbs
//! least wins, and the buckets that stood there choose again (Pibiri & Trani 2021 and Groot Koerkamp 2025 describe
//! functions of this family).
//!
//! The function takes about 2.7 bits per key. It says nothing about keys outside the set: callers have to compare.

use sylvan_store::Section;

use crate::WordId;

/// Keys per bucket, on average.
const BUCKET: usize = 3;

/// A multiplier without a pattern, odd.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX: u64 = 0xD6E8_FEB8_6659_FD93;

/// An n-gram, given by the place of the shorter one that it ends in and its oldest word. Different n-grams of one
/// length have different keys.
#[inline(always)]
pub(crate) fn key(parent: u32, oldest: WordId) -> u64 {
    u64::from(parent) << 32 | u64::from(oldest.0)
}

/// The finished function, in memory or in a file.
#[derive(Debug, Clone)]
pub(crate) struct Perfect {
    pub(crate) seed: u32,
    pub(crate) cells: usize,
    pub(crate) pilots: Section<u8>,
}

/// How many cells there are for `count` keys: 1 in 64 stays free, and some more after each failed try.
pub(crate) fn cells_for(count: u64, seed: u32) -> u64 {
    count + count / 64 + 2 + u64::from(seed)
}

/// How many buckets there are for `count` keys.
pub(crate) fn buckets_for(count: u64) -> u64 {
    count / BUCKET as u64 + 1
}

#[inline(always)]
fn share(hash: u64, of: usize) -> usize {
    ((u128::from(hash) * of as u128) >> 64) as usize
}

#[inline(always)]
fn mixed(key: u64, seed: u32) -> u64 {
    let hash = (key ^ u64::from(seed).wrapping_mul(MIX)).wrapping_mul(ODD);
    (hash ^ hash >> 32).wrapping_mul(MIX)
}

#[inline(always)]
fn cell(mixed: u64, pilot: u8, cells: usize) -> usize {
    // Keys of a bucket share their highest bits; the product brings up the others.
    let turned = mixed ^ (u64::from(pilot) + 1).wrapping_mul(ODD);
    share((turned ^ turned >> 29).wrapping_mul(ODD), cells)
}

impl Perfect {
    /// The cell of a key; of one outside the set any cell.
    #[inline(always)]
    pub(crate) fn cell(&self, key: u64) -> usize {
        let mixed = mixed(key, self.seed);
        let pilot = self.pilots.get(share(mixed, self.pilots.len())).copied().unwrap_or(0);
        cell(mixed, pilot, self.cells)
    }

    /// A function for keys that are all different.
    pub(crate) fn new(keys: &[u64]) -> Self {
        let mut seed = 0;
        loop {
            // More room after each failure, so that it ends.
            if let Some(perfect) = Search::new(keys, seed).run() {
                return perfect;
            }
            seed += 1;
        }
    }
}

const FREE: u32 = u32::MAX;

/// The choice of the pilots.
struct Search {
    seed: u32,
    cells: usize,
    /// The mixed keys, by bucket.
    mixed: Vec<u64>,
    /// Where each bucket starts among them; one more at the end.
    starts: Vec<u32>,
    /// Which bucket has a key in this cell.
    owners: Vec<u32>,
    pilots: Vec<u8>,
}

impl Search {
    fn new(keys: &[u64], seed: u32) -> Self {
        let buckets = buckets_for(keys.len() as u64) as usize;
        let cells = cells_for(keys.len() as u64, seed) as usize;
        let mut mixed: Vec<u64> = keys.iter().map(|&key| mixed(key, seed)).collect();
        // Sorted keys are sorted by bucket.
        mixed.sort_unstable();
        let mut starts = vec![0; buckets + 1];
        for &hash in &mixed {
            starts[share(hash, buckets) + 1] += 1;
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        Self { seed, cells, mixed, starts, owners: vec![FREE; cells], pilots: vec![0; buckets] }
    }

    fn keys(&self, bucket: u32) -> &[u64] {
        &self.mixed[self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize]
    }

    fn run(mut self) -> Option<Perfect> {
        let buckets = self.pilots.len() as u32;
        let mut order: Vec<u32> = (0..buckets).collect();
        order.sort_by_key(|&bucket| std::cmp::Reverse(self.keys(bucket).len()));
        let mut waiting = Vec::new();
        let mut recent = [FREE; 8];
        let mut moves = 0;
        let mut found = Vec::new();
        for bucket in order {
            waiting.push(bucket);
            while let Some(bucket) = waiting.pop() {
                // Usually a tenth of the buckets choose twice.
                moves += 1;
                if moves > 20 * buckets as usize + 10_000 {
                    return None;
                }
                let pilot = self.best_pilot(bucket, moves as u8, &recent, &mut found)?;
                for &cell in &found {
                    let owner = self.owners[cell];
                    if owner != FREE {
                        self.clear(owner);
                        waiting.push(owner);
                    }
                }
                found.iter().for_each(|&cell| self.owners[cell] = bucket);
                self.pilots[bucket as usize] = pilot;
                // Buckets that chose last are left alone for a while, or two could evict each other forever.
                recent[moves % recent.len()] = bucket;
            }
        }
        Some(Perfect { seed: self.seed, cells: self.cells, pilots: Section::from_vec(self.pilots) })
    }

    /// Frees the cells of a bucket.
    fn clear(&mut self, bucket: u32) {
        let pilot = self.pilots[bucket as usize];
        let range = self.starts[bucket as usize] as usize..self.starts[bucket as usize + 1] as usize;
        for &hash in &self.mixed[range] {
            self.owners[cell(hash, pilot, self.cells)] = FREE;
        }
    }

    /// The pilot that takes the fewest cells away from others, with its cells in `found`.
    fn best_pilot(&self, bucket: u32, first: u8, recent: &[u32], found: &mut Vec<usize>) -> Option<u8> {
        let keys = self.keys(bucket);
        let mut best = None;
        for step in 0..=255u8 {
            let pilot = first.wrapping_add(step);
            found.clear();
            let mut cost = 0;
            let limit = best.map_or(usize::MAX, |(cost, _)| cost);
            for &hash in keys {
                let cell = cell(hash, pilot, self.cells);
                let owner = self.owners[cell];
                if owner != FREE {
                    cost += self.keys(owner).len().pow(2);
                }
                if cost >= limit || found.contains(&cell) || owner != FREE && recent.contains(&owner) {
                    cost = usize::MAX;
                    break;
                }
                found.push(cell);
            }
            if cost < limit {
                best = Some((cost, pilot));
                if cost == 0 {
                    return Some(pilot);
                }
            }
        }
        let (_, pilot) = best?;
        found.clear();
        found.extend(keys.iter().map(|&hash| cell(hash, pilot, self.cells)));
        Some(pilot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn every_key_has_a_cell_of_its_own() {
        let mut rng = Rng::new(8);
        let sizes = (0..60).chain([100, 1_000, 20_000]);
        for size in sizes {
            let mut keys: Vec<u64> = (0..size)
                .map(|_| key(rng.below(1 + size / 3) as u32, WordId(rng.below(300) as u32)))
                .collect();
            keys.sort_unstable();
            keys.dedup();
            let perfect = Perfect::new(&keys);
            assert_eq!(perfect.cells as u64, cells_for(keys.len() as u64, perfect.seed));
            assert_eq!(perfect.pilots.len() as u64, buckets_for(keys.len() as u64));
            let mut cells: Vec<usize> = keys.iter().map(|&key| perfect.cell(key)).collect();
            cells.sort_unstable();
            assert!(cells.windows(2).all(|pair| pair[0] < pair[1]), "{size} keys");
            assert!(cells.last().is_none_or(|&last| last < perfect.cells));
            // Large sets need hardly a second try.
            assert!(size < 100 || perfect.seed < 3, "{size} keys, seed {}", perfect.seed);
        }
    }
}
