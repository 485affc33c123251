//! The two ends of a translation: raw text to words, words to natural text; both with the places of words in bytes.

use serde::Serialize;
use sylvan_store::TextReader;
use sylvan_text::{Detokenizer, Lang, Protect, Tokenizer, Truecaser, capitalise};

/// A word of the source as the model sees it, and where it stands in the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceWord {
    /// The word; its case may be another one than in the line.
    pub text: String,
    /// Its first byte in the line and the one behind its last; none if the line is a tree.
    pub span: Option<[usize; 2]>,
}

impl SourceWord {
    /// A word that stands in no line.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), span: None }
    }
}

/// How raw source text becomes words. Without a tokeniser, words are what spaces separate.
#[derive(Debug, Clone, Default)]
pub struct SourceText {
    /// Cuts lines.
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

/// How words become text.
#[derive(Debug, Clone, Copy)]
pub struct TargetText {
    /// Puts words together; without it they are separated by spaces.
    pub detokenizer: Option<Detokenizer>,
    /// Whether sentences begin with a capital.
    pub capitalise: bool,
}

impl TargetText {
    /// Words as they are.
    pub fn words() -> Self {
        Self { detokenizer: None, capitalise: false }
    }

    /// The way of a language.
    pub fn natural(lang: Lang) -> Self {
        Self { detokenizer: Some(Detokenizer::new(lang)), capitalise: !lang.is_spaceless() }
    }

    /// The text of a list of words.
    pub fn text(&self, words: &[&str]) -> String {
        self.text_with_spans(words).0
    }

    /// The text of a list of words, and where each word stands in it: its first byte and the one behind its last.
    pub fn text_with_spans(&self, words: &[&str]) -> (String, Vec<[usize; 2]>) {
        let joins = self.detokenizer.map(|detokenizer| detokenizer.joins(words));
        let mut text = String::new();
        let mut spans = Vec::with_capacity(words.len());
        for (index, word) in words.iter().enumerate() {
            let joined = joins.as_ref().is_some_and(|joins| joins[index]);
            // Words as they are keep even the spaces around empty ones.
            let first = if joins.is_some() { text.is_empty() } else { index == 0 };
            if !first && !joined {
                text.push(' ');
            }
            spans.push([text.len(), text.len() + word.len()]);
            text.push_str(word);
        }
        if self.capitalise {
            let capital = capitalise(&text);
            // A capital letter may take more bytes than the small one.
            let changed = text.char_indices().find(|(_, c)| c.is_alphanumeric()).map(|(at, _)| at);
            let (before, after) = (text.len(), capital.len());
            let moved = |at: usize| {
                let behind = changed.is_some_and(|changed| at > changed);
                if behind { at + after - before } else { at }
            };
            spans.iter_mut().flatten().for_each(|at| *at = moved(*at));
            text = capital;
        }
        (text, spans)
    }
}

/// The tokeniser of a language that keeps what patterns match in one piece.
pub fn tokenizer(lang: &str, protect: Protect) -> Tokenizer {
    let Ok(lang) = lang.parse::<Lang>();
    Tokenizer::new(lang).protecting(protect)
}

/// A reader of text that lies in a section of a model.
pub(crate) fn section_reader(name: &str, bytes: &[u8]) -> TextReader {
    TextReader::from_reader(name, std::io::Cursor::new(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_knows_its_bytes_on_both_sides() {
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
        let target = TargetText::natural("en".parse().unwrap_or(Lang::Other));
        let words = ["\"", "ʼtis", "ﬁne", "\"", ",", "he", "said", "."];
        let (text, spans) = target.text_with_spans(&words);
        assert_eq!(text, target.text(&words));
        assert_eq!(spans.len(), words.len());
        for ([start, end], word) in spans.iter().zip(words) {
            assert_eq!(text[*start..*end].to_lowercase(), word.to_lowercase());
        }
        // ı is two bytes, I is one.
        let (text, spans) = target.text_with_spans(&["ışık", "var"]);
        assert_eq!((text.as_str(), spans), ("Işık var", vec![[0, 6], [7, 10]]));
        assert_eq!(TargetText::words().text(&["a", "", "b"]), "a  b");
    }
}
