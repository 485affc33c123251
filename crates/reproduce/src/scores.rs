//! BLEU and how sure it is.

use std::num::NonZeroUsize;

use sylvan_decode::{Error, Result};
use sylvan_eval::compare::bootstrap;
use sylvan_eval::{Bleu, BleuStats, Metric, Ter, TerBleu, Tokenizer};

use crate::measured::{Measured, deviation, mean};

/// Samples of the bootstrap, as the papers have.
const SAMPLES: usize = 1000;

/// The translations of one system after one or several runs of tuning, line by line.
#[derive(Debug, Clone)]
pub(crate) struct Scored {
    runs: Vec<Vec<BleuStats>>,
}

fn metric() -> Bleu {
    Bleu { tokenizer: Tokenizer::None, ..Bleu::default() }
}

impl Scored {
    pub(crate) fn new<'m>(
        runs: impl IntoIterator<Item = &'m Measured>,
        references: &[String],
    ) -> Result<Self> {
        let stats =
            |run: &Measured| metric().line_stats(&run.texts, &[references.to_vec()], NonZeroUsize::MIN);
        let runs: std::result::Result<_, _> = runs.into_iter().map(stats).collect();
        Ok(Self { runs: runs.map_err(|error| Error::Scores(Box::new(error)))? })
    }

    /// Of each run.
    pub(crate) fn all(&self) -> Vec<f64> {
        self.runs.iter().map(|lines| metric().value(&metric().sum(lines))).collect()
    }

    /// The mean over runs.
    pub(crate) fn bleu(&self) -> f64 {
        mean(&self.all())
    }

    /// For tables: the mean, and how much runs differ if there are several.
    pub(crate) fn shown(&self) -> String {
        match self.runs.len() {
            1 => format!("{:.2}", self.bleu()),
            _ => format!("{:.2} ± {:.2}", self.bleu(), deviation(&self.all())),
        }
    }

    /// The probability that a difference like that to a baseline is chance (Koehn 2004, over all runs).
    pub(crate) fn p_value(&self, base: &Self) -> f64 {
        bootstrap(&metric(), &base.runs, &self.runs, SAMPLES, 1).p_value
    }

    /// For tables: the difference to a baseline and its p.
    pub(crate) fn against(&self, base: &Self) -> String {
        format!("{:+.2} (p {:.3})", self.bleu() - base.bleu(), self.p_value(base))
    }
}

/// (TER-BLEU)/2, the mean over runs; less is better.
pub(crate) fn ter_bleu(runs: &[Measured], references: &[String]) -> Result<f64> {
    let metric = TerBleu { ter: Ter::default(), bleu: metric() };
    let value = |run: &Measured| {
        let lines = metric.line_stats(&run.texts, &[references.to_vec()], NonZeroUsize::MIN);
        let lines = lines.map_err(|error| Error::Scores(Box::new(error)))?;
        Ok(metric.value(&metric.sum(&lines)))
    };
    Ok(mean(&runs.iter().map(value).collect::<Result<Vec<_>>>()?))
}
