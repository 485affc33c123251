//! What a corpus looks like in numbers.

use std::collections::BTreeMap;
use std::fmt;

use sylvan_base::Vocab;

/// Counts lines and words of one side of a corpus.
#[derive(Debug, Clone, Default)]
pub struct CorpusStats {
    vocab: Vocab,
    words: u64,
    /// How many lines have each number of words.
    lengths: BTreeMap<usize, u64>,
}

impl CorpusStats {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a line of words between white space.
    pub fn add(&mut self, line: &str) {
        let length = self.vocab.intern_words(line).len();
        self.words += length as u64;
        *self.lengths.entry(length).or_default() += 1;
    }

    /// How many lines there were.
    pub fn lines(&self) -> u64 {
        self.lengths.values().sum()
    }

    /// How many lines had no word.
    pub fn empty_lines(&self) -> u64 {
        self.lengths.get(&0).copied().unwrap_or(0)
    }

    /// How many words there were.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// How many different words there were.
    pub fn types(&self) -> u64 {
        self.vocab.len() as u64
    }

    /// Words per line; 0 without lines.
    pub fn mean_length(&self) -> f64 {
        if self.lengths.is_empty() { 0.0 } else { self.words as f64 / self.lines() as f64 }
    }

    /// The length that a share of the lines does not exceed: 0 for the shortest line, 0.5 for the median, 1 for
    /// the longest. 0 without lines.
    pub fn length_at(&self, share: f64) -> usize {
        let wanted = (share.clamp(0.0, 1.0) * self.lines() as f64).ceil() as u64;
        let mut seen = 0;
        for (&length, &lines) in &self.lengths {
            seen += lines;
            if seen >= wanted {
                return length;
            }
        }
        0
    }
}

impl fmt::Display for CorpusStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lines ({} empty), {} words ({} different), {:.1} words per line (shortest {}, median {}, longest {})",
            self.lines(),
            self.empty_lines(),
            self.words(),
            self.types(),
            self.mean_length(),
            self.length_at(0.0),
            self.length_at(0.5),
            self.length_at(1.0),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_corpus_in_numbers() {
        let mut stats = CorpusStats::new();
        for line in ["the cat sees the dog", "", "a  cat"] {
            stats.add(line);
        }
        assert_eq!(
            stats.to_string(),
            "3 lines (1 empty), 7 words (5 different), 2.3 words per line (shortest 0, median 2, longest 5)"
        );
        let none = CorpusStats::new().to_string();
        let expected =
            "0 lines (0 empty), 0 words (0 different), 0.0 words per line (shortest 0, median 0, longest 0)";
        assert_eq!(none, expected);
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_lengths(
            mut lengths in prop::collection::vec(0usize..9, 1..40), share in 0.0f64..=1.0,
        ) {
            let mut stats = CorpusStats::new();
            for &length in &lengths {
                stats.add(&"w ".repeat(length));
            }
            lengths.sort_unstable();
            let found = stats.length_at(share);
            let within = lengths.iter().filter(|&&length| length <= found).count() as f64;
            let below = lengths.iter().filter(|&&length| length < found).count() as f64;
            let n = lengths.len() as f64;
            prop_assert!(within >= share * n - 1e-9);
            prop_assert!(below < share * n || below == 0.0);
            prop_assert_eq!(stats.length_at(1.0), lengths[lengths.len() - 1]);
            prop_assert_eq!(stats.words(), lengths.iter().sum::<usize>() as u64);
        }
    }
}
