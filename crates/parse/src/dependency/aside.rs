//! Words that are put aside before the parse and attached after it: punctuation.
//!
//! Where a comma belongs follows from the tree of the words; on the stack it only hides them from each other (Ma,
//! Zhang & Zhu 2014). So the parser gets the sentence without it, but sees as a *mark* what was put aside between two
//! words. The part of speech decides which words these are: a tag is put aside when nearly all its words in training
//! were punctuation.
//!
//! ```text
//! words, tags --divide--> kept words with marks --parser--> tree of the kept words --attach--> whole tree
//! ```

use sylvan_base::hash::fold;

use super::system::{Atom, Sentence};
use crate::lexicon::Word;
use crate::machine::Rows;
use crate::machine::table::Table;
use crate::tags::TagSet;

/// What is put aside and how it is attached.
#[derive(Debug, Clone)]
pub(crate) struct Aside {
    /// Per tag the relation of its words, plus 1; 0 for tags that are kept.
    pub(crate) relations: Vec<u8>,
    pub(crate) rows: Rows,
}

/// A sentence divided into what is parsed and what is put aside.
#[derive(Debug, Clone, Default)]
pub(crate) struct Divided {
    /// The positions of the words that are parsed.
    pub(crate) kept: Vec<u32>,
    /// What was put aside before each kept word, and after the last; 0: nothing.
    pub(crate) marks: Vec<u32>,
}

impl Aside {
    /// Nothing is put aside.
    pub(crate) fn nothing() -> Self {
        Self { relations: Vec::new(), rows: Rows::average(&[&Table::new()], 1, 0.0, 0) }
    }

    /// The relation of words with a tag, if they are put aside.
    pub(crate) fn relation(&self, tag: u8) -> Option<u8> {
        self.relations.get(usize::from(tag)).and_then(|relation| relation.checked_sub(1))
    }

    /// Divides a sentence. Where nothing would be left, everything is kept.
    pub(crate) fn divide(&self, words: &[Word], tags: &[u8]) -> Divided {
        let keep = |tag: &u8| self.relation(*tag).is_none();
        let all = !tags.iter().any(keep);
        let mut divided = Divided::default();
        let mut mark = 0;
        for (at, (word, tag)) in words.iter().zip(tags).enumerate() {
            if all || keep(tag) {
                divided.kept.push(at as u32);
                divided.marks.push(mark);
                mark = 0;
            } else {
                mark = (fold(u64::from(mark), word.lower) >> 32) as u32 | 1;
            }
        }
        divided.marks.push(mark);
        divided
    }
}

impl Divided {
    /// The kept words as the parser sees them.
    pub(crate) fn sentence(&self, words: &[Word], tags: &[u8], set: &TagSet) -> Sentence {
        let atom = |&at: &u32| {
            let tag = tags[at as usize];
            Atom::new(&words[at as usize], tag, set.group(tag))
        };
        Sentence::new(self.kept.iter().map(atom).collect(), self.marks.clone())
    }

    /// The kept words' share of something that all words have.
    pub(crate) fn of<T: Copy>(&self, all: &[T]) -> Vec<T> {
        self.kept.iter().map(|&at| all[at as usize]).collect()
    }

    /// The tree of the kept words within the tree of all: children of a word that is put aside go to its head.
    pub(crate) fn reduce(&self, heads: &[Option<u32>]) -> Vec<Option<u32>> {
        let mut place = vec![None; heads.len()];
        for (index, &at) in self.kept.iter().enumerate() {
            place[at as usize] = Some(index as u32);
        }
        let mut root = None;
        let mut reduced = Vec::with_capacity(self.kept.len());
        for (index, &at) in self.kept.iter().enumerate() {
            let mut head = heads[at as usize];
            // A tree has no cycles, so this ends at a kept word or above the root.
            while let Some(above) = head.filter(|&above| place[above as usize].is_none()) {
                head = heads[above as usize];
            }
            // There is one root: of several that are left, the first.
            reduced.push(match head.and_then(|head| place[head as usize]) {
                None => {
                    let first = root;
                    root = root.or(Some(index as u32));
                    first
                }
                head => head,
            });
        }
        reduced
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::system::tests::random_tree;
    use super::*;
    use crate::lexicon::Lexicon;
    use sylvan_base::Rng;

    pub(crate) const COMMA: u8 = 1;

    pub(crate) fn aside() -> Aside {
        Aside { relations: vec![0, 1], ..Aside::nothing() }
    }

    /// Words with commas between some of them, and which are commas.
    pub(crate) fn sentence(rng: &mut Rng, length: usize) -> (Vec<Word>, Vec<u8>) {
        let lexicon = Lexicon::build([].into_iter());
        let tags: Vec<u8> = (0..length).map(|_| if rng.chance(0.3) { COMMA } else { 0 }).collect();
        let words = tags.iter().map(|&tag| lexicon.word(if tag == COMMA { "," } else { "word" }));
        (words.collect(), tags)
    }

    #[test]
    fn what_is_kept_of_a_tree_is_a_tree() {
        let mut rng = Rng::new(1);
        for round in 0..300 {
            let (words, tags) = sentence(&mut rng, 1 + round % 15);
            let tree = random_tree(words.len(), &mut rng);
            let divided = aside().divide(&words, &tags);
            assert!(!divided.kept.is_empty());
            assert_eq!(divided.marks.len(), divided.kept.len() + 1);
            let heads = divided.reduce(&tree);
            assert_eq!(heads.iter().filter(|head| head.is_none()).count(), 1);
            assert!(super::super::system::oracle(&heads).is_some(), "{tree:?} {tags:?} {heads:?}");
            // Where the head of a kept word was kept, it still is its head.
            for (index, &at) in divided.kept.iter().enumerate() {
                let head = tree[at as usize].filter(|head| divided.kept.contains(head));
                if head.is_some() {
                    assert_eq!(heads[index].map(|head| divided.kept[head as usize]), head);
                }
            }
        }
    }
}
