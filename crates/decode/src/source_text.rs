//! The source end of a translation: raw text to words, with the bytes of each word.

use serde::Serialize;
use sylvan_store::TextReader;
use sylvan_text::{Lang, Protect, Tokenizer, Truecaser};

/// A word of the source as the model sees it, and where it stands in the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceWord {
    /// The word; its case may differ from that in the line.
    pub text: String,
    /// Its first byte in the line and one past its last; none if the line is a tree.
    pub span: Option<[usize; 2]>,
}

impl SourceWord {
    /// A word without a place in a line.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), span: None }
    }
}

/// How raw source text becomes words. Without a tokeniser, words are what spaces separate.
#[derive(Debug, Clone, Default)]
pub struct SourceText {
    /// Splits lines into words.
    pub tokenizer: Option<Tokenizer>,
    /// Gives first words their usual case.
    pub truecaser: Option<Truecaser>,
}

impl SourceText {
    /// The words of a line.
    pub fn words(&self, line: &str) -> Vec<SourceWord> {
        let tokens: Vec<(&str, usize)> = match &self.tokenizer {
            Some(tokenizer) => {
                let tokens = tokenizer.tokenize(line);
                tokens.iter().map(|token| (token.text(line), token.span.start as usize)).collect()
            }
            None => {
                let start = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
                line.split_ascii_whitespace().map(|word| (word, start(word))).collect()
            }
        };
        let place = |(text, start): (&str, usize)| [start, start + text.len()];
        let cased = self.truecaser.as_ref().map(|truecaser| {
            let texts: Vec<&str> = tokens.iter().map(|(text, _)| *text).collect();
            truecaser.apply(&texts)
        });
        let words = tokens.iter().enumerate().map(|(index, &token)| {
            let text = cased.as_ref().map_or_else(|| token.0.to_string(), |cased| cased[index].clone());
            SourceWord { text, span: Some(place(token)) }
        });
        words.collect()
    }

    /// The words of a line, separated by spaces.
    pub fn tokenized(&self, line: &str) -> String {
        let words = self.words(line);
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// The tokeniser of a language; what the patterns match stays in one piece.
pub fn tokenizer(lang: &str, protect: Protect) -> Tokenizer {
    let Ok(lang) = lang.parse::<Lang>();
    Tokenizer::new(lang).protecting(protect)
}

/// A reader of text in a section of a model.
pub(crate) fn section_reader(name: &str, bytes: &[u8]) -> TextReader {
    TextReader::from_reader(name, std::io::Cursor::new(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_word_knows_its_bytes() {
        let line = " Ça va,  «très bien» ? ";
        let source = SourceText { tokenizer: Some(tokenizer("fr", Protect::default())), truecaser: None };
        for source in [source, SourceText::default()] {
            let words = source.words(line);
            assert!(words.len() > 3);
            for SourceWord { text, span } in words {
                let [start, end] = span.expect("a line has bytes");
                assert_eq!(&line[start..end], text);
            }
        }
    }
}
