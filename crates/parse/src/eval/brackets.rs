//! Labelled brackets.

use sylvan_base::{Id, Symbol, Vocab};
use sylvan_trees::{Child, NodeId, Tree};

use super::percent;

/// The tags whose words are deleted: those of EVALB's usual parameters for English, the Chinese Treebank's and
/// Universal Dependencies'.
pub const PUNCTUATION: [&str; 9] = [",", ".", ":", "``", "''", "?", "!", "PU", "PUNCT"];
/// Labels of an outermost bracket that does not count.
pub const WRAPPERS: [&str; 4] = ["", "ROOT", "TOP", "S1"];

/// Counts over sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BracketScore {
    /// Sentences compared.
    pub sentences: u64,
    /// Sentences whose brackets are all right.
    pub exact: u64,
    /// Brackets of the right trees.
    pub gold: u64,
    /// Brackets of the parser's trees.
    pub predicted: u64,
    /// Brackets in both.
    pub matched: u64,
    /// Words compared.
    pub words: u64,
    /// Words with the right part of speech.
    pub tags: u64,
    /// Sentences for which the parser gave no tree.
    pub missing: u64,
}

/// Why two trees cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Different numbers of words.
    #[error("{predicted} words instead of {gold}")]
    Length {
        /// Words of the right tree.
        gold: usize,
        /// Words of the parser's tree.
        predicted: usize,
    },
    /// Another word.
    #[error("another word at position {position}")]
    Word {
        /// 1-based.
        position: usize,
    },
}

impl BracketScore {
    /// Compares two trees of the same sentence, cleaned of traces and function tags, with one vocabulary.
    pub fn add(&mut self, gold: &Tree, predicted: Option<&Tree>, vocab: &Vocab) -> Result<(), Mismatch> {
        if let Some(tree) = predicted {
            same_words(gold, tree)?;
        }
        let tags = tags(gold);
        let is_deleted = |tag: &Option<Symbol>| tag.is_some_and(|tag| PUNCTUATION.contains(&vocab.text(tag)));
        // How many words that count stand before each position.
        let mut before = vec![0u32];
        for tag in &tags {
            before.push(before[before.len() - 1] + u32::from(!is_deleted(tag)));
        }
        let gold_brackets = brackets(gold, &before, vocab);
        let predicted_brackets = predicted.map_or_else(Vec::new, |tree| brackets(tree, &before, vocab));
        let matched = common(&gold_brackets, &predicted_brackets);
        self.sentences += 1;
        self.gold += gold_brackets.len() as u64;
        self.predicted += predicted_brackets.len() as u64;
        self.matched += matched as u64;
        let all = matched == gold_brackets.len() && matched == predicted_brackets.len();
        self.exact += u64::from(all && predicted.is_some());
        self.missing += u64::from(predicted.is_none());
        self.words += tags.len() as u64;
        if let Some(tree) = predicted {
            let found = self::tags(tree);
            self.tags += tags.iter().zip(&found).filter(|(gold, found)| gold == found).count() as u64;
        }
        Ok(())
    }

    /// Matched of the parser's brackets, per cent.
    pub fn precision(&self) -> f64 {
        percent(self.matched, self.predicted)
    }

    /// Matched of the right brackets, per cent.
    pub fn recall(&self) -> f64 {
        percent(self.matched, self.gold)
    }

    /// The harmonic mean of precision and recall, per cent.
    pub fn f1(&self) -> f64 {
        percent(2 * self.matched, self.gold + self.predicted)
    }

    /// Sentences without a mistake, per cent.
    pub fn exact_match(&self) -> f64 {
        percent(self.exact, self.sentences)
    }

    /// Words with the right part of speech, per cent of all words.
    pub fn tag_accuracy(&self) -> f64 {
        percent(self.tags, self.words)
    }
}

/// The part of speech of each word: the label right above it, if that has no other children.
pub(crate) fn tags(tree: &Tree) -> Vec<Option<Symbol>> {
    let mut tags = vec![None; tree.words().len()];
    for node in tree.nodes() {
        if let &[Child::Leaf(word)] = tree.children(node) {
            tags[word as usize] = Some(tree.label(node));
        }
    }
    tags
}

fn same_words(gold: &Tree, predicted: &Tree) -> Result<(), Mismatch> {
    let (gold, predicted) = (gold.words(), predicted.words());
    if gold.len() != predicted.len() {
        return Err(Mismatch::Length { gold: gold.len(), predicted: predicted.len() });
    }
    match gold.iter().zip(predicted).position(|(gold, predicted)| gold != predicted) {
        Some(at) => Err(Mismatch::Word { position: at + 1 }),
        None => Ok(()),
    }
}

/// The brackets that count, sorted: first word, word after the last, label.
fn brackets(tree: &Tree, before: &[u32], vocab: &Vocab) -> Vec<(u32, u32, Symbol)> {
    let is_wrapper =
        |node: NodeId| node.index() + 1 == tree.len() && WRAPPERS.contains(&vocab.text(tree.label(node)));
    let mut brackets: Vec<(u32, u32, Symbol)> = tree
        .nodes()
        .filter(|&node| !matches!(tree.children(node), [Child::Leaf(_)]) && !is_wrapper(node))
        .map(|node| {
            let span = tree.span(node);
            (before[span.start as usize], before[span.end as usize], tree.label(node))
        })
        .filter(|&(start, end, _)| start < end)
        .collect();
    brackets.sort_unstable();
    brackets
}

/// How many brackets two sorted lists share.
fn common<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, count) = (i + 1, j + 1, count + 1),
        }
    }
    count
}
