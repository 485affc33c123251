//! Decoding: a mapped rule table, language models and weights; trees in, translations out, on any number of threads.
//!
//! ```text
//! tree, packed forest --Glossary, Preprocessing--> Sentence --Applier--> TranslationForest --search--> Hypothesis, ..
//!                                                                      |
//!                                                       replay --> feature values (weights . values = score)
//! ```

mod borrowed;
mod contributions;
mod glossary;
mod json;
mod links;
mod models;
mod overlay;
mod replay;
mod sentence;
mod steady;
mod trace;

use std::path::{Path, PathBuf};

use sylvan_base::{Fault, HashSet, Symbol, Vocab};
use sylvan_forest::{Derivation, InsideOutside, RuleRef, Sum, TranslationForest};
use sylvan_lm::{Lm, State};
use sylvan_rules::apply::{Applier, DefaultRules, Origin, SentenceRules, Workspace as Matching};
use sylvan_rules::{Grammar, Overlay, SparseWeights, Weights, features};
use sylvan_search::{
    Beam, Counters, Cube, CubePruning, Effort, Engine, Incremental, KBest, LanguageModel, Limits, Losers,
    NoStepModel, OutForest, Outcome, Prediction, Problem, Refine, TwoSided, Wanted, exact,
    incremental_search, prediction_search,
};
use sylvan_trees::penn::{Brackets, parse_line};

pub use contributions::{Contribution, Contributions, RuleKind};
pub use glossary::{Glossary, Occurrence};
pub use models::Several;
pub use replay::Features;
pub use sentence::{Sentence, Syntax};
pub use trace::{TraceItem, trace};

use crate::NgramScorer;

/// Which search, and how wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Bottom-up with cube pruning (Chiang 2007).
    Cube(Cube),
    /// Bottom-up, refining groups of items (Heafield, Koehn & Lavie 2013).
    Refine(Beam),
    /// Left to right, top-down (Huang & Mi 2010).
    Incremental(Limits, Incremental),
    /// Left to right, bottom-up (Feng et al. 2012).
    Prediction(Limits, Prediction),
    /// The optimum with its proof, or a bound on what is missing. The beam is that of the search for a first answer.
    Exact(Beam, Effort),
}

/// How many translations are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// At most so many, best first; at least 1.
    pub best: usize,
    /// Whether translations with the same words count as one.
    pub distinct: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self { best: 1, distinct: false }
    }
}

/// One translation.
#[derive(Debug, Clone)]
pub struct Hypothesis {
    /// The model score.
    pub score: f64,
    /// The rules, as edges of the forest.
    pub derivation: Derivation,
    /// The target words.
    pub words: Vec<Symbol>,
}

/// What decoding one sentence gave.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// Best first; empty if nothing was found, which default rules prevent.
    pub hypotheses: Vec<Hypothesis>,
    /// All that could have been used.
    pub forest: TranslationForest,
    /// What it cost.
    pub counters: Counters,
    /// Whether a limit of work was reached, so that the answer is a best effort.
    pub cut_short: bool,
    /// For exact search: how much better than the first hypothesis anything can be; 0 if it is the optimum.
    pub gap: Option<f64>,
}

/// Rules, language models, weights and the vocabulary that inputs are read with.
#[derive(Debug)]
pub struct Decoder {
    grammar: Grammar,
    lms: Vec<Lm>,
    weights: Weights,
    vocab: Vocab,
    glossary: Glossary,
    overlay: Option<Overlay>,
}

/// Why a decoder could not be made.
#[derive(Debug, thiserror::Error)]
pub enum DecoderError {
    /// A file.
    #[error(transparent)]
    Input(#[from] sylvan_base::InputError),
    /// No language model was given.
    #[error("a decoder needs at least one language model")]
    NoLanguageModel,
}

impl Decoder {
    /// Opens a rule table and language models. Weights under another toolkit's names are converted: the second value
    /// says so.
    pub fn open(grammar: &Path, lms: &[PathBuf], weights: &Weights) -> Result<(Self, bool), DecoderError> {
        let grammar = Grammar::open(grammar)?;
        let lms: Vec<Lm> = lms.iter().map(|path| Lm::open(path)).collect::<Result<_, _>>()?;
        let foreign = weights.iter().any(|(name, _)| ["egfp", "fgep", "egfl", "fgel"].contains(&name));
        let weights = if foreign { features::weights_from_travatar(weights) } else { weights.clone() };
        let vocab = grammar.vocab();
        Ok((Self::new(grammar, lms, weights, vocab)?, foreign))
    }

    /// A decoder of parts that are there; the grammar's symbols are those of the vocabulary.
    pub fn new(grammar: Grammar, lms: Vec<Lm>, weights: Weights, vocab: Vocab) -> Result<Self, DecoderError> {
        if lms.is_empty() {
            return Err(DecoderError::NoLanguageModel);
        }
        Ok(Self { grammar, lms, weights, vocab, glossary: Glossary::default(), overlay: None })
    }

    /// Labels and words.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The rules.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The weights, under this program's names.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Other weights, under this program's names.
    pub fn set_weights(&mut self, weights: Weights) {
        self.weights = weights;
    }

    /// How many language models there are.
    pub fn language_models(&self) -> usize {
        self.lms.len()
    }

    /// The weight of a language model: `lm0`, `lm1`, ..; the first may be called `lm`.
    pub fn lm_weight(&self, index: usize) -> f64 {
        let numbered = format!("lm{index}");
        let has = |name: &str| self.weights.iter().any(|(known, _)| known == name);
        self.weights.get(if index == 0 && !has(&numbered) { "lm" } else { &numbered })
    }

    /// Terms that sentences read from now on must be translated with.
    pub fn set_glossary(&mut self, glossary: Glossary) {
        self.glossary = glossary;
    }

    /// Words and labels, for reading what the decoder is to use.
    pub fn vocab_mut(&mut self) -> &mut Vocab {
        &mut self.vocab
    }

    /// Reads a tree in Penn brackets and prepares it as the table's trees were. `None` stands for an empty parse.
    pub fn read_tree(&mut self, line: &str) -> Result<Option<Sentence>, Fault> {
        let tree = parse_line(line, Brackets::default(), &mut self.vocab)?;
        Ok(tree.and_then(|tree| self.sentence(tree)))
    }

    /// The models over the vocabulary as it is now: to be asked for after inputs were read.
    pub fn ready(&self) -> Ready<'_> {
        let applier = || {
            let applier = Applier::new(&self.grammar, &self.weights, DefaultRules::weighted(&self.weights));
            applier.with_sparse(SparseWeights::of(&self.weights, &self.vocab))
        };
        let (applier, plain) = match &self.overlay {
            Some(overlay) => (applier().with_overlay(overlay), Some(applier())),
            None => (applier(), None),
        };
        let scorers = self.lms.iter().enumerate();
        let scorers = scorers.map(|(index, lm)| NgramScorer::new(lm, self.lm_weight(index), &self.vocab));
        Ready { decoder: self, applier, plain, scorers: scorers.collect() }
    }
}

/// A decoder with its models mapped to the vocabulary. Shared by threads.
#[derive(Debug)]
pub struct Ready<'d> {
    decoder: &'d Decoder,
    applier: Applier<'d>,
    /// The rules without an overlay, if there is one.
    plain: Option<Applier<'d>>,
    scorers: Vec<NgramScorer<'d>>,
}

/// Memory that is used again from sentence to sentence; one per thread.
#[derive(Debug, Default)]
pub struct Workspace<'d> {
    matching: Matching,
    engine: Engine<State, ()>,
    cube: CubePruning<<NgramScorer<'d> as TwoSided>::State>,
    refine: Option<Refine<NgramScorer<'d>>>,
}

/// What a search found, before it is a list.
struct Found {
    best: Outcome,
    out: Option<OutForest>,
    cut_short: bool,
    gap: Option<f64>,
}

impl<'d> Ready<'d> {
    /// Translates a sentence.
    pub fn decode(
        &self,
        sentence: &Sentence,
        algorithm: Algorithm,
        wish: Wish,
        work: &mut Workspace<'d>,
    ) -> Decoded {
        let forest = self.forest(sentence, work);
        self.steady(sentence, forest, algorithm, wish, work)
    }

    /// All derivations of a sentence.
    pub fn forest(&self, sentence: &Sentence, work: &mut Workspace<'d>) -> TranslationForest {
        self.forest_with(&self.applier, sentence, work)
    }

    fn forest_with(
        &self,
        applier: &Applier<'d>,
        sentence: &Sentence,
        work: &mut Workspace<'d>,
    ) -> TranslationForest {
        let (vocab, work) = (&self.decoder.vocab, &mut work.matching);
        let given = SentenceRules { own: sentence.own.as_ref(), number: sentence.number };
        match &sentence.syntax {
            Syntax::Tree(tree) => applier.forest_in(tree, vocab, given, work),
            Syntax::Forest(forest) => applier.forest_in(forest, vocab, given, work),
        }
    }

    /// Searches a forest of [`forest`](Self::forest).
    pub fn search(
        &self,
        forest: TranslationForest,
        algorithm: Algorithm,
        wish: Wish,
        work: &mut Workspace<'d>,
    ) -> Decoded {
        let many = wish.best > 1;
        let found = match self.scorers.as_slice() {
            [one] => self.with_one(&forest, one, algorithm, many, work),
            all => models::search(&forest, &Several::new(all), algorithm, many),
        };
        let Some(Found { best, out, cut_short, gap }) = found else {
            let counters = Counters::default();
            return Decoded { hypotheses: Vec::new(), forest, counters, cut_short: false, gap: None };
        };
        let counters = best.counters;
        let hypotheses = match out {
            None => {
                let words = best.derivation.words(&forest);
                vec![Hypothesis { score: best.score, derivation: best.derivation, words }]
            }
            Some(out) => with_optimum(best, list(&forest, &out, wish), &forest, wish),
        };
        Decoded { hypotheses, forest, counters, cut_short, gap }
    }

    /// The usual case: one language model, with everything made for it.
    fn with_one(
        &self,
        forest: &TranslationForest,
        lm: &NgramScorer<'d>,
        algorithm: Algorithm,
        many: bool,
        work: &mut Workspace<'d>,
    ) -> Option<Found> {
        let losers = if many { Losers::Keep } else { Losers::Forget };
        let whole = |best: Outcome, out| Found { best, out, cut_short: false, gap: None };
        match algorithm {
            Algorithm::Cube(limits) => {
                let best = work.cube.search(forest, lm, limits, losers)?;
                Some(whole(best, many.then(|| work.cube.chart().out_forest(forest, lm))))
            }
            Algorithm::Refine(beam) => {
                let refine = work.refine.get_or_insert_with(Refine::default);
                let best = refine.search(forest, lm, beam, losers)?;
                Some(whole(best, many.then(|| refine.chart().out_forest(forest, lm))))
            }
            Algorithm::Incremental(..) | Algorithm::Prediction(..) => {
                left_to_right(forest, lm, algorithm, many, &mut work.engine)
            }
            Algorithm::Exact(beam, effort) => {
                let refine = work.refine.get_or_insert_with(Refine::default);
                let start = refine.search(forest, lm, beam, losers)?;
                let out = many.then(|| refine.chart().out_forest(forest, lm));
                Some(prove(forest, lm, start, out, effort))
            }
        }
    }

    /// The values of all features of a derivation of a sentence.
    pub fn features(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        derivation: &Derivation,
    ) -> Features {
        replay::features(&self.applier, sentence.own.as_ref(), &self.scorers, forest, derivation)
    }

    /// The sparse features of a derivation, in the order of their names. Weights of other features do not count here.
    pub fn sparse_features(
        &self,
        sentence: &Sentence,
        forest: &TranslationForest,
        derivation: &Derivation,
    ) -> Features {
        let grammars = |layer| self.applier.grammar(layer).or(sentence.own.as_ref());
        replay::sparse(&self.applier, grammars, &self.decoder.vocab, forest, derivation)
    }

    /// A derivation of a sentence, one rule per line, indented by depth.
    pub fn show(&self, sentence: &Sentence, forest: &TranslationForest, derivation: &Derivation) -> String {
        let mut out = String::new();
        let on_edge = |depth: usize, edge| {
            let shown = self.rule_text(sentence, forest.edge(edge).spec.rule);
            out.push_str(&format!("{:width$}{shown}\n", "", width = 2 * depth));
        };
        derivation.walk(forest, on_edge, |_, _| {});
        out
    }

    /// The rule table.
    pub(crate) fn table(&self) -> &Grammar {
        &self.decoder.grammar
    }

    /// The language models, weighted.
    pub(crate) fn scorers(&self) -> &[NgramScorer<'d>] {
        &self.scorers
    }

    /// A rule of a forest in the notation of rule tables.
    fn rule_text(&self, sentence: &Sentence, rule: RuleRef) -> String {
        match self.applier.origin(rule) {
            Origin::Rule(layer, rule) => {
                let grammar = self.applier.grammar(layer).or(sentence.own.as_ref());
                grammar.map_or(String::new(), |grammar| grammar.rule(rule).show(&self.decoder.vocab))
            }
            Origin::Default(_) => "(no rule matches: words copied, parts in source order)".to_string(),
        }
    }

    /// The forest without the edges whose best derivation is estimated to be worse than the best by more than `margin`
    /// nats. The estimate is the inside score of left-to-right search: language models without the joints.
    pub fn prune(&self, forest: &TranslationForest, margin: f64) -> TranslationForest {
        let words = |bundle| {
            let words = forest.bundle(bundle);
            self.scorers.iter().map(|scorer| scorer.local(words)).sum()
        };
        InsideOutside::of(forest, Sum::Best, words).prune(forest, margin)
    }

    /// A search step by step in the notation of its paper; only left-to-right searches have one.
    pub fn trace(
        &self,
        forest: &TranslationForest,
        sentence: &Sentence,
        algorithm: Algorithm,
    ) -> Vec<TraceItem> {
        let (syntax, vocab) = (&sentence.syntax, &self.decoder.vocab);
        match self.scorers.as_slice() {
            [one] => trace(forest, syntax, one, vocab, algorithm),
            all => trace(forest, syntax, &Several::new(all), vocab, algorithm),
        }
    }
}

fn left_to_right<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    algorithm: Algorithm,
    many: bool,
    engine: &mut Engine<L::State, ()>,
) -> Option<Found> {
    let problem = Problem { forest, lm, steps: &NoStepModel };
    let wanted = Wanted { out_forest: many };
    let mut found = match algorithm {
        Algorithm::Incremental(limits, config) => {
            incremental_search(engine, &problem, limits, config, wanted, None)
        }
        Algorithm::Prediction(limits, config) => {
            prediction_search(engine, &problem, limits, config, wanted, None)
        }
        _ => unreachable!("the others are not left to right"),
    }?;
    let (out, cut_short) = (found.out_forest.take(), found.cut_short);
    Some(Found { best: Outcome::of(forest, found), out, cut_short, gap: None })
}

/// Improves a first answer until it is proven; the list stays that of the first search, with the optimum in front.
fn prove<L: LanguageModel>(
    forest: &TranslationForest,
    lm: &L,
    start: Outcome,
    out: Option<OutForest>,
    effort: Effort,
) -> Found {
    let certified = exact(forest, lm, Some(start.derivation.clone()), effort, &mut || false);
    match certified {
        Ok(certified) => {
            let gap = Some(certified.gap());
            let counters = start.counters;
            let best = certified.best.unwrap_or(start);
            let best = Outcome { counters, ..best };
            Found { best, out, cut_short: !certified.proven, gap }
        }
        // A model without bounds proves nothing.
        Err(_) => Found { best: start, out, cut_short: true, gap: Some(f64::INFINITY) },
    }
}

/// The best translation goes in front of the list: what exact search proved better than the search before it, or of
/// several that are equally good the one that is given without a list.
fn with_optimum(
    best: Outcome,
    mut list: Vec<Hypothesis>,
    forest: &TranslationForest,
    wish: Wish,
) -> Vec<Hypothesis> {
    // The list adds scores up in another order.
    let rounding = 1e-9 * best.score.abs().max(1.0);
    let no_worse = |first: &Hypothesis| best.score > first.score - rounding;
    if list.first().is_none_or(|first| no_worse(first) && best.derivation != first.derivation) {
        let words = best.derivation.words(forest);
        list.retain(|other| !(wish.distinct && other.words == words) && other.derivation != best.derivation);
        list.insert(0, Hypothesis { score: best.score, derivation: best.derivation, words });
        list.truncate(wish.best);
    }
    list
}

fn list(forest: &TranslationForest, out: &OutForest, wish: Wish) -> Vec<Hypothesis> {
    let mut seen: HashSet<Vec<Symbol>> = HashSet::default();
    let mut hypotheses = Vec::new();
    // Many derivations can have the same words; looking at more than this many for one list is not worth it.
    let patience = wish.best.saturating_mul(if wish.distinct { 100 } else { 1 });
    for (score, edges) in KBest::new(out).take(patience) {
        let derivation = out.derivation(forest, edges);
        let words = derivation.words(forest);
        if wish.distinct && !seen.insert(words.clone()) {
            continue;
        }
        hypotheses.push(Hypothesis { score, derivation, words });
        if hypotheses.len() == wish.best {
            break;
        }
    }
    hypotheses
}
