//! How good are links? Precision, recall and alignment error rate of Och & Ney (2003).
//!
//! A hand-made alignment has sure links, which an aligner must find, and possible ones, which it may:
//!
//! ```text
//! precision = |A & P| / |A|    recall = |A & S| / |S|    AER = 1 - (|A & S| + |A & P|) / (|A| + |S|)
//! ```
//!
//! where `A` is what is judged, `S` the sure links and `P` the sure and the possible ones. Counts are summed over
//! the corpus before anything is divided.

use sylvan_corpus::Alignment;

/// Counts over a corpus, and what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evaluation {
    /// Sentence pairs.
    pub pairs: u64,
    /// Links that are judged.
    pub links: u64,
    /// Sure links of the hand-made alignment.
    pub sure: u64,
    /// Judged links that are sure.
    pub hit_sure: u64,
    /// Judged links that are sure or possible.
    pub hit_possible: u64,
}

impl Evaluation {
    /// Adds a sentence pair. Links that are only possible in `judged` count as links.
    pub fn add(&mut self, gold: &Alignment, judged: &Alignment) {
        self.pairs += 1;
        self.sure += gold.sure().len() as u64;
        for link in judged.sure().iter().chain(judged.possible()) {
            let sure = gold.sure().binary_search(link).is_ok();
            let possible = sure || gold.possible().binary_search(link).is_ok();
            self.links += 1;
            self.hit_sure += u64::from(sure);
            self.hit_possible += u64::from(possible);
        }
    }

    /// The share of links that are sure or possible; 1 if there are no links.
    pub fn precision(&self) -> f64 {
        share(self.hit_possible, self.links)
    }

    /// The share of sure links that were found; 1 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.hit_sure, self.sure)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    }

    /// The alignment error rate, between 0 and 1.
    pub fn aer(&self) -> f64 {
        1.0 - share(self.hit_sure + self.hit_possible, self.links + self.sure)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_corpus::Base;

    #[test]
    fn counts_are_summed_before_dividing() {
        let mut evaluation = Evaluation::default();
        for (gold, judged) in [("0-0 1-1 2p2", "0-0 2-2 3-3"), ("0-0", "0-0 1-1"), ("", "")] {
            let read = |text| Alignment::parse(text, Base::Zero).unwrap();
            evaluation.add(&read(gold), &read(judged));
        }
        // A = 5, S = 3, A & S = 2, A & P = 3.
        assert_eq!((evaluation.precision(), evaluation.recall()), (0.6, 2.0 / 3.0));
        assert!((evaluation.aer() - (1.0 - 5.0 / 8.0)).abs() < 1e-12);
        assert!((evaluation.f1() - 2.0 * 0.4 / (0.6 + 2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_find_and_nothing_found_is_no_error() {
        assert_eq!(Evaluation::default().aer(), 0.0);
    }
}
