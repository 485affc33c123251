//! Counts as fixed-point numbers: sums do not depend on the order in which they are taken.

use std::fmt;
use std::ops::AddAssign;

/// How often a rule was seen, in steps of 2^-20. Fractions arise where one sentence can be divided into rules in
/// several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Count(pub u64);

const SHIFT: u32 = 20;

impl Count {
    /// Seen once.
    pub const ONE: Count = Count(1 << SHIFT);

    /// The nearest count to a number that is not negative; never 0 for a positive one.
    pub fn from_f64(value: f64) -> Self {
        let steps = (value * (1u64 << SHIFT) as f64).round() as u64;
        Self(if value > 0.0 { steps.max(1) } else { 0 })
    }

    /// Seen `times` times.
    pub fn whole(times: u64) -> Self {
        Self(times << SHIFT)
    }

    /// As a number.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / (1u64 << SHIFT) as f64
    }

    /// The nearest whole number.
    pub fn rounded(self) -> u64 {
        (self.0 + (1 << (SHIFT - 1))) >> SHIFT
    }

    /// Whole numbers in few bits, others as they are.
    pub(crate) fn packed(self) -> u64 {
        let fraction = self.0 & ((1 << SHIFT) - 1);
        if fraction == 0 { (self.0 >> SHIFT) << 1 } else { (self.0 << 1) | 1 }
    }

    pub(crate) fn unpacked(packed: u64) -> Self {
        if packed & 1 == 0 { Self((packed >> 1) << SHIFT) } else { Self(packed >> 1) }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 & ((1 << SHIFT) - 1) == 0 {
            write!(f, "{}", self.0 >> SHIFT)
        } else {
            write!(f, "{:.7}", self.to_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_round_trip_and_print_whole_numbers_plainly() {
        for count in [Count(0), Count::ONE, Count::whole(7), Count::from_f64(0.25), Count::from_f64(1e-9)] {
            assert_eq!(Count::unpacked(count.packed()), count);
        }
        assert_eq!(Count::whole(38).to_string(), "38");
        assert_eq!(Count::from_f64(1.5).to_string(), "1.5000000");
        assert!(Count::from_f64(1e-12) > Count(0), "something never becomes nothing");
    }
}
