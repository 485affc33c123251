//! A model of a corpus before it has weights: its parts, and the texts that it is tuned and reported on.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use sylvan_base::HashMap;
use sylvan_base::hash::{content_hash, fold};
use sylvan_decode::{Error, Input, Model, Result, Sentence, Unseen, With, Worker};
use sylvan_parse::Parser;
use sylvan_rules::Weights;
use sylvan_rules::apply::Applying;
use sylvan_store::read_lines;
use sylvan_train::{Learnt, LearntText};

use crate::content::hash;
use crate::packed;
use crate::ways::Way;

/// What rules are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Trees to strings.
    Tree,
    /// The same rules, and packed forests to translate.
    Forest,
    /// Rules with gaps.
    Hiero,
    /// Rules whose target sides begin with words, with a reordering model or without: lrm, nvlrm or none.
    LrHiero(&'static str),
    /// Phrase pairs, with a reordering model or without: hier, phrase, word or none.
    Phrase(&'static str),
}

impl Kind {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Tree | Self::Forest => "tree".to_string(),
            Self::Hiero => "hiero".to_string(),
            Self::LrHiero(reordering) => format!("lr-hiero-{reordering}"),
            Self::Phrase(orientation) => format!("phrase-{orientation}"),
        }
    }
}

/// The text to tune on, or that to report on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Dev,
    Test,
}

/// A model without weights.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) learnt: Learnt,
    pub(crate) model: Model,
    /// What makes packed forests, if these are translated.
    pub(crate) forests: Option<Parser>,
    /// Says which model this is, by content.
    pub(crate) key: u64,
    /// Whether weights of sparse features are tuned as well.
    pub(crate) sparse: bool,
    /// If pairs of the training text are tuned on as well: the same without them.
    pub(crate) rest: Option<Box<System>>,
    pub(crate) sentences: RefCell<HashMap<Part, Rc<Vec<Sentence>>>>,
}

impl System {
    pub(crate) fn text(&self, part: Part) -> Result<&LearntText> {
        match part {
            Part::Dev => Ok(&self.learnt.dev),
            Part::Test => self.learnt.holdout.as_ref().ok_or_else(|| {
                Error::setting(
                    self.learnt.dev.path.display().to_string(),
                    "no other text",
                    "one to report on",
                )
            }),
        }
    }

    /// What the translations should be.
    pub(crate) fn references(&self, part: Part) -> Result<Vec<String>> {
        Ok(read_lines(&self.text(part)?.target)?)
    }

    pub(crate) fn with(&self, weights: &Weights, applying: Applying) -> Arc<Model> {
        Arc::new(self.model.with_weights(weights.clone()).with_applying(applying))
    }

    /// Somebody who applies rules as a way to search wants it.
    pub(crate) fn worker_for(&self, weights: &Weights, way: &Way) -> Worker {
        Worker::new(self.with(weights, way.applying))
    }

    /// Somebody to search with.
    pub(crate) fn worker(&self, weights: &Weights) -> Worker {
        Worker::new(self.with(weights, Applying::default()))
    }

    /// Says what a search makes of sentences, whose content is given, with these weights.
    pub(crate) fn key_of(&self, weights: &Weights, way: &Way, content: u64) -> u64 {
        let mut key = fold(self.key, content);
        for (name, weight) in weights.iter() {
            key = fold(fold(key, content_hash(name.as_bytes())), weight.to_bits());
        }
        fold(key, content_hash(format!("{way:?}").as_bytes()))
    }

    /// The sentences of a text.
    pub(crate) fn sentences(&self, part: Part) -> Result<Rc<Vec<Sentence>>> {
        if let Some(known) = self.sentences.borrow().get(&part) {
            return Ok(Rc::clone(known));
        }
        let read = Rc::new(self.read(self.text(part)?)?);
        self.sentences.borrow_mut().insert(part, Rc::clone(&read));
        Ok(read)
    }

    /// What the first lines of a text are, as a number.
    pub(crate) fn content(&self, part: Part, lines: usize) -> Result<u64> {
        let content = hash(&self.text(part)?.path)?;
        Ok(if lines == usize::MAX { content } else { fold(content, lines as u64) })
    }

    /// What is tuned on.
    pub(crate) fn tuning_texts(&self) -> impl Iterator<Item = &LearntText> {
        let aside = self.rest.as_ref().and_then(|rest| rest.learnt.rest.as_ref());
        std::iter::once(&self.learnt.dev).chain(aside.map(|rest| &rest.aside))
    }

    /// What tunes its weights.
    pub(crate) fn tuned_as(&self) -> &Self {
        self.rest.as_deref().unwrap_or(self)
    }

    /// The sentences of a text.
    pub(crate) fn read(&self, text: &LearntText) -> Result<Vec<Sentence>> {
        let name = text.path.display().to_string();
        let Some(parser) = &self.forests else {
            return self.sentences_of(&read_lines(&text.path)?, text.input, &name);
        };
        let read = packed::sentences(&mut self.reader(), parser, &read_lines(&text.source)?);
        read.into_iter()
            .zip(1..)
            .map(|(sentence, number)| sentence.ok_or_else(|| none(&name, number)))
            .collect()
    }

    /// Somebody who reads.
    fn reader(&self) -> Worker {
        self.worker(&Weights::default())
    }

    /// Lines of trees or words as sentences; `name` says where they are from.
    pub(crate) fn sentences_of(&self, lines: &[String], input: Input, name: &str) -> Result<Vec<Sentence>> {
        let mut worker = self.reader();
        let mut sentences = Vec::with_capacity(lines.len());
        for (line, number) in lines.iter().zip(1..) {
            let sentence = worker.read(line, input, With::default());
            let sentence = sentence.map_err(|unread| unread.at(name, number))?;
            sentences.push(sentence.ok_or_else(|| none(name, number))?);
        }
        Ok(sentences)
    }
}

fn none(name: &str, number: u64) -> Error {
    Error::setting(format!("{name}:{number}"), "no sentence", "words or a tree")
}

/// What becomes of a model besides its rules and its n-gram model, and what it is learnt from if not from all pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extra {
    /// How many pairs are learnt from; 0 for all.
    pub(crate) pairs: usize,
    /// How both directions of links become one, if not as usual; several ways between commas are as many sets of links.
    pub(crate) links: Option<&'static str>,
    /// An n-gram model in place of the usual one.
    pub(crate) lm: Option<PathBuf>,
    /// More n-gram models.
    pub(crate) lms: Vec<PathBuf>,
    /// How many word classes another language model is made of; 0 for none.
    pub(crate) classes: usize,
    /// A structured language model.
    pub(crate) structured: Option<PathBuf>,
    /// A network.
    pub(crate) neural: Option<PathBuf>,
    /// What becomes of words that no rule translates.
    pub(crate) unseen: Unseen,
    /// Whether weights of sparse features are tuned as well.
    pub(crate) sparse: bool,
    /// How many pairs of the training text are tuned on besides the tuning text.
    pub(crate) more: usize,
}
