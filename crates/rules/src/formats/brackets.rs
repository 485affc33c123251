//! Source trees between brackets: cdec's `(VP (VB show) [NP])` and Moses' `[VP [VB show] [NP]]`.
//!
//! A label in square brackets alone is a variable; variables are numbered from left to right.

use sylvan_base::Vocab;

use super::line::{Parsed, fault_at, push_escaped, unescaped};
use crate::Source;

/// What a tree is written with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brackets {
    pub(super) open: char,
    pub(super) close: char,
    /// Characters that are escaped in words and labels.
    pub(super) kept: &'static str,
}

impl Brackets {
    pub(super) fn write(self, source: &[Source], vocab: &Vocab, line: &mut String) {
        // Children still to be written, per open node.
        let mut open: Vec<u32> = Vec::new();
        for (index, token) in source.iter().enumerate() {
            if index > 0 {
                line.push(' ');
            }
            match *token {
                Source::Open(label, children) => {
                    line.push(self.open);
                    push_escaped(line, vocab.text(label), self.kept);
                    open.push(children + 1);
                }
                Source::Word(word) => push_escaped(line, vocab.text(word), self.kept),
                Source::Var(label) => {
                    line.push('[');
                    push_escaped(line, vocab.text(label), self.kept);
                    line.push(']');
                }
            }
            while let Some(left) = open.last_mut() {
                *left -= 1;
                if *left > 0 {
                    break;
                }
                open.pop();
                line.push(self.close);
            }
        }
    }

    /// Reads a tree; `text` is a slice of `line`.
    pub(super) fn parse(self, line: &str, text: &str, vocab: &mut Vocab) -> Parsed<Vec<Source>> {
        let mut source: Vec<Source> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix(self.close) {
                let Some(node) = open.pop() else { return Err(fault_at(line, rest, "balanced brackets")) };
                if let Source::Open(label, 0) = source[node] {
                    // With square brackets for nodes, one without children is a variable.
                    if self.open != '[' {
                        return Err(fault_at(line, rest, "a word or a node before the bracket closes"));
                    }
                    source[node] = Source::Var(label);
                }
                rest = after.trim_start();
                continue;
            }
            if !source.is_empty() && open.is_empty() {
                return Err(fault_at(line, rest, "the end of the source tree"));
            }
            if let Some(Source::Open(_, children)) = open.last().map(|&node| &mut source[node]) {
                *children += 1;
            }
            let is_node = rest.starts_with(self.open);
            if is_node {
                rest = rest[self.open.len_utf8()..].trim_start();
            }
            let stop = |c: char| c.is_ascii_whitespace() || c == self.open || c == self.close;
            let (token, after) = rest.split_at(rest.find(stop).unwrap_or(rest.len()));
            if token.is_empty() {
                return Err(fault_at(line, rest, "a label or a word"));
            }
            let variable = token.strip_prefix('[').and_then(|token| token.strip_suffix(']'));
            if is_node {
                open.push(source.len());
                source.push(Source::Open(vocab.intern(&unescaped(token)), 0));
            } else if let Some(label) = variable.filter(|label| !label.is_empty()) {
                source.push(Source::Var(vocab.intern(&unescaped(label))));
            } else {
                source.push(Source::Word(vocab.intern(&unescaped(token))));
            }
            rest = after.trim_start();
        }
        if open.is_empty() { Ok(source) } else { Err(fault_at(line, text, "balanced brackets")) }
    }
}
