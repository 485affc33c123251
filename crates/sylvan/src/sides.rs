//! The two ends of a translation: raw text to words, words to natural text.

use sylvan_store::TextReader;
use sylvan_text::{Detokenizer, Lang, Protect, Segmenter, Tokenizer, Truecaser, capitalise};

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
    pub fn words(&self, line: &str) -> Vec<String> {
        let tokens: Vec<&str> = match &self.tokenizer {
            Some(tokenizer) => tokenizer.tokenize(line).iter().map(|token| token.text(line)).collect(),
            None => line.split_ascii_whitespace().collect(),
        };
        match &self.truecaser {
            Some(truecaser) => truecaser.apply(&tokens),
            None => tokens.into_iter().map(str::to_string).collect(),
        }
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
        let text = match &self.detokenizer {
            Some(detokenizer) => detokenizer.detokenize(words),
            None => words.join(" "),
        };
        if self.capitalise { capitalise(&text) } else { text }
    }
}

/// The tokeniser of a language, with a segmenter if there is one, that keeps what patterns match in one piece.
pub(crate) fn tokenizer(lang: &str, segmenter: Option<Segmenter>, protect: Protect) -> Tokenizer {
    let Ok(lang) = lang.parse::<Lang>();
    let tokenizer = Tokenizer::new(lang).protecting(protect);
    match segmenter {
        Some(segmenter) => tokenizer.segmenting(segmenter),
        None => tokenizer,
    }
}

/// A reader of text that lies in a section of a model.
pub(crate) fn section_reader(name: &str, bytes: &[u8]) -> TextReader {
    TextReader::from_reader(name, std::io::Cursor::new(bytes.to_vec()))
}
