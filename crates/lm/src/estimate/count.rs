//! Counting n-grams of the full length, in blocks of text.
//!
//! A block is as much text as the memory allows. Its n-grams are written down one per position (a rolling key, so
//! this costs one shift per word), spread over buckets by their newest word, and sorted; equal ones are then
//! counted by walking along. If the text fits into one block, its n-grams go straight on to the adjusted counts;
//! otherwise every block becomes a set of sorted runs, and the merge of the runs goes on.
//!
//! A key holds the words newest first in 128 bits, which is 25 bits per word for 5-grams. If the vocabulary
//! needs more, there is a wider and slower kind of key.

use std::sync::Mutex;

use sylvan_base::Result;
use sylvan_store::{Record, Sorter};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::adjust::{Adjusted, Adjuster};
use super::column::Shelf;
use super::level::Words;
use super::parallel::by_bucket;
use super::prune::Pruning;
use super::{BEGIN_ID, Tools};
use crate::MAX_ORDER;

/// Ranges of words, chosen so that about equally many n-grams end in each.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    /// The first word of each, and one past the last word at the end.
    pub(crate) starts: Vec<u32>,
    /// By word; later words belong to the last bucket.
    of: Vec<u16>,
}

/// At most this many buckets: enough for threads to share the work evenly, few enough to write to all at once.
const BUCKETS: u64 = 128;

impl Buckets {
    pub(crate) fn new(frequencies: &[u64]) -> Self {
        let target = frequencies.iter().sum::<u64>() / BUCKETS + 1;
        let (mut starts, mut of, mut sum) = (vec![0], Vec::with_capacity(frequencies.len()), 0);
        for (word, &frequency) in (0u32..).zip(frequencies) {
            if sum >= target {
                starts.push(word);
                sum = 0;
            }
            of.push((starts.len() - 1) as u16);
            sum += frequency;
        }
        starts.push(frequencies.len() as u32);
        Self { starts, of }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    fn of(&self, word: u32) -> usize {
        self.of.get(word as usize).map_or(self.len() - 1, |&bucket| usize::from(bucket))
    }
}

/// How words lie in a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    order: usize,
    bits: u32,
}

impl Shape {
    fn new(order: usize) -> Self {
        Self { order, bits: (128 / order as u32).min(32) }
    }

    /// Whether narrow keys can hold this many words.
    fn holds(self, words: usize) -> bool {
        words as u64 <= 1 << self.bits
    }
}

/// An n-gram of the full length that can be sorted. Keys compare as their words do, newest first, and a sentence
/// start is followed by nothing but zeros, so no two n-grams share a key.
trait Key: Copy + Ord + Send + Sync + 'static {
    /// The key with a count, as it stands in runs.
    type Counted: Record;
    /// No word yet.
    const EMPTY: Self;
    /// One word on; the oldest word is dropped.
    fn roll(self, word: u32, shape: Shape) -> Self;
    /// The words, newest first.
    fn words(self, shape: Shape) -> Words;
    fn counted(self, count: u64) -> Self::Counted;
    fn parts(counted: &Self::Counted) -> (Self, u64);
}

/// The halves of a key are separate because 128-bit numbers would leave a gap after the count.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct NarrowCount {
    high: u64,
    low: u64,
    count: u64,
}

impl Record for NarrowCount {
    type Key = (u64, u64);
    fn key(&self) -> (u64, u64) {
        (self.high, self.low)
    }
    fn add(&mut self, other: &Self) {
        self.count += other.count;
    }
}

impl Key for u128 {
    type Counted = NarrowCount;
    const EMPTY: Self = 0;

    #[inline]
    fn roll(self, word: u32, shape: Shape) -> Self {
        // Shifting by all 128 bits of a 1-gram is never asked for: the order is at least 2.
        (self >> shape.bits) | Self::from(word) << (shape.bits * (shape.order as u32 - 1))
    }

    #[inline]
    fn words(self, shape: Shape) -> Words {
        let mut words = [0; MAX_ORDER];
        let mask = (1u64 << shape.bits) - 1;
        let mut rest = self;
        for word in words[..shape.order].iter_mut().rev() {
            *word = (rest as u64 & mask) as u32;
            rest >>= shape.bits;
        }
        words
    }

    fn counted(self, count: u64) -> NarrowCount {
        NarrowCount { high: (self >> 64) as u64, low: self as u64, count }
    }

    fn parts(counted: &NarrowCount) -> (Self, u64) {
        (Self::from(counted.high) << 64 | Self::from(counted.low), counted.count)
    }
}

/// Written out to full words, so that no byte is undefined.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct WideCount {
    words: Words,
    unused: u32,
    count: u64,
}

impl Record for WideCount {
    type Key = Words;
    fn key(&self) -> Words {
        self.words
    }
    fn add(&mut self, other: &Self) {
        self.count += other.count;
    }
}

impl Key for Words {
    type Counted = WideCount;
    const EMPTY: Self = [0; MAX_ORDER];

    #[inline]
    fn roll(self, word: u32, shape: Shape) -> Self {
        let mut words = [0; MAX_ORDER];
        words[0] = word;
        words[1..shape.order].copy_from_slice(&self[..shape.order - 1]);
        words
    }

    fn words(self, _shape: Shape) -> Words {
        self
    }

    fn counted(self, count: u64) -> WideCount {
        WideCount { words: self, unused: 0, count }
    }

    fn parts(counted: &WideCount) -> (Self, u64) {
        (counted.words, counted.count)
    }
}

/// The runs of the blocks so far.
#[derive(Debug)]
enum Runs {
    None,
    Narrow(Buckets, Sorter<NarrowCount>),
    Wide(Buckets, Sorter<WideCount>),
}

/// More words than the keys of earlier blocks can hold.
#[derive(Debug)]
pub(crate) struct VocabularyGrew;

/// Counts the n-grams of a text that comes in pieces.
#[derive(Debug)]
pub(crate) struct Counter {
    order: usize,
    /// Sentences of the block, each with `<s>` and `</s>`.
    tokens: Vec<u32>,
    /// How often each word occurs in the blocks before this one.
    frequencies: Vec<u64>,
    runs: Runs,
}

impl Counter {
    pub(crate) fn new(order: usize) -> Self {
        Self { order, tokens: Vec::new(), frequencies: Vec::new(), runs: Runs::None }
    }

    /// The block; only whole sentences may be added.
    pub(crate) fn tokens(&mut self) -> &mut Vec<u32> {
        &mut self.tokens
    }

    /// Whether the block has reached its size for this much memory.
    pub(crate) fn is_full(&self, memory: usize) -> bool {
        // Text, keys, and what sorting and joining take besides.
        let each = if matches!(self.runs, Runs::Wide(..)) { 80 } else { 36 };
        self.order > 1 && self.tokens.len() > memory / each
    }

    fn count_words(&mut self, words: usize) {
        self.frequencies.resize(words.max(self.frequencies.len()), 0);
        for &token in &self.tokens {
            self.frequencies[token as usize] += 1;
        }
    }

    /// Turns the block into runs. `words` is the size of the vocabulary.
    pub(crate) fn spill(
        &mut self,
        tools: &Tools,
        words: usize,
    ) -> Result<std::result::Result<(), VocabularyGrew>> {
        self.count_words(words);
        let shape = Shape::new(self.order);
        if let Runs::None = self.runs {
            let buckets = Buckets::new(&self.frequencies);
            // Assumes that the vocabulary of the first block is at most an eighth of what fits.
            self.runs = if shape.holds(words.saturating_mul(8)) {
                let sorter = Sorter::new(&tools.scratch, buckets.len(), 0);
                Runs::Narrow(buckets, sorter)
            } else {
                let sorter = Sorter::new(&tools.scratch, buckets.len(), 0);
                Runs::Wide(buckets, sorter)
            };
        }
        match &self.runs {
            Runs::None => {}
            Runs::Narrow(..) if !shape.holds(words) => return Ok(Err(VocabularyGrew)),
            Runs::Narrow(buckets, sorter) => add_runs::<u128>(&self.tokens, buckets, shape, tools, sorter)?,
            Runs::Wide(buckets, sorter) => add_runs::<Words>(&self.tokens, buckets, shape, tools, sorter)?,
        }
        self.tokens.clear();
        Ok(Ok(()))
    }

    /// Whether blocks were written.
    pub(crate) fn has_spilled(&self) -> bool {
        !matches!(self.runs, Runs::None)
    }

    /// How often each word occurs; for models of order 1, and for pruning.
    pub(crate) fn frequencies(&mut self, words: usize) -> Vec<u64> {
        self.count_words(words);
        std::mem::take(&mut self.frequencies)
    }

    /// The adjusted counts of all n-grams, by bucket. A text in several blocks must have been spilled to its end.
    pub(crate) fn adjust(
        self,
        tools: &Tools,
        frequencies: &[u64],
        shelves: &[Shelf],
        pruning: &Pruning,
    ) -> Result<(Buckets, Vec<Adjusted>)> {
        let shape = Shape::new(self.order);
        let words = frequencies.len();
        let (mut buckets, adjusted) = match self.runs {
            Runs::None => {
                let buckets = Buckets::new(frequencies);
                let adjusted = if shape.holds(words) {
                    adjust_block::<u128>(self.tokens, &buckets, shape, tools, shelves, pruning)?
                } else {
                    adjust_block::<Words>(self.tokens, &buckets, shape, tools, shelves, pruning)?
                };
                (buckets, adjusted)
            }
            Runs::Narrow(buckets, sorter) => {
                let adjusted = adjust_runs::<u128>(&sorter, buckets.len(), shape, tools, shelves, pruning)?;
                (buckets, adjusted)
            }
            Runs::Wide(buckets, sorter) => {
                let adjusted = adjust_runs::<Words>(&sorter, buckets.len(), shape, tools, shelves, pruning)?;
                (buckets, adjusted)
            }
        };
        if let Some(last) = buckets.starts.last_mut() {
            *last = words as u32;
        }
        Ok((buckets, adjusted))
    }
}

/// The n-grams of one bucket, in as many parts as there were threads.
type Parts<K> = Mutex<Vec<Vec<K>>>;

/// The keys of all n-grams of a block, by bucket.
fn spread<K: Key>(tokens: &[u32], buckets: &Buckets, shape: Shape, threads: usize) -> Vec<Parts<K>> {
    let part = tokens.len() / threads + 1;
    // Parts begin where sentences do.
    let cut = |at: usize| {
        let at = at.min(tokens.len());
        tokens[at..].iter().position(|&token| token == BEGIN_ID).map_or(tokens.len(), |skip| at + skip)
    };
    let slices: Vec<&[u32]> = (0..threads).map(|t| &tokens[cut(t * part)..cut((t + 1) * part)]).collect();
    let work =
        |(): &mut (), t: usize| Ok::<_, std::convert::Infallible>(keys_of::<K>(slices[t], buckets, shape));
    let lists = match by_bucket(threads, threads, || (), work, |()| Ok(())) {
        Ok(lists) => lists,
        Err(never) => match never {},
    };
    let mut parts: Vec<Vec<Vec<K>>> = (0..buckets.len()).map(|_| Vec::with_capacity(threads)).collect();
    for list in lists {
        for (part, keys) in parts.iter_mut().zip(list) {
            part.push(keys);
        }
    }
    parts.into_iter().map(Mutex::new).collect()
}

/// The keys of all n-grams of some whole sentences, by bucket. Counting the words first costs a pass over the
/// text and saves growing the lists, which are four times as long.
fn keys_of<K: Key>(tokens: &[u32], buckets: &Buckets, shape: Shape) -> Vec<Vec<K>> {
    let mut sizes = vec![0; buckets.len()];
    for &token in tokens {
        sizes[buckets.of(token)] += 1;
    }
    let mut lists: Vec<Vec<K>> = sizes.into_iter().map(Vec::with_capacity).collect();
    let mut key = K::EMPTY;
    for &token in tokens {
        if token == BEGIN_ID {
            key = K::EMPTY.roll(token, shape);
        } else {
            key = key.roll(token, shape);
            lists[buckets.of(token)].push(key);
        }
    }
    lists
}

/// Calls `each` for every different n-gram of the bucket, in order.
fn count_bucket<K: Key>(parts: &Parts<K>, mut each: impl FnMut(K, u64) -> Result<()>) -> Result<()> {
    let mut parts = std::mem::take(&mut *parts.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    let mut keys = if parts.len() == 1 { parts.swap_remove(0) } else { parts.concat() };
    drop(parts);
    keys.sort_unstable();
    for same in keys.chunk_by(|a, b| a == b) {
        each(same[0], same.len() as u64)?;
    }
    Ok(())
}

/// Sorts a block and writes it as one run per bucket.
fn add_runs<K: Key>(
    tokens: &[u32],
    buckets: &Buckets,
    shape: Shape,
    tools: &Tools,
    sorter: &Sorter<K::Counted>,
) -> Result<()> {
    let parts = spread::<K>(tokens, buckets, shape, tools.threads);
    let write = |records: &mut Vec<K::Counted>, bucket: usize| {
        records.clear();
        count_bucket(&parts[bucket], |key, count| {
            records.push(key.counted(count));
            Ok(())
        })?;
        sorter.add_run(bucket, records)
    };
    by_bucket(tools.threads, buckets.len(), Vec::new, write, |_| Ok(()))?;
    Ok(())
}

/// Sorts a block, and passes it on at once: nothing but the keys of one bucket is ever sorted or copied.
fn adjust_block<K: Key>(
    tokens: Vec<u32>,
    buckets: &Buckets,
    shape: Shape,
    tools: &Tools,
    shelves: &[Shelf],
    pruning: &Pruning,
) -> Result<Vec<Adjusted>> {
    let parts = spread::<K>(&tokens, buckets, shape, tools.threads);
    drop(tokens);
    let work = |(): &mut (), bucket: usize| {
        let mut adjuster = Adjuster::new(shelves, pruning);
        count_bucket(&parts[bucket], |key, count| adjuster.push(&key.words(shape), count))?;
        adjuster.finish()
    };
    by_bucket(tools.threads, buckets.len(), || (), work, |()| Ok(()))
}

/// Merges the runs of all blocks and passes them on.
fn adjust_runs<K: Key>(
    sorter: &Sorter<K::Counted>,
    buckets: usize,
    shape: Shape,
    tools: &Tools,
    shelves: &[Shelf],
    pruning: &Pruning,
) -> Result<Vec<Adjusted>> {
    let work = |(): &mut (), bucket: usize| {
        let mut adjuster = Adjuster::new(shelves, pruning);
        let mut merge = sorter.drain(bucket, tools.merge_memory())?;
        while let Some(counted) = merge.next_record()? {
            let (key, count) = K::parts(&counted);
            adjuster.push(&key.words(shape), count)?;
        }
        adjuster.finish()
    };
    by_bucket(tools.threads, buckets, || (), work, |()| Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_keys_sort_alike() {
        let mut rng = sylvan_base::Rng::new(3);
        for order in 2..=MAX_ORDER {
            let shape = Shape::new(order);
            let most = (1u64 << shape.bits) as usize;
            let (mut narrow, mut wide) = (0u128, [0; MAX_ORDER]);
            let mut pairs = Vec::new();
            for _ in 0..500 {
                let word = if rng.chance(0.5) { rng.below(3) } else { rng.below(most) } as u32;
                narrow = narrow.roll(word, shape);
                wide = wide.roll(word, shape);
                assert_eq!(narrow.words(shape), wide);
                pairs.push((narrow, wide));
            }
            let mut by_narrow = pairs.clone();
            by_narrow.sort_by_key(|pair| pair.0);
            pairs.sort_by_key(|pair| pair.1);
            assert_eq!(by_narrow, pairs);
        }
    }

    #[test]
    fn both_kinds_of_keys_and_any_number_of_blocks_count_alike() {
        use super::super::column::Pool;
        use sylvan_store::Scratch;

        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(dir.path());
        let mut rng = sylvan_base::Rng::new(4);
        let mut tokens = Vec::new();
        let mut ends = Vec::new();
        for _ in 0..300 {
            tokens.push(BEGIN_ID);
            tokens.extend((0..rng.below(8)).map(|_| 3 + (rng.unit() * rng.unit() * 40.0) as u32));
            tokens.push(2);
            ends.push(tokens.len());
        }
        let mut frequencies = vec![0; 43];
        for &token in &tokens {
            frequencies[token as usize] += 1;
        }
        for order in 2..=MAX_ORDER {
            let pruning = Pruning { counts: super::super::Prune::new(&[0, 1]).unwrap(), outside: Vec::new() };
            let shape = Shape::new(order);
            let show = |adjusted: Vec<Adjusted>| {
                let mut all = String::new();
                for bucket in adjusted {
                    for segment in &bucket.entries {
                        let mut reader = segment.reader();
                        while let Some(entry) = reader.next().unwrap() {
                            all += &format!("{entry:?} ");
                        }
                    }
                    all += &format!("{:?} {:?}\n", bucket.unigrams, bucket.tallies);
                }
                all
            };
            let buckets = Buckets::new(&frequencies);
            let mut shown = Vec::new();
            for threads in 1..3 {
                let pool = Pool::new(&scratch, 1000);
                let tools = Tools { threads, memory: 1000, scratch: scratch.clone(), pool };
                let shelves: Vec<Shelf> = (2..=order).map(|_| tools.pool.shelf()).collect();
                let block = tokens.clone();
                shown.push(show(
                    adjust_block::<u128>(block.clone(), &buckets, shape, &tools, &shelves, &pruning).unwrap(),
                ));
                shown.push(show(
                    adjust_block::<Words>(block, &buckets, shape, &tools, &shelves, &pruning).unwrap(),
                ));
                let (narrow, wide) =
                    (Sorter::new(&scratch, buckets.len(), 0), Sorter::new(&scratch, buckets.len(), 0));
                let cuts = [0, ends[10], ends[100], ends[299]];
                for pair in cuts.windows(2) {
                    let block = &tokens[pair[0]..pair[1]];
                    add_runs::<u128>(block, &buckets, shape, &tools, &narrow).unwrap();
                    add_runs::<Words>(block, &buckets, shape, &tools, &wide).unwrap();
                }
                let count = buckets.len();
                shown.push(show(
                    adjust_runs::<u128>(&narrow, count, shape, &tools, &shelves, &pruning).unwrap(),
                ));
                shown.push(show(
                    adjust_runs::<Words>(&wide, count, shape, &tools, &shelves, &pruning).unwrap(),
                ));
            }
            assert!(shown[0].len() > 1000);
            assert!(shown.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
