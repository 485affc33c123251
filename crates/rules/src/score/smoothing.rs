//! Smoothing of relative frequencies (Foster, Kuhn & Johnson 2006): Good-Turing and modified Kneser-Ney.

use crate::Count;

/// How relative frequencies are smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Smoothing {
    /// Not at all.
    #[default]
    None,
    /// Counts up to 5 are lowered to (r+1) n(r+1) / n(r), with n(r) different rules seen r times.
    GoodTuring,
    /// A discount for counts 1, 2 and more; what it takes goes to the other side's number of different partners.
    KneserNey,
}

impl Smoothing {
    /// As settings name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::GoodTuring => "good-turing",
            Self::KneserNey => "kneser-ney",
        }
    }
}

/// How many different rules were seen once, twice, ...: index r, from 1.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountsOfCounts([u64; 8]);

impl CountsOfCounts {
    pub(crate) fn add(&mut self, count: Count) {
        if let Some(slot) = self.0.get_mut(count.rounded().max(1) as usize) {
            *slot += 1;
        }
    }
}

/// The smoothing of one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Smoother {
    kind: Smoothing,
    /// What a count of r becomes, in parts of r.
    lowered: [f64; 6],
    discounts: [f64; 3],
}

/// The partners of one side: how many were seen once, twice, more often.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Partners {
    pub(crate) ones: u32,
    pub(crate) twos: u32,
    pub(crate) more: u32,
}

impl Partners {
    pub(crate) fn add(&mut self, count: Count) {
        match count.rounded() {
            0 | 1 => self.ones += 1,
            2 => self.twos += 1,
            _ => self.more += 1,
        }
    }

    pub(crate) fn total(&self) -> u32 {
        self.ones + self.twos + self.more
    }
}

impl Smoother {
    pub(crate) fn new(kind: Smoothing, counts: &CountsOfCounts) -> Self {
        let n = |r: usize| counts.0[r] as f64;
        let mut lowered = [1.0; 6];
        let mut discounts = [0.0; 3];
        if kind == Smoothing::GoodTuring {
            for (r, lowered) in lowered.iter_mut().enumerate().skip(1) {
                let adjusted = (r + 1) as f64 * n(r + 1) / n(r);
                // Where there is too little data the formula can raise counts or remove them: leave those alone.
                if n(r) > 0.0 && adjusted > 0.0 && adjusted < r as f64 {
                    *lowered = adjusted / r as f64;
                }
            }
        }
        if kind == Smoothing::KneserNey && n(1) > 0.0 {
            let y = n(1) / (n(1) + 2.0 * n(2));
            for r in 1..=3 {
                let discount = r as f64 - (r + 1) as f64 * y * n(r + 1) / n(r);
                discounts[r - 1] = if n(r) > 0.0 { discount.clamp(0.0, r as f64 * 0.9) } else { 0.0 };
            }
        }
        Self { kind, lowered, discounts }
    }

    /// p(this | given) for a rule seen `count` times, a given side seen `whole` times with these partners, and a
    /// side whose share among all different rules is `spread`.
    pub(crate) fn probability(&self, count: Count, whole: Count, partners: Partners, spread: f64) -> f64 {
        let (c, whole) = (count.to_f64(), whole.to_f64());
        match self.kind {
            Smoothing::None => c / whole,
            Smoothing::GoodTuring => {
                let r = count.rounded().max(1) as usize;
                c * self.lowered.get(r).copied().unwrap_or(1.0) / whole
            }
            Smoothing::KneserNey => {
                let discount = self.discounts[count.rounded().clamp(1, 3) as usize - 1].min(c);
                let taken = self.discounts[0] * f64::from(partners.ones)
                    + self.discounts[1] * f64::from(partners.twos)
                    + self.discounts[2] * f64::from(partners.more);
                (c - discount + taken * spread) / whole
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(times: &[u64]) -> CountsOfCounts {
        let mut counts = CountsOfCounts::default();
        for (index, &n) in times.iter().enumerate() {
            (0..n).for_each(|_| counts.add(Count::whole(index as u64 + 1)));
        }
        counts
    }

    #[test]
    fn good_turing_lowers_small_counts_by_the_formula() {
        let smoother = Smoother::new(Smoothing::GoodTuring, &counts(&[100, 30, 12, 6, 4, 3]));
        let p = |r| smoother.probability(Count::whole(r), Count::whole(10), Partners::default(), 0.0);
        assert!((p(1) - 2.0 * 30.0 / 100.0 / 10.0).abs() < 1e-12);
        assert!((p(2) - 3.0 * 12.0 / 30.0 / 10.0).abs() < 1e-12);
        assert!((p(9) - 0.9).abs() < 1e-12, "large counts stay");
    }

    #[test]
    fn kneser_ney_keeps_the_mass_of_a_closed_set_of_partners() {
        let smoother = Smoother::new(Smoothing::KneserNey, &counts(&[100, 30, 12, 6]));
        // One side with partners seen 1, 2 and 3 times; together the spreads are all of the table.
        let partners = Partners { ones: 1, twos: 1, more: 1 };
        let spreads = [0.5, 0.3, 0.2];
        let sum: f64 = (1..=3)
            .map(|r| {
                smoother.probability(Count::whole(r), Count::whole(6), partners, spreads[r as usize - 1])
            })
            .sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        let plain = Smoother::new(Smoothing::None, &counts(&[1]));
        assert!(
            smoother.probability(Count::ONE, Count::ONE, Partners { ones: 1, ..partners }, 0.0)
                < plain.probability(Count::ONE, Count::ONE, partners, 0.0)
        );
    }
}
