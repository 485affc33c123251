//! Writes pairs as text: word lines, bracketed trees, alignments, CoNLL-U.

use sylvan_base::Symbol;

use crate::derive::Derivation;
use crate::grammar::{Grammar, OPEN_BIT, TreeOp};
use crate::layout::Layout;
use crate::names::{self, write_number};

/// Writes a source word.
fn source_word(grammar: &Grammar, word: u32, out: &mut Vec<u8>) {
    if word & OPEN_BIT == 0 {
        out.extend_from_slice(grammar.source_words.text(Symbol(word)).as_bytes());
    } else {
        names::write(word, false, out);
    }
}

/// The source words, separated by spaces.
pub(crate) fn source(grammar: &Grammar, words: &[u32], out: &mut Vec<u8>) {
    for (at, &word) in words.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        source_word(grammar, word, out);
    }
}

/// Whether the article before `word` is "an".
fn takes_an(grammar: &Grammar, next: Option<&u32>) -> bool {
    // Open names begin with a consonant, and no rule puts an article before a number.
    next.is_some_and(|&next| next & OPEN_BIT == 0 && grammar.words[next as usize].vowel)
}

/// The target words, separated by spaces; the article is `a` or `an` by the word after it.
pub(crate) fn target(grammar: &Grammar, words: &[u32], out: &mut Vec<u8>) {
    for (at, &word) in words.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        if word & OPEN_BIT != 0 {
            names::write(word, true, out);
        } else {
            out.extend_from_slice(grammar.form(word).as_bytes());
            if grammar.words[word as usize].article && takes_an(grammar, words.get(at + 1)) {
                out.push(b'n');
            }
        }
    }
}

/// The source tree in one line of brackets. `stack` is scratch space.
pub(crate) fn tree(
    grammar: &Grammar,
    derivation: &Derivation,
    words: &[u32],
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<u8>,
) {
    stack.clear();
    stack.push((0, 0));
    let mut word = 0;
    let mut first = true;
    while let Some(top) = stack.last_mut() {
        let node = &derivation.nodes[top.0 as usize];
        let rule = &grammar.rules[node.rule as usize];
        let Some(op) = grammar.ops[rule.ops.indices()].get(top.1 as usize) else {
            stack.pop();
            continue;
        };
        top.1 += 1;
        match *op {
            TreeOp::Open(label) => {
                if !first {
                    out.push(b' ');
                }
                first = false;
                out.push(b'(');
                out.extend_from_slice(grammar.labels.text(Symbol(label)).as_bytes());
            }
            // Words come in source order, so a running count finds them.
            TreeOp::Word => {
                out.push(b' ');
                source_word(grammar, words[word], out);
                word += 1;
            }
            TreeOp::Slot(slot) => {
                let child = derivation.children[node.children as usize + usize::from(slot)];
                stack.push((child, 0));
            }
            TreeOp::Close => out.push(b')'),
        }
    }
}

/// Links as `i-j` (sure) and `ipj` (possible), sorted.
pub(crate) fn alignment(layout: &Layout, out: &mut Vec<u8>) {
    for (at, &(source, target, sure)) in layout.links.iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        write_number(source, out);
        out.push(if sure { b'-' } else { b'p' });
        write_number(target, out);
    }
}

/// A CoNLL-U block with its comments and the blank line at its end.
pub(crate) fn conllu(grammar: &Grammar, layout: &Layout, index: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"# sent_id = ");
    out.extend_from_slice((index + 1).to_string().as_bytes());
    out.extend_from_slice(b"\n# text = ");
    target(grammar, &layout.target, out);
    out.push(b'\n');
    for (at, &word) in layout.target.iter().enumerate() {
        write_number(at as u32 + 1, out);
        if word & OPEN_BIT != 0 {
            open_columns(word, out);
        } else {
            let info = &grammar.words[word as usize];
            let columns = &grammar.arena.as_bytes()[info.columns.indices()];
            if info.article && takes_an(grammar, layout.target.get(at + 1)) {
                // The form is `an`, the lemma stays `a`.
                out.extend_from_slice(b"\tan");
                out.extend_from_slice(&columns[2..]);
            } else {
                out.extend_from_slice(columns);
            }
        }
        let (head, relation) = layout.arcs[at];
        let root = head as usize == at;
        write_number(if root { 0 } else { head + 1 }, out);
        out.push(b'\t');
        out.extend_from_slice(grammar.relations.text(Symbol(relation)).as_bytes());
        out.extend_from_slice(b"\t_\t_\n");
    }
    out.push(b'\n');
}

/// FORM to FEATS of a word of the open vocabulary.
fn open_columns(word: u32, out: &mut Vec<u8>) {
    for _ in 0..2 {
        out.push(b'\t');
        names::write(word, true, out);
    }
    let tags: &[u8] = if names::is_number(word) { b"\tNUM\tCD\t_\t" } else { b"\tPROPN\tNNP\t_\t" };
    out.extend_from_slice(tags);
}
