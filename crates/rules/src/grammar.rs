//! A grammar in memory: rules with features, and a trie over their source sides.

use sylvan_base::{Fault, HashMap, Id, IndexVec, Result, Vocab, define_id};
use sylvan_store::TextReader;

use crate::{Rule, Source};

define_id!(
    /// A rule of one grammar.
    RuleId
);
define_id!(
    /// A place in the trie of source sides: what is common to all treelets that start alike.
    SourceId
);

/// Rules with features, found by walking their source sides token by token from [`Grammar::START`].
#[derive(Debug, Clone)]
pub struct Grammar {
    feature_names: Vec<String>,
    rules: IndexVec<RuleId, Rule>,
    hashes: IndexVec<RuleId, u64>,
    /// `feature_names.len()` values per rule.
    features: Vec<f32>,
    steps: HashMap<(SourceId, Source), SourceId>,
    /// The rules whose source side ends here.
    ends: IndexVec<SourceId, Vec<RuleId>>,
}

impl Grammar {
    /// Where every source side starts.
    pub const START: SourceId = SourceId(0);

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All rules.
    pub fn rules(&self) -> impl DoubleEndedIterator<Item = RuleId> + ExactSizeIterator + use<> {
        self.rules.ids()
    }

    /// A rule.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id]
    }

    /// The rule's content hash, for ties.
    pub fn hash(&self, id: RuleId) -> u64 {
        self.hashes[id]
    }

    /// The names of the features, in the order of [`features`](Self::features).
    pub fn feature_names(&self) -> &[String] {
        &self.feature_names
    }

    /// A rule's feature values.
    pub fn features(&self, id: RuleId) -> &[f32] {
        let width = self.feature_names.len();
        &self.features[id.index() * width..(id.index() + 1) * width]
    }

    /// One step in the trie.
    #[inline]
    pub fn step(&self, at: SourceId, token: Source) -> Option<SourceId> {
        self.steps.get(&(at, token)).copied()
    }

    /// The rules whose source side ends at a place in the trie.
    pub fn ending_at(&self, at: SourceId) -> &[RuleId] {
        &self.ends[at]
    }

    /// The weighted sum of each rule's features, of its count and of its target words.
    pub fn scores(&self, weights: &Weights) -> IndexVec<RuleId, f64> {
        let by_feature: Vec<f64> = self.feature_names.iter().map(|name| weights.get(name)).collect();
        let (per_rule, per_word) = (weights.get("rules"), weights.get("words"));
        self.rules()
            .map(|id| {
                let values = self.features(id).iter().zip(&by_feature);
                let features: f64 = values.map(|(&value, weight)| f64::from(value) * weight).sum();
                let words = self.rule(id).target().len() - self.rule(id).variables().count();
                features + per_rule + per_word * words as f64
            })
            .collect()
    }
}

/// Builds a [`Grammar`] rule by rule.
#[derive(Debug)]
pub struct GrammarBuilder {
    grammar: Grammar,
}

impl GrammarBuilder {
    /// A grammar whose rules have these features.
    pub fn new<'n>(feature_names: impl IntoIterator<Item = &'n str>) -> Self {
        let grammar = Grammar {
            feature_names: feature_names.into_iter().map(str::to_string).collect(),
            rules: IndexVec::new(),
            hashes: IndexVec::new(),
            features: Vec::new(),
            steps: HashMap::default(),
            ends: IndexVec::from_vec(vec![Vec::new()]),
        };
        Self { grammar }
    }

    /// Adds a rule with its feature values.
    ///
    /// # Panics
    /// If the number of values is not the number of features.
    pub fn add(&mut self, rule: &Rule, features: &[f32], vocab: &Vocab) -> RuleId {
        let grammar = &mut self.grammar;
        assert_eq!(features.len(), grammar.feature_names.len(), "one value per feature");
        let mut at = Grammar::START;
        for &token in rule.source() {
            let ends = &mut grammar.ends;
            at = *grammar.steps.entry((at, token)).or_insert_with(|| ends.push(Vec::new()));
        }
        let id = grammar.rules.push(rule.clone());
        grammar.hashes.push(rule.content_hash(vocab));
        grammar.features.extend_from_slice(features);
        grammar.ends[at].push(id);
        id
    }

    /// The grammar.
    pub fn finish(self) -> Grammar {
        self.grammar
    }
}

/// Named weights; a name that is not there weighs 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    values: Vec<(String, f64)>,
}

impl Weights {
    /// Weights from names and values. A repeated name keeps its last value.
    pub fn of<'n>(values: impl IntoIterator<Item = (&'n str, f64)>) -> Self {
        let mut weights = Self::default();
        for (name, value) in values {
            weights.set(name, value);
        }
        weights
    }

    /// Sets a weight.
    pub fn set(&mut self, name: &str, value: f64) {
        match self.values.iter_mut().find(|(known, _)| known == name) {
            Some(entry) => entry.1 = value,
            None => self.values.push((name.to_string(), value)),
        }
    }

    /// A weight.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|(known, _)| known == name).map_or(0.0, |&(_, value)| value)
    }

    /// Names and values in the order in which they were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.values.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Reads `name=value` lines; `#` starts a comment.
    pub fn read(reader: &mut TextReader) -> Result<Self> {
        let mut weights = Self::default();
        while let Some(line) = reader.next_line()? {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let parsed = line.split_once('=').and_then(|(name, value)| {
                let value: f64 = value.trim().parse().ok()?;
                value.is_finite().then(|| (name.trim().to_string(), value))
            });
            let Some((name, value)) = parsed else {
                let fault = Fault::new(1, format!("{line:?}"), "name=value with a finite number")
                    .advise("write one weight per line, such as lm=0.5");
                return Err(reader.locate(fault));
            };
            weights.set(&name, value);
        }
        Ok(weights)
    }
}
