//! Numbers in few bytes: LEB128, seven bits a byte, low bits first.

/// Appends a number.
#[inline]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads numbers one after the other. Past the end, and in bytes that are no numbers, there is nothing to read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    /// Reads from a place on.
    #[inline]
    pub fn new(bytes: &'b [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// How far it has read.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        self.at += 1;
        if first < 0x80 {
            return Some(u64::from(first));
        }
        self.rest(u64::from(first & 0x7f))
    }

    fn rest(&mut self, mut value: u64) -> Option<u64> {
        for shift in (7..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number that must fit 32 bits.
    #[inline]
    pub fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// The next bytes as they are.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back_and_cut_ones_do_not(values in prop::collection::vec(any::<u64>(), 0..20), shift in 0u32..64) {
            let values: Vec<u64> = values.into_iter().map(|value| value >> shift).collect();
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| put(&mut bytes, value));
            let mut cursor = Cursor::new(&bytes, 0);
            let read: Vec<u64> = std::iter::from_fn(|| cursor.number()).collect();
            prop_assert_eq!(&read, &values);
            if let Some((_, cut)) = bytes.split_last() {
                let mut cursor = Cursor::new(cut, 0);
                let read = std::iter::from_fn(|| cursor.number()).count();
                prop_assert_eq!(read, values.len() - 1);
            }
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut cursor = Cursor::new(&bytes, 0);
            while cursor.number().is_some() {}
            prop_assert!(cursor.at() <= bytes.len());
        }
    }
}
