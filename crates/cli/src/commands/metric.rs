//! Which metric, with which settings: what `score` and `compare` have in common.

use crate::threads::Threads;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use sylvan_eval::{Bleu, Case, Chrf, Metric, Ribes, Ter, TerBleu, Tokenizer};

/// A metric by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricName {
    /// N-gram precision of words (Papineni et al. 2002).
    Bleu,
    /// F-score of character n-grams (Popović 2015).
    Chrf,
    /// chrF with word bigrams (Popović 2017).
    #[value(name = "chrf++")]
    ChrfPlusPlus,
    /// Edits and shifts per reference word (Snover et al. 2006).
    Ter,
    /// Order of the words (Isozaki et al. 2010).
    Ribes,
    /// (TER-BLEU)/2.
    TerBleu,
}

impl MetricName {
    /// The name on the command line and in JSON.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
    }
}

/// How metrics are computed.
#[derive(Debug, Clone, Args)]
pub(crate) struct MetricOptions {
    /// How lines are split into words for BLEU and RIBES; chrF and TER have their own ways.
    #[arg(long, value_enum, default_value = "13a")]
    tokenize: Tokenize,
    /// Compare in lower case (TER always does).
    #[arg(long)]
    lowercase: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tokenize {
    /// Words are separated by spaces: for text that is already tokenised.
    None,
    /// The rules of mteval-v13a.
    #[value(name = "13a")]
    V13a,
    /// Punctuation and symbols of all scripts.
    Intl,
    /// Every Chinese character is a word.
    Zh,
    /// Every character is a word.
    Char,
}

/// Something to do with a metric, whichever it is.
pub(crate) trait MetricTask {
    type Output;
    fn run<M: Metric + Details>(self, metric: &M) -> anyhow::Result<Self::Output>;
}

impl MetricOptions {
    /// Does something with the metric of this name.
    pub(crate) fn with<T: MetricTask>(&self, name: MetricName, task: T) -> anyhow::Result<T::Output> {
        let tokenizer = match self.tokenize {
            Tokenize::None => Tokenizer::None,
            Tokenize::V13a => Tokenizer::V13a,
            Tokenize::Intl => Tokenizer::Intl,
            Tokenize::Zh => Tokenizer::Zh,
            Tokenize::Char => Tokenizer::Char,
        };
        let case = if self.lowercase { Case::Lower } else { Case::Mixed };
        let bleu = Bleu { tokenizer, case, ..Bleu::default() };
        match name {
            MetricName::Bleu => task.run(&bleu),
            MetricName::Chrf => task.run(&Chrf { case, ..Chrf::default() }),
            MetricName::ChrfPlusPlus => task.run(&Chrf { case, ..Chrf::plus_plus() }),
            MetricName::Ter => task.run(&Ter::default()),
            MetricName::Ribes => task.run(&Ribes { tokenizer, case, ..Ribes::default() }),
            MetricName::TerBleu => task.run(&TerBleu { bleu, ter: Ter::default() }),
        }
    }
}

/// What to say about a score besides the number.
pub(crate) trait Details: Metric {
    /// For people, in brackets after the score; may be empty.
    fn remark(&self, _total: &Self::Stats) -> String {
        String::new()
    }

    /// For programs: more fields.
    fn fields(&self, _total: &Self::Stats) -> Map<String, Value> {
        Map::new()
    }
}

impl Details for Bleu {
    fn remark(&self, total: &Self::Stats) -> String {
        let result = self.score(total);
        let [p1, p2, p3, p4] = result.precisions;
        format!(
            "({p1:.1}/{p2:.1}/{p3:.1}/{p4:.1}, brevity {:.3}, {} words, {} in the reference)",
            result.brevity, result.stats.hyp_len, result.stats.ref_len
        )
    }

    fn fields(&self, total: &Self::Stats) -> Map<String, Value> {
        let result = self.score(total);
        map([
            ("precisions", json!(result.precisions)),
            ("brevity_penalty", json!(result.brevity)),
            ("hypothesis_length", json!(result.stats.hyp_len)),
            ("reference_length", json!(result.stats.ref_len)),
        ])
    }
}

impl Details for Chrf {}

impl Details for Ter {
    fn remark(&self, total: &Self::Stats) -> String {
        format!("({} edits, {:.1} words in an average reference)", total.edits, total.mean_reference())
    }

    fn fields(&self, total: &Self::Stats) -> Map<String, Value> {
        map([("edits", json!(total.edits)), ("reference_length", json!(total.mean_reference()))])
    }
}

impl Details for Ribes {}
impl Details for TerBleu {}

fn map<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}
