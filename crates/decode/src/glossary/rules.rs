//! The rules of one sentence for its terms.

use sylvan_base::{Symbol, Vocab};
use sylvan_rules::{Rule, Source, TargetSide};
use sylvan_trees::{Child, Tree};

use super::Term;
use super::borrow::Borrowed;
use crate::own::OwnBuilder;

/// Adds rules for the terms of a tree in which each term is one leaf: those borrowed from the table, best first,
/// and those of the bare terms, with the features of the best borrowed one that could stand in their place.
pub(crate) fn own_rules(
    own: &mut OwnBuilder,
    terms: &[Term],
    tree: &Tree,
    borrowed: &[Borrowed],
    vocab: &Vocab,
) {
    for Borrowed { rule, links, features, from, .. } in borrowed {
        own.term(rule, features, links, Some(*from), vocab);
    }
    let mut alone: Vec<Rule> = Vec::new();
    for node in tree.nodes() {
        let [Child::Leaf(position)] = tree.children(node) else { continue };
        let leaf = tree.words()[*position as usize];
        let Some(term) = terms.iter().find(|term| term.leaf == leaf) else { continue };
        for target in &term.targets {
            let source = vec![Source::Open(tree.label(node), 1), Source::Word(leaf)];
            let target = target.iter().map(|&word| TargetSide::Word(word)).collect();
            let rule = Rule::new(source, target).expect("a node over a word is a source side");
            if !alone.contains(&rule) && !borrowed.iter().any(|known| known.rule == rule) {
                alone.push(rule);
            }
        }
    }
    for rule in &alone {
        let same = borrowed.iter().find(|known| known.rule.source() == rule.source());
        own.term(rule, same.map_or(&[], |same| &same.features), &[], None, vocab);
    }
}

/// Adds rules for the terms of a sentence without syntax, in which each term is one word: phrases of that word alone.
pub(crate) fn term_rules(own: &mut OwnBuilder, terms: &[Term], label: Symbol, vocab: &Vocab) {
    let mut made: Vec<Rule> = Vec::new();
    for term in terms {
        for target in &term.targets {
            let source = vec![Source::Open(label, 1), Source::Word(term.leaf)];
            let target = target.iter().map(|&word| TargetSide::Word(word)).collect();
            let rule = Rule::new(source, target).expect("a phrase of one word is a source side");
            if !made.contains(&rule) {
                own.term(&rule, &[], &[], None, vocab);
                made.push(rule);
            }
        }
    }
}
