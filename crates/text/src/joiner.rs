//! Tokens as text that loses nothing: a mark in front of every token that is joined to the one before.
//!
//! A mark that is part of the text itself is doubled, so that the way back is exact for any line.

use crate::Token;

/// The mark.
pub const MARK: char = '￭';

/// The tokens with one space between them and the mark in front of joined ones.
pub fn mark(line: &str, tokens: &[Token]) -> String {
    let mut out = String::with_capacity(2 * line.len());
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        if token.joined_left {
            out.push(MARK);
        }
        let text = token.text(line);
        let own = text.chars().take_while(|&c| c == MARK).count();
        out.extend(std::iter::repeat_n(MARK, own));
        out.push_str(text);
    }
    out
}

/// The line from which [`mark`] made this, with single spaces.
pub fn unmark(marked: &str) -> String {
    let mut out = String::with_capacity(marked.len());
    for word in marked.split_ascii_whitespace() {
        let marks = word.chars().take_while(|&c| c == MARK).count();
        // Half of them are text; the one that is left over, if any, joins.
        if marks % 2 == 0 && !out.is_empty() {
            out.push(' ');
        }
        out.extend(std::iter::repeat_n(MARK, marks / 2));
        out.push_str(&word[marks * MARK.len_utf8()..]);
    }
    out
}
