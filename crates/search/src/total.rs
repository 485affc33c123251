//! Floating-point numbers in their total order, so that what is queued by them has an order that is derived.

use std::cmp::Ordering;

/// A number, ordered as [`f64::total_cmp`] says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Total(pub(crate) f64);

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_to_themselves_alone_and_rise_to_infinity() {
        let rising = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 0.5, f64::INFINITY, f64::NAN].map(Total);
        for (a, x) in rising.iter().enumerate() {
            for (b, y) in rising.iter().enumerate() {
                assert_eq!((x == y, x < y, x > y), (a == b, a < b, a > b), "{x:?} {y:?}");
                assert_eq!((x.cmp(y), x.partial_cmp(y)), (a.cmp(&b), Some(a.cmp(&b))));
            }
        }
    }
}
