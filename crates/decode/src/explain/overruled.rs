//! Where a network overruled the rest of the model.

use serde::Serialize;
use sylvan_forest::Derivation;

use super::{Difference, decided};
use crate::features::{Contribution, NeuralFeature};
use crate::learning::common;
use crate::target_text::Composed;
use crate::worker::{Derived, SentenceForest};

/// What would have been said without the network.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Overruled {
    /// As people write it.
    pub translation: String,
    /// Its words.
    pub words: Vec<String>,
    /// Which of them the translation does not have there.
    pub left_out: Vec<u32>,
    /// Which words of the translation it does not have there.
    pub put_in: Vec<u32>,
    /// By how much the network prefers the translation.
    pub network: f64,
    /// By how much everything else prefers it: seldom more than 0, because then it would have been found without the
    /// network.
    pub others: f64,
    /// The same by feature.
    pub decided: Vec<Difference>,
}

/// What the network changed, if it changed anything. `other` is the best translation without it, and the forest that this
/// is a derivation of.
pub(super) fn overruled(
    derived: &Derived<'_>,
    totals: &[Contribution],
    (forest, other): &(SentenceForest, Derivation),
) -> Option<Overruled> {
    let words = derived.derivation().words(derived.forest());
    let other_words = other.words(&forest.forest);
    if words == other_words {
        return None;
    }
    let shared = common(&words, &other_words);
    let missing = |count: usize, of: fn(&(usize, usize)) -> usize| {
        (0..count)
            .filter(|place| !shared.iter().any(|pair| of(pair) == *place))
            .map(|place| place as u32)
            .collect()
    };
    let (put_in, left_out) = (missing(words.len(), |pair| pair.0), missing(other_words.len(), |pair| pair.1));
    let other = derived.in_forest(forest, other);
    let Composed { text, words, .. } = other.compose(derived.model().target_text());
    let decided = decided(totals, &other.contributions().totals());
    let is_network = |one: &&Difference| one.feature == NeuralFeature::NAME;
    let sum = |wanted: bool| {
        decided.iter().filter(|one| is_network(one) == wanted).map(|one| one.difference).sum::<f64>()
    };
    let (network, others) = (sum(true), sum(false));
    Some(Overruled { translation: text, words, left_out, put_in, network, others, decided })
}
