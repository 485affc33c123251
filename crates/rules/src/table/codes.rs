//! Feature values in a table: exact, or as numbers of entries in a code book per feature.

use sylvan_base::HashSet;
use sylvan_store::Section;

/// How feature values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As 32-bit floats.
    #[default]
    Exact,
    /// As codes of this many bits, 1 to 16; with at most 2^bits different values nothing is lost.
    Bits(u32),
}

impl Precision {
    /// Bytes per value.
    pub(crate) fn width(self) -> usize {
        match self {
            Self::Exact => 4,
            Self::Bits(bits) if bits <= 8 => 1,
            Self::Bits(_) => 2,
        }
    }
}

/// Collects the values of one feature and makes its code book.
///
/// As long as there are no more different values than codes, the book is those values. Beyond that, values are
/// counted in narrow buckets (a float without its lowest 12 bits: a relative width of 1/2048), and neighbouring
/// buckets are put together so that every code stands for about as many rules, as KenLM does.
#[derive(Debug, Clone)]
pub(crate) struct CodeBook {
    limit: usize,
    distinct: HashSet<u32>,
    /// Rules and sum of values per bucket, once there are too many different values.
    buckets: Vec<u32>,
}

const BUCKET_BITS: u32 = 20;

/// Order-preserving integer of a float.
fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
}

fn from_ordered(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

impl CodeBook {
    pub(crate) fn new(bits: u32) -> Self {
        Self { limit: 1 << bits, distinct: HashSet::default(), buckets: vec![0; 1 << BUCKET_BITS] }
    }

    pub(crate) fn add(&mut self, value: f32) {
        // Negative zero and zero are one value.
        let key = ordered(value + 0.0);
        self.buckets[(key >> (32 - BUCKET_BITS)) as usize] += 1;
        if self.distinct.len() <= self.limit {
            self.distinct.insert(key);
        }
    }

    /// The values of the codes, ascending.
    pub(crate) fn values(&self) -> Vec<f32> {
        if self.distinct.len() <= self.limit {
            #[allow(clippy::iter_over_hash_type)] // Sorted at once.
            let mut keys: Vec<u32> = self.distinct.iter().copied().collect();
            keys.sort_unstable();
            return keys.into_iter().map(from_ordered).collect();
        }
        let shift = 32 - BUCKET_BITS;
        let centre = |bucket: usize| from_ordered(((bucket as u32) << shift) | (1 << (shift - 1)));
        let total: u64 = self.buckets.iter().map(|&count| u64::from(count)).sum();
        let mut values = Vec::with_capacity(self.limit);
        let (mut done, mut held, mut sum) = (0u64, 0u64, 0f64);
        for (bucket, &count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            held += u64::from(count);
            sum += f64::from(count) * f64::from(centre(bucket));
            // The share of what is left for each code that is left.
            let left = (self.limit - values.len()) as u64;
            if held * left >= total - done || left == 1 && done + held == total {
                values.push((sum / held as f64) as f32);
                (done, held, sum) = (done + held, 0, 0.0);
            }
        }
        if held > 0 {
            values.push((sum / held as f64) as f32);
        }
        values
    }
}

/// The code of the value in the book that is nearest.
pub(crate) fn nearest(values: &[f32], value: f32) -> u32 {
    let after = values.partition_point(|&known| known < value);
    let closer_before =
        after > 0 && (after == values.len() || value - values[after - 1] <= values[after] - value);
    (if closer_before { after - 1 } else { after }) as u32
}

/// How the features of a table's rules are read.
#[derive(Debug, Clone)]
pub(crate) struct Codes {
    pub(crate) precision: Precision,
    pub(crate) features: usize,
    /// The books one after the other, and where each ends; empty when values are exact.
    pub(crate) values: Section<f32>,
    pub(crate) ends: Vec<usize>,
}

impl Codes {
    pub(crate) fn exact(features: usize) -> Self {
        Self {
            precision: Precision::Exact,
            features,
            values: Section::from_vec(Vec::new()),
            ends: Vec::new(),
        }
    }

    pub(crate) fn coded(bits: u32, books: &[Vec<f32>]) -> Self {
        let mut end = 0;
        let ends = books.iter().map(|book| {
            end += book.len();
            end
        });
        let ends = ends.collect();
        let values = Section::from_vec(books.concat());
        Self { precision: Precision::Bits(bits), features: books.len(), values, ends }
    }

    /// Bytes per rule.
    pub(crate) fn width(&self) -> usize {
        self.features * self.precision.width()
    }

    fn book(&self, feature: usize) -> &[f32] {
        let start = if feature == 0 { 0 } else { self.ends[feature - 1] };
        self.values.get(start..self.ends[feature]).unwrap_or(&[])
    }

    /// Appends a rule's values.
    pub(crate) fn put(&self, out: &mut Vec<u8>, values: &[f32]) {
        for (feature, &value) in values.iter().enumerate() {
            match self.precision {
                Precision::Exact => out.extend_from_slice(&value.to_le_bytes()),
                Precision::Bits(bits) => {
                    let code = nearest(self.book(feature), value);
                    out.extend_from_slice(&code.to_le_bytes()[..Precision::Bits(bits).width()]);
                }
            }
        }
    }

    /// A rule's values from [`width`](Self::width) bytes.
    #[inline]
    pub(crate) fn each(&self, bytes: &[u8], mut value: impl FnMut(usize, f32)) {
        match self.precision {
            Precision::Exact => {
                for (feature, raw) in bytes.as_chunks::<4>().0.iter().enumerate() {
                    value(feature, f32::from_le_bytes(*raw));
                }
            }
            Precision::Bits(bits) if bits <= 8 => {
                for (feature, &code) in bytes.iter().enumerate() {
                    value(feature, self.book(feature).get(usize::from(code)).copied().unwrap_or(0.0));
                }
            }
            Precision::Bits(_) => {
                for (feature, raw) in bytes.as_chunks::<2>().0.iter().enumerate() {
                    let code = usize::from(u16::from_le_bytes(*raw));
                    value(feature, self.book(feature).get(code).copied().unwrap_or(0.0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn few_values_are_kept_as_they_are(values in prop::collection::vec(-50f32..0.0, 1..16)) {
            let mut book = CodeBook::new(4);
            values.iter().for_each(|&value| book.add(value));
            let codes = Codes::coded(4, &[book.values()]);
            for &value in &values {
                let mut bytes = Vec::new();
                codes.put(&mut bytes, &[value]);
                codes.each(&bytes, |_, read| assert_eq!(read.to_bits(), (value + 0.0).to_bits()));
            }
        }

        #[test]
        fn many_values_are_close_and_coding_again_changes_nothing(seed in any::<u64>(), bits in 6u32..=16) {
            let mut rng = sylvan_base::Rng::new(seed);
            let values: Vec<f32> = (0..5_000).map(|_| -(rng.unit() * 20.0) as f32).collect();
            let coded = |values: &[f32]| {
                let mut book = CodeBook::new(bits);
                values.iter().for_each(|&value| book.add(value));
                let book = book.values();
                assert!(book.len() <= 1 << bits);
                let read: Vec<f32> = values.iter().map(|&v| book[nearest(&book, v) as usize]).collect();
                read
            };
            let once = coded(&values);
            // Equal shares of uniform values are equally wide.
            let width = 2.0 * 20.0 / f64::from((1 << bits).min(5_000)) as f32 + 20.0 / 1024.0;
            for (value, read) in values.iter().zip(&once) {
                prop_assert!((value - read).abs() <= width, "{value} {read} {width}");
            }
            prop_assert_eq!(coded(&once), once);
        }
    }
}
