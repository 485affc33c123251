//! From tokens to natural text when nothing is known but the tokens.
//!
//! A token is glued to the one before it, to the one after it, to both or to neither. Marks that look the same at
//! both ends, like `"`, are paired from left to right.

use crate::Lang;
use crate::chars::is_apostrophe;
use crate::markup::{Tag, tag};

/// Puts tokens of one language together.
#[derive(Debug, Clone, Copy)]
pub struct Detokenizer {
    lang: Lang,
}

/// Where a token is glued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glue {
    None,
    Left,
    Right,
    Both,
}

/// Which quotation marks are open.
#[derive(Debug, Default)]
struct Open {
    double: bool,
    single: bool,
    low: bool,
}

impl Detokenizer {
    /// The rules of a language.
    pub fn new(lang: Lang) -> Self {
        Self { lang }
    }

    /// Natural text.
    pub fn detokenize<S: AsRef<str>>(&self, tokens: &[S]) -> String {
        let mut out = String::new();
        for (token, joined) in tokens.iter().zip(self.joins(tokens)) {
            if !out.is_empty() && !joined {
                out.push(' ');
            }
            out.push_str(token.as_ref());
        }
        out
    }

    /// For each token: whether it is glued to the one before.
    pub fn joins<S: AsRef<str>>(&self, tokens: &[S]) -> Vec<bool> {
        let mut open = Open::default();
        let mut joins = Vec::with_capacity(tokens.len());
        let mut glued = false;
        for at in 0..tokens.len() {
            let glue = self.glue(tokens, at, &mut open);
            let spaceless =
                at > 0 && self.lang.is_spaceless() && meets_cjk(tokens[at - 1].as_ref(), tokens[at].as_ref());
            joins.push(at > 0 && (glued || spaceless || matches!(glue, Glue::Left | Glue::Both)));
            glued = matches!(glue, Glue::Right | Glue::Both);
        }
        joins
    }

    fn glue<S: AsRef<str>>(&self, tokens: &[S], at: usize, open: &mut Open) -> Glue {
        let token = tokens[at].as_ref();
        let before = at.checked_sub(1).map(|at| tokens[at].as_ref());
        let after = tokens.get(at + 1).map(AsRef::as_ref);
        let mut chars = token.chars();
        let (Some(first), last) = (chars.next(), token.chars().next_back()) else { return Glue::None };
        if chars.next().is_none() {
            return self.glue_mark(first, before, after, tokens, at, open);
        }
        if token.bytes().all(|byte| byte == b'.') {
            return Glue::Left;
        }
        match tag(token) {
            Some(Tag::Opens) => return Glue::Right,
            Some(Tag::Closes) => return Glue::Left,
            _ => {}
        }
        let letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        if self.lang == Lang::En && is_apostrophe(first) && letter(token.chars().nth(1)) {
            return Glue::Left;
        }
        if self.lang == Lang::Fr && last.is_some_and(is_apostrophe) && letter(Some(first)) {
            return Glue::Right;
        }
        // "Stop"-sign: the rest of a compound whose head is quoted.
        if first == '-'
            && letter(token.chars().nth(1))
            && before.is_some_and(|b| matches!(b, "\"" | "“" | "”" | "»"))
        {
            return Glue::Left;
        }
        Glue::None
    }

    /// Where a token of one character is glued.
    fn glue_mark<S: AsRef<str>>(
        &self,
        mark: char,
        before: Option<&str>,
        after: Option<&str>,
        tokens: &[S],
        at: usize,
        open: &mut Open,
    ) -> Glue {
        let ends = |side: Option<&str>, test: fn(char) -> bool| {
            side.and_then(|s| s.chars().next_back()).is_some_and(test)
        };
        let starts = |side: Option<&str>, test: fn(char) -> bool| {
            side.and_then(|s| s.chars().next()).is_some_and(test)
        };
        let french = self.lang == Lang::Fr;
        match mark {
            '.' | ',' | ')' | ']' | '}' | '…' | '°' => Glue::Left,
            '。' | '、' | '，' | '！' | '？' | '；' | '：' | '）' | '」' | '』' | '》' => {
                Glue::Left
            }
            ':' if ends(before, char::is_numeric) && starts(after, char::is_numeric) => Glue::Both,
            '!' | '?' | ';' | ':' if french => {
                if ends(before, |c| matches!(c, '!' | '?')) {
                    Glue::Left
                } else {
                    Glue::None
                }
            }
            '!' | '?' | ';' | ':' => Glue::Left,
            '%' if matches!(self.lang, Lang::En | Lang::Cs | Lang::Other) => Glue::Left,
            '(' | '[' | '{' | '¿' | '¡' | '（' | '「' | '『' | '《' => Glue::Right,
            '#' | '$' | '£' | '€' if starts(after, char::is_alphanumeric) && self.lang == Lang::En => {
                Glue::Right
            }
            '/' => Glue::Both,
            '&' if short(before) && short(after) => Glue::Both,
            '"' => {
                open.double = !open.double;
                if open.double { Glue::Right } else { Glue::Left }
            }
            '„' | '‚' => {
                open.low = true;
                Glue::Right
            }
            // Closes what „ opened, opens elsewhere.
            '“' | '‘' => {
                if std::mem::take(&mut open.low) {
                    Glue::Left
                } else {
                    Glue::Right
                }
            }
            '”' => {
                open.low = false;
                Glue::Left
            }
            '«' if !french => Glue::Right,
            '»' if !french => Glue::Left,
            '\'' | '’' => self.glue_apostrophe(before, after, tokens, at, open),
            _ => Glue::None,
        }
    }

    /// A lone apostrophe: a quotation mark, a plural's, or one that stands between letters.
    fn glue_apostrophe<S: AsRef<str>>(
        &self,
        before: Option<&str>,
        after: Option<&str>,
        tokens: &[S],
        at: usize,
        open: &mut Open,
    ) -> Glue {
        if std::mem::take(&mut open.single) {
            return Glue::Left;
        }
        let lone = |token: &S| matches!(token.as_ref(), "'" | "’");
        let next = tokens[at + 1..].iter().position(lone);
        let alphabetic =
            |side: Option<&str>| side.is_some_and(|side| side.chars().all(char::is_alphanumeric));
        match self.lang {
            Lang::En => {
                // What is cut like this in the middle of a word had a space before its apostrophe.
                let clitic = ["re", "m", "s", "t", "ll", "ve", "d", "em", "n", "tis", "til", "cause", "bout"];
                if after.is_some_and(|after| clitic.contains(&after.to_lowercase().as_str())) {
                    return Glue::Right;
                }
                let plural = before.is_some_and(|before| before.ends_with('s'));
                if next.is_some() && !plural || before.is_none() {
                    open.single = true;
                    return Glue::Right;
                }
                Glue::Left
            }
            _ => match next {
                // Something short between two is a word with two of them, as in rock ' n ' roll.
                Some(next) if next > 1 || !alphabetic(before) => {
                    open.single = true;
                    Glue::Right
                }
                _ if alphabetic(before) && alphabetic(after) => Glue::Both,
                _ => Glue::Left,
            },
        }
    }
}

/// A single letter or digit, as in "B & B".
fn short(side: Option<&str>) -> bool {
    side.is_some_and(|side| side.chars().count() <= 1 && side.chars().all(char::is_alphanumeric))
}

/// Whether Chinese or Japanese characters stand on at least one side, and no Latin words or numbers on both.
fn meets_cjk(before: &str, after: &str) -> bool {
    use crate::chars::{Script, script};
    let cjk = |c: Option<char>| {
        c.is_some_and(|c| {
            matches!(script(c), Script::Han | Script::Hiragana | Script::Katakana)
                || ('\u{3000}'..='\u{303f}').contains(&c)
                || ('\u{ff00}'..='\u{ffef}').contains(&c)
        })
    };
    cjk(before.chars().next_back()) || cjk(after.chars().next())
}
