//! What a network says of whole translations.
//!
//! ```text
//! opening   NeuralReading   a network of `sylvan-neural`, and the units of each word of the model's vocabulary
//! sentence  Opinion         the sentence as the network reads it, and what it said of its translations, each once
//! search    Stepping        the same, asked step by step, all items of a bin together
//! ```
//!
//! Translations of a sentence begin alike, so they are scored as a tree of units, level by level: what is computed for a
//! beginning serves all that share it, and a level is one product of matrices.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sylvan_base::{HashMap, Id, Symbol, Vocab};
use sylvan_forest::{Token, TokenId};
use sylvan_neural::{END, Histories, History, NeuralModel, Reader, UnitId};
use sylvan_search::{Move, Network, StepModel, StepState};

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

/// All units of the sentence's tokens may come.
fn expects(histories: &Histories, history: History, unit: UnitId) -> f64 {
    histories.expects(history, unit).map_or(0.0, f64::from)
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

    /// The histories of the sentence.
    fn histories<'h>(&self, histories: &'h mut Option<Histories>) -> &'h mut Histories {
        histories.get_or_insert_with(|| {
            let units = self.units.iter().flat_map(|units| units.iter().copied());
            Histories::new(Arc::clone(&self.reader), &self.source, units)
        })
    }

    /// As a model of the steps of a search.
    pub(crate) fn step(&self, weight: f64, network: Network) -> Box<dyn StepModel + '_> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        Box::new(Stepping { opinion: self, said, weight, keeps_apart: network == Network::Apart })
    }

    fn say(&self, said: &mut Said, ways: &mut [Way<'_>]) {
        let Said { histories, next, .. } = said;
        let histories = self.histories(histories);
        let longest = ways.iter().map(|way| way.units.len()).max().unwrap_or(0);
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

/// A network as a model of the steps of a search. A state is a history.
struct Stepping<'o> {
    opinion: &'o Opinion,
    said: MutexGuard<'o, Said>,
    weight: f64,
    /// Whether items with different histories stay apart.
    keeps_apart: bool,
}

impl Stepping<'_> {
    /// The score of some words after a history, and the history with them.
    fn say(&mut self, mut history: History, words: &[TokenId]) -> (f64, History) {
        let Said { histories, next, .. } = &mut *self.said;
        let histories = self.opinion.histories(histories);
        let mut score = 0.0;
        for word in words {
            for &unit in self.opinion.units[word.index()].iter() {
                score += expects(histories, history, unit);
                history = *next.entry((history, unit)).or_insert_with(|| histories.say(&[(history, unit)]));
            }
        }
        (score, history)
    }
}

impl StepModel for Stepping<'_> {
    fn begin(&mut self) -> StepState {
        StepState(History::EMPTY.0)
    }

    fn advance(&mut self, state: StepState, step: &Move<'_>, next: &mut Vec<(f64, StepState)>) {
        let (score, history) = self.say(History(state.0), step.words);
        next.push((self.weight * score, StepState(history.0)));
    }

    fn finish(&mut self, state: StepState) -> f64 {
        let histories = self.opinion.histories(&mut self.said.histories);
        self.weight * expects(histories, History(state.0), END)
    }

    fn signature(&mut self, state: StepState) -> StepState {
        if self.keeps_apart { state } else { StepState::ANY }
    }

    fn sees_words_only(&self) -> bool {
        true
    }

    fn prepare(&mut self, asked: &[(StepState, &[TokenId])]) {
        let Said { histories, next, .. } = &mut *self.said;
        let histories = self.opinion.histories(histories);
        let units = |words: &[TokenId]| -> Vec<UnitId> {
            words.iter().flat_map(|word| self.opinion.units[word.index()].iter().copied()).collect()
        };
        let mut ways: Vec<(History, Vec<UnitId>)> =
            asked.iter().map(|&(state, words)| (History(state.0), units(words))).collect();
        let longest = ways.iter().map(|way| way.1.len()).max().unwrap_or(0);
        for level in 0..longest {
            let mut steps: Vec<(History, UnitId)> = Vec::new();
            for (history, units) in &ways {
                if let Some(&unit) = units.get(level)
                    && !next.contains_key(&(*history, unit))
                {
                    next.insert((*history, unit), History((histories.len() + steps.len()) as u32));
                    steps.push((*history, unit));
                }
            }
            histories.say(&steps);
            for (history, units) in &mut ways {
                if let Some(&unit) = units.get(level) {
                    *history = next[&(*history, unit)];
                }
            }
        }
    }

    fn features(&self) -> usize {
        1
    }

    fn values(&mut self, from: StepState, step: &Move<'_>, to: Option<StepState>, values: &mut [f64]) {
        values[0] += match to {
            Some(_) => self.say(History(from.0), step.words).0,
            None => expects(self.opinion.histories(&mut self.said.histories), History(from.0), END),
        };
    }
}
