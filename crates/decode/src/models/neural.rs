//! What a network says of whole translations.
//!
//! ```text
//! opening   NeuralReading   a network of `sylvan-neural`, and the units of each word of the model's vocabulary
//! sentence  Opinion         the sentence as the network reads it, and what it said of its translations, each once
//! ```
//!
//! Translations of a sentence begin alike, so they are scored as a tree of units, level by level: what is computed for a
//! beginning serves all that share it, and a level is one product of matrices.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sylvan_base::{HashMap, Id, Symbol, Vocab};
use sylvan_forest::{Token, TokenId};
use sylvan_neural::{END, Histories, History, NeuralModel, Reader, UnitId};

/// A network, and how it reads the words of a vocabulary, each looked up when it is met first.
#[derive(Debug)]
pub(crate) struct NeuralReading {
    reader: Arc<Reader>,
    target: Vec<OnceLock<Arc<[UnitId]>>>,
}

impl NeuralReading {
    pub(crate) fn new(model: NeuralModel, vocab: &Vocab) -> Self {
        let mut target = Vec::new();
        target.resize_with(vocab.len(), OnceLock::new);
        Self { reader: Arc::new(Reader::new(Arc::new(model))), target }
    }

    fn units_of(&self, word: Symbol, vocab: &Vocab) -> Arc<[UnitId]> {
        let read = || {
            let mut units = Vec::new();
            self.reader.model().units()[1].of_word(vocab.text(word), &mut units);
            Arc::from(units)
        };
        match self.target.get(word.index()) {
            Some(known) => Arc::clone(known.get_or_init(read)),
            None => read(),
        }
    }

    /// What it can say of a sentence with these words, whose translations have these tokens.
    pub(crate) fn over(&self, words: &[Symbol], tokens: &[Token], vocab: &Vocab) -> Opinion {
        let mut source = Vec::new();
        for &word in words {
            self.reader.model().units()[0].of_word(vocab.text(word), &mut source);
        }
        source.push(END);
        let units = tokens.iter().map(|token| self.units_of(token.word, vocab)).collect();
        Opinion { reader: Arc::clone(&self.reader), source, units, said: Mutex::default() }
    }
}

/// What a network says of a sentence's translations.
#[derive(Debug)]
pub(crate) struct Opinion {
    reader: Arc<Reader>,
    source: Vec<UnitId>,
    /// By token.
    units: Vec<Arc<[UnitId]>>,
    said: Mutex<Said>,
}

/// The histories so far, and translations by their words.
#[derive(Debug, Default)]
struct Said {
    histories: Option<Histories>,
    next: HashMap<(History, UnitId), History>,
    known: HashMap<Box<[TokenId]>, Arc<[f64]>>,
}

/// A translation on its way through the tree of units.
struct Way<'t> {
    words: &'t [TokenId],
    units: Vec<(usize, UnitId)>,
    history: History,
    values: Vec<f64>,
}

impl Opinion {
    /// The logarithms of the probabilities of the words of a translation and of its end.
    pub(crate) fn of(&self, words: &[TokenId]) -> Arc<[f64]> {
        self.of_all(&[words]).swap_remove(0)
    }

    /// The same for many translations, computed together.
    pub(crate) fn of_all(&self, translations: &[&[TokenId]]) -> Vec<Arc<[f64]>> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ways: Vec<Way<'_>> = Vec::new();
        for &words in translations {
            if !said.known.contains_key(words) && ways.iter().all(|way| way.words != words) {
                let units = words.iter().enumerate();
                let units = units.flat_map(|(place, word)| {
                    self.units[word.index()].iter().map(move |&unit| (place, unit))
                });
                let values = vec![0.0; words.len() + 1];
                ways.push(Way { words, units: units.collect(), history: History::EMPTY, values });
            }
        }
        if !ways.is_empty() {
            self.say(&mut said, &mut ways);
            for way in ways {
                said.known.insert(way.words.into(), Arc::from(way.values));
            }
        }
        translations.iter().map(|&words| Arc::clone(&said.known[words])).collect()
    }

    fn say(&self, said: &mut Said, ways: &mut [Way<'_>]) {
        let Said { histories, next, .. } = said;
        let begin = || {
            let units = self.units.iter().flat_map(|units| units.iter().copied());
            Histories::new(Arc::clone(&self.reader), &self.source, units)
        };
        let histories = histories.get_or_insert_with(begin);
        let longest = ways.iter().map(|way| way.units.len()).max().unwrap_or(0);
        let expects = |histories: &Histories, history, unit| {
            // All units of the sentence's tokens may come.
            histories.expects(history, unit).map_or(0.0, f64::from)
        };
        for level in 0..longest {
            let mut steps: Vec<(History, UnitId)> = Vec::new();
            for way in ways.iter_mut() {
                let Some(&(place, unit)) = way.units.get(level) else { continue };
                way.values[place] += expects(histories, way.history, unit);
                if !next.contains_key(&(way.history, unit)) {
                    let new = History((histories.len() + steps.len()) as u32);
                    next.insert((way.history, unit), new);
                    steps.push((way.history, unit));
                }
            }
            histories.say(&steps);
            for way in ways.iter_mut() {
                if let Some(&(_, unit)) = way.units.get(level) {
                    way.history = next[&(way.history, unit)];
                }
            }
        }
        for way in ways {
            let end = expects(histories, way.history, END);
            if let Some(last) = way.values.last_mut() {
                *last = end;
            }
        }
    }
}
