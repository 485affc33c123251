//! The rules of mteval-v14's international mode as sacreBLEU has them: punctuation is cut off unless digits stand
//! on both of its sides, symbols are always cut off.
//!
//! A full stop after a number at the very end stays with the number: the second rule needs a character after
//! it. The original does the same, and scores must agree.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::scratch::Scratch;

/// Cuts a line; the words stand in `scratch`, separated by spaces.
pub(super) fn cut(line: &str, scratch: &mut Scratch) {
    scratch.from.clear();
    scratch.from.push_str(line);
    scratch.pass(|text, out| {
        let mut chars = text.chars().peekable();
        while let Some(first) = chars.next() {
            out.push(first);
            let found = |&second: &char| class(second) == Class::Punctuation && class(first) != Class::Number;
            if let Some(second) = chars.next_if(found) {
                out.extend([' ', second, ' ']);
            }
        }
    });
    scratch.pass(|text, out| {
        let mut chars = text.chars().peekable();
        while let Some(first) = chars.next() {
            let found = |&second: &char| class(first) == Class::Punctuation && class(second) != Class::Number;
            match chars.next_if(found) {
                Some(second) => out.extend([' ', first, ' ', second]),
                None => out.push(first),
            }
        }
    });
    scratch.pass(|text, out| {
        for c in text.chars() {
            if class(c) == Class::Symbol { out.extend([' ', c, ' ']) } else { out.push(c) }
        }
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    Punctuation,
    Symbol,
    Other,
}

fn class(c: char) -> Class {
    // Most text is ASCII, and the cost of this tokeniser is a table look-up per character.
    match c {
        '0'..='9' => Class::Number,
        'a'..='z' | 'A'..='Z' | '\0'..=' ' | '\u{7f}' => Class::Other,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => Class::Symbol,
        '!'..='~' => Class::Punctuation,
        _ => match c.general_category_group() {
            GeneralCategoryGroup::Number => Class::Number,
            GeneralCategoryGroup::Punctuation => Class::Punctuation,
            GeneralCategoryGroup::Symbol => Class::Symbol,
            _ => Class::Other,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tokenizer;

    #[test]
    fn the_shortcut_for_ascii_is_the_table() {
        for c in '\0'..='\u{7f}' {
            let expected = match c.general_category_group() {
                GeneralCategoryGroup::Number => Class::Number,
                GeneralCategoryGroup::Punctuation => Class::Punctuation,
                GeneralCategoryGroup::Symbol => Class::Symbol,
                _ => Class::Other,
            };
            assert!(class(c) == expected, "{c:?}");
        }
    }

    #[test]
    fn punctuation_goes_unless_between_digits() {
        let check =
            |line: &str, expected: &str| assert_eq!(Tokenizer::Intl.tokenize(line), expected, "{line}");
        check("It's 3.5% of €1,000 (about 7-8).", "It ' s 3.5 % of € 1,000 ( about 7-8 ) .");
        check("In 1984.", "In 1984.");
        check("In 1984. Yes…", "In 1984 . Yes …");
        check("«a» b–c", "« a » b – c");
    }
}
