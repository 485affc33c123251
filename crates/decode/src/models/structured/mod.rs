//! Structured language models: target words scored by the dependency tree that they build.
//!
//! ```text
//! opening   StructuredModel   a model of `sylvan-parse`, and how it reads all words of the model's vocabulary
//! sentence  Read              how it reads the sentence's tokens
//!           Structured        the step model that left-to-right search asks (step.rs)
//!           SentenceParser    whole translations, each parsed once, for features and explanations
//! ```

mod step;

use std::sync::{Arc, Mutex, PoisonError};

use sylvan_base::{HashMap, Id, Vocab};
use sylvan_forest::{Token, TokenId};
use sylvan_parse::structured::{Actions, Generative, Keep, Owing, Parse, Parses, Perceptron, StructuredLm};
use sylvan_search::StepModel;

pub use step::{Parsing, Structured};

/// A structured language model, and how it reads all words of a vocabulary, looked up once.
#[derive(Debug)]
pub(crate) enum StructuredModel {
    Perceptron(Readings<Perceptron>),
    Generative(Readings<Generative>),
}

/// The ways to read a word.
type Ways<A> = Vec<(<A as Actions>::Word, f64)>;

#[derive(Debug)]
pub(crate) struct Readings<A: Actions> {
    actions: A,
    words: Vec<Ways<A>>,
}

impl<A: Actions> Readings<A> {
    fn new(actions: A, vocab: &Vocab) -> Self {
        let words = vocab.iter().map(|(_, text)| read(&actions, text)).collect();
        Self { actions, words }
    }

    fn tokens(&self, tokens: &[Token], vocab: &Vocab) -> Vec<Ways<A>> {
        let ways = tokens.iter().map(|token| match self.words.get(token.word.index()) {
            Some(known) => known.clone(),
            None => read(&self.actions, vocab.text(token.word)),
        });
        ways.collect()
    }
}

fn read<A: Actions>(actions: &A, text: &str) -> Ways<A> {
    let mut ways = Vec::new();
    actions.words(text, &mut ways);
    ways
}

/// How a sentence's tokens are read, and what is known of whole translations.
#[derive(Debug)]
pub(crate) enum Read {
    Perceptron(Vec<Ways<Perceptron>>, Mutex<SentenceParser<Perceptron>>),
    Generative(Vec<Ways<Generative>>, Mutex<SentenceParser<Generative>>),
}

impl StructuredModel {
    pub(crate) fn new(lm: StructuredLm, vocab: &Vocab) -> Self {
        match lm {
            StructuredLm::Perceptron(model) => Self::Perceptron(Readings::new(model, vocab)),
            StructuredLm::Generative(model) => Self::Generative(Readings::new(model, vocab)),
        }
    }

    /// How it reads the tokens of a sentence.
    pub(crate) fn read(&self, tokens: &[Token], vocab: &Vocab) -> Read {
        match self {
            Self::Perceptron(model) => {
                let ways = model.tokens(tokens, vocab);
                let parser = Mutex::new(SentenceParser::new(model.actions.clone(), &ways));
                Read::Perceptron(ways, parser)
            }
            Self::Generative(model) => {
                let ways = model.tokens(tokens, vocab);
                let parser = Mutex::new(SentenceParser::new(model.actions.clone(), &ways));
                Read::Generative(ways, parser)
            }
        }
    }

    /// The step model of a search, and what it expects of each token, which the search counts elsewhere.
    pub(crate) fn over<'s>(
        &'s self,
        read: &'s Read,
        weight: f64,
        parsing: Parsing,
    ) -> Option<(Box<dyn StepModel + 's>, Vec<f64>)> {
        match (self, read) {
            (Self::Perceptron(model), Read::Perceptron(ways, _)) => {
                Some(step(&model.actions, ways, weight, parsing))
            }
            (Self::Generative(model), Read::Generative(ways, _)) => {
                Some(step(&model.actions, ways, weight, parsing))
            }
            _ => None,
        }
    }

    /// The names of the parts of speech with which words were read.
    pub(crate) fn tags<'s>(&'s self, parsed: &Parsed) -> Vec<&'s str> {
        let name = |tag: u8| match self {
            Self::Perceptron(model) => model.actions.parser().tags().get(usize::from(tag)).map(String::as_str),
            Self::Generative(model) => model.actions.tags().get(usize::from(tag)).map(AsRef::as_ref),
        };
        parsed.tags.iter().map(|&tag| name(tag).unwrap_or("_")).collect()
    }
}

fn step<'s, A: Actions + 's>(
    actions: &'s A,
    ways: &'s [Ways<A>],
    weight: f64,
    parsing: Parsing,
) -> (Box<dyn StepModel + 's>, Vec<f64>) {
    let owing = if parsing.is_plain { Owing::nothing(actions) } else { Owing::new(actions) };
    let mut model = Structured::new(owing, ways.iter().map(Vec::as_slice), weight, parsing);
    let expected = model.leave_out_expected();
    (Box::new(model), expected)
}

/// The best parse of a whole translation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) parse: Parse,
    /// By word: the number of its part of speech.
    pub(crate) tags: Vec<u8>,
}

/// Parses whole translations of one sentence, each once.
#[derive(Debug)]
pub(crate) struct SentenceParser<A: Actions> {
    parses: Parses<A>,
    words: Vec<Vec<(sylvan_parse::structured::WordNumber, f64)>>,
    known: HashMap<Box<[TokenId]>, Option<Arc<Parsed>>>,
}

impl<A: Actions> SentenceParser<A> {
    fn new(actions: A, ways: &[Ways<A>]) -> Self {
        let mut parses = Parses::new(actions);
        let numbered = |ways: &Ways<A>| {
            ways.iter().map(|&(word, score)| (parses.stacks.word(word), score)).collect::<Vec<_>>()
        };
        let words = ways.iter().map(numbered).collect();
        Self { parses, words, known: HashMap::default() }
    }

    fn parse(&mut self, words: &[TokenId], tag: impl Fn(&A::Word) -> u8) -> Option<Arc<Parsed>> {
        if let Some(known) = self.known.get(words) {
            return known.clone();
        }
        let read: Vec<_> = words.iter().map(|word| self.words[word.index()].clone()).collect();
        let parsed = self.parses.parse(&read, Keep::ENOUGH).map(|parse| {
            let tags = parse.read.iter().map(|&word| tag(self.parses.stacks.word_of(word))).collect();
            Arc::new(Parsed { parse, tags })
        });
        self.known.insert(words.into(), parsed.clone());
        parsed
    }
}

impl Read {
    /// The best parse of a whole translation; `None` for one without words.
    pub(crate) fn parse(&self, words: &[TokenId]) -> Option<Arc<Parsed>> {
        // What is remembered stays right even if another thread panicked.
        match self {
            Self::Perceptron(_, parser) => {
                let mut parser = parser.lock().unwrap_or_else(PoisonError::into_inner);
                parser.parse(words, sylvan_parse::structured::PerceptronWord::tag)
            }
            Self::Generative(_, parser) => {
                let mut parser = parser.lock().unwrap_or_else(PoisonError::into_inner);
                parser.parse(words, sylvan_parse::structured::GenerativeWord::tag)
            }
        }
    }
}
