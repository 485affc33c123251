//! From statistics to a score: brevity penalty, smoothing, geometric mean (Papineni et al. 2002; smoothing after
//! Chen & Cherry 2014; all choices as in sacreBLEU, Post 2018).

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::{BleuStats, Case, EvalError, Metric, ORDER, Tokenizer, VERSION, Workspace};

/// What stands in for a precision of zero, which would make the whole score zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Smoothing {
    /// Nothing.
    None,
    /// This many matches; usually 0.1.
    Floor(f64),
    /// This is added to matches and totals of all orders above 1, zero or not; usually 1.
    AddK(f64),
    /// One half match for the first zero, a quarter for the second, and so on: the NIST way.
    #[default]
    Exp,
}

impl Smoothing {
    /// The name without the value.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Floor(_) => "floor",
            Self::AddK(_) => "add-k",
            Self::Exp => "exp",
        }
    }
}

impl FromStr for Smoothing {
    type Err = EvalError;
    fn from_str(name: &str) -> Result<Self, EvalError> {
        let all = [Self::None, Self::Floor(0.1), Self::AddK(1.0), Self::Exp];
        all.into_iter().find(|smoothing| smoothing.name() == name).ok_or_else(|| EvalError::Setting {
            setting: "smoothing",
            found: name.to_string(),
            expected: "exp, floor, add-k or none",
        })
    }
}

/// As in signatures: the name, and the value in brackets where there is one.
impl fmt::Display for Smoothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Floor(value) | Self::AddK(value) => write!(f, "[{value:.2}]"),
            Self::None | Self::Exp => Ok(()),
        }
    }
}

/// One way to compute BLEU. The default is that of sacreBLEU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bleu {
    /// How lines become words.
    pub tokenizer: Tokenizer,
    /// Whether case counts.
    pub case: Case,
    /// What is done about zero precisions.
    pub smoothing: Smoothing,
    /// Whether n-grams longer than the text are left out of the mean. [`Bleu::sentence`] always does so.
    pub effective_order: bool,
}

/// A score with its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BleuScore {
    /// 0 to 100.
    pub score: f64,
    /// In percent, after smoothing.
    pub precisions: [f64; ORDER],
    /// The penalty for being shorter than the reference, 0 to 1.
    pub brevity: f64,
    /// What the score was computed from.
    pub stats: BleuStats,
}

impl Bleu {
    /// The score of a translation, line by line, against one or more reference files (not: lists of references
    /// per line).
    pub fn corpus<H: AsRef<str> + Sync, R: AsRef<str> + Sync>(
        &self,
        hypotheses: &[H],
        references: &[Vec<R>],
    ) -> Result<BleuScore, EvalError> {
        Ok(self.score(&self.corpus_stats(hypotheses, references)?.into_iter().sum()))
    }

    /// The statistics of each line.
    pub fn corpus_stats<H: AsRef<str> + Sync, R: AsRef<str> + Sync>(
        &self,
        hypotheses: &[H],
        references: &[Vec<R>],
    ) -> Result<Vec<BleuStats>, EvalError> {
        self.line_stats(hypotheses, references, NonZeroUsize::MIN)
    }

    /// The score of one sentence; n-grams longer than the sentence are left out of the mean.
    pub fn sentence<R: AsRef<str>>(
        &self,
        hypothesis: &str,
        references: &[R],
    ) -> Result<BleuScore, EvalError> {
        let streams: Vec<Vec<&str>> = references.iter().map(|reference| vec![reference.as_ref()]).collect();
        Self { effective_order: true, ..*self }.corpus(&[hypothesis], &streams)
    }

    /// The score of summed statistics.
    pub fn score(&self, stats: &BleuStats) -> BleuScore {
        let (hyp_len, ref_len) = (stats.hyp_len as f64, stats.ref_len as f64);
        let brevity = match (stats.hyp_len, stats.hyp_len < stats.ref_len) {
            (_, false) => 1.0,
            (0, true) => 0.0,
            (_, true) => (1.0 - ref_len / hyp_len).exp(),
        };
        let mut score = BleuScore { score: 0.0, precisions: [0.0; ORDER], brevity, stats: *stats };
        if stats.matches == [0; ORDER] {
            // Smoothing must not reward a translation without a single right word.
            return score;
        }
        let mut orders = ORDER;
        let mut zeros = 1.0;
        for n in 0..ORDER {
            let (mut matches, mut total) = (stats.matches[n] as f64, stats.totals[n] as f64);
            if let (Smoothing::AddK(k), 1..) = (self.smoothing, n) {
                matches += k;
                total += k;
            }
            if total == 0.0 {
                break;
            }
            if self.effective_order {
                orders = n + 1;
            }
            score.precisions[n] = if matches != 0.0 {
                100.0 * matches / total
            } else {
                match self.smoothing {
                    Smoothing::Exp => {
                        zeros *= 2.0;
                        100.0 / (zeros * total)
                    }
                    Smoothing::Floor(value) => 100.0 * value / total,
                    Smoothing::None | Smoothing::AddK(_) => 0.0,
                }
            };
        }
        let logs: f64 = score.precisions[..orders].iter().map(|p| p.ln()).sum();
        score.score = brevity * (logs / orders as f64).exp();
        score
    }

    /// Everything needed to reproduce the number, in sacreBLEU's form.
    pub fn signature(&self, references: usize) -> String {
        format!(
            "nrefs:{references}|case:{}|eff:{}|tok:{}|smooth:{}|version:{VERSION}",
            self.case.name(),
            if self.effective_order { "yes" } else { "no" },
            self.tokenizer.name(),
            self.smoothing,
        )
    }
}

impl Metric for Bleu {
    type Stats = BleuStats;

    fn name(&self) -> String {
        "BLEU".to_string()
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> BleuStats {
        let Workspace { words, references: counted, .. } = workspace;
        words.read(self.tokenizer, self.case, hypothesis, references);
        counted.refill(&words.references);
        counted.stats(&words.hypothesis)
    }

    fn value(&self, total: &BleuStats) -> f64 {
        self.score(total).score
    }

    fn line_value(&self, line: &BleuStats) -> f64 {
        Self { effective_order: true, ..*self }.score(line).score
    }

    fn signature(&self, references: usize) -> String {
        Self::signature(self, references)
    }
}

impl fmt::Display for BleuScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p1, p2, p3, p4] = self.precisions;
        let BleuStats { hyp_len, ref_len, .. } = self.stats;
        let ratio = if ref_len == 0 { 0.0 } else { hyp_len as f64 / ref_len as f64 };
        write!(
            f,
            "BLEU = {:.2} {p1:.1}/{p2:.1}/{p3:.1}/{p4:.1} (BP = {:.3} ratio = {ratio:.3} hyp_len = {hyp_len} \
             ref_len = {ref_len})",
            self.score, self.brevity
        )
    }
}
