//! chrF (Popović 2015) and chrF++ (Popović 2017), with the choices of sacreBLEU: an F-score over character
//! n-grams, for chrF++ over word n-grams as well.
//!
//! | paper | here |
//! |---|---|
//! | chrP per order | `matches[n] / hyp[n]` |
//! | chrR per order | `matches[n] / reference[n]` |
//! | β | `Chrf::beta` |
//!
//! Precisions and recalls are averaged over the orders that both sides have, and then combined. White space does
//! not count. Of several references the one with the best F-score of the line is taken, the first on a tie.

use crate::chrf_stats::{CHARS, ChrfStats, WORDS};
use crate::{Case, Metric, VERSION, Workspace};

/// One way to compute chrF. The default is that of sacreBLEU: chrF2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chrf {
    /// The longest word n-gram: 0 for chrF, 2 for chrF++; more counts as 2.
    pub word_order: usize,
    /// How many times recall counts as much as precision.
    pub beta: u32,
    /// Whether case counts.
    pub case: Case,
}

impl Default for Chrf {
    fn default() -> Self {
        Self { word_order: 0, beta: 2, case: Case::Mixed }
    }
}

impl Chrf {
    /// chrF++.
    pub fn plus_plus() -> Self {
        Self { word_order: WORDS, ..Self::default() }
    }

    fn orders(&self) -> usize {
        CHARS + self.word_order.min(WORDS)
    }
}

impl Metric for Chrf {
    type Stats = ChrfStats;

    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order.min(WORDS)))
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> ChrfStats {
        let work = &mut workspace.chrf;
        let words = self.word_order.min(WORDS);
        work.read(&self.case.apply(hypothesis), words);
        let mut best: Option<(f64, ChrfStats)> = None;
        for reference in references {
            let stats = work.compare(&self.case.apply(reference), words);
            if references.len() == 1 {
                return stats;
            }
            let score = self.value(&stats);
            if best.is_none_or(|(old, _)| score > old) {
                best = Some((score, stats));
            }
        }
        best.map(|(_, stats)| stats).unwrap_or_default()
    }

    fn value(&self, total: &ChrfStats) -> f64 {
        let factor = f64::from(self.beta * self.beta);
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0);
        for n in 0..self.orders() {
            let [hyp, reference, matches] =
                [total.hyp[n], total.reference[n], total.matches[n]].map(|count| count as f64);
            if hyp > 0.0 && reference > 0.0 {
                precision += matches / hyp;
                recall += matches / reference;
                orders += 1;
            }
        }
        if precision + recall == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precision / f64::from(orders), recall / f64::from(orders));
        100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall))
    }

    fn signature(&self, references: usize) -> String {
        let (case, words) = (self.case.name(), self.word_order.min(WORDS));
        format!("nrefs:{references}|case:{case}|eff:yes|nc:{CHARS}|nw:{words}|space:no|version:{VERSION}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_computed_score() {
        // Characters: "abc" against "abd": 1-grams 2 of 3, 2-grams 1 of 2, 3-grams 0 of 1; P = R = 7/18.
        let chrf = Chrf::default();
        let stats = chrf.line("ab c", &["a bd"], &mut Workspace::default());
        assert!((chrf.value(&stats) - 100.0 * 7.0 / 18.0).abs() < 1e-12);
        // Words: "ab" "c" against "a" "bd": nothing matches, two more orders.
        let chrf = Chrf::plus_plus();
        let stats = chrf.line("ab c", &["a bd"], &mut Workspace::default());
        assert!((chrf.value(&stats) - 100.0 * 7.0 / 30.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_scores_nothing() {
        let chrf = Chrf::plus_plus();
        for (hyp, reference) in [("", ""), ("a", ""), ("", "a"), (" ", "\t")] {
            assert_eq!(chrf.value(&chrf.line(hyp, &[reference], &mut Workspace::default())), 0.0);
        }
    }
}
