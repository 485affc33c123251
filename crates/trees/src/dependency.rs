//! Dependency trees: each word has a head word, one word has none.
//!
//! The type also holds half-annotated sentences, because taggers write `_` for heads they do not know; what needs
//! all heads asks [`DependencyTree::is_complete`] first.

use sylvan_base::Symbol;

/// The head of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Head {
    /// The word is the root of the sentence.
    Root,
    /// The word at this 0-based position.
    Word(u32),
    /// Not annotated.
    Missing,
}

/// One word with its columns of CoNLL-U. Columns without a value hold the symbol of `_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependencyWord {
    /// As it stands in the text.
    pub form: Symbol,
    /// Its dictionary form.
    pub lemma: Symbol,
    /// Universal part of speech.
    pub upos: Symbol,
    /// Part of speech of the treebank's own tag set.
    pub xpos: Symbol,
    /// Morphological features.
    pub feats: Symbol,
    /// Its head.
    pub head: Head,
    /// The relation to the head.
    pub deprel: Symbol,
    /// The enhanced graph.
    pub deps: Symbol,
    /// Anything else.
    pub misc: Symbol,
}

/// A line of the file that is no word: a multi-word token (`3-4`) or an empty node (`8.1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraLine {
    /// How many words stand before it.
    pub after: u32,
    /// The line as it was.
    pub text: String,
}

/// A sentence of at least one word. If all heads are known, they form one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyTree {
    words: Vec<DependencyWord>,
    /// Comment lines with their `#`; empty unless they were asked for.
    pub comments: Vec<String>,
    /// Multi-word tokens and empty nodes in file order; empty unless they were asked for.
    pub extra_lines: Vec<ExtraLine>,
}

/// Why heads are no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DependencyError {
    /// No words.
    #[error("a sentence without words")]
    Empty,
    /// A head position that is not in the sentence.
    #[error("word {} has its head outside the sentence", word + 1)]
    OutOfRange {
        /// The 0-based word.
        word: usize,
    },
    /// All heads are given and none is the root.
    #[error("a sentence without a root")]
    NoRoot,
    /// A second root.
    #[error("word {} is a second root, after word {}", word + 1, first + 1)]
    TwoRoots {
        /// The 0-based first root.
        first: usize,
        /// The 0-based second root.
        word: usize,
    },
    /// A word that is above itself.
    #[error("word {} is its own ancestor", word + 1)]
    Cycle {
        /// A 0-based word on the cycle.
        word: usize,
    },
}

impl DependencyError {
    /// The word to blame, if it is one.
    pub fn word(self) -> Option<usize> {
        match self {
            Self::Empty | Self::NoRoot => None,
            Self::OutOfRange { word } | Self::TwoRoots { word, .. } | Self::Cycle { word } => Some(word),
        }
    }
}

impl DependencyTree {
    /// Checks the heads: in range, without cycles, at most one root, and exactly one if no head is missing.
    pub fn new(words: Vec<DependencyWord>) -> Result<Self, DependencyError> {
        check(&words)?;
        Ok(Self { words, comments: Vec::new(), extra_lines: Vec::new() })
    }

    /// The words, left to right.
    pub fn words(&self) -> &[DependencyWord] {
        &self.words
    }

    /// How many words there are, at least 1.
    #[allow(clippy::len_without_is_empty)] // A sentence is never empty.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// The head of the word at a position.
    pub fn head(&self, word: usize) -> Head {
        self.words[word].head
    }

    /// The forms, left to right.
    pub fn forms(&self) -> Vec<Symbol> {
        self.words.iter().map(|word| word.form).collect()
    }

    /// Whether every head is known.
    pub fn is_complete(&self) -> bool {
        self.words.iter().all(|word| word.head != Head::Missing)
    }

    /// The root, if it is known.
    pub fn root(&self) -> Option<usize> {
        self.words.iter().position(|word| word.head == Head::Root)
    }

    /// The dependents of every word in sentence order.
    pub fn dependents(&self) -> Dependents {
        Dependents::of(self.words.iter().map(|word| word.head))
    }

    pub(crate) fn with_heads(&self, heads: &[Head]) -> Self {
        let mut tree = self.clone();
        for (word, &head) in tree.words.iter_mut().zip(heads) {
            word.head = head;
        }
        tree
    }
}

/// The dependents of each word, in one array.
#[derive(Debug, Clone)]
pub struct Dependents {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Dependents {
    /// Sorts words by their heads, which must be in range.
    pub(crate) fn of(heads: impl ExactSizeIterator<Item = Head> + Clone) -> Self {
        let mut starts = vec![0u32; heads.len() + 1];
        for head in heads.clone() {
            if let Head::Word(head) = head {
                starts[head as usize + 1] += 1;
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![0u32; starts.last().map_or(0, |&end| end as usize)];
        for (word, head) in heads.enumerate() {
            if let Head::Word(head) = head {
                let place = &mut next[head as usize];
                all[*place as usize] = word as u32;
                *place += 1;
            }
        }
        Self { starts, all }
    }

    /// The dependents of a word, left to right.
    pub fn get(&self, word: usize) -> &[u32] {
        &self.all[self.starts[word] as usize..self.starts[word + 1] as usize]
    }
}

fn check(words: &[DependencyWord]) -> Result<(), DependencyError> {
    if words.is_empty() {
        return Err(DependencyError::Empty);
    }
    let mut root = None;
    let mut missing = false;
    for (index, word) in words.iter().enumerate() {
        match word.head {
            Head::Missing => missing = true,
            Head::Word(head) if head as usize >= words.len() => {
                return Err(DependencyError::OutOfRange { word: index });
            }
            Head::Word(_) => {}
            Head::Root => match root {
                Some(first) => return Err(DependencyError::TwoRoots { first, word: index }),
                None => root = Some(index),
            },
        }
    }
    // Climb from each word until a root or a word that is known to reach one. Each word is climbed over once.
    // `seen` holds the number of the climb, so meeting one's own climb again is a cycle.
    let mut seen = vec![0u32; words.len()];
    for start in 0..words.len() {
        let climb = start as u32 + 1;
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = climb;
            match words[at].head {
                Head::Word(head) => at = head as usize,
                _ => break,
            }
            if seen[at] == climb {
                return Err(DependencyError::Cycle { word: at });
            }
        }
    }
    if root.is_none() && !missing { Err(DependencyError::NoRoot) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn sentence(heads: &[i64]) -> Result<DependencyTree, DependencyError> {
        let blank = Symbol(0);
        let words = heads.iter().map(|&head| DependencyWord {
            form: blank,
            lemma: blank,
            upos: blank,
            xpos: blank,
            feats: blank,
            head: match head {
                0 => Head::Root,
                -1 => Head::Missing,
                head => Head::Word(head as u32 - 1),
            },
            deprel: blank,
            deps: blank,
            misc: blank,
        });
        DependencyTree::new(words.collect())
    }

    #[test]
    fn heads_must_form_one_tree() {
        assert!(sentence(&[2, 0, 2]).is_ok());
        assert!(sentence(&[-1, -1]).is_ok_and(|tree| !tree.is_complete()));
        assert!(sentence(&[2, -1, 0]).is_ok());
        for (heads, error) in [
            (&[][..], DependencyError::Empty),
            (&[0, 3], DependencyError::OutOfRange { word: 1 }),
            (&[0, 0], DependencyError::TwoRoots { first: 0, word: 1 }),
            (&[0, 2], DependencyError::Cycle { word: 1 }),
            (&[2, 1], DependencyError::Cycle { word: 0 }),
            (&[0, 3, 4, 2], DependencyError::Cycle { word: 1 }),
            (&[-1, 3, 2], DependencyError::Cycle { word: 1 }),
        ] {
            assert_eq!(sentence(heads), Err(error), "{heads:?}");
        }
    }

    #[test]
    fn dependents_are_in_sentence_order() {
        let tree = sentence(&[3, 3, 0, 3, 4]).unwrap();
        let dependents = tree.dependents();
        assert_eq!(dependents.get(2), [0, 1, 3]);
        assert_eq!(dependents.get(3), [4]);
        assert!(dependents.get(0).is_empty());
    }

    #[test]
    fn crossing_arcs_are_not_projective() {
        assert!(sentence(&[2, 0, 2, 3]).unwrap().is_projective());
        assert!(!sentence(&[3, 0, 2]).unwrap().is_projective(), "the root lies under the arc from 3 to 1");
    }
}
