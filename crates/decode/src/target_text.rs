//! The target end of a translation: words to natural text, with the bytes of each word.

use sylvan_text::{Detokenizer, Lang, capitalise};

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

    /// Natural text of a language.
    pub fn natural(lang: Lang) -> Self {
        Self { detokenizer: Some(Detokenizer::new(lang)), capitalise: !lang.is_spaceless() }
    }

    /// The text of a list of words.
    pub fn text(&self, words: &[&str]) -> String {
        self.text_with_spans(words).0
    }

    /// The text of a list of words, and where each word stands in it: its first byte and one past its last.
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
            // A capital may take more or fewer bytes than the small letter.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_word_knows_its_bytes() {
        let target = TargetText::natural(Lang::En);
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
