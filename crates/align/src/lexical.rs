//! Lexical translation probabilities from links, `w(target | source)` and `w(source | target)`, for the lexical
//! weights of rule tables (Koehn, Och & Marcu 2003): shares of links, where a word without links is linked to NULL.

use sylvan_base::{HashMap, Result, Vocab};
use sylvan_corpus::Link;
use sylvan_store::Output;

/// What stands for no word in the tables.
pub const NULL: &str = "NULL";

/// Counts of linked words.
#[derive(Debug, Default)]
pub struct LexicalTable {
    /// By source and target number; NULL is `u32::MAX`.
    pairs: HashMap<(u32, u32), u64>,
    sources: HashMap<u32, u64>,
    targets: HashMap<u32, u64>,
}

const NONE: u32 = u32::MAX;

impl LexicalTable {
    /// No links yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts the links of a pair, whose words are numbers of one vocabulary. Links outside are left out.
    pub fn add(&mut self, source: &[u32], target: &[u32], links: &[Link]) {
        let mut linked = [vec![false; source.len()], vec![false; target.len()]];
        for link in links {
            let (i, j) = (link.source as usize, link.target as usize);
            if let (Some(&word), Some(&other)) = (source.get(i), target.get(j)) {
                (linked[0][i], linked[1][j]) = (true, true);
                self.count(word, other);
            }
        }
        for (&word, &linked) in source.iter().zip(&linked[0]) {
            if !linked {
                self.count(word, NONE);
            }
        }
        for (&word, &linked) in target.iter().zip(&linked[1]) {
            if !linked {
                self.count(NONE, word);
            }
        }
    }

    fn count(&mut self, source: u32, target: u32) {
        *self.pairs.entry((source, target)).or_default() += 1;
        *self.sources.entry(source).or_default() += 1;
        *self.targets.entry(target).or_default() += 1;
    }

    /// `w(target | source)`; `None` is NULL.
    pub fn forward(&self, source: Option<u32>, target: Option<u32>) -> f64 {
        self.share(source, target, self.sources.get(&source.unwrap_or(NONE)))
    }

    /// `w(source | target)`; `None` is NULL.
    pub fn reverse(&self, source: Option<u32>, target: Option<u32>) -> f64 {
        self.share(source, target, self.targets.get(&target.unwrap_or(NONE)))
    }

    fn share(&self, source: Option<u32>, target: Option<u32>, total: Option<&u64>) -> f64 {
        let count = self.pairs.get(&(source.unwrap_or(NONE), target.unwrap_or(NONE)));
        count.zip(total).map_or(0.0, |(&count, &total)| count as f64 / total as f64)
    }

    /// Writes both tables in Moses' form, sorted: `target source w(target | source)` into `forward`,
    /// `source target w(source | target)` into `reverse`.
    pub fn write(&self, vocab: &Vocab, forward: &mut Output, reverse: &mut Output) -> Result<()> {
        let text = |word: u32| if word == NONE { NULL } else { vocab.text(sylvan_base::Symbol(word)) };
        let mut rows: Vec<(&str, &str, u64, u64, u64)> = self
            .pairs
            .iter()
            .map(|(&(source, target), &count)| {
                (text(source), text(target), count, self.sources[&source], self.targets[&target])
            })
            .collect();
        rows.sort_unstable_by_key(|&(source, target, ..)| (target, source));
        for &(source, target, count, total, _) in &rows {
            forward.line(&format!("{target} {source} {:.7}", count as f64 / total as f64))?;
        }
        rows.sort_unstable_by_key(|&(source, target, ..)| (source, target));
        for &(source, target, count, _, total) in &rows {
            reverse.line(&format!("{source} {target} {:.7}", count as f64 / total as f64))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_share_their_links_and_the_rest_is_null() {
        let mut table = LexicalTable::new();
        // Words 1 2 3 / 5 6 7: 2 is linked twice, 3 and 7 not at all.
        let links = [(0, 0), (1, 0), (1, 1)].map(|(i, j)| Link::new(i, j));
        table.add(&[1, 2, 3], &[5, 6, 7], &links);
        assert_eq!(table.forward(Some(2), Some(5)), 0.5);
        assert_eq!(table.forward(Some(2), Some(6)), 0.5);
        assert_eq!(table.forward(Some(1), Some(5)), 1.0);
        assert_eq!(table.reverse(Some(1), Some(5)), 0.5);
        assert_eq!(table.forward(Some(3), None), 1.0);
        assert_eq!(table.reverse(None, Some(7)), 1.0);
        assert_eq!(table.forward(None, Some(7)), 1.0);
        assert_eq!(table.forward(Some(1), Some(7)), 0.0);
    }
}
