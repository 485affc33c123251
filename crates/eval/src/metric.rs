//! What all metrics have in common: statistics per line that add up, and a score of the sum.
//!
//! Statistics are integers (or fixed-point numbers), so a sum does not depend on its order, a line can be taken
//! out again exactly, and lines can be shared out among threads.

use std::num::NonZeroUsize;
use std::ops::{AddAssign, SubAssign};

use crate::chrf_stats::ChrfWork;
use crate::shifts::TerWork;
use crate::words::Words;
use crate::{EvalError, References};

/// Which of two scores is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    /// The larger one.
    Higher,
    /// The smaller one.
    Lower,
}

impl Better {
    /// `score`, turned so that more is better.
    pub fn gain(self, score: f64) -> f64 {
        match self {
            Self::Higher => score,
            Self::Lower => -score,
        }
    }
}

/// Memory that metrics reuse from line to line; one per thread.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) words: Words,
    pub(crate) references: References,
    pub(crate) chrf: ChrfWork,
    pub(crate) ter: TerWork,
}

/// A way to score translations.
pub trait Metric: Sync {
    /// What a line contributes.
    type Stats: Copy + Default + AddAssign + SubAssign + Send + Sync;

    /// As printed: `BLEU`, `chrF2++`.
    fn name(&self) -> String;

    /// Whether higher or lower scores are better.
    fn better(&self) -> Better {
        Better::Higher
    }

    /// What a line contributes, compared with its references (at least one).
    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> Self::Stats;

    /// The score of a corpus from the sum of its lines.
    fn value(&self, total: &Self::Stats) -> f64;

    /// The score of a single line.
    fn line_value(&self, line: &Self::Stats) -> f64 {
        self.value(line)
    }

    /// The most words of a line, for metrics whose time or memory grows faster than they do.
    fn most_words(&self) -> Option<usize> {
        None
    }

    /// Words of a line, as [`most_words`](Self::most_words) counts them.
    fn words(&self, line: &str) -> usize {
        line.split_whitespace().count()
    }

    /// Everything needed to reproduce the number, in sacreBLEU's form.
    fn signature(&self, references: usize) -> String;

    /// What each line contributes. `references` are files, not lists of references per line. The result does
    /// not depend on the number of threads.
    fn line_stats<H: AsRef<str> + Sync, R: AsRef<str> + Sync>(
        &self,
        hypotheses: &[H],
        references: &[Vec<R>],
        threads: NonZeroUsize,
    ) -> Result<Vec<Self::Stats>, EvalError> {
        check_lines(hypotheses.len(), references)?;
        if let Some(most) = self.most_words() {
            let long =
                |(at, line): (usize, &str)| Some((at + 1, self.words(line))).filter(|found| found.1 > most);
            let mut lines = hypotheses.iter().map(AsRef::as_ref).enumerate();
            let reference = || {
                references
                    .iter()
                    .find_map(|stream| stream.iter().map(AsRef::as_ref).enumerate().find_map(long))
            };
            if let Some((line, words)) = lines.find_map(long).or_else(reference) {
                return Err(EvalError::Long { line, words, most, metric: self.name() });
            }
        }
        let share = hypotheses.len().div_ceil(threads.get());
        let run = |first: usize, lines: &[H]| {
            let mut workspace = Workspace::default();
            let mut refs: Vec<&str> = Vec::with_capacity(references.len());
            let stats = lines.iter().enumerate().map(|(offset, line)| {
                refs.clear();
                refs.extend(references.iter().map(|stream| stream[first + offset].as_ref()));
                self.line(line.as_ref(), &refs, &mut workspace)
            });
            stats.collect::<Vec<_>>()
        };
        if share == hypotheses.len() {
            return Ok(run(0, hypotheses));
        }
        let parts: Vec<Vec<Self::Stats>> = std::thread::scope(|scope| {
            let parts = hypotheses.chunks(share).enumerate();
            let handles: Vec<_> =
                parts.map(|(index, lines)| scope.spawn(move || run(index * share, lines))).collect();
            let join = |handle: std::thread::ScopedJoinHandle<'_, _>| handle.join();
            handles
                .into_iter()
                .map(|handle| join(handle).unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        Ok(parts.concat())
    }

    /// The sum of what lines contribute.
    fn sum(&self, lines: &[Self::Stats]) -> Self::Stats {
        let mut total = Self::Stats::default();
        for &line in lines {
            total += line;
        }
        total
    }
}

/// One reference or more, each as long as the translation, which has at least one line.
fn check_lines<R>(expected: usize, references: &[Vec<R>]) -> Result<(), EvalError> {
    if references.is_empty() {
        return Err(EvalError::NoReference);
    }
    for (index, stream) in references.iter().enumerate() {
        if stream.len() != expected {
            return Err(EvalError::Lines { stream: index + 1, found: stream.len(), expected });
        }
    }
    if expected == 0 { Err(EvalError::NoSentence) } else { Ok(()) }
}
