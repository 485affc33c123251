//! How often two words are linked: by slot where the text fits into memory, by hashing where it does not.
//!
//! Both give the same numbers. Slots are found once and read without looking for anything; a hash table holds only
//! the pairs that are linked at the moment, and of these only those that meet more than once: the link of the
//! others is the one that is being sampled, so the count that matters is zero.

use super::{BaseCounts, chain::Cells};
use crate::meetings::{Meetings, mix};
use crate::pairs::Pairs;
use crate::side::Side;

/// Counts of links by pair of types, for one direction. `j` is a generated word of a sentence pair and `i` a given
/// one.
pub(super) trait Counts {
    /// All counts of a sentence pair, with those of a saved model, in rows by generated word.
    fn load(&self, cells: &Cells<'_>, out: &mut [f32]);

    /// One of them.
    fn get(&self, cells: &Cells<'_>, j: usize, i: usize) -> f32;

    /// Whether the count holds the present link of `j` if that is `i`.
    fn holds(&self, cells: &Cells<'_>, j: usize, i: usize) -> bool;

    fn add(&mut self, cells: &Cells<'_>, j: usize, i: usize);

    fn remove(&mut self, cells: &Cells<'_>, j: usize, i: usize);

    /// Between sweeps.
    fn tidy(&mut self) {}

    /// How much memory they take.
    fn bytes(&self) -> usize;
}

/// Counts in an array.
pub(super) struct BySlot<'a> {
    pairs: &'a Pairs,
    /// Whether target words pick source words, so that slots lie in columns.
    transposed: bool,
    counts: Vec<u32>,
    base: &'a [f32],
}

impl<'a> BySlot<'a> {
    pub(super) fn new(pairs: &'a Pairs, given: Side, base: &'a BaseCounts) -> Self {
        let base = if let BaseCounts::BySlot(base) = base { base.as_slice() } else { &[] };
        Self { pairs, transposed: given == Side::Source, counts: vec![0; pairs.len()], base }
    }

    #[inline]
    fn slot(&self, cells: &Cells<'_>, j: usize, i: usize) -> usize {
        let (n, m) = (cells.given.len(), cells.generated.len());
        let at = if self.transposed { i * m + j } else { j * n + i };
        self.pairs.of(cells.pair)[at] as usize
    }
}

impl Counts for BySlot<'_> {
    #[inline]
    fn load(&self, cells: &Cells<'_>, out: &mut [f32]) {
        let (n, m) = (cells.given.len(), cells.generated.len());
        let slots = self.pairs.of(cells.pair);
        if self.transposed {
            for (i, row) in slots.chunks_exact(m).enumerate() {
                for (j, &slot) in row.iter().enumerate() {
                    out[j * n + i] = self.counts[slot as usize] as f32;
                }
            }
        } else {
            for (cell, &slot) in out.iter_mut().zip(slots) {
                *cell = self.counts[slot as usize] as f32;
            }
        }
        if !self.base.is_empty() {
            for j in 0..m {
                for i in 0..n {
                    out[j * n + i] += self.base[self.slot(cells, j, i)];
                }
            }
        }
    }

    fn get(&self, cells: &Cells<'_>, j: usize, i: usize) -> f32 {
        let slot = self.slot(cells, j, i);
        self.counts[slot] as f32 + self.base.get(slot).unwrap_or(&0.0)
    }

    #[inline]
    fn holds(&self, cells: &Cells<'_>, j: usize, i: usize) -> bool {
        self.slot(cells, j, i) > 0
    }

    #[inline]
    fn add(&mut self, cells: &Cells<'_>, j: usize, i: usize) {
        let slot = self.slot(cells, j, i);
        if slot > 0 {
            self.counts[slot] += 1;
        }
    }

    #[inline]
    fn remove(&mut self, cells: &Cells<'_>, j: usize, i: usize) {
        let slot = self.slot(cells, j, i);
        if slot > 0 {
            self.counts[slot] -= 1;
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.counts.as_slice())
    }
}

/// Counts in a hash table.
pub(super) struct Hashed<'a> {
    table: PairTable,
    meetings: &'a Meetings,
    given: Side,
    base: Option<&'a PairTable>,
}

impl<'a> Hashed<'a> {
    pub(super) fn new(meetings: &'a Meetings, given: Side, base: &'a BaseCounts) -> Self {
        let base = if let BaseCounts::Hashed(base) = base { Some(base) } else { None };
        Self { table: PairTable::default(), meetings, given, base }
    }

    fn base(&self, given: u32, generated: u32) -> f32 {
        self.base.map_or(0.0, |base| f32::from_bits(base.get(given, generated)))
    }
}

impl Counts for Hashed<'_> {
    #[inline]
    fn load(&self, cells: &Cells<'_>, out: &mut [f32]) {
        let rows = out.chunks_exact_mut(cells.given.len());
        for (row, &generated) in rows.zip(cells.generated) {
            self.table.load(cells.given, generated, row);
            if self.base.is_some() {
                for (cell, &given) in row.iter_mut().zip(cells.given) {
                    *cell += self.base(given, generated);
                }
            }
        }
    }

    fn get(&self, cells: &Cells<'_>, j: usize, i: usize) -> f32 {
        let (given, generated) = (cells.given[i], cells.generated[j]);
        self.table.get(given, generated) as f32 + self.base(given, generated)
    }

    #[inline]
    fn holds(&self, cells: &Cells<'_>, j: usize, i: usize) -> bool {
        self.table.get(cells.given[i], cells.generated[j]) > 0
    }

    #[inline]
    fn add(&mut self, cells: &Cells<'_>, j: usize, i: usize) {
        let (given, generated) = (cells.given[i], cells.generated[j]);
        let met = |given, generated| match self.given {
            Side::Source => self.meetings.again(given, generated),
            Side::Target => self.meetings.again(generated, given),
        };
        // With a saved model every link counts: its fractions must meet the same roundings in any memory.
        if self.base.is_some() || met(given, generated) {
            *self.table.entry(given, generated) += 1;
        }
    }

    #[inline]
    fn remove(&mut self, cells: &Cells<'_>, j: usize, i: usize) {
        if let Some(count) = self.table.find(cells.given[i], cells.generated[j]) {
            *count = count.saturating_sub(1);
        }
    }

    fn tidy(&mut self) {
        self.table.rebuild();
    }

    fn bytes(&self) -> usize {
        size_of_val(self.table.places.as_slice()) + size_of_val(self.table.bits.as_slice())
    }
}

/// A hash table from pairs of types to numbers: open addressing, twelve bytes a place. Pairs whose number has
/// become zero are forgotten when the table is next rebuilt.
///
/// Nine of ten pairs that are asked for are not there. A bit for each quarter of a place catches most of them, and
/// the bits are few enough for the processor's caches.
#[derive(Debug, Default)]
pub(crate) struct PairTable {
    places: Vec<Place>,
    bits: Vec<u64>,
    used: usize,
    shift: u32,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    given: u32,
    generated: u32,
    value: u32,
}

const EMPTY: Place = Place { given: u32::MAX, generated: u32::MAX, value: 0 };
const SMALLEST: usize = 1 << 10;
/// Words looked up at a time.
const SOME: usize = 32;

impl PairTable {
    /// Where a pair is, or the empty place where it would be.
    #[inline]
    fn place(&self, given: u32, generated: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut at = (mix(given, generated) >> self.shift) as usize;
        loop {
            let place = &self.places[at];
            if (place.given == given && place.generated == generated) || place.given == u32::MAX {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    pub(crate) fn get(&self, given: u32, generated: u32) -> u32 {
        if self.places.is_empty() { 0 } else { self.places[self.place(given, generated)].value }
    }

    /// The numbers of one generated word with several given ones.
    #[inline]
    fn load(&self, given: &[u32], generated: u32, out: &mut [f32]) {
        out.fill(0.0);
        if self.places.is_empty() {
            return;
        }
        for (given, out) in given.chunks(SOME).zip(out.chunks_mut(SOME)) {
            // Candidates first, without an unpredictable branch.
            let (mut there, mut count) = ([0u8; SOME], 0);
            for (i, &word) in given.iter().enumerate() {
                let (at, bit) = self.bit(word, generated);
                there[count % SOME] = i as u8;
                count += (self.bits[at] >> bit & 1) as usize;
            }
            for &i in &there[..count] {
                out[i as usize] = self.get(given[i as usize], generated) as f32;
            }
        }
    }

    #[inline]
    fn bit(&self, given: u32, generated: u32) -> (usize, u64) {
        let at = mix(given, generated) >> (self.shift - 2);
        ((at / 64) as usize, at % 64)
    }

    #[inline]
    fn find(&mut self, given: u32, generated: u32) -> Option<&mut u32> {
        if self.places.is_empty() {
            return None;
        }
        let at = self.place(given, generated);
        let place = &mut self.places[at];
        (place.given != u32::MAX).then_some(&mut place.value)
    }

    /// The number of a pair, to be changed; 0 at first.
    #[inline]
    pub(crate) fn entry(&mut self, given: u32, generated: u32) -> &mut u32 {
        if 5 * (self.used + 1) > 3 * self.places.len() {
            self.rebuild();
        }
        let at = self.place(given, generated);
        let place = &mut self.places[at];
        if place.given == u32::MAX {
            *place = Place { given, generated, value: 0 };
            self.used += 1;
            let (word, bit) = self.bit(given, generated);
            self.bits[word] |= 1 << bit;
        }
        &mut self.places[at].value
    }

    /// Forgets zeros and finds the right size.
    #[cold]
    fn rebuild(&mut self) {
        let live = self.places.iter().filter(|place| place.value > 0).count();
        let size = (5 * (live + 1) / 2).next_power_of_two().max(SMALLEST);
        let old = std::mem::replace(&mut self.places, vec![EMPTY; size]);
        self.shift = 64 - size.trailing_zeros();
        self.bits.clear();
        self.bits.resize(size / 16, 0);
        self.bits.shrink_to_fit();
        self.used = live;
        for place in old.into_iter().filter(|place| place.value > 0) {
            let at = self.place(place.given, place.generated);
            self.places[at] = place;
            let (word, bit) = self.bit(place.given, place.generated);
            self.bits[word] |= 1 << bit;
        }
    }
}
