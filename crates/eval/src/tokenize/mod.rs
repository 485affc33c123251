//! How lines become words before they are compared: the tokenisers of sacreBLEU (Post 2018), word for word.
//!
//! They are for scoring only. Text that is to be translated is cut by the text crate, which knows languages.

mod intl;
mod scratch;
mod v13a;
mod zh;

use std::str::FromStr;

use crate::EvalError;
pub(crate) use scratch::Scratch;

/// A way to cut a line into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Tokenizer {
    /// Words are what white space separates: for text that is already tokenised.
    None,
    /// The rules of mteval-v13a, the usual choice for languages that write spaces.
    #[default]
    V13a,
    /// The rules of mteval-v14's international mode: punctuation and symbols of all scripts.
    Intl,
    /// For Chinese: every Chinese character is a word.
    Zh,
    /// Every character is a word.
    Char,
}

impl Tokenizer {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::V13a, Self::Intl, Self::Zh, Self::Char];

    /// The name in signatures and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::V13a => "13a",
            Self::Intl => "intl",
            Self::Zh => "zh",
            Self::Char => "char",
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
        match self {
            Self::None => return split(line),
            Self::V13a => v13a::cut(line, scratch),
            Self::Intl => intl::cut(line.trim_end_matches(is_space), scratch),
            Self::Zh => zh::cut(line, scratch),
            Self::Char => {
                scratch.from.clear();
                scratch.from.extend(line.chars().flat_map(|c| [c, ' ']));
            }
        }
        split(&scratch.from)
    }
}

impl FromStr for Tokenizer {
    type Err = EvalError;
    fn from_str(name: &str) -> Result<Self, EvalError> {
        Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name).ok_or_else(|| EvalError::Setting {
            setting: "tokenizer",
            found: name.to_string(),
            expected: "none, 13a, intl, zh or char",
        })
    }
}

/// White space as Python sees it, which counts the four ASCII separators too; scores must not depend on this.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The words between white space.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_keeps_words_and_drops_extra_space() {
        assert_eq!(Tokenizer::None.tokenize("  a.b \t c\u{3000}d  "), "a.b c d");
    }

    #[test]
    fn char_takes_all_but_space_apart() {
        assert_eq!(Tokenizer::Char.tokenize("ab 新\u{301}\u{3000}c "), "a b 新 \u{301} c");
    }

    #[test]
    fn names_lead_back_to_tokenizers() {
        for tokenizer in Tokenizer::ALL {
            assert_eq!(tokenizer.name().parse(), Ok(tokenizer));
        }
        let error = "14".parse::<Tokenizer>().unwrap_err().to_string();
        assert_eq!(error, "found tokenizer \"14\", expected none, 13a, intl, zh or char");
    }
}
