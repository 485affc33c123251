//! From a line of text to its explanation.

use super::Explanation;
use super::build::{Sources, explain};
use crate::decoder::{Wish, Workspace};
use crate::translate::{Request, TextTranslator, TranslateError};

/// The second best translation is looked for among so many.
const LISTED: usize = 10;

impl TextTranslator {
    /// Translates a line and tells why; `None` if it has no words. Of the request, the number of translations and of
    /// threads do not matter.
    pub fn explain(&mut self, line: &str, request: &Request) -> Result<Option<Explanation>, TranslateError> {
        let (_, mut sentences) = self.read(&[line.to_string()], "the sentence", 1, request)?;
        let Some(sentence) = sentences.pop().flatten() else { return Ok(None) };
        let ready = self.decoder.ready();
        let wish = Wish { best: LISTED, distinct: true };
        let decoded = ready.decode(&sentence, request.algorithm, wish, &mut Workspace::default());
        let sources = Sources {
            vocab: self.decoder.vocab(),
            lines: self.lines.as_ref(),
            target: &self.target,
            languages: self.languages.clone(),
            input: line,
            algorithm: request.algorithm,
        };
        Ok(explain(&ready, &sentence, &decoded, &sources)?)
    }
}
