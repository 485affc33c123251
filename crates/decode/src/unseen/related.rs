//! Words that are written otherwise, or end otherwise.

use sylvan_base::Symbol;
use sylvan_rules::RuleId;

use super::lexicon::{ENDING, cuts};
use super::{Finder, RELATIVES};

/// Fewer words than this that change their endings alike are chance.
const ALIKE: u32 = 5;

impl<A: Fn(RuleId) -> bool> Finder<'_, A> {
    /// Words that rules translate alone, the nearest first, and how many letters at their ends are others.
    pub(super) fn relatives(&self, word: Symbol) -> Vec<(Symbol, usize)> {
        let text = self.vocab.text(word);
        // The same word, under another label or in another case.
        let mut same = vec![text.to_lowercase(), capitalised(text)];
        same.retain(|other| other != text);
        let same = same.iter().filter_map(|other| self.lexicon().get(other));
        let same: Vec<(Symbol, usize)> = std::iter::once(word)
            .chain(same)
            .filter(|&other| self.is_known(other))
            .map(|word| (word, 0))
            .collect();
        if !same.is_empty() {
            return same;
        }
        // By how many letters change, then by how many other words change so.
        let mut found: Vec<(usize, u32, Symbol)> = Vec::new();
        for (stem, ending) in cuts(text) {
            for (other, symbol) in self.lexicon().beginning(stem) {
                let theirs = &other[stem.len()..];
                let letters = theirs.chars().count();
                if letters > ENDING || found.iter().any(|&(.., known)| known == symbol) {
                    continue;
                }
                let alike = self.lexicon().both(ending, theirs);
                if alike >= ALIKE && self.is_known(symbol) {
                    found.push((letters + ending.chars().count(), alike, symbol));
                }
            }
        }
        found.sort_by_key(|&(letters, alike, word)| (letters, std::cmp::Reverse(alike), word));
        found.truncate(RELATIVES);
        found.into_iter().map(|(letters, _, word)| (word, letters)).collect()
    }
}

/// With a capital.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
