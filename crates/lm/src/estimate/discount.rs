//! Discounts (Chen & Goodman 1998, section 4.2): what is taken away from counts of one, two, and three or more.
//!
//! ```text
//! Y = n1 / (n1 + 2 n2)     D1 = 1 - 2 Y n2/n1     D2 = 2 - 3 Y n3/n2     D3+ = 3 - 4 Y n4/n3
//! ```

/// What is taken away from n-grams that were seen once, twice, or more often.
pub type Discounts = [f64; 3];

/// Which discount a count has.
#[inline]
pub(crate) fn class(count: u32) -> Option<usize> {
    (count > 0).then(|| count.min(3) as usize - 1)
}

/// What is taken away from a count.
#[inline]
pub(crate) fn discount(discounts: &Discounts, count: u32) -> f64 {
    class(count).map_or(0.0, |class| discounts[class])
}

/// The closed-form discounts, if the numbers of n-grams with the adjusted counts 1 to 4 allow them.
pub(crate) fn discounts(n: [u64; 4]) -> Option<Discounts> {
    if n[..3].contains(&0) {
        return None;
    }
    let [n1, n2, n3, n4] = n.map(|count| count as f64);
    let y = n1 / (n1 + 2.0 * n2);
    let d = [1.0 - 2.0 * y * n2 / n1, 2.0 - 3.0 * y * n3 / n2, 3.0 - 4.0 * y * n4 / n3];
    let sound = d.iter().zip(1..).all(|(d, most)| (0.0..=f64::from(most)).contains(d));
    sound.then_some(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bigrams_of_the_tiny_text() {
        assert_eq!(discounts([6, 3, 2, 0]), Some([0.5, 1.0, 3.0]));
        assert_eq!(discounts([6, 3, 0, 0]), None);
        // D2 would be negative.
        assert_eq!(discounts([10, 1, 5, 1]), None);
    }
}
