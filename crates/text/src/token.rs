//! A token remembers where it stood.

use sylvan_base::Span;

/// A piece of a line. It travels with its translation to the very end, so that what was joined in the input can
/// be joined in the output, and every word can be traced to its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// The bytes of the raw line.
    pub span: Span,
    /// No space precedes it.
    pub joined_left: bool,
    /// No space follows it.
    pub joined_right: bool,
}

impl Token {
    /// What stands there. `line` must be the line that was tokenised.
    pub fn text<'a>(&self, line: &'a str) -> &'a str {
        &line[self.span.range()]
    }
}

/// Makes tokens from pieces, given by their byte ranges in order: two are joined where one ends as the other
/// begins.
pub(crate) fn from_pieces(pieces: &[(usize, usize)]) -> Vec<Token> {
    let joined = |index: usize| index > 0 && index < pieces.len() && pieces[index - 1].1 == pieces[index].0;
    let make = |(index, &(start, end)): (usize, &(usize, usize))| Token {
        span: Span::new(start, end),
        joined_left: joined(index),
        joined_right: joined(index + 1),
    };
    pieces.iter().enumerate().map(make).collect()
}

/// The line again, with single spaces where there was space between tokens.
pub fn join(line: &str, tokens: &[Token]) -> String {
    let mut out = String::with_capacity(line.len());
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 && !token.joined_left {
            out.push(' ');
        }
        out.push_str(token.text(line));
    }
    out
}
