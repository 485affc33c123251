//! A model, open and ready: shared by all threads, changed by none.
//!
//! Everything that does not depend on a sentence is done once, when a model is opened: the vocabulary is
//! read, its words are looked up in the language models, rules get their weights. What belongs to a sentence
//! or to a request (its words, a glossary, corrections) has objects of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use sylvan_base::Vocab;
use sylvan_lm::{Lm, WordId};
use sylvan_neural::NeuralModel;
use sylvan_parse::Parser;
use sylvan_parse::structured::StructuredLm;
use sylvan_rules::apply::{Applier, Applying};
use sylvan_rules::features::ORIENTATIONS;
use sylvan_rules::{Formalism, Grammar, SparseWeights, Weights, features as rule_features};
use sylvan_search::{Beam, Incremental, Limits, Search, SearchName};
use sylvan_store::TextReader;
use sylvan_text::Protect;

use crate::error::{Error, Result};
use crate::features::{
    DefaultRuleFeatures, Features, JumpFeatures, LanguageModelFeature, NeuralFeature, ParseFeature,
    ReorderingFeatures, RuleFeatures, Scorer, StructuredFeature, UnseenFeatures, weight_of,
};
use crate::file::ModelFile;
use crate::glossary::{Glossary, each_line};
use crate::lines::TrainingLines;
use crate::models::neural::NeuralReading;
use crate::models::structured::StructuredModel;
use crate::models::{Ngram, WordModel};
use crate::source_text::{SourceText, tokenizer};
use crate::target_text::TargetText;
use crate::unseen::{Lexicon, Unseen};

/// How to open a model.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Regular expressions: what they match is neither split nor translated.
    pub keep: Vec<String>,
}

/// Rules, language models, weights, and what turns text into trees and words into text.
#[derive(Debug)]
pub struct Model {
    parts: Arc<Parts>,
    besides: Besides,
    weights: Weights,
    applying: Applying,
    rules: Weighed,
}

/// What a model may have besides rules and n-gram models.
#[derive(Debug, Clone, Default)]
struct Besides {
    structured: Option<Arc<StructuredModel>>,
    neural: Option<Arc<NeuralReading>>,
    /// What words that the table does not translate are like, found when one is met first.
    unseen: Option<Arc<OnceLock<Lexicon>>>,
}

/// Which parts a model has whose features are numbered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others {
    /// How many n-gram models there are.
    pub(crate) models: usize,
    pub(crate) structured: bool,
    pub(crate) neural: bool,
    pub(crate) unseen: bool,
}

/// What does not depend on weights.
#[derive(Debug)]
struct Parts {
    vocab: Arc<Vocab>,
    grammar: Grammar,
    models: Vec<WordModel>,
    text: TextParts,
}

/// What only models that read text have.
#[derive(Debug, Default)]
struct TextParts {
    parser: Option<Parser>,
    /// States that the parser keeps per step, as in training.
    parser_beam: usize,
    source: SourceText,
    target: Option<TargetText>,
    keep: Protect,
    /// How glossary terms are cut: source and target.
    terms: Option<[SourceText; 2]>,
    /// The training text, for explanations.
    lines: Option<TrainingLines>,
    /// Codes of the source and the target language.
    languages: [String; 2],
}

/// Rules with their weights, and the features of all parts.
#[derive(Debug)]
pub(crate) struct Weighed {
    pub(crate) applier: Applier,
    pub(crate) features: Features,
    /// The weights of the language models.
    model_weights: Vec<f64>,
    /// The weight of the structured language model; 0 if there is none.
    pub(crate) structured: f64,
    /// The weight of the network, likewise.
    pub(crate) neural: f64,
}

impl Besides {
    fn others(&self, models: usize) -> Others {
        Others {
            models,
            structured: self.structured.is_some(),
            neural: self.neural.is_some(),
            unseen: self.unseen.is_some(),
        }
    }
}

impl Weighed {
    pub(crate) fn new(applier: Applier, others: Others, weights: &Weights) -> Self {
        let Others { models, structured, neural, unseen } = others;
        let formalism = applier.grammar(0).map_or_else(Formalism::default, |table| table.meta().formalism);
        let mut scorers: Vec<Box<dyn Scorer>> = vec![
            Box::new(RuleFeatures::new(&applier)),
            Box::new(DefaultRuleFeatures { formalism }),
            Box::new(ParseFeature),
        ];
        if unseen {
            let table = applier.grammar(0).map_or(0, |table| table.feature_names().len());
            scorers.push(Box::new(UnseenFeatures { table }));
        }
        if let Some(jumps) = JumpFeatures::new(&applier) {
            scorers.push(Box::new(jumps));
        }
        if let Some(reordering) = ReorderingFeatures::new(&applier) {
            scorers.push(Box::new(reordering));
        }
        if structured {
            scorers.push(Box::new(StructuredFeature));
        }
        if neural {
            scorers.push(Box::new(NeuralFeature));
        }
        for number in 0..models {
            scorers.push(Box::new(LanguageModelFeature(number)));
        }
        let features = Features::new(scorers, weights);
        let model_weights = features.weights()[features.weights().len() - models..].to_vec();
        let structured = if structured { weight_of(weights, StructuredFeature::NAME) } else { 0.0 };
        let neural = if neural { weight_of(weights, NeuralFeature::NAME) } else { 0.0 };
        Self { applier, features, model_weights, structured, neural }
    }
}

impl Model {
    /// Opens a model file.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens a model file with options.
    pub fn open_with(path: &Path, options: &OpenOptions) -> Result<Self> {
        let file = ModelFile::open(path)?;
        let keep = Protect::new(&options.keep).map_err(Error::Pattern)?;
        let manifest = file.manifest();
        let source = file.source_text(keep.clone())?;
        let terms = (!manifest.tokenized).then(|| {
            let tokenizer = |lang: &str| Some(tokenizer(lang, Protect::default()));
            let (conventions, target) = (source.conventions.clone(), tokenizer(&manifest.target_lang));
            let source =
                SourceText { tokenizer: tokenizer(&manifest.source_lang), conventions, truecaser: None };
            [source, SourceText { tokenizer: target, ..SourceText::default() }]
        });
        let text = TextParts {
            parser: file.parser()?,
            parser_beam: manifest.parser_beam(),
            source,
            target: Some(file.target_text()),
            keep,
            terms,
            lines: file.training_lines()?,
            languages: [manifest.source_lang.clone(), manifest.target_lang.clone()],
        };
        let (grammar, weights) = (file.grammar()?, file.weights()?);
        let (vocab, unseen) = (grammar.vocab(), manifest.unseen());
        let model = Self::from_all(grammar, file.models()?, weights, vocab, text)?;
        let model = match file.structured()? {
            Some(lm) => model.with_structured(lm),
            None => model,
        };
        let model = match file.neural()? {
            Some(network) => model.with_neural(network),
            None => model,
        };
        Ok(model.with_unseen(unseen))
    }

    /// Opens a rule table and language models, for trees. Weights under another toolkit's names are
    /// converted; the second value says whether they were.
    pub fn open_parts(grammar: &Path, lms: &[PathBuf], weights: &Weights) -> Result<(Self, bool)> {
        let grammar = Grammar::open(grammar)?;
        let lms: Vec<Lm> = lms.iter().map(|path| Lm::open(path)).collect::<Result<_, _>>()?;

        let foreign = weights.iter().any(|(name, _)| ["egfp", "fgep", "egfl", "fgel"].contains(&name));
        let weights = if foreign { rule_features::weights_from_travatar(weights) } else { weights.clone() };
        let vocab = grammar.vocab();
        Ok((Self::from_parts(grammar, lms, weights, vocab)?, foreign))
    }

    /// A model from parts in memory, for trees; the grammar's symbols are those of the vocabulary.
    pub fn from_parts(grammar: Grammar, lms: Vec<Lm>, weights: Weights, vocab: Vocab) -> Result<Self> {
        Self::from_all(grammar, lms, weights, vocab, TextParts::default())
    }

    /// The same model with a structured language model besides; its weight is `slm`.
    pub fn with_structured(self, lm: StructuredLm) -> Self {
        let structured = Some(Arc::new(StructuredModel::new(lm, &self.parts.vocab)));
        Self::weighed(self.parts, Besides { structured, ..self.besides }, self.weights, self.applying)
    }

    /// The same model with a network besides, which reads the source and scores whole translations; its weight is
    /// `neural`.
    pub fn with_neural(self, network: NeuralModel) -> Self {
        let neural = Some(Arc::new(NeuralReading::new(network, &self.parts.vocab)));
        Self::weighed(self.parts, Besides { neural, ..self.besides }, self.weights, self.applying)
    }

    /// The same model with another way to translate words that no rule translates alone.
    pub fn with_unseen(self, unseen: Unseen) -> Self {
        let lexicon = self.besides.unseen.clone().unwrap_or_default();
        let unseen = (unseen == Unseen::Related).then_some(lexicon);
        Self::weighed(self.parts, Besides { unseen, ..self.besides }, self.weights, self.applying)
    }

    fn from_all(
        grammar: Grammar,
        lms: Vec<Lm>,
        weights: Weights,
        vocab: Vocab,
        text: TextParts,
    ) -> Result<Self> {
        if lms.is_empty() {
            return Err(Error::NoLanguageModel);
        }
        let models = lms.into_iter().map(|lm| WordModel::new(lm, &vocab)).collect();
        let parts = Arc::new(Parts { vocab: Arc::new(vocab), grammar, models, text });
        Ok(Self::weighed(parts, Besides::default(), weights, Applying::default()))
    }

    fn weighed(parts: Arc<Parts>, besides: Besides, weights: Weights, applying: Applying) -> Self {
        let applier = applier(&parts.grammar, &weights, &parts.vocab, applying);
        let rules = Weighed::new(applier, besides.others(parts.models.len()), &weights);
        Self { parts, besides, weights, applying, rules }
    }

    /// The same model with other weights. All else is shared, not copied.
    pub fn with_weights(&self, weights: Weights) -> Self {
        Self::weighed(Arc::clone(&self.parts), self.besides.clone(), weights, self.applying)
    }

    /// The same model with its rules applied in another way. All else is shared, not copied.
    pub fn with_applying(&self, applying: Applying) -> Self {
        Self::weighed(Arc::clone(&self.parts), self.besides.clone(), self.weights.clone(), applying)
    }

    /// How its rules are applied.
    pub(crate) fn applying(&self) -> Applying {
        self.applying
    }

    /// What its rules are applied to.
    pub fn formalism(&self) -> Formalism {
        self.parts.grammar.meta().formalism
    }

    /// The search that it is translated with if none is asked for.
    pub fn usual_search(&self) -> Search {
        match self.formalism() {
            Formalism::Phrase => Search::named(SearchName::Stacks),
            Formalism::Hiero => Search::named(SearchName::Focus),
            // The parser is asked about the best 100; a larger beam costs time and finds nothing better.
            Formalism::LrHiero if self.is_structured() => {
                Search::Incremental(Limits::grids(Beam(100), 500), Incremental::default())
            }
            // The papers' setting: of all that could come next, the best 500.
            Formalism::LrHiero => Search::Incremental(Limits::grids(Beam(500), 500), Incremental::default()),
            // Only left to right can a structured language model be asked on the way.
            _ if self.is_structured() => Search::named(SearchName::Incremental).with_beam(200),
            _ => Search::default(),
        }
    }

    /// The search that was asked for, or the usual one. Phrase pairs are put together in any order, which one search
    /// does and the others do not.
    pub fn search(&self, wanted: Option<Search>) -> Result<Search> {
        let search = wanted.unwrap_or(self.usual_search());
        if self.is_structured() && search.name() == SearchName::Exact {
            let found = "exact for a model with a structured language model";
            return Err(Error::setting("search", found, "another search: nothing bounds its scores")
                .advise("leave the option out, or set the weight slm to 0"));
        }
        if self.is_neural() && search.name() == SearchName::Exact {
            let found = "exact for a model with a network";
            return Err(Error::setting("search", found, "another search: nothing bounds its scores")
                .advise("leave the option out, or set the weight neural to 0"));
        }
        let free = self.formalism() == Formalism::Phrase;
        if free == (search.name() == SearchName::Stacks) {
            if self.is_oriented() && search.name() != SearchName::Incremental {
                let found = format!("{} for a model with a reordering model", search.name());
                return Err(Error::setting(
                    "search",
                    &found,
                    "incremental: only it knows what was translated before",
                )
                .advise("leave the option out, or set the weights tm0.msd.* to 0"));
            }
            return Ok(search);
        }
        let found = format!("{} for a model of kind {}", search.name(), self.formalism().as_str());
        let expected = if free { "stacks" } else { "another search: stacks is for phrase pairs" };
        Err(Error::setting("search", &found, expected).advise("leave the option out for the usual search"))
    }

    /// Whether rules with gaps think something of what was translated before them.
    fn is_oriented(&self) -> bool {
        let weighs = |name: &&str| self.weights().of_layer(0, name) != 0.0;
        self.formalism() == Formalism::LrHiero
            && !self.parts.grammar.meta().orientation.is_empty()
            && ORIENTATIONS.iter().any(weighs)
    }

    /// Labels and words of the rules.
    pub fn vocab(&self) -> &Arc<Vocab> {
        &self.parts.vocab
    }

    /// The rules.
    pub fn grammar(&self) -> &Grammar {
        &self.parts.grammar
    }

    /// The weights, under this program's names.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The features, with their weights.
    pub fn features(&self) -> &Features {
        &self.rules.features
    }

    pub(crate) fn rules(&self) -> &Weighed {
        &self.rules
    }

    /// The parser, and how many states it keeps.
    pub(crate) fn parser(&self) -> Option<(&Parser, usize)> {
        self.parts.text.parser.as_ref().map(|parser| (parser, self.parts.text.parser_beam))
    }

    /// How source text becomes words.
    pub fn source_text(&self) -> &SourceText {
        &self.parts.text.source
    }

    /// How target words become text.
    pub fn target_text(&self) -> TargetText {
        self.parts.text.target.unwrap_or_else(TargetText::words)
    }

    /// What is kept as it is.
    pub(crate) fn kept(&self) -> &Protect {
        &self.parts.text.keep
    }

    /// The training text, if the model keeps it.
    pub fn training_lines(&self) -> Option<&TrainingLines> {
        self.parts.text.lines.as_ref()
    }

    /// Codes of the source and the target language; empty where they are not known.
    pub fn languages(&self) -> &[String; 2] {
        &self.parts.text.languages
    }

    /// The ids of a sentence's tokens in each language model.
    pub(crate) fn word_ids(
        &self,
        tokens: &[sylvan_forest::Token],
        vocab: &Vocab,
        out: &mut Vec<Vec<WordId>>,
    ) {
        out.resize_with(self.parts.models.len(), Vec::new);
        for (model, ids) in self.parts.models.iter().zip(out) {
            model.sentence_ids(tokens, vocab, ids);
        }
    }

    /// The structured language model, if there is one.
    pub(crate) fn structured(&self) -> Option<&StructuredModel> {
        self.besides.structured.as_deref()
    }

    /// The network, if there is one.
    pub(crate) fn neural(&self) -> Option<&NeuralReading> {
        self.besides.neural.as_deref()
    }

    /// What words that the table does not translate are like, unless they are just copied.
    pub(crate) fn lexicon(&self) -> Option<&OnceLock<Lexicon>> {
        self.besides.unseen.as_deref()
    }

    /// Whether it has a network that weighs something.
    pub fn is_neural(&self) -> bool {
        self.rules.neural != 0.0
    }

    /// Which parts it has besides rules.
    pub(crate) fn others(&self) -> Others {
        self.besides.others(self.parts.models.len())
    }

    /// Whether it has a structured language model that weighs something.
    pub fn is_structured(&self) -> bool {
        self.rules.structured != 0.0
    }

    /// The language models over a sentence whose tokens have these ids.
    pub(crate) fn ngrams<'s>(&'s self, ids: &'s [Vec<WordId>]) -> Vec<Ngram<'s>> {
        let weighed = self.parts.models.iter().zip(ids).zip(&self.rules.model_weights);
        weighed.map(|((model, ids), &weight)| model.over(ids, weight)).collect()
    }

    /// Target text as words, tokenised as this model's texts are.
    pub(crate) fn target_words(&self, text: &str) -> Vec<String> {
        self.cut(1, text).split_ascii_whitespace().map(str::to_string).collect()
    }

    fn cut(&self, side: usize, text: &str) -> String {
        match &self.parts.text.terms {
            Some(terms) => terms[side].plain(text),
            None => text.to_string(),
        }
    }

    /// Adds a term to a glossary: text of the source language and of the target language. A term that is
    /// already there gets one more translation, and the search chooses.
    pub fn add_term(&self, glossary: &mut Glossary, source: &str, target: &str) {
        let (plain, target) = (self.cut(0, source), self.cut(1, target));
        // A term may stand first in a sentence, where its case may differ.
        let cased = self.parts.text.source.tokenized(source);
        glossary.add(&plain, &target);
        if cased != plain {
            glossary.add(&cased, &target);
        }
    }

    /// Reads terms that must be used: text of the source language, a tab, text of the target language; source text
    /// alone is kept as it is.
    pub fn read_glossary(&self, path: &Path) -> Result<Glossary> {
        let mut glossary = Glossary::default();
        let mut reader = TextReader::open(path)?.tolerant();
        let untranslated =
            each_line(&mut reader, |source, target| self.add_term(&mut glossary, source, target))?;
        glossary.untranslated = untranslated;
        Ok(glossary)
    }
}

/// A table with its weights.
pub(crate) fn applier(grammar: &Grammar, weights: &Weights, vocab: &Vocab, applying: Applying) -> Applier {
    let applier = Applier::new(grammar, weights, applying);
    applier.with_sparse(SparseWeights::of(weights, vocab))
}
