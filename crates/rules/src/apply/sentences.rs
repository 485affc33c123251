//! Which flat source sides can match in a sentence.
//!
//! A word matches itself, a variable one word or more. The trie is walked from every position; where a walk began does
//! not matter for what it can still match, so each pair of a place in the trie and a position is met once.

use sylvan_base::{HashSet, Id, Symbol};

use super::matching::{Place, step};
use crate::{Filter, Grammar, SourceId};

impl Filter {
    /// Marks the source sides of phrase pairs or Hiero rules that match somewhere in a sentence. Without a first call,
    /// all rules are kept.
    pub fn mark_sentence(&mut self, grammar: &Grammar, words: &[Symbol]) {
        let marks = self.marks(grammar);
        each_source(grammar, words, |source| {
            if let Some(mark) = marks.get_mut(source.index()) {
                *mark = true;
            }
        });
    }
}

/// Calls `found` with every source side that matches; with some more than once.
fn each_source(grammar: &Grammar, words: &[Symbol], mut found: impl FnMut(SourceId)) {
    let tokens: Vec<u32> = words.iter().map(|&word| grammar.tokens.word(word)).collect();
    let mut seen: HashSet<(Place, usize)> = HashSet::default();
    let mut open: Vec<(Place, usize)> = Vec::new();
    for &[label, children, token] in grammar.tokens.opens.iter() {
        if children as usize > words.len() {
            continue;
        }
        let Some(first) = step(grammar, Place::Trie(0), token) else { continue };
        let variable = grammar.tokens.variable(Symbol(label));
        seen.clear();
        open.extend((0..words.len()).map(|start| (first, start)));
        while let Some((place, at)) = open.pop() {
            if let Place::Tail { source, left: 0, .. } = place {
                found(source);
                continue;
            }
            if at == words.len() || !seen.insert((place, at)) {
                continue;
            }
            open.extend(step(grammar, place, tokens[at]).map(|next| (next, at + 1)));
            if let Some(next) = step(grammar, place, variable) {
                open.extend((at + 1..=words.len()).map(|end| (next, end)));
            }
        }
    }
}
