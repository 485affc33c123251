//! Words in the case that they have in the middle of a sentence.
//!
//! The first word of a sentence is capitalised whatever it is; counting "The" and "the" apart wastes data. The
//! trainer counts how words are written where case means something: not at the beginning, not after a full
//! stop, colon or quotation mark, and not in a line all in capitals. The truecaser gives the words at those
//! places their most frequent form; words it has not seen stay as they are.

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::{Fault, HashMap, Result};
use sylvan_store::{Output, TextReader};

use crate::markup::tag;

/// Gives words their usual case.
#[derive(Debug, Clone, Default)]
pub struct Truecaser {
    /// From lower case to the usual form.
    usual: HashMap<String, String>,
}

/// Counts how words are written.
#[derive(Debug, Clone, Default)]
pub struct TruecaserTrainer {
    /// Lower case, then form, then how often.
    forms: BTreeMap<String, BTreeMap<String, u64>>,
}

impl TruecaserTrainer {
    /// Counts a tokenised line.
    pub fn add<S: AsRef<str>>(&mut self, tokens: &[S]) {
        if all_capitals(tokens) {
            return;
        }
        let mut first = true;
        for token in tokens {
            let token = token.as_ref();
            if !first && token.chars().any(char::is_alphabetic) {
                *self.forms.entry(token.to_lowercase()).or_default().entry(token.to_string()).or_default() +=
                    1;
            }
            first = if first { is_opening(token) } else { is_boundary(token) };
        }
    }

    /// The most frequent form of each word; on a tie the first in alphabetical order, capitals first.
    pub fn finish(self) -> Truecaser {
        let best = |forms: BTreeMap<String, u64>| {
            forms
                .into_iter()
                .reduce(|best, form| if form.1 > best.1 { form } else { best })
                .map(|(form, _)| form)
        };
        let usual = self.forms.into_iter().filter_map(|(lower, forms)| Some((lower, best(forms)?)));
        Truecaser { usual: usual.collect() }
    }
}

impl Truecaser {
    /// The tokens with those at the beginning of a sentence in their usual case; in a line all in capitals, all.
    pub fn apply<S: AsRef<str>>(&self, tokens: &[S]) -> Vec<String> {
        let shouted = all_capitals(tokens);
        let mut first = true;
        let mut out = Vec::with_capacity(tokens.len());
        for token in tokens {
            let token = token.as_ref();
            let form = if first || shouted { self.usual.get(&token.to_lowercase()) } else { None };
            out.push(form.map_or(token, String::as_str).to_string());
            first = if first { is_opening(token) } else { is_boundary(token) };
        }
        out
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn open(path: &Path) -> Result<Self> {
        Self::read(&mut TextReader::open(path)?)
    }

    /// The same from any text.
    pub fn read(reader: &mut TextReader) -> Result<Self> {
        let mut usual = HashMap::default();
        while let Some(line) = reader.next_line()? {
            if line.is_empty() || line.contains(char::is_whitespace) {
                let fault = Fault::new(0, format!("{line:?}"), "one word")
                    .advise("make the model with sylvan truecase --train");
                return Err(reader.locate(fault));
            }
            usual.insert(line.to_lowercase(), line.to_string());
        }
        Ok(Self { usual })
    }

    /// Writes the usual forms, one per line, sorted.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut forms: Vec<&String> = self.usual.values().collect();
        forms.sort_unstable();
        let mut out = Output::create(path)?;
        for form in forms {
            out.line(form)?;
        }
        out.finish()
    }
}

/// The text with its first letter as a capital.
pub fn capitalise(text: &str) -> String {
    let Some((at, c)) = text.char_indices().find(|(_, c)| c.is_alphanumeric()) else {
        return text.to_string();
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push_str(&text[..at]);
    // A letter without a single capital, like ß, is left alone.
    let mut upper = c.to_uppercase();
    out.push(if upper.len() == 1 { upper.next().unwrap_or(c) } else { c });
    out.push_str(&text[at + c.len_utf8()..]);
    out
}

fn is_opening(token: &str) -> bool {
    !token.is_empty() && !token.chars().any(char::is_alphanumeric) || tag(token).is_some()
}

fn is_boundary(token: &str) -> bool {
    matches!(token, "." | "!" | "?" | ":" | "…" | "..." | "\"" | "“" | "„" | "«" | "‘")
}

fn all_capitals<S: AsRef<str>>(tokens: &[S]) -> bool {
    let letters = || tokens.iter().flat_map(|token| token.as_ref().chars()).filter(|c| c.is_alphabetic());
    letters().count() > 3 && !letters().any(char::is_lowercase) && letters().any(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&str> {
        line.split(' ').collect()
    }

    fn trained() -> Truecaser {
        let mut trainer = TruecaserTrainer::default();
        for line in [
            "He saw the dog in Paris .",
            "The man went to Paris .",
            "\" The NATO , \" said the man",
            "THE NATO",
        ] {
            trainer.add(&words(line));
        }
        trainer.finish()
    }

    #[test]
    fn beginnings_get_their_usual_form() {
        let model = trained();
        assert_eq!(model.apply(&words("The dog .")).join(" "), "the dog .");
        assert_eq!(model.apply(&words("\" The Dog . The man")).join(" "), "\" the Dog . the man");
        assert_eq!(model.apply(&words("<b> The Dog </b> .")).join(" "), "<b> the Dog </b> .");
        assert_eq!(model.apply(&words("paris is")).join(" "), "Paris is");
        assert_eq!(model.apply(&words("Unknown man")).join(" "), "Unknown man");
        assert_eq!(model.apply(&words("THE MAN IN PARIS")).join(" "), "the man in Paris");
    }

    #[test]
    fn a_model_survives_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        trained().write(&path).unwrap();
        let model = Truecaser::open(&path).unwrap();
        assert_eq!(model.apply(&words("The NATO")).join(" "), "the NATO");
        std::fs::write(&path, "a b\n").unwrap();
        assert!(Truecaser::open(&path).unwrap_err().to_string().contains("one word"));
    }

    #[test]
    fn the_first_letter_is_raised() {
        assert_eq!(capitalise("\"élan vital\""), "\"Élan vital\"");
        assert_eq!(capitalise("3 men"), "3 men");
        assert_eq!(capitalise("ßa"), "ßa");
        assert_eq!(capitalise(""), "");
    }
}
