//! The best translations of a sentence, from what a search found.

use sylvan_base::Symbol;
use sylvan_forest::{Derivation, TranslationForest};
use sylvan_search::{KBest, OutForest, Outcome};

/// How many translations are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List {
    /// At most this many, best first; at least 1.
    pub best: usize,
    /// Whether translations with the same words count as one.
    pub distinct: bool,
}

impl Default for List {
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

/// The list of a search, its best translation first: what exact search found to be better than the search
/// before it, or, of several equally good ones, the one that is given when no list is wanted.
pub(crate) fn list(
    forest: &TranslationForest,
    best: Outcome,
    out: Option<&OutForest>,
    wanted: List,
) -> Vec<Hypothesis> {
    let Outcome { derivation, score, .. } = best;
    let words = derivation.words(forest);
    let best = Hypothesis { score, derivation, words };
    let Some(out) = out else { return vec![best] };
    let mut list = found(forest, out, wanted);
    // The list adds up scores in another order.
    let rounding = 1e-9 * best.score.abs().max(1.0);
    let no_worse = |first: &Hypothesis| best.score > first.score - rounding;
    if list.first().is_none_or(|first| no_worse(first) && best.derivation != first.derivation) {
        put_first(&mut list, best, wanted);
    }
    list
}

/// Puts a translation first in a list and removes other copies of it.
pub(crate) fn put_first(list: &mut Vec<Hypothesis>, first: Hypothesis, wanted: List) {
    list.retain(|other| {
        other.derivation != first.derivation && !(wanted.distinct && other.words == first.words)
    });
    list.insert(0, first);
    list.truncate(wanted.best.max(1));
}

fn found(forest: &TranslationForest, out: &OutForest, wanted: List) -> Vec<Hypothesis> {
    let lists = if wanted.distinct { KBest::distinct(out, forest) } else { KBest::new(out) };
    let hypothesis = |(score, edges)| {
        let derivation = out.derivation(forest, edges);
        let words = derivation.words(forest);
        Hypothesis { score, derivation, words }
    };
    lists.take(wanted.best).map(hypothesis).collect()
}
