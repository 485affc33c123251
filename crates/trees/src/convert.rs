//! Constituents from dependencies, and dependencies from constituents.
//!
//! *From dependencies*: every word becomes a node labelled with its part of speech; a word with dependents also
//! becomes a phrase, flat, over that node and the phrases of its dependents (the projection of Collins 1999 for
//! Czech). Crossing arcs are [lifted](crate::projective) first, so the words keep their order.
//!
//! ```text
//! he <-nsubj- sees -obj-> dogs -amod-> big        (VERBP (PRON he) (VERB sees) (NOUNP (ADJ big) (NOUN dogs)))
//! ```
//!
//! *To dependencies*: the head word of each child that is not the head hangs below the head word of the parent
//! (Magerman 1995). The relation is the label of the highest node that the dependent is the head of.

use sylvan_base::{Symbol, Vocab};

use crate::dependency::{DependencyTree, DependencyWord, Head};
use crate::heads::HeadRules;
use crate::projective::projective;
use crate::{Child, Tree, TreeBuilder};

/// Which part of speech labels the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tags {
    /// The universal one; the treebank's own where there is none (`_`).
    #[default]
    Universal,
    /// The treebank's own; the universal one where there is none.
    Own,
}

/// What labels the phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phrases {
    /// The part of speech of the head word and a `P`: `NOUNP`.
    #[default]
    Tag,
    /// The relation of the head word to its own head: `nsubj`; of the root, usually `root`.
    Relation,
}

/// The constituents of a dependency tree; `None` if a head is missing.
pub fn to_constituents(
    tree: &DependencyTree,
    tags: Tags,
    phrases: Phrases,
    vocab: &mut Vocab,
) -> Option<Tree> {
    if !tree.is_complete() {
        return None;
    }
    let (tree, _) = projective(tree);
    let root = tree.root()?;
    let dependents = tree.dependents();
    let none = vocab.intern("_");
    let tag = |word: usize| {
        let word = &tree.words()[word];
        let (wanted, other) = match tags {
            Tags::Universal => (word.upos, word.xpos),
            Tags::Own => (word.xpos, word.upos),
        };
        if wanted == none { other } else { wanted }
    };
    enum Task {
        Phrase(usize),
        Word(usize),
        Close,
    }
    let mut builder = TreeBuilder::new();
    let mut tasks = vec![Task::Phrase(root)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Close => builder.close(),
            Task::Word(word) => {
                builder.open(tag(word));
                builder.leaf(tree.words()[word].form);
                builder.close();
            }
            Task::Phrase(word) => {
                let below = dependents.get(word);
                if below.is_empty() {
                    tasks.push(Task::Word(word));
                    continue;
                }
                builder.open(match phrases {
                    Phrases::Relation => tree.words()[word].deprel,
                    Phrases::Tag => {
                        let label = format!("{}P", vocab.text(tag(word)));
                        vocab.intern(&label)
                    }
                });
                tasks.push(Task::Close);
                // In sentence order from the top of the stack: the dependents before the word go on last.
                let before = below.partition_point(|&dependent| (dependent as usize) < word);
                tasks.extend(below[before..].iter().rev().map(|&dependent| Task::Phrase(dependent as usize)));
                tasks.push(Task::Word(word));
                tasks.extend(below[..before].iter().rev().map(|&dependent| Task::Phrase(dependent as usize)));
            }
        }
    }
    Some(builder.finish().expect("every phrase holds its word"))
}

/// The dependencies of a tree. The treebank's own part of speech of a word is the label right above it, unless that
/// node has other children.
pub fn to_dependencies(tree: &Tree, rules: &HeadRules, vocab: &mut Vocab) -> DependencyTree {
    let heads = rules.heads(tree, vocab);
    let none = vocab.intern("_");
    let relation = vocab.intern("root");
    let blank = |form: &Symbol| DependencyWord {
        form: *form,
        lemma: none,
        upos: none,
        xpos: none,
        feats: none,
        head: Head::Root,
        deprel: relation,
        deps: none,
        misc: none,
    };
    let mut words: Vec<DependencyWord> = tree.words().iter().map(blank).collect();
    for node in tree.nodes() {
        let head = heads.word[node];
        for (index, &child) in tree.children(node).iter().enumerate() {
            let (word, relation) = match child {
                Child::Leaf(position) => (position, none),
                Child::Node(below) => (heads.word[below], tree.label(below)),
            };
            if index != heads.child[node] as usize {
                words[word as usize].head = Head::Word(head);
                words[word as usize].deprel = relation;
            }
        }
        if let &[Child::Leaf(position)] = tree.children(node) {
            words[position as usize].xpos = tree.label(node);
        }
    }
    DependencyTree::new(words).expect("heads lead down from the root to every word once")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conllu::{self, Columns};
    use crate::penn::{Brackets, parse_line};

    fn block(rows: &[(&str, &str, &str, u32, &str)]) -> String {
        let row = |(index, (form, upos, xpos, head, relation)): (usize, &(&str, &str, &str, u32, &str))| {
            format!("{}\t{form}\t_\t{upos}\t{xpos}\t_\t{head}\t{relation}\t_\t_\n", index + 1)
        };
        rows.iter().enumerate().map(row).collect()
    }

    #[test]
    fn a_word_with_dependents_becomes_a_flat_phrase() {
        let mut vocab = Vocab::new();
        let text = block(&[
            ("he", "PRON", "PRP", 2, "nsubj"),
            ("sees", "VERB", "VBZ", 0, "root"),
            ("big", "ADJ", "_", 4, "amod"),
            ("dogs", "NOUN", "NNS", 2, "obj"),
        ]);
        let tree = conllu::parse_block(&text, Columns::Basic, &mut vocab).unwrap().unwrap();
        let mut line =
            |tags, phrases| to_constituents(&tree, tags, phrases, &mut vocab).unwrap().to_penn(&vocab);
        assert_eq!(
            line(Tags::Universal, Phrases::Tag),
            "(VERBP (PRON he) (VERB sees) (NOUNP (ADJ big) (NOUN dogs)))"
        );
        assert_eq!(
            line(Tags::Own, Phrases::Relation),
            "(root (PRP he) (VBZ sees) (obj (ADJ big) (NNS dogs)))"
        );
    }

    #[test]
    fn crossing_arcs_keep_the_word_order() {
        let mut vocab = Vocab::new();
        // "A hearing is scheduled on the issue": on-issue hangs below hearing, across the verb.
        let text = block(&[
            ("A", "D", "_", 2, "det"),
            ("hearing", "N", "_", 4, "nsubj"),
            ("is", "X", "_", 4, "aux"),
            ("scheduled", "V", "_", 0, "root"),
            ("issue", "N", "_", 2, "nmod"),
        ]);
        let tree = conllu::parse_block(&text, Columns::Basic, &mut vocab).unwrap().unwrap();
        let tree = to_constituents(&tree, Tags::Universal, Phrases::Tag, &mut vocab).unwrap();
        assert_eq!(tree.to_penn(&vocab), "(VP (NP (D A) (N hearing)) (X is) (V scheduled) (N issue))");
    }

    #[test]
    fn head_words_become_heads() {
        let mut vocab = Vocab::new();
        let line = "(S (NP-SBJ (PRP he)) (VP (VBZ sees) (NP (JJ big) (NNS dogs))) (. .))";
        let tree = parse_line(line, Brackets::Keep, &mut vocab).unwrap().unwrap();
        let tree = to_dependencies(&tree, &HeadRules::english(), &mut vocab);
        let mut out = String::new();
        conllu::write(&tree, &vocab, &mut out);
        let expected = block(&[
            ("he", "_", "PRP", 2, "NP-SBJ"),
            ("sees", "_", "VBZ", 0, "root"),
            ("big", "_", "JJ", 4, "JJ"),
            ("dogs", "_", "NNS", 2, "NP"),
            (".", "_", ".", 2, "."),
        ]);
        assert_eq!(out, expected + "\n");
    }
}
