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

use std::ops::{AddAssign, SubAssign};

use sylvan_base::Vocab;

use crate::grams::Grams;
use crate::tokenize::{is_space, split};
use crate::{Case, Metric, VERSION, Workspace};

/// The longest character n-gram that counts.
const CHARS: usize = 6;
/// The longest word n-gram that can count.
const WORDS: usize = 2;

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

/// What chrF needs to know: n-grams of the translation, of the reference, and in common; characters first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChrfStats {
    /// N-grams of the translation, where the reference has any of that order.
    pub hyp: [u64; CHARS + WORDS],
    /// N-grams of the reference.
    pub reference: [u64; CHARS + WORDS],
    /// N-grams in common.
    pub matches: [u64; CHARS + WORDS],
}

impl AddAssign for ChrfStats {
    fn add_assign(&mut self, other: Self) {
        for n in 0..CHARS + WORDS {
            self.hyp[n] += other.hyp[n];
            self.reference[n] += other.reference[n];
            self.matches[n] += other.matches[n];
        }
    }
}

impl SubAssign for ChrfStats {
    fn sub_assign(&mut self, other: Self) {
        for n in 0..CHARS + WORDS {
            self.hyp[n] -= other.hyp[n];
            self.reference[n] -= other.reference[n];
            self.matches[n] -= other.matches[n];
        }
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
        let line = self.case.apply(hypothesis);
        work.hypothesis.read(&line, words > 0, &mut work.vocab);
        let mut best: Option<(f64, ChrfStats)> = None;
        for reference in references {
            let line = self.case.apply(reference);
            work.reference.read(&line, words > 0, &mut work.vocab);
            let mut stats = ChrfStats::default();
            let (hyp, reference) = (&work.hypothesis, &work.reference);
            compare(&hyp.chars, &reference.chars, CHARS, 0, &mut work.grams, &mut stats);
            compare(&hyp.words, &reference.words, words, CHARS, &mut work.grams, &mut stats);
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

/// Buffers for a line and one reference.
#[derive(Debug, Default)]
pub(crate) struct ChrfWork {
    vocab: Vocab,
    hypothesis: Symbols,
    reference: Symbols,
    grams: Grams,
}

/// A line as characters without white space, and as words.
#[derive(Debug, Default)]
struct Symbols {
    chars: Vec<u32>,
    words: Vec<u32>,
}

impl Symbols {
    fn read(&mut self, line: &str, words: bool, vocab: &mut Vocab) {
        self.chars.clear();
        self.chars.extend(line.chars().filter(|&c| !is_space(c)).map(u32::from));
        self.words.clear();
        if words {
            for word in split(line) {
                let (first, second) = cut(word);
                self.words.push(vocab.intern(first).0);
                if !second.is_empty() {
                    self.words.push(vocab.intern(second).0);
                }
            }
        }
    }
}

/// Cuts one ASCII punctuation mark off the end of a word, or else off its beginning; `(so)` becomes `(so` and `)`.
fn cut(word: &str) -> (&str, &str) {
    let bytes = word.as_bytes();
    match bytes {
        [_] => (word, ""),
        [.., last] if last.is_ascii_punctuation() => word.split_at(word.len() - 1),
        [first, ..] if first.is_ascii_punctuation() => word.split_at(1),
        _ => (word, ""),
    }
}

/// Fills the statistics of `orders` orders from place `first` on.
fn compare(
    hyp: &[u32],
    reference: &[u32],
    orders: usize,
    first: usize,
    grams: &mut Grams,
    stats: &mut ChrfStats,
) {
    grams.reset(reference.len() * orders);
    for start in 0..reference.len() {
        let mut node = 0;
        for &symbol in reference[start..].iter().take(orders) {
            node = grams.child_or_new(node, symbol);
            grams.counts[node as usize] += 1;
        }
    }
    for n in 0..orders {
        stats.reference[first + n] = reference.len().saturating_sub(n) as u64;
        if stats.reference[first + n] > 0 {
            stats.hyp[first + n] = hyp.len().saturating_sub(n) as u64;
        }
    }
    for start in 0..hyp.len() {
        let mut node = 0;
        for (n, &symbol) in hyp[start..].iter().take(orders).enumerate() {
            let Some(child) = grams.child(node, symbol) else { break };
            node = child;
            // Each occurrence in the reference matches once.
            let left = &mut grams.counts[node as usize];
            stats.matches[first + n] += u64::from(*left > 0);
            *left = left.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_is_cut_off_a_word() {
        assert_eq!(cut("(so)"), ("(so", ")"));
        assert_eq!(cut("(so"), ("(", "so"));
        assert_eq!(cut("."), (".", ""));
        assert_eq!(cut("…a"), ("…a", ""));
        assert_eq!(cut("新"), ("新", ""));
        assert_eq!(cut("新."), ("新", "."));
    }

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
