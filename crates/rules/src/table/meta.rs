//! What a table says about itself, as JSON in its file.

use serde::{Deserialize, Serialize};

use sylvan_base::{Symbol, Vocab};

use crate::{Preprocessing, Rule, TargetSide};

/// Limits that a table was made with; `None` where there was none or it is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Minimal rules per rule.
    #[serde(default)]
    pub minimal_rules: Option<u32>,
    /// Expanded nodes per rule.
    #[serde(default)]
    pub nodes: Option<u32>,
    /// Target words per rule.
    #[serde(default)]
    pub words: Option<u32>,
    /// Source words per rule.
    #[serde(default)]
    pub source_words: Option<u32>,
    /// Words below nodes where whole phrases become rules.
    #[serde(default)]
    pub phrase_words: Option<u32>,
    /// Variables per rule.
    #[serde(default)]
    pub variables: Option<u32>,
    /// Target sides per source side.
    #[serde(default)]
    pub per_source: Option<u32>,
    /// Flat rules: source words of the phrase pair that a rule was learnt from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<u32>,
    /// Flat rules: target words of that phrase pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_span: Option<u32>,
    /// Hiero rules: words and variables of a source side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbols: Option<u32>,
    /// Hiero rules: words and variables of a target side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_symbols: Option<u32>,
    /// Hiero rules: the least number of source words that a variable was put in place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<u32>,
    /// Hiero rules: the least number of target words that a variable was put in place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_gap: Option<u32>,
}

/// What rules are applied to, and so how a sentence becomes a translation forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Formalism {
    /// Trees and packed forests of trees.
    #[default]
    Tree,
    /// Sentences, with rules that have variables: each is one flat node.
    Hiero,
    /// Sentences, with phrase pairs.
    Phrase,
    /// Sentences, with rules whose target words come before their variables: they translate from left to right.
    #[serde(rename = "lr-hiero")]
    LrHiero,
}

/// Whether the target side has words, and variables only behind them.
fn words_come_first(rule: &Rule) -> bool {
    let is_variable = |symbol: &TargetSide| matches!(symbol, TargetSide::Var(_));
    rule.target().first().is_some_and(|first| !is_variable(first))
        && rule.target().iter().map(is_variable).is_sorted()
}

impl Formalism {
    /// As files and the command line name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Hiero => "hiero",
            Self::Phrase => "phrase",
            Self::LrHiero => "lr-hiero",
        }
    }

    /// What rules of this kind are, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Tree => "rules with syntax, from trees of the source text",
            Self::Hiero => "rules with gaps, from the texts alone",
            Self::Phrase => "phrase pairs that are put in any order, from the texts alone",
            Self::LrHiero => "rules with gaps that translate from left to right, from the texts alone",
        }
    }

    /// What rules of this kind look like, as far as the kind decides it; `Err` says what is expected instead.
    pub fn check(self, rule: &Rule, vocab: &Vocab) -> Result<(), &'static str> {
        if self == Self::Tree {
            return Ok(());
        }
        let has_label = |label: Symbol| vocab.text(label) == FLAT_LABEL;
        let flat = rule.nodes() == 1 && has_label(rule.root()) && rule.variables().all(has_label);
        let has_variables = rule.variables().next().is_some();
        match self {
            _ if !flat => Err("one flat node with the label X, and variables with the label X"),
            Self::Phrase if has_variables => Err("words alone, without variables"),
            Self::LrHiero if !words_come_first(rule) => Err("target words before all variables"),
            _ => Ok(()),
        }
    }
}

/// The label of flat rules and their variables.
pub const FLAT_LABEL: &str = "X";

/// What a table says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// What its rules are applied to; trees, in tables that do not say.
    #[serde(default)]
    pub formalism: Formalism,
    /// What was done to the trees, and must be done to the input.
    pub preprocessing: Preprocessing,
    /// The names of the features.
    pub features: Vec<String>,
    /// Bits per feature value, 32 for exact floats.
    pub feature_bits: u32,
    /// What phrase pairs are counted as neighbours by the features `msd.`: word, phrase or hier; empty if there are
    /// none or it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub orientation: String,
    /// Limits that were kept while it was made.
    #[serde(default)]
    pub limits: Limits,
    /// At most this many training lines per rule; 0 without that section.
    #[serde(default)]
    pub lines_per_rule: u32,
    /// How it was made, in words: command, smoothing, attachment.
    #[serde(default)]
    pub made_by: String,
    /// Training pairs that rules were learnt from.
    #[serde(default)]
    pub pairs: u64,
}

impl Meta {
    /// Rules with these features, trees as they are.
    pub fn new<'n>(features: impl IntoIterator<Item = &'n str>) -> Self {
        Self {
            formalism: Formalism::Tree,
            preprocessing: Preprocessing::as_is(),
            features: features.into_iter().map(str::to_string).collect(),
            feature_bits: 32,
            orientation: String::new(),
            limits: Limits::default(),
            lines_per_rule: 0,
            made_by: String::new(),
            pairs: 0,
        }
    }
}
