//! Rules that translate a word alone.

use sylvan_base::Symbol;

use super::matching::{Place, step};
use crate::{Grammar, RuleId};

/// Calls `found` with each rule whose source side is one word under one label, and with that label. Labels come in the
/// order of their symbols.
pub fn each_alone(grammar: &Grammar, word: Symbol, mut found: impl FnMut(Symbol, RuleId)) {
    let token = grammar.tokens.word(word);
    for &[label, children, open] in grammar.tokens.opens.iter() {
        if children != 1 {
            continue;
        }
        let place = step(grammar, Place::Trie(0), open).and_then(|place| step(grammar, place, token));
        if let Some(Place::Tail { source, at, left: 0 }) = place {
            grammar.each_rule(source, grammar.hot_at(at), |rule| found(Symbol(label), rule.id));
        }
    }
}
