//! The translations that tuning chooses from: everything that any round's n-best lists held.

use sylvan_base::hash::{content_hash, fold};
use sylvan_base::{HashSet, Id, Symbol, Vocab};
use sylvan_eval::{Metric, Workspace};

/// The values of one translation's features, by number, in rising order, zeros left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(Box<[(u32, f32)]>);

impl Values {
    /// Values of features in any order. Values of the same feature add up.
    pub fn new(values: impl IntoIterator<Item = (Symbol, f64)>) -> Self {
        let mut all: Vec<(u32, f64)> = values.into_iter().map(|(name, value)| (name.0, value)).collect();
        all.sort_by_key(|&(number, _)| number);
        all.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self(all.into_iter().map(|(n, v)| (n, v as f32)).filter(|&(_, value)| value != 0.0).collect())
    }

    /// Number and value, in rising order of numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().map(|&(number, value)| (number as usize, f64::from(value)))
    }

    /// The sum of values times weights; a feature without a weight weighs 0.
    pub fn dot(&self, weights: &[f64]) -> f64 {
        self.iter().map(|(number, value)| value * weights.get(number).copied().unwrap_or(0.0)).sum()
    }

    fn hash(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |hash, &(number, value)| fold(fold(hash, u64::from(number)), u64::from(value.to_bits())))
    }
}

/// One translation as a decoder gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The translation as it is to be scored.
    pub text: String,
    /// Its features.
    pub values: Values,
}

/// One translation as tuning keeps it.
#[derive(Debug, Clone)]
pub struct Entry<S> {
    /// What it contributes to the metric.
    pub stats: S,
    /// Its features.
    pub values: Values,
}

/// All different translations of each sentence.
#[derive(Debug)]
pub struct Pool<'m, M: Metric> {
    metric: &'m M,
    references: Vec<Vec<String>>,
    sentences: Vec<Vec<Entry<M::Stats>>>,
    seen: Vec<HashSet<u64>>,
    workspace: Workspace,
}

impl<'m, M: Metric> Pool<'m, M> {
    /// An empty pool. `references` are lists per sentence: one reference or more each.
    pub fn new(metric: &'m M, references: Vec<Vec<String>>) -> Self {
        let sentences = references.iter().map(|_| Vec::new()).collect();
        let seen = references.iter().map(|_| HashSet::default()).collect();
        Self { metric, references, sentences, seen, workspace: Workspace::default() }
    }

    /// The metric.
    pub fn metric(&self) -> &'m M {
        self.metric
    }

    /// How many sentences there are.
    pub fn len(&self) -> usize {
        self.references.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    /// The translations of a sentence.
    pub fn entries(&self, sentence: usize) -> &[Entry<M::Stats>] {
        &self.sentences[sentence]
    }

    /// How many translations there are.
    pub fn total(&self) -> usize {
        self.sentences.iter().map(Vec::len).sum()
    }

    /// What a translation of a sentence contributes to the metric.
    pub fn stats(&mut self, sentence: usize, text: &str) -> M::Stats {
        let mut workspace = std::mem::take(&mut self.workspace);
        let stats = self.judge(sentence, text, &mut workspace);
        self.workspace = workspace;
        stats
    }

    /// The same with a workspace of the caller's.
    pub(crate) fn judge(&self, sentence: usize, text: &str, workspace: &mut Workspace) -> M::Stats {
        let references: Vec<&str> = self.references[sentence].iter().map(String::as_str).collect();
        self.metric.line(text, &references, workspace)
    }

    /// Adds the new ones and returns how many they were. The same words with other features are another translation.
    pub fn add(&mut self, sentence: usize, candidates: Vec<Candidate>) -> usize {
        let mut new = 0;
        for Candidate { text, values } in candidates {
            let key = fold(content_hash(text.as_bytes()), values.hash());
            if self.seen[sentence].insert(key) {
                let stats = self.stats(sentence, &text);
                self.sentences[sentence].push(Entry { stats, values });
                new += 1;
            }
        }
        new
    }

    /// Which translation of a sentence wins with these weights: the first of the best. `None` if there is none.
    pub fn best(&self, sentence: usize, weights: &[f64]) -> Option<usize> {
        let scores = self.sentences[sentence].iter().map(|entry| entry.values.dot(weights));
        let best = scores.enumerate().reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map(|(index, _)| index)
    }

    /// The sum of the winners' statistics.
    pub fn total_stats(&self, weights: &[f64]) -> M::Stats {
        let mut total = M::Stats::default();
        for sentence in 0..self.len() {
            if let Some(best) = self.best(sentence, weights) {
                total += self.sentences[sentence][best].stats;
            }
        }
        total
    }

    /// The metric of the winners, turned so that more is better.
    pub fn gain(&self, weights: &[f64]) -> f64 {
        self.metric.better().gain(self.metric.value(&self.total_stats(weights)))
    }
}

/// The weights of named features as a vector; those without a weight get 0.
pub fn vector(names: &Vocab, weights: &[(String, f64)]) -> Vec<f64> {
    let mut vector = vec![0.0; names.len()];
    for (name, value) in weights {
        if let Some(number) = names.get(name) {
            vector[number.index()] = *value;
        }
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_eval::Ter;

    #[test]
    fn a_pool_keeps_what_differs_in_words_or_features() {
        let ter = Ter::default();
        let mut pool = Pool::new(&ter, vec![vec!["a b".to_string()]]);
        let one = |text: &str, value| Candidate {
            text: text.to_string(),
            values: Values::new([(Symbol(1), value), (Symbol(0), 0.0), (Symbol(1), 1.0)]),
        };
        assert_eq!(pool.add(0, vec![one("a b", 1.0), one("a c", 1.0), one("a b", 2.0), one("a b", 1.0)]), 3);
        assert_eq!(pool.add(0, vec![one("a c", 1.0)]), 0);
        assert_eq!(pool.total(), 3);
        assert_eq!(pool.entries(0)[0].values.iter().collect::<Vec<_>>(), [(1, 2.0)]);
        assert_eq!(pool.best(0, &[0.0, 1.0]), Some(2));
        assert_eq!(pool.best(0, &[0.0, -1.0]), Some(0), "the first of equals");
        assert_eq!(pool.gain(&[0.0, 1.0]), 0.0);
    }
}
