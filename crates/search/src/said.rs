//! Words said so far as a number that does not depend on where steps and rules cut them.

use sylvan_base::Symbol;
use sylvan_base::hash::fold;
use sylvan_forest::{BundleId, Edges};

/// The arithmetic is modulo this prime.
const PRIME: u64 = (1 << 61) - 1;
/// The hash of `a b c` is a·BASE² + b·BASE + c.
const BASE: u64 = 0x1B7D_4C2E_9A5F_3307 % PRIME;

/// A sequence of words as a polynomial hash. Sequences with the same words have the same one however they were put
/// together; others differ but for a chance of about one in 10^18 per word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said {
    hash: u64,
    /// BASE to the power of the number of words.
    shift: u64,
}

impl Said {
    /// No words.
    pub const NOTHING: Self = Self { hash: 0, shift: 1 };

    /// One word.
    fn word(word: Symbol) -> Self {
        Self { hash: fold(BASE, u64::from(word.0)) % PRIME, shift: BASE }
    }

    /// These words and then others.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        let hash = (times(self.hash, other.shift) + other.hash) % PRIME;
        Self { hash, shift: times(self.shift, other.shift) }
    }

    /// The words of bundles.
    pub fn bundles<E: Edges>(forest: &E, bundles: &[BundleId]) -> Self {
        let words = bundles.iter().flat_map(|&bundle| forest.bundle(bundle));
        words.fold(Self::NOTHING, |said, &token| said.then(Self::word(forest.token(token).word)))
    }
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_and_cuts_do_not() {
        let [a, b, c] = [1, 2, 3].map(|word| Said::word(Symbol(word)));
        assert_eq!(a.then(b).then(c), a.then(b.then(c)));
        assert_eq!(Said::NOTHING.then(a).then(Said::NOTHING), a);
        let all =
            [a, b, c, a.then(b), b.then(a), a.then(a), a.then(b).then(c), a.then(c).then(b), Said::NOTHING];
        for (place, one) in all.iter().enumerate() {
            assert!(all[..place].iter().all(|other| other != one), "{place}");
        }
    }
}
