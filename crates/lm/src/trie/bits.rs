//! Numbers of any width, one after the other.

/// The widest number. It fits into 8 bytes wherever its first bit stands in a byte.
pub(crate) const WIDEST: u32 = 32;

/// Bytes after the last number, so that every number can be read as 8 bytes, and prefetches can reach past the end.
pub(crate) const PADDING: usize = 16;

/// How many bits a number below `bound` needs.
pub(crate) fn width_below(bound: u64) -> u32 {
    64 - bound.saturating_sub(1).leading_zeros()
}

/// Reads the number that starts at a bit; `mask` has as many ones as the number has bits. Whatever lies beyond the
/// end is 0.
#[inline(always)]
pub(crate) fn read(bytes: &[u8], bit: u64, mask: u64) -> u64 {
    // The shift leaves room for the sum, which the compiler sees: one comparison checks both ends.
    let at = (bit >> 3) as usize;
    match bytes.get(at..at + 8).and_then(|bytes| bytes.first_chunk()) {
        Some(&chunk) => (u64::from_le_bytes(chunk) >> (bit & 7)) & mask,
        None => 0,
    }
}

/// As many ones as `width` says, at most 63.
#[inline(always)]
pub(crate) fn mask(width: u32) -> u64 {
    (1 << (width & 63)) - 1
}

/// How many bytes `count` numbers take.
pub(crate) fn bytes_for(count: u64, width: u32) -> Option<u64> {
    count.checked_mul(u64::from(width))?.div_ceil(8).checked_add(PADDING as u64)
}

/// Appends numbers.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, the oldest lowest.
    pending: u64,
    count: u32,
}

impl BitWriter {
    pub(crate) fn push(&mut self, number: u64, width: u32) {
        debug_assert!(width <= WIDEST && number >> width == 0, "{number} does not fit {width} bits");
        self.pending |= number << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// All bytes, with padding.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes.extend([0; PADDING]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    #[test]
    fn numbers_come_back() {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let numbers: Vec<(u64, u32)> = (0..rng.below(50))
                .map(|_| {
                    let width = rng.below(WIDEST as usize + 1) as u32;
                    (rng.next_u64() & ((1 << width) - 1), width)
                })
                .collect();
            let mut writer = BitWriter::default();
            numbers.iter().for_each(|&(number, width)| writer.push(number, width));
            let bytes = writer.finish();
            let mut bit = 0;
            for &(number, width) in &numbers {
                assert_eq!(read(&bytes, bit, mask(width)), number);
                bit += u64::from(width);
            }
            assert_eq!(bytes.len() as u64, bytes_for(bit, 1).unwrap());
            assert_eq!(read(&bytes, bit + 128, 255), 0);
            assert_eq!(read(&bytes, u64::MAX, 255), 0);
        }
    }

    #[test]
    fn widths_are_those_of_the_largest_number() {
        let found = [0, 1, 2, 3, 4, 5, 256, 257].map(width_below);
        assert_eq!(found, [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
