//! How lines become words before they are compared.
//!
//! The rules of `13a` are those of NIST's mteval-v13a script in the form that sacreBLEU (Post 2018) gives them:
//! four substitutions, one after the other. Each is a pass here. They cannot be merged into one: a substitution
//! eats the characters that it matches, so that the second of two neighbouring full stops is not seen as being
//! preceded by the first.

use std::str::FromStr;

use crate::EvalError;

/// A way to cut a line into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Tokenizer {
    /// Words are what white space separates: for text that is tokenised already.
    None,
    /// The rules of mteval-v13a, the usual choice for languages that write spaces.
    #[default]
    V13a,
}

impl Tokenizer {
    /// The name in signatures and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::V13a => "13a",
        }
    }

    /// The words of `line`, with one space between them.
    pub fn tokenize(self, line: &str) -> String {
        let mut scratch = Scratch::default();
        let mut out = String::with_capacity(line.len() + 8);
        for word in self.words(line, &mut scratch) {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        out
    }

    /// The words of `line`. The buffers keep their memory between lines.
    pub(crate) fn words<'a>(
        self,
        line: &'a str,
        scratch: &'a mut Scratch,
    ) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = match self {
            Self::None => line,
            Self::V13a => v13a(line, scratch),
        };
        split(text)
    }
}

impl FromStr for Tokenizer {
    type Err = EvalError;
    fn from_str(name: &str) -> Result<Self, EvalError> {
        [Self::None, Self::V13a].into_iter().find(|tokenizer| tokenizer.name() == name).ok_or_else(|| {
            EvalError::Setting { setting: "tokenizer", found: name.to_string(), expected: "none or 13a" }
        })
    }
}

/// Two buffers between which the passes go back and forth.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    from: String,
    to: String,
}

impl Scratch {
    fn pass(&mut self, rewrite: impl Fn(&str, &mut String)) {
        self.to.clear();
        rewrite(&self.from, &mut self.to);
        std::mem::swap(&mut self.from, &mut self.to);
    }
}

fn v13a<'a>(line: &str, scratch: &'a mut Scratch) -> &'a str {
    scratch.from.clear();
    scratch.from.push(' ');
    // Trailing space goes first, so that a hyphen at the very end does not count as broken over two lines.
    unescape(line.trim_end_matches(is_space), &mut scratch.from);
    scratch.from.push(' ');
    scratch.pass(split_punctuation);
    scratch.pass(|text, out| pairs(text, out, |a, b| !a.is_ascii_digit() && is_point(b), Gap::BeforeSecond));
    scratch.pass(|text, out| pairs(text, out, |a, b| is_point(a) && !b.is_ascii_digit(), Gap::AroundFirst));
    scratch.pass(|text, out| pairs(text, out, |a, b| a.is_ascii_digit() && b == '-', Gap::BeforeSecond));
    &scratch.from
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
    for c in text.chars() {
        if matches!(c, '{'..='~' | '['..='`' | ' '..='&' | '('..='+' | ':'..='@' | '/') {
            out.extend([' ', c, ' ']);
        } else {
            out.push(c);
        }
    }
}

/// Where a pass over pairs of characters puts its spaces.
#[derive(Clone, Copy)]
enum Gap {
    /// `ab` becomes `a b `.
    BeforeSecond,
    /// `ab` becomes ` a b`.
    AroundFirst,
}

/// The other passes: rewrites each pair of neighbours that `matches`, from the left and without overlap.
fn pairs(text: &str, out: &mut String, matches: impl Fn(char, char) -> bool, gap: Gap) {
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        match chars.next_if(|&second| matches(first, second)) {
            None => out.push(first),
            Some(second) => match gap {
                Gap::BeforeSecond => out.extend([first, ' ', second, ' ']),
                Gap::AroundFirst => out.extend([' ', first, ' ', second]),
            },
        }
    }
}

fn is_point(c: char) -> bool {
    c == '.' || c == ','
}

/// White space as Python sees it, which counts the four ASCII separators too; scores must not depend on this.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn none_keeps_words_and_drops_extra_space() {
        assert_eq!(Tokenizer::None.tokenize("  a.b \t c\u{3000}d  "), "a.b c d");
    }

    #[test]
    fn names_lead_back_to_tokenizers() {
        for tokenizer in [Tokenizer::None, Tokenizer::V13a] {
            assert_eq!(tokenizer.name().parse(), Ok(tokenizer));
        }
        let error = "14".parse::<Tokenizer>().unwrap_err().to_string();
        assert_eq!(error, "found tokenizer \"14\", expected none or 13a");
    }
}
