//! The rules of NIST's mteval-v13a script in the form that sacreBLEU (Post 2018) gives them: four substitutions,
//! one after the other.
//!
//! Each is a pass here. They cannot be merged into one: a substitution eats the characters that it matches, so
//! that the second of two neighbouring full stops is not seen as being preceded by the first.

use super::is_space;
use super::scratch::{Gap, Scratch, pairs};

/// Cuts a line; the words stand in `scratch`, separated by spaces.
pub(super) fn cut(line: &str, scratch: &mut Scratch) {
    scratch.from.clear();
    scratch.from.push(' ');
    // Trailing space goes first, so that a hyphen at the very end does not count as broken over two lines.
    unescape(line.trim_end_matches(is_space), &mut scratch.from);
    scratch.from.push(' ');
    western(scratch);
}

/// The four passes, on a text that is already in `scratch`.
pub(super) fn western(scratch: &mut Scratch) {
    scratch.pass(split_punctuation);
    // The other passes need a full stop, a comma or a hyphen.
    if !scratch.from.as_bytes().iter().any(|byte| matches!(byte, b'.' | b',' | b'-')) {
        return;
    }
    scratch.pass(|text, out| pairs(text, out, |a, b| !a.is_ascii_digit() && is_point(b), Gap::BeforeSecond));
    scratch.pass(|text, out| pairs(text, out, |a, b| is_point(a) && !b.is_ascii_digit(), Gap::AroundFirst));
    scratch.pass(|text, out| pairs(text, out, |a, b| a.is_ascii_digit() && b == b'-', Gap::BeforeSecond));
}

/// Removes the marks of skipped segments, joins broken lines and replaces the four SGML entities.
fn unescape(line: &str, out: &mut String) {
    if !line.contains(['&', '\n', '<']) {
        out.push_str(line);
        return;
    }
    // One after the other as in the original: `&amp;lt;` becomes `<`.
    let replacements = [
        ("<skipped>", ""),
        ("-\n", ""),
        ("\n", " "),
        ("&quot;", "\""),
        ("&amp;", "&"),
        ("&lt;", "<"),
        ("&gt;", ">"),
    ];
    let mut text = line.to_string();
    for (old, new) in replacements {
        if text.contains(old) {
            text = text.replace(old, new);
        }
    }
    out.push_str(&text);
}

/// First pass: spaces around all ASCII punctuation except `'`, `,`, `-` and `.`.
fn split_punctuation(text: &str, out: &mut String) {
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        if matches!(byte, b'{'..=b'~' | b'['..=b'`' | b'!'..=b'&' | b'('..=b'+' | b':'..=b'@' | b'/') {
            out.push_str(&text[copied..at]);
            out.extend([' ', char::from(byte), ' ']);
            copied = at + 1;
        }
    }
    out.push_str(&text[copied..]);
}

fn is_point(byte: u8) -> bool {
    byte == b'.' || byte == b','
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    fn check(line: &str, expected: &str) {
        assert_eq!(Tokenizer::V13a.tokenize(line), expected, "{line}");
    }

    #[test]
    fn v13a_cuts_as_mteval_does() {
        check("It's 3.5% of $1,000 (about 7-8).", "It's 3.5 % of $ 1,000 ( about 7 - 8 ) .");
        check("U.S. a/b x-y", "U . S . a / b x-y");
        check("&quot;a&amp;lt;b&quot;<skipped> c", "\" a < b \" c");
        check("end-\nless rope\nhere", "endless rope here");
        check("wait... 5.,6 ,.", "wait . . . 5 . , 6 , .");
        check("3,.4 1..2 a.,5", "3 , . 4 1 . . 2 a . ,5");
        check("新。 a\u{3000}b\u{a0}c", "新。 a b c");
        check(".5 x 5.", ". 5 x 5 .");
        check("end-\n", "end-");
        check("a\u{1c}b", "a b");
        check("", "");
    }
}
