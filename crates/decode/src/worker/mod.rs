//! A worker: the memory in which one thread translates, sentence after sentence.
//!
//! ```text
//! Sentence --rules--> SentenceForest --search--> Decoded (hypotheses, forest, counters)
//!                                     `--corrections: given.rs, steady.rs
//! ```
//!
//! A worker holds its model and borrows nothing, so that threads, servers and bindings of other languages can
//! keep one each. What it did before never changes a result.

mod copies;
mod derived;
mod given;
mod steady;
mod unasked;

use std::sync::Arc;

use sylvan_forest::{Derivation, InsideOutside, Sum, TokenId, TranslationForest};
use sylvan_lm::WordId;
use sylvan_parse::Workspace as Parsing;
use sylvan_rules::RuleId;
use sylvan_rules::apply::Workspace as Matching;
use sylvan_search::{
    Counters, Found, LanguageModel, Network, OutForest, Run, Search, StepModels, Stop, TraceItem, Ways,
    WorkspaceOf,
};

pub use derived::{Derived, RuleKind};

use crate::choices::hold;
use crate::corrections::Corrections;
use crate::glossary::Glossary;
use crate::hypotheses::{Hypothesis, List, list as list_of};
use crate::model::{Model, Weighed};
use crate::models::neural::Opinion;
use crate::models::structured::{Expected, Parsing as Structuring, Read};
use crate::models::{Memory, Ngram, Several};
use crate::sentence::Sentence;

/// What sentences are translated with besides the model: terms that must be used, and corrections.
#[derive(Debug, Clone, Copy, Default)]
pub struct With<'r> {
    /// Terms that must be used.
    pub glossary: Option<&'r Glossary>,
    /// Corrections of the model's rules.
    pub corrections: Option<&'r Corrections>,
    /// Bytes of a line that must stay as they are, besides addresses and the like.
    pub kept: &'r [[usize; 2]],
}

impl<'r> With<'r> {
    /// The rules of a model, corrected or as they are.
    pub(crate) fn rules(self, model: &'r Model) -> &'r Weighed {
        self.corrections.map_or(model.rules(), |corrections| &corrections.rules)
    }
}

/// A translation forest whose words are known to the language models.
#[derive(Debug, Clone)]
pub struct SentenceForest {
    /// The forest.
    pub forest: TranslationForest,
    /// The ids of the forest's tokens in each language model.
    pub(crate) ids: Vec<Vec<WordId>>,
    /// How the structured language model reads them, if there is one.
    pub(crate) read: Option<Arc<Read>>,
    /// What the network says of its translations, if there is one.
    pub(crate) opinion: Option<Arc<Opinion>>,
}

impl SentenceForest {
    /// The same with all edges of its glue, if it has any (left-to-right Hiero).
    pub fn with_all_glue(self) -> Self {
        match self.forest.glue() {
            None => self,
            Some(_) => Self { forest: self.forest.with_all_glue(), ..self },
        }
    }
}

/// The result of decoding one sentence.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// Best first; empty if nothing was found, which default rules prevent.
    pub hypotheses: Vec<Hypothesis>,
    /// The score of the best translation as the search knew it. With a structured language model it can be lower than that
    /// of the whole translation, of which a search keeps few parses.
    pub searched: f64,
    /// All derivations that there are.
    pub forest: SentenceForest,
    /// All derivations that were found, if more than one was wanted.
    pub out: Option<OutForest>,
    /// What it cost.
    pub counters: Counters,
    /// Whether a work limit or a deadline was reached, so that the answer is a best effort.
    pub cut_short: bool,
    /// For exact search: how much better than the first hypothesis any other can be; 0 if it is the optimum.
    pub gap: Option<f64>,
    /// The part of the corrections and the rule of it that give the first hypothesis, if they do.
    pub given: Option<(usize, RuleId)>,
}

/// The memory of one thread, and the model that it works with.
#[derive(Debug)]
pub struct Worker {
    model: Arc<Model>,
    parsing: Parsing,
    matching: Matching,
    one: WorkspaceOf<Ngram<'static>>,
    several: SeveralMemory,
}

#[derive(Debug, Default)]
struct SeveralMemory {
    search: WorkspaceOf<Several<'static>>,
    states: Memory,
}

impl Worker {
    /// A worker for a model.
    pub fn new(model: Arc<Model>) -> Self {
        Self {
            model,
            parsing: Parsing::new(),
            matching: Matching::default(),
            one: WorkspaceOf::<Ngram<'static>>::default(),
            several: SeveralMemory::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    pub(crate) fn parsing(&mut self) -> (&Model, &mut Parsing) {
        (&self.model, &mut self.parsing)
    }

    /// All derivations of a sentence.
    pub fn forest(&mut self, sentence: &Sentence, with: With<'_>) -> SentenceForest {
        let model = Arc::clone(&self.model);
        self.forest_with(with.rules(&model), sentence)
    }

    fn forest_with(&mut self, rules: &Weighed, sentence: &Sentence) -> SentenceForest {
        let forest = hold(sentence.forest(&rules.applier, &mut self.matching), &sentence.held);
        let mut ids = Vec::new();
        self.model.word_ids(forest.tokens(), sentence.vocab(), &mut ids);
        let structured = self.model.structured();
        let read = structured.map(|model| Arc::new(model.read(forest.tokens(), sentence.vocab())));
        let neural = self.model.neural();
        let source = sentence.syntax.leaves();
        let opinion = neural.map(|model| Arc::new(model.over(source, forest.tokens(), sentence.vocab())));
        SentenceForest { forest, ids, read, opinion }
    }

    /// Translates a sentence.
    pub fn decode(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        search: Search,
        list: List,
        stop: &Stop,
    ) -> Decoded {
        let forest = self.forest(sentence, with);
        self.decode_forest(sentence, with, forest, search, list, stop)
    }

    /// Translates a sentence whose forest has been made.
    pub fn decode_forest(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        forest: SentenceForest,
        search: Search,
        list: List,
        stop: &Stop,
    ) -> Decoded {
        match with.corrections {
            Some(_) => match self.given(sentence, with, forest, search, list, stop) {
                Ok(given) => given,
                Err(forest) => self.steady(sentence, with, *forest, search, list, stop),
            },
            None => self.search(sentence, with, forest, search, list, stop),
        }
    }

    /// Searches a forest.
    fn search(
        &mut self,
        sentence: &Sentence,
        with: With<'_>,
        forest: SentenceForest,
        search: Search,
        wanted: List,
        stop: &Stop,
    ) -> Decoded {
        let model = Arc::clone(&self.model);
        let Weighed { structured: weight, neural, .. } = *with.rules(&model);
        let asks_later = weight != 0.0 && !asks_inside(search);
        let is_later = asks_later || (neural != 0.0 && !asks_network(search));
        // What the search does not know may change the order: more translations are compared than are wanted.
        let list = if is_later { List { best: wanted.best.max(COMPARED), distinct: true } } else { wanted };
        let mut forest = if search.makes_glue() { forest } else { forest.with_all_glue() };
        let asked = if asks_later { 0.0 } else { weight };
        let found = self.find(&forest, [asked, neural], search, list.best > 1, stop);
        let Some(Found { best, out, cut_short, gap, grown }) = found else {
            let counters = Counters::default();
            return Decoded {
                hypotheses: Vec::new(),
                searched: f64::NEG_INFINITY,
                forest,
                out: None,
                counters,
                cut_short: false,
                gap: None,
                given: None,
            };
        };
        forest.forest.grow(grown);
        let (counters, searched) = (best.counters, best.score);
        let mut hypotheses = list_of(&forest.forest, best, out.as_ref(), list);
        if weight != 0.0 || neural != 0.0 {
            self.compare_whole(sentence, with, &forest, &mut hypotheses);
            hypotheses.truncate(wanted.best.max(1));
        }
        Decoded { hypotheses, searched, forest, out, counters, cut_short, gap, given: None }
    }

    /// Searches a forest, with a structured language model and a network of these weights unless they weigh nothing.
    fn find(
        &mut self,
        forest: &SentenceForest,
        [weight, neural]: [f64; 2],
        search: Search,
        many: bool,
        stop: &Stop,
    ) -> Option<Found> {
        let model = Arc::clone(&self.model);
        let read = forest.read.as_deref().filter(|_| weight != 0.0);
        let opinion = forest.opinion.as_deref().filter(|_| neural != 0.0 && asks_network(search));
        let (mut steps, expected) = step_models((read, weight), (opinion, neural), search);
        let mut models = model.ngrams(&forest.ids);
        if let Some(first) = models.first_mut() {
            *first = first.and(&expected);
        }
        let steps = steps.for_search();
        match models.as_slice() {
            [one] => {
                let run = Run { out_forest: many, stop, steps, ..Run::new(one) };
                search.run(&forest.forest, run, &mut self.one)
            }
            all => {
                let SeveralMemory { search: memory, states } = &mut self.several;
                let several = Several::new(all, states);
                let run = Run { out_forest: many, stop, steps, ..Run::new(&several) };
                search.run(&forest.forest, run, memory)
            }
        }
    }

    /// Whole translations by all features: a search keeps few parses of each, and not always the best, and a network is
    /// asked about whole translations alone.
    fn compare_whole(
        &self,
        sentence: &Sentence,
        with: With<'_>,
        forest: &SentenceForest,
        hypotheses: &mut [Hypothesis],
    ) {
        if let Some(opinion) = &forest.opinion {
            let words: Vec<Vec<TokenId>> =
                hypotheses.iter().map(|hypothesis| hypothesis.derivation.tokens(&forest.forest)).collect();
            opinion.of_all(&words.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        for hypothesis in hypotheses.iter_mut() {
            let derived = self.derived(sentence, with, forest, &hypothesis.derivation);
            hypothesis.score = derived.contributions().score();
        }
        hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score));
    }

    /// The forest without the edges whose best derivation is estimated to be worse than the best by more than `margin`
    /// nats. The estimate is the inside score of left-to-right search: language models without the joints.
    pub fn prune(&self, forest: &SentenceForest, margin: f64) -> SentenceForest {
        let forest = &forest.clone().with_all_glue();
        let models = self.model.ngrams(&forest.ids);
        let words = |bundle| {
            let words = forest.forest.bundle(bundle);
            models.iter().map(|model| model.local(words)).sum()
        };
        let pruned = InsideOutside::of(&forest.forest, Sum::Best, words).prune(&forest.forest, margin);
        SentenceForest { forest: pruned, ..forest.clone() }
    }

    /// What language models say of words of a forest without their context.
    pub(crate) fn local<'a>(&'a self, forest: &'a SentenceForest) -> impl Fn(&[TokenId]) -> f64 + 'a {
        let models = self.model.ngrams(&forest.ids);
        move |words| models.iter().map(|model| model.local(words)).sum()
    }

    /// A search step by step in the notation of its paper; only left-to-right searches have one.
    pub fn trace(&self, sentence: &Sentence, forest: &SentenceForest, search: Search) -> Vec<TraceItem> {
        let whole = (!search.makes_glue()).then(|| forest.clone().with_all_glue());
        let forest = whole.as_ref().unwrap_or(forest);
        let &Weighed { structured: weight, neural, .. } = self.model.rules();
        let asked = forest.read.as_deref().filter(|_| weight != 0.0 && asks_inside(search));
        let opinion = forest.opinion.as_deref().filter(|_| neural != 0.0 && asks_network(search));
        let (mut steps, expected) = step_models((asked, weight), (opinion, neural), search);
        let mut models = self.model.ngrams(&forest.ids);
        if let Some(first) = models.first_mut() {
            *first = first.and(&expected);
        }
        let steps = steps.for_search();
        match models.as_slice() {
            [one] => search.trace(&forest.forest, Run { steps, ..Run::new(one) }, sentence.vocab()),
            all => {
                let mut states = Memory::default();
                let several = Several::new(all, &mut states);
                search.trace(&forest.forest, Run { steps, ..Run::new(&several) }, sentence.vocab())
            }
        }
    }

    /// A derivation with all that is known about it.
    pub fn derived<'a>(
        &'a self,
        sentence: &'a Sentence,
        with: With<'a>,
        forest: &'a SentenceForest,
        derivation: &'a Derivation,
    ) -> Derived<'a> {
        Derived::new(&self.model, with, sentence, forest, derivation)
    }
}

/// How many translations are compared by a model that the search did not ask.
const COMPARED: usize = 100;

/// Whether a search asks a structured language model as it goes on.
fn asks_inside(search: Search) -> bool {
    search.limits().is_some_and(|limits| limits.ways != Ways::Later)
}

/// Whether it asks a network as it goes on.
fn asks_network(search: Search) -> bool {
    search.limits().is_some_and(|limits| limits.network != Network::Later)
}

/// The step models of a search, and what the first of them is expected to say.
fn step_models<'s>(
    (read, weight): (Option<&'s Read>, f64),
    (opinion, neural): (Option<&'s Opinion>, f64),
    search: Search,
) -> (StepModels<'s>, Expected) {
    let Some(limits) = search.limits() else { return (StepModels::default(), Expected::default()) };
    let (structured, expected) = match read {
        Some(read) => {
            let (model, expected) = read.step(weight, Structuring::from(limits));
            (Some(model), expected)
        }
        None => (None, Expected::default()),
    };
    let network = opinion.map(|opinion| opinion.step(neural, limits.network));
    (StepModels::new(structured.into_iter().chain(network).collect()), expected)
}
