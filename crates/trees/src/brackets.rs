//! Codes inside words, and how messages quote text.
//!
//! The Penn Treebank writes a word `(` as `-LRB-` (left round bracket), and likewise for square (`S`) and curly
//! (`C`) ones; a quotation mark as two back-ticks or two apostrophes; and a back-slash in front of `/` and `*`. Only
//! round brackets would break the format, so only they are escaped on writing.

use std::borrow::Cow;

const NAMES: [(&str, &str); 6] =
    [("-LRB-", "("), ("-RRB-", ")"), ("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}")];

/// Replaces all six bracket names by the brackets, also inside a longer word: `friend-LRB-s-RRB-`.
pub fn unescape(word: &str) -> Cow<'_, str> {
    if !word.contains("B-") {
        return Cow::Borrowed(word);
    }
    let mut text = String::with_capacity(word.len());
    let mut rest = word;
    // One pass from the left, so that brackets that end up side by side make no new name.
    while let Some(dash) = rest.find('-') {
        let (before, from) = rest.split_at(dash);
        text.push_str(before);
        if let Some((name, bracket)) = NAMES.iter().find(|(name, _)| from.starts_with(name)) {
            text.push_str(bracket);
            rest = &from[name.len()..];
        } else {
            text.push('-');
            rest = &from[1..];
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// What people write for a word of a treebank: brackets, quotation marks, slashes and asterisks as they are.
///
/// ```
/// use sylvan_trees::surface;
/// assert_eq!(["-LRB-", "``", "and\\/or", "it"].map(surface), ["(", "\"", "and/or", "it"]);
/// ```
pub fn surface(word: &str) -> Cow<'_, str> {
    if matches!(word, "``" | "''") {
        return Cow::Borrowed("\"");
    }
    let word = unescape(word);
    if !word.contains('\\') {
        return word;
    }
    Cow::Owned(word.replace("\\/", "/").replace("\\*", "*"))
}

/// Makes any string one token of the bracket format: round brackets become `-LRB-` and `-RRB-`, white space that
/// would split the token becomes a no-break space, and the empty string `_`.
pub fn escape(word: &str) -> Cow<'_, str> {
    replace(word, |c| matches!(c, '(' | ')') || is_space(c))
}

/// Makes any string one token between white space: as [`escape`], but brackets stay.
pub(crate) fn one_token(word: &str) -> Cow<'_, str> {
    replace(word, is_space)
}

fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\u{b}'
}

fn replace(word: &str, splits: impl Fn(char) -> bool) -> Cow<'_, str> {
    if word.is_empty() {
        return Cow::Borrowed("_");
    }
    if !word.contains(&splits) {
        return Cow::Borrowed(word);
    }
    let mut text = String::with_capacity(word.len() + 8);
    for c in word.chars() {
        match c {
            c if !splits(c) => text.push(c),
            '(' => text.push_str("-LRB-"),
            ')' => text.push_str("-RRB-"),
            _ => text.push('\u{a0}'),
        }
    }
    Cow::Owned(text)
}

/// Quotes a piece of input for a message; long pieces are cut.
pub(crate) fn quote(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("'{}...'", &text[..cut]),
        None => format!("'{text}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_inside_words_and_only_once() {
        for (escaped, plain) in [
            ("-LRB-", "("),
            ("friend-LRB-s-RRB-", "friend(s)"),
            ("-LSB--RSB--LCB--RCB-", "[]{}"),
            ("--LRB--", "-(-"),
            ("-LRB", "-LRB"),
            ("well-known", "well-known"),
            ("-L-LRB-RB-", "-L(RB-"),
        ] {
            assert_eq!(unescape(escaped), plain, "{escaped}");
        }
        assert_eq!(surface("\\*\\*-LSB-1\\/2''"), "**[1/2''");
        assert!(matches!(surface("well-known"), Cow::Borrowed("well-known")));
        assert_eq!(escape(":("), ":-LRB-");
        assert_eq!(escape("1 000"), "1\u{a0}000");
        assert_eq!(escape("[x]"), "[x]");
        assert_eq!(escape(""), "_");
    }

    #[test]
    fn quotes_stay_short_and_never_cut_a_character() {
        assert_eq!(quote("新"), "'新'");
        assert_eq!(quote(&"新".repeat(41)), format!("'{}...'", "新".repeat(40)));
    }
}
