//! Translating lines: what a request asks for, and what comes back.
//!
//! ```text
//! line --reading.rs--> Sentence --worker/--> Decoded --detokenise--> Translated
//! ```

use std::sync::Arc;

use serde::Serialize;
use sylvan_base::{Vocab, parallel};
use sylvan_search::{Search, Stop};
use sylvan_tags::{Dialect, Segment};
use sylvan_trees::PackedForest;

use crate::choices::{Choice, impossible};
use crate::corrections::{Corrections, Pair};
use crate::error::{Error, Result};
use crate::glossary::Glossary;
use crate::hypotheses::List;
use crate::model::Model;
use crate::reading::{Input, Reading, Unread};
use crate::sentence::{Sentence, sentence_vocab};
use crate::source_text::SourceWord;
use crate::target_text::{Composed, TargetText};
use crate::worker::{Decoded, With, Worker};

/// What is wanted for a line. Requests are cheap to make and to clone: their large parts are shared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// What the lines are.
    pub input: Input,
    /// How to search; as is usual for the model if nothing is said.
    pub search: Option<Search>,
    /// How many translations; they differ in their words.
    pub best: usize,
    /// What is wanted of each translation besides its words.
    pub details: Details,
    /// Whether translations are words separated by spaces, whatever the model's language.
    pub tokens: bool,
    /// Terms that must be used.
    pub glossary: Option<Arc<Glossary>>,
    /// Corrections of the model's rules.
    pub corrections: Option<Arc<Corrections>>,
    /// What the tags in the lines are, if they are to be moved to where their words went. Without it they are kept as
    /// words are that must not be translated.
    pub tags: Option<Dialect>,
    /// Translations of parts of the sentence that must be used, as [`Worker::alternatives`] lists them.
    pub choices: Vec<Choice>,
    /// A deadline, and a way to cancel.
    pub stop: Stop,
}

/// What is wanted of a translation besides its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Details {
    /// Names and values of features.
    pub features: bool,
    /// Links between source and target words.
    pub links: bool,
    /// The rules, as text.
    pub rules: bool,
}

impl Details {
    /// All of them.
    pub fn all() -> Self {
        Self { features: true, links: true, rules: true }
    }
}

impl Default for Request {
    /// The best translation of text, as `sylvan translate` makes it.
    fn default() -> Self {
        Self {
            input: Input::Text,
            search: None,
            best: 1,
            details: Details::default(),
            tokens: false,
            glossary: None,
            corrections: None,
            tags: None,
            choices: Vec::new(),
            stop: Stop::NEVER,
        }
    }
}

impl Request {
    /// Lists of translations with everything that is known about them.
    pub fn list(best: usize) -> Self {
        Self { best, details: Details::all(), ..Self::default() }
    }

    /// What sentences are translated with.
    pub fn with(&self) -> With<'_> {
        let (glossary, corrections) = (self.glossary.as_deref(), self.corrections.as_deref());
        With { glossary, corrections, kept: &[] }
    }

    fn target(&self, model: &Model) -> TargetText {
        if self.tokens { TargetText::words() } else { model.target_text() }
    }
}

/// One translation of a line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Translation {
    /// As people write it.
    #[serde(rename = "translation")]
    pub text: String,
    /// Its words.
    pub words: Vec<String>,
    /// Where each word stands in the text: its first byte and one past its last.
    pub spans: Vec<[usize; 2]>,
    /// The model score.
    pub score: f64,
    /// Names and values of features, if wanted; weights times values is the score.
    #[serde(serialize_with = "as_map")]
    pub features: Vec<(String, f64)>,
    /// Source word and target word, counted from 0, if wanted.
    pub links: Vec<(u32, u32)>,
    /// The rules, one per line, indented by depth, if wanted.
    #[serde(skip)]
    pub rules: String,
}

fn as_map<S: serde::Serializer>(features: &[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(features.iter().map(|(name, value)| (name, value)))
}

/// Where the translation of a sentence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Origin {
    /// The model, with what corrections of other sentences taught it.
    #[default]
    Model,
    /// A correction gave this sentence this translation.
    Correction,
}

/// The result for one line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Translated {
    /// Its words, as the model sees them, with their places in the line.
    pub source: Vec<SourceWord>,
    /// Best first; none for a line without words.
    pub best: Vec<Translation>,
    /// Source words of terms that overlap others and were translated freely, as places counted from 0.
    pub missed_terms: Vec<[u32; 2]>,
    /// Places of source words with letters that the model has never seen and that are no terms, counted from 0.
    pub unknown_words: Vec<u32>,
    /// Whether a deadline or a work limit was reached, so that the answer is a best effort.
    pub cut_short: bool,
    /// For exact search: how much better than the first translation anything can be; 0 if it is the optimum.
    pub gap: Option<f64>,
    /// Where the best translation comes from.
    pub origin: Origin,
    /// The correction that gave it, if that is where it comes from and it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<Box<Pair>>,
}

impl Translated {
    /// The best translation; empty for a line without words.
    pub fn text(&self) -> &str {
        self.best.first().map_or("", |best| &best.text)
    }

    /// Whether the model has never seen any of the words: the line is of another language, or not split into words as
    /// the model wants it.
    pub fn is_foreign(&self) -> bool {
        let words = self.source.iter().filter(|word| word.text.contains(char::is_alphabetic)).count();
        words > 0 && self.unknown_words.len() == words
    }
}

impl<'r> With<'r> {
    fn reading(self, model: &'r Model) -> Reading<'r> {
        let vocab = self.corrections.map_or(model.vocab(), |corrections| &corrections.vocab);
        Reading { model, rules: self.rules(model), vocab, glossary: self.glossary, kept: self.kept }
    }
}

impl Worker {
    /// Reads a line; `None` if it has no words.
    pub fn read(&mut self, line: &str, input: Input, with: With<'_>) -> Result<Option<Sentence>, Unread> {
        let (model, parsing) = self.parsing();
        if with.corrections.is_some_and(|corrections| !corrections.are_of(model)) {
            let error = Error::setting("corrections", "those of another model", "those of this one");
            return Err(Unread::Error(error.advise("read them again after a model was opened")));
        }
        with.reading(model).line(line, input, parsing)
    }

    /// Reads a packed forest; `read` makes it with the sentence's vocabulary, and `None` stands for an empty
    /// parse.
    pub fn read_forest<E>(
        &mut self,
        with: With<'_>,
        read: impl FnOnce(&mut Vocab) -> Result<Option<PackedForest>, E>,
    ) -> Result<Option<Sentence>, E> {
        let reading = with.reading(self.model());
        let mut vocab = sentence_vocab(reading.vocab);
        let forest = read(&mut vocab)?;
        Ok(forest.and_then(|forest| reading.forest(forest, vocab)))
    }

    /// Translates a line. Errors call it line 1 of "the line".
    pub fn translate(&mut self, line: &str, request: &Request) -> Result<Translated> {
        self.translate_at(line, "the line", 1, request)
    }

    /// Translates a line of a file; errors name the file and the line.
    pub fn translate_at(&mut self, line: &str, name: &str, at: u64, request: &Request) -> Result<Translated> {
        match (&request.tags, request.input) {
            (Some(dialect), Input::Text) => self.translate_tagged(line, name, at, dialect, request),
            (Some(_), Input::Tree) => {
                Err(Error::setting("tags", "tags in trees", "text").advise("leave the option out for trees"))
            }
            _ => self.translate_line(line, (name, at), request.with(), request),
        }
    }

    fn translate_line(
        &mut self,
        line: &str,
        (name, at): (&str, u64),
        with: With<'_>,
        request: &Request,
    ) -> Result<Translated> {
        let sentence = self.read(line, request.input, with);
        let Some(mut sentence) = sentence.map_err(|unread| unread.at(name, at))? else {
            let source = match request.input {
                Input::Text => self.model().source_text().words(line),
                Input::Tree => Vec::new(),
            };
            return Ok(Translated { source, ..Translated::default() });
        };
        sentence.hold(&request.choices)?;
        self.translate_sentence(sentence, request)
    }

    /// Translates a line without its tags, and puts them where their words went. All places are those of the lines with
    /// tags.
    fn translate_tagged(
        &mut self,
        line: &str,
        name: &str,
        at: u64,
        dialect: &Dialect,
        request: &Request,
    ) -> Result<Translated> {
        let segment = Segment::new(line, dialect);
        let (mut linked, wanted) = (request.clone(), request.details.links);
        linked.details.links = true;
        let with = With { kept: segment.kept(), ..request.with() };
        let mut translated = self.translate_line(segment.text(), (name, at), with, &linked)?;
        let words: Vec<[usize; 2]> = translated.source.iter().filter_map(|word| word.span).collect();
        for best in &mut translated.best {
            let tagged = segment.translated(&words, &best.text, &best.spans, &best.links);
            (best.text, best.spans) = (tagged.text, tagged.spans);
            if !wanted {
                best.links.clear();
            }
        }
        for word in &mut translated.source {
            word.span = word.span.map(|span| segment.origin(span));
        }
        if translated.best.is_empty() {
            // Tags without words stay.
            let text = segment.translated(&[], "", &[], &[]).text;
            translated
                .best
                .extend((segment.tags() > 0).then(|| Translation { text, ..Translation::default() }));
        }
        Ok(translated)
    }

    /// Translates a sentence that has been read.
    pub fn translate_sentence(&mut self, sentence: Sentence, request: &Request) -> Result<Translated> {
        let decoded = self.decode_request(&sentence, request)?;
        let mut best = self.translations(&sentence, &decoded, request);
        let corrections = request.corrections.as_deref().zip(decoded.given);
        let correction =
            corrections.and_then(|(corrections, (part, rule))| corrections.pair_of(part, rule)).map(Box::new);
        if let (Some(first), Some(pair), false) = (best.first_mut(), &correction, request.tokens) {
            as_given(first, &pair.translation);
        }
        let missed = sentence.missed.iter().map(|span| [span.start, span.end]).collect();
        let unknown = sentence.unknown_words(self.model().vocab());
        let Sentence { words, .. } = sentence;
        let Decoded { cut_short, gap, given, .. } = decoded;
        let origin = if given.is_some() { Origin::Correction } else { Origin::Model };
        Ok(Translated {
            source: words,
            best,
            missed_terms: missed,
            unknown_words: unknown,
            cut_short,
            gap,
            origin,
            correction,
        })
    }

    pub(crate) fn decode_request(&mut self, sentence: &Sentence, request: &Request) -> Result<Decoded> {
        let list = List { best: request.best.max(1), distinct: true };
        let search = self.model().search(request.search)?;
        let decoded = self.decode(sentence, request.with(), search, list, &request.stop);
        match decoded.hypotheses.is_empty() && !request.choices.is_empty() {
            _ if request.stop.is_cancelled() => Err(Error::Cancelled),
            true => Err(impossible(&request.choices)),
            false => Ok(decoded),
        }
    }

    fn translations(&self, sentence: &Sentence, decoded: &Decoded, request: &Request) -> Vec<Translation> {
        let (target, details) = (request.target(self.model()), request.details);
        let texts = decoded.hypotheses.iter().map(|hypothesis| {
            let derived = self.derived(sentence, request.with(), &decoded.forest, &hypothesis.derivation);
            let Composed { text, words, spans } = derived.compose(target);
            let mut translation = Translation {
                text,
                words,
                spans,
                score: hypothesis.score,
                features: Vec::new(),
                links: Vec::new(),
                rules: String::new(),
            };
            translation.features = if details.features { derived.features() } else { Vec::new() };
            translation.links = if details.links { derived.links() } else { Vec::new() };
            translation.rules = if details.rules { derived.show() } else { String::new() };
            translation
        });
        texts.collect()
    }
}

/// Writes a translation as it was given: its words may be put together in other ways. It stays as it is if the words are
/// not those of the text.
fn as_given(translation: &mut Translation, text: &str) {
    let mut at = 0;
    let mut spans = Vec::with_capacity(translation.words.len());
    for word in &translation.words {
        let Some(start) = text[at..].find(word.as_str()).map(|found| at + found) else { return };
        spans.push([start, start + word.len()]);
        at = start + word.len();
    }
    (translation.text, translation.spans) = (text.to_string(), spans);
}

/// Translates lines of a file on several threads, each with a worker of its own; results are in the order of the lines
/// and do not depend on the number of threads. Errors name the file and the line, counted from `first`.
pub fn translate_lines(
    workers: &mut [Worker],
    lines: &[String],
    name: &str,
    first: u64,
    request: &Request,
) -> Vec<Result<Translated>> {
    parallel::map_with(workers, lines, |worker, index, line| {
        worker.translate_at(line, name, first + index as u64, request)
    })
}

/// One worker for each thread, at least one.
pub fn workers(model: &Arc<Model>, threads: usize) -> Vec<Worker> {
    (0..threads.max(1)).map(|_| Worker::new(Arc::clone(model))).collect()
}
