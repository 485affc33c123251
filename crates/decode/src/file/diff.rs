//! What changed from one model to another: rules and weights. `compare.rs` shows what that does to
//! translations.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{Result, Vocab};
use sylvan_rules::{Grammar, RuleId, Weights};

use super::ModelFile;

/// How two rule tables differ. Examples are the rules seen most often, as text with their counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleDiff {
    /// Rules that both have, with the same features.
    pub same: u64,
    /// Rules that both have, with other features.
    pub changed: u64,
    /// Rules that only the first has.
    pub only_first: u64,
    /// Rules that only the second has.
    pub only_second: u64,
    /// Examples of those that only the first has.
    pub lost: Vec<(String, f64)>,
    /// Examples of those that only the second has.
    pub new: Vec<(String, f64)>,
}

/// A weight that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightDiff {
    /// The feature.
    pub feature: String,
    /// Its weight in the first model, 0 if it has none.
    pub first: f64,
    /// Its weight in the second.
    pub second: f64,
}

/// Weights that differ, in the order of their names.
pub fn compare_weights(first: &Weights, second: &Weights) -> Vec<WeightDiff> {
    let mut names: Vec<&str> = first.iter().chain(second.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let pairs = names.into_iter().map(|name| WeightDiff {
        feature: name.to_string(),
        first: first.get(name),
        second: second.get(name),
    });
    pairs.filter(|pair| pair.first != pair.second).collect()
}

/// Hashes of a rule's content and of its features.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Print {
    rule: u64,
    features: u64,
    id: RuleId,
}

/// Compares two rule tables; at most `examples` rules of each side are named.
pub fn compare_rules(first: &ModelFile, second: &ModelFile, examples: usize) -> Result<RuleDiff> {
    let tables = [first.grammar()?, second.grammar()?];
    let vocabs = [tables[0].vocab(), tables[1].vocab()];
    let [ours, theirs] = [0, 1].map(|side| prints(&tables[side], &vocabs[side]));
    let mut diff = RuleDiff::default();
    let (mut lost, mut new) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (ours.iter().peekable(), theirs.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.rule == b.rule => {
                if a.features == b.features {
                    diff.same += 1;
                } else {
                    diff.changed += 1;
                }
                left.next();
                right.next();
            }
            (Some(a), other) if other.is_none_or(|b| a.rule < b.rule) => {
                lost.push(a.id);
                left.next();
            }
            (_, Some(b)) => {
                new.push(b.id);
                right.next();
            }
            (_, None) => break,
        }
    }
    (diff.only_first, diff.only_second) = (lost.len() as u64, new.len() as u64);
    diff.lost = most_seen(&tables[0], &vocabs[0], lost, examples);
    diff.new = most_seen(&tables[1], &vocabs[1], new, examples);
    Ok(diff)
}

fn prints(grammar: &Grammar, vocab: &Vocab) -> Vec<Print> {
    let mut prints: Vec<Print> = grammar
        .rules()
        .map(|id| {
            let named = grammar.feature_names().iter().zip(grammar.features(id));
            // A sum, so that the order of features in a table does not matter.
            let features = named.fold(0u64, |sum, (name, value)| {
                sum.wrapping_add(fold(content_hash(name.as_bytes()), u64::from(value.to_bits())))
            });
            Print { rule: grammar.rule(id).content_hash(vocab), features, id }
        })
        .collect();
    prints.sort_unstable();
    prints
}

fn most_seen(grammar: &Grammar, vocab: &Vocab, ids: Vec<RuleId>, examples: usize) -> Vec<(String, f64)> {
    let count = |id: RuleId| grammar.notes(id).count.map_or(0.0, |count| count.rule.to_f64());
    let mut counted: Vec<(f64, RuleId)> = ids.into_iter().map(|id| (count(id), id)).collect();
    counted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    counted.truncate(examples);
    counted.into_iter().map(|(count, id)| (grammar.rule(id).show(vocab), count)).collect()
}
