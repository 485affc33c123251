//! Learning a model in memory from trees, target sentences and links.

use sylvan_base::{Fault, Vocab};
use sylvan_corpus::Link;
use sylvan_lm::{EstimateConfig, EstimateError, Estimator, Lm};
use sylvan_rules::extract::{LinkOutOfRange, minimal_rules};
use sylvan_rules::{Grammar, RuleCounts, Weights};
use sylvan_trees::Tree;
use sylvan_trees::penn::{Brackets, parse_line};

/// What training can be told.
#[derive(Debug, Clone)]
pub struct TrainerConfig {
    /// Order of the language model.
    pub lm_order: usize,
    /// At most so many translations per source treelet.
    pub targets_per_source: usize,
    /// The model's weights.
    pub weights: Weights,
}

impl Default for TrainerConfig {
    fn default() -> Self {
        // Without tuning yet: chosen once by hand on the sample corpus, and kept for every corpus.
        let weights = Weights::of([
            ("p_ef", 0.6),
            ("p_fe", 0.2),
            ("lm", 0.6),
            ("words", 0.3),
            ("rules", -0.1),
            ("glue", -5.0),
            ("oov", -5.0),
        ]);
        Self { lm_order: 3, targets_per_source: 20, weights }
    }
}

/// Why training stopped.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A tree or sentence is not what it should be.
    #[error("training pair {pair}: {fault}")]
    Text {
        /// 1-based number of the pair.
        pair: u64,
        /// What is wrong.
        fault: Fault,
    },
    /// A link points past the end.
    #[error("training pair {pair}: {error}")]
    Link {
        /// 1-based number of the pair.
        pair: u64,
        /// Which link.
        error: LinkOutOfRange,
    },
    /// The language model cannot be estimated.
    #[error("language model: {0}")]
    LanguageModel(#[from] EstimateError),
}

/// A grammar, a language model, weights and the vocabulary of all of them.
#[derive(Debug)]
pub struct Model {
    /// Labels, source words and target words.
    pub vocab: Vocab,
    /// The rules.
    pub grammar: Grammar,
    /// The target language model.
    pub lm: Lm,
    /// Feature weights; `lm` is the language model's, over natural logs.
    pub weights: Weights,
}

impl Model {
    /// Reads a tree in Penn brackets with this model's vocabulary, which grows by words it does not know.
    /// `None` stands for an empty parse.
    pub fn read_tree(&mut self, line: &str) -> Result<Option<Tree>, Fault> {
        parse_line(line, Brackets::default(), &mut self.vocab)
    }
}

/// Learns rules and a language model pair by pair.
#[derive(Debug)]
pub struct Trainer {
    config: TrainerConfig,
    vocab: Vocab,
    counts: RuleCounts,
    estimator: Estimator,
    pairs: u64,
}

impl Trainer {
    /// Nothing learnt yet.
    pub fn new(config: TrainerConfig) -> Result<Self, TrainError> {
        let lm = EstimateConfig { order: config.lm_order, ..EstimateConfig::default() };
        let estimator = Estimator::new(lm)?;
        Ok(Self { config, vocab: Vocab::new(), counts: RuleCounts::new(), estimator, pairs: 0 })
    }

    /// Learns from one pair: a tree in Penn brackets, its translation in words, and word links.
    /// A pair without a tree or without links still teaches the language model.
    pub fn add(&mut self, tree: &str, target: &str, links: &[Link]) -> Result<(), TrainError> {
        self.pairs += 1;
        let pair = self.pairs;
        let tree = parse_line(tree, Brackets::default(), &mut self.vocab)
            .map_err(|fault| TrainError::Text { pair, fault })?;
        self.estimator.add(target).map_err(|fault| TrainError::Text { pair, fault })?;
        if let Some(tree) = tree {
            let words = self.vocab.intern_words(target);
            let rules =
                minimal_rules(&tree, &words, links).map_err(|error| TrainError::Link { pair, error })?;
            for extracted in rules {
                self.counts.add(extracted.rule);
            }
        }
        Ok(())
    }

    /// How many different rules there are so far.
    pub fn rules(&self) -> usize {
        self.counts.len()
    }

    /// The model.
    pub fn finish(self) -> Result<Model, TrainError> {
        let Self { config, vocab, counts, estimator, .. } = self;
        let grammar = counts.grammar(&vocab, config.targets_per_source);
        Ok(Model { vocab, grammar, lm: estimator.finish()?, weights: config.weights })
    }
}
