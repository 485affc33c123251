//! The source end of a translation: raw text to words, with the bytes of each word.

use serde::Serialize;
use sylvan_base::Span;
use sylvan_parse::{Conventions, TreebankWord};
use sylvan_store::TextReader;
use sylvan_text::{Lang, Protect, Tokenizer, Truecaser};

/// A word of the source as the model sees it, and where it stands in the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceWord {
    /// The word; its case may differ from that in the line.
    pub text: String,
    /// Its first byte in the line and one past its last; none if the line is a tree. The words of a contraction that
    /// the parser's treebank writes in full all have the bytes of the contraction.
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
    /// Splits them as the parser's treebank does, where that differs.
    pub conventions: Conventions,
    /// Gives first words their usual case.
    pub truecaser: Option<Truecaser>,
}

impl SourceText {
    /// The words of a line.
    pub fn words(&self, line: &str) -> Vec<SourceWord> {
        let words = self.cut(line);
        let cased = self.truecaser.as_ref().map(|truecaser| {
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            truecaser.apply(&texts)
        });
        let texts = cased.unwrap_or_else(|| words.iter().map(|word| word.text.clone()).collect());
        let place = |span: Span| [span.start as usize, span.end as usize];
        texts
            .into_iter()
            .zip(&words)
            .map(|(text, word)| SourceWord { text, span: Some(place(word.span)) })
            .collect()
    }

    /// The words of a line in the case that they have there.
    fn cut(&self, line: &str) -> Vec<TreebankWord> {
        let Some(tokenizer) = &self.tokenizer else {
            let start = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
            let words = line.split_ascii_whitespace().map(|word| TreebankWord {
                text: word.to_string(),
                span: Span::new(start(word), start(word) + word.len()),
            });
            return words.collect();
        };
        let tokens: Vec<Span> = tokenizer.tokenize(line).iter().map(|token| token.span).collect();
        let kept = if self.conventions.has_no_cuts() { Vec::new() } else { tokenizer.kept(line) };
        self.conventions.cut(line, &tokens, &kept)
    }

    /// The words of a line, separated by spaces.
    pub fn tokenized(&self, line: &str) -> String {
        let words = self.words(line);
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The same in the case of the line.
    pub(crate) fn plain(&self, line: &str) -> String {
        self.cut(line).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
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
        let tokenizer = Some(tokenizer("fr", Protect::default()));
        let source = SourceText { tokenizer: tokenizer.clone(), ..SourceText::default() };
        for source in [source, SourceText::default()] {
            let words = source.words(line);
            assert!(words.len() > 3);
            for SourceWord { text, span } in words {
                let [start, end] = span.expect("a line has bytes");
                assert_eq!(&line[start..end], text);
            }
        }
        let conventions = Conventions::from_text("word\tdu\tde\tle\n").expect("conventions");
        let source = SourceText { tokenizer, conventions, truecaser: None };
        let places: Vec<(String, Option<[usize; 2]>)> =
            source.words("Du www.du.fr").into_iter().map(|word| (word.text, word.span)).collect();
        let expected = [("De", [0, 2]), ("le", [0, 2]), ("www.du.fr", [3, 12])];
        assert_eq!(places, expected.map(|(text, span)| (text.to_string(), Some(span))));
    }
}
