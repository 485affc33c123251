//! What a line contributes to chrF, and how it is counted.

use std::ops::{AddAssign, SubAssign};

use sylvan_base::Vocab;

use crate::grams::Grams;
use crate::tokenize::{is_space, split};

/// The longest character n-gram that counts.
pub(crate) const CHARS: usize = 6;
/// The longest word n-gram that can count.
pub(crate) const WORDS: usize = 2;

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

/// Buffers for a line and one reference.
#[derive(Debug, Default)]
pub(crate) struct ChrfWork {
    vocab: Vocab,
    hypothesis: Symbols,
    reference: Symbols,
    grams: Grams,
}

impl ChrfWork {
    /// Takes a translation, with word n-grams of up to `words` words.
    pub(crate) fn read(&mut self, line: &str, words: usize) {
        self.hypothesis.read(line, words > 0, &mut self.vocab);
    }

    /// Compares the translation that was read last with a reference.
    pub(crate) fn compare(&mut self, reference: &str, words: usize) -> ChrfStats {
        self.reference.read(reference, words > 0, &mut self.vocab);
        let mut stats = ChrfStats::default();
        let (hyp, reference) = (&self.hypothesis, &self.reference);
        compare(&hyp.chars, &reference.chars, CHARS, 0, &mut self.grams, &mut stats);
        compare(&hyp.words, &reference.words, words, CHARS, &mut self.grams, &mut stats);
        stats
    }
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
}
