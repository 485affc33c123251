//! What a search is given and what it returns.

use sylvan_base::Symbol;
use sylvan_forest::{Derivation, Edges, TranslationForest};

use crate::LanguageModel;

/// How many items are kept where items compete (a bin, a vertex), counted after recombination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beam(pub usize);

impl Beam {
    /// No pruning at all: the search is exact.
    pub const UNLIMITED: Beam = Beam(usize::MAX);
}

/// How much work a search did. These numbers do not depend on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Partial derivations made.
    pub items: u64,
    /// Of these, how many met an item with the same future.
    pub recombined: u64,
    /// Of the rest, how many a beam dropped.
    pub pruned: u64,
    /// Left-to-right search: items that were among the best of their bin and went on.
    pub kept: u64,
    /// Queries to the language model: words scored given some history, and ends of sentences; those for estimates
    /// included. A word is counted again when it is scored again after a longer history, and not when its score is
    /// remembered. With several models, what they score together counts once.
    ///
    /// Left-to-right search counts exactly what it asks. From the bottom up all words count whose scores the history
    /// could change, even where the model sees at once that it does not; refinement also counts the known words of a
    /// group when it works out how the group looks.
    pub lm_queries: u64,
    /// Left-to-right search: words of steps whose scores were remembered, so that they are not among those.
    pub lm_remembered: u64,
    /// Prediction: edges looked at to find future costs.
    pub future_edges: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.recombined += other.recombined;
        self.pruned += other.pruned;
        self.kept += other.kept;
        self.lm_queries += other.lm_queries;
        self.lm_remembered += other.lm_remembered;
        self.future_edges += other.future_edges;
    }
}

/// The best derivation that a search found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Which rules.
    pub derivation: Derivation,
    /// Its model score.
    pub score: f64,
    /// What it cost.
    pub counters: Counters,
}

impl Outcome {
    /// The translation.
    pub fn words(&self, forest: &TranslationForest) -> Vec<Symbol> {
        self.derivation.words(forest)
    }
}

/// The model score of a derivation, computed from nothing but its edges and words. Every search must agree
/// with it.
pub fn rescore<L: LanguageModel, E: Edges>(forest: &E, lm: &L, derivation: &Derivation) -> f64 {
    derivation.local_score(forest) + lm.sentence(&derivation.tokens(forest))
}

/// The better of two candidates: the higher score, then the smaller content hash, so that no answer depends
/// on the order in which candidates were made.
pub(crate) fn better(score: f64, hash: u64, than_score: f64, than_hash: u64) -> bool {
    match score.total_cmp(&than_score) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => hash < than_hash,
    }
}
