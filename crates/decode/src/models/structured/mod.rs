//! Structured language models: target words scored by the dependency tree that they build.
//!
//! ```text
//! opening   StructuredModel   a model of `sylvan-parse`, and how it reads all words of the model's vocabulary
//! sentence  Read              how it reads the sentence's tokens, and parses whole translations, each once
//!           Structured        the step model that left-to-right search asks (step.rs)
//! ```

mod states;
mod step;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sylvan_base::{HashMap, Id, Vocab};
use sylvan_forest::{Token, TokenId};
use sylvan_parse::structured::{
    Actions, Beginnings, Generative, GenerativeWord, Keep, Owing, Parse, Parses, Perceptron, PerceptronWord,
    StructuredLm, WordNumber,
};
use sylvan_search::StepModel;

pub use step::{Parsing, Structured};

/// A structured language model, and how it reads all words of a vocabulary, looked up once.
#[derive(Debug)]
pub(crate) enum StructuredModel {
    Perceptron(Readings<Perceptron>),
    Generative(Readings<Generative>),
}

/// How many are kept: more sentences are rarely searched side by side.
const SPARE: usize = 32;

/// The ways to read a word.
type Ways<A> = Vec<(<A as Actions>::Word, f64)>;

#[derive(Debug)]
pub(crate) struct Readings<A: Actions> {
    actions: Arc<A>,
    words: Vec<Ways<A>>,
    spare: Spare<A>,
}

/// Parses of sentences that are done with, a few of them: their memory serves others.
type Spare<A> = Arc<Mutex<Vec<Parses<Owing<Arc<A>>>>>>;

impl<A: Actions> Readings<A> {
    fn new(actions: A, vocab: &Vocab) -> Self {
        let words = vocab.iter().map(|(_, text)| read(&actions, text)).collect();
        Self { actions: Arc::new(actions), words, spare: Arc::default() }
    }

    fn over(&self, tokens: &[Token], vocab: &Vocab) -> SentenceParser<A> {
        let ways = tokens.iter().map(|token| match self.words.get(token.word.index()) {
            Some(known) => known.clone(),
            None => read(&*self.actions, vocab.text(token.word)),
        });
        let ways = ways.collect();
        let spare = lock(&self.spare).pop();
        let parses = spare.unwrap_or_else(|| Parses::new(Owing::new(Arc::clone(&self.actions))));
        let parses = Mutex::new(parses);
        SentenceParser { ways, parses, known: Mutex::default(), spare: Arc::clone(&self.spare) }
    }
}

fn read<A: Actions>(actions: &A, text: &str) -> Ways<A> {
    let mut ways = Vec::new();
    actions.words(text, &mut ways);
    ways
}

/// What a model knows of a sentence.
#[derive(Debug)]
pub(crate) enum Read {
    Perceptron(SentenceParser<Perceptron>),
    Generative(SentenceParser<Generative>),
}

impl StructuredModel {
    pub(crate) fn new(lm: StructuredLm, vocab: &Vocab) -> Self {
        match lm {
            StructuredLm::Perceptron(model) => Self::Perceptron(Readings::new(*model, vocab)),
            StructuredLm::Generative(model) => Self::Generative(Readings::new(*model, vocab)),
        }
    }

    /// How it reads the tokens of a sentence.
    pub(crate) fn read(&self, tokens: &[Token], vocab: &Vocab) -> Read {
        match self {
            Self::Perceptron(model) => Read::Perceptron(model.over(tokens, vocab)),
            Self::Generative(model) => Read::Generative(model.over(tokens, vocab)),
        }
    }

    /// The names of the parts of speech with which words were read.
    pub(crate) fn tags<'s>(&'s self, parsed: &Parsed) -> Vec<&'s str> {
        let name = |tag: u8| match self {
            Self::Perceptron(model) => {
                model.actions.parser().tags().get(usize::from(tag)).map(String::as_str)
            }
            Self::Generative(model) => model.actions.tags().get(usize::from(tag)).map(AsRef::as_ref),
        };
        parsed.tags.iter().map(|&tag| name(tag).unwrap_or("_")).collect()
    }
}

/// What a step model is expected to say of words, which the search counts with its language model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    /// By token: of words that it has not been asked about, on average. It says only what differs from that.
    pub(crate) words: Vec<f64>,
    /// Its weight, if it is expected to say of words to come what the language model says: that knows their neighbours, an
    /// average does not.
    pub(crate) ahead: Option<f64>,
}

/// The best parse of a whole translation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) parse: Parse,
    /// By word: the number of its part of speech.
    pub(crate) tags: Vec<u8>,
}

/// The parses of whole translations.
#[derive(Debug, Default)]
struct Known {
    parsed: HashMap<Box<[TokenId]>, Option<Arc<Parsed>>>,
    beginnings: Beginnings,
}

/// A sentence's tokens, and what is known of their parses: stacks that the search made serve whole translations too.
#[derive(Debug)]
pub(crate) struct SentenceParser<A: Actions> {
    ways: Vec<Ways<A>>,
    parses: Mutex<Parses<Owing<Arc<A>>>>,
    known: Mutex<Known>,
    spare: Spare<A>,
}

impl<A: Actions> Drop for SentenceParser<A> {
    fn drop(&mut self) {
        // What a panic left half done is not worth keeping.
        if let Ok(parses) = self.parses.get_mut() {
            let empty = Parses::new(parses.stacks.actions().clone());
            let mut done = std::mem::replace(parses, empty);
            done.clear();
            let mut spare = lock(&self.spare);
            if spare.len() < SPARE {
                spare.push(done);
            }
        }
    }
}

/// What is remembered stays right even if another thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<A: Actions + 'static> SentenceParser<A> {
    /// The best parse of a whole translation, looked for once.
    fn parse(&self, words: &[TokenId], tag: impl Fn(&A::Word) -> u8) -> Option<Arc<Parsed>> {
        let mut known = lock(&self.known);
        if let Some(known) = known.parsed.get(words) {
            return known.clone();
        }
        let mut parses = lock(&self.parses);
        let numbered = |word: &TokenId| -> Vec<(WordNumber, f64)> {
            let ways = self.ways[word.index()].iter();
            ways.map(|&(word, score)| (parses.stacks.word(word), score)).collect()
        };
        let read: Vec<_> = words.iter().map(numbered).collect();
        let Known { parsed: known, beginnings } = &mut *known;
        let parsed = parses.parse_after(beginnings, &read, Keep::ENOUGH).map(|parse| {
            let tags = parse.read.iter().map(|&word| tag(parses.stacks.word_of(word))).collect();
            Arc::new(Parsed { parse, tags })
        });
        known.insert(words.into(), parsed.clone());
        parsed
    }

    fn step(&self, weight: f64, parsing: Parsing) -> (Box<dyn StepModel + '_>, Expected) {
        let ways = self.ways.iter().map(Vec::as_slice);
        let parses = lock(&self.parses);
        let ahead = parses.stacks.actions().is_normalized().then_some(weight);
        if parsing.is_plain {
            let actions = parses.stacks.actions().plain();
            let mut model = Structured::new(Box::new(Parses::new(actions)), ways, weight, parsing);
            let words = model.leave_out_expected();
            return (Box::new(model), Expected { words, ahead });
        }
        let mut model = Structured::new(parses, ways, weight, parsing);
        let words = model.leave_out_expected();
        (Box::new(model), Expected { words, ahead })
    }
}

impl Read {
    /// The best parse of a whole translation; `None` for one without words.
    pub(crate) fn parse(&self, words: &[TokenId]) -> Option<Arc<Parsed>> {
        match self {
            Self::Perceptron(parser) => parser.parse(words, PerceptronWord::tag),
            Self::Generative(parser) => parser.parse(words, GenerativeWord::tag),
        }
    }

    /// The step model of a search, and what it expects of each token, which the search counts elsewhere. Nothing else can
    /// be parsed meanwhile.
    pub(crate) fn step(&self, weight: f64, parsing: Parsing) -> (Box<dyn StepModel + '_>, Expected) {
        match self {
            Self::Perceptron(parser) => parser.step(weight, parsing),
            Self::Generative(parser) => parser.step(weight, parsing),
        }
    }
}
