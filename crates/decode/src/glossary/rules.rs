//! The rules of one sentence for its terms.

use sylvan_base::{Symbol, Vocab};
use sylvan_rules::{Grammar, GrammarBuilder, Rule, RuleCount, RuleId, Source, TargetSide};
use sylvan_trees::{Child, Tree};

use super::Term;
use super::borrow::Borrowed;

/// Rules for the terms of a tree in which each term is one leaf: those borrowed from the table, best first,
/// and those of the bare terms, with the features of the best borrowed one that could stand in their place.
/// The second list says which rule of the table each was made from.
pub(crate) fn own_rules(
    terms: &[Term],
    tree: &Tree,
    borrowed: &[Borrowed],
    table: &Grammar,
    vocab: &Vocab,
) -> (Grammar, Vec<Option<RuleId>>) {
    let mut builder = GrammarBuilder::new(table.feature_names().iter().map(String::as_str));
    let mut from = Vec::new();
    for Borrowed { rule, links, features, from: id, .. } in borrowed {
        builder.add_counted(rule, features, RuleCount::default(), links, vocab);
        from.push(Some(*id));
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
        let none = || vec![0.0; table.feature_names().len()];
        builder.add(rule, &same.map_or_else(none, |same| same.features.clone()), vocab);
        from.push(None);
    }
    (builder.finish(), from)
}

/// Rules for the terms of a sentence without syntax, in which each term is one word: phrases of that word alone. The
/// second list is as for [`own_rules`].
pub(crate) fn term_rules(
    terms: &[Term],
    label: Symbol,
    table: &Grammar,
    vocab: &Vocab,
) -> (Grammar, Vec<Option<RuleId>>) {
    let mut builder = GrammarBuilder::new(table.feature_names().iter().map(String::as_str));
    let mut made: Vec<Rule> = Vec::new();
    for term in terms {
        for target in &term.targets {
            let source = vec![Source::Open(label, 1), Source::Word(term.leaf)];
            let target = target.iter().map(|&word| TargetSide::Word(word)).collect();
            let rule = Rule::new(source, target).expect("a phrase of one word is a source side");
            if !made.contains(&rule) {
                builder.add(&rule, &vec![0.0; table.feature_names().len()], vocab);
                made.push(rule);
            }
        }
    }
    (builder.finish(), vec![None; made.len()])
}
