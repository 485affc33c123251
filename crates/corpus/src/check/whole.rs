//! What shows only against the rest of the corpus: unusual lengths and unusual scripts.

use super::line::{LineFacts, SCRIPTS};
use super::{Finding, Kind};

/// How the lengths of the two sides usually compare.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    /// The median of the logarithm of target width over source width.
    pub ratio: f64,
    /// A robust standard deviation of it.
    pub spread: f64,
}

impl Usual {
    /// How many standard deviations a pair is off.
    pub(super) fn off(&self, source: &LineFacts, target: &LineFacts) -> f64 {
        (log_ratio(source, target) - self.ratio) / self.spread
    }
}

/// Short lines vary more; adding a constant to both widths keeps them from being reported for that.
fn log_ratio(source: &LineFacts, target: &LineFacts) -> f64 {
    ((f64::from(target.width) + 10.0) / (f64::from(source.width) + 10.0)).ln()
}

/// The usual ratio, from the median and the median deviation, which a few bad lines do not move.
pub(super) fn usual_ratio(facts: &[[LineFacts; 2]]) -> Option<Usual> {
    let full = facts.iter().filter(|[s, t]| !s.is_empty() && !t.is_empty());
    let mut logs: Vec<f64> = full.map(|[s, t]| log_ratio(s, t)).collect();
    if logs.is_empty() {
        return None;
    }
    let ratio = median(&mut logs);
    let mut off: Vec<f64> = logs.iter().map(|log| (log - ratio).abs()).collect();
    Some(Usual { ratio, spread: (1.4826 * median(&mut off)).max(0.05) })
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Reports pairs whose ratio is both far from the usual one and far outside its spread.
pub(super) fn ratios(facts: &[[LineFacts; 2]], usual: Usual, limit: f64, findings: &mut Vec<Finding>) {
    for (index, [source, target]) in facts.iter().enumerate() {
        if source.is_empty() || target.is_empty() {
            continue;
        }
        let off = usual.off(source, target);
        if (off * usual.spread).abs() > limit.ln() && off.abs() > 4.0 {
            let line = index as u64 + 1;
            let detail = format!("{} characters beside {}", source.width, target.width);
            findings.push(Finding { line, until: line, kind: Kind::LengthRatio, detail });
        }
    }
}

/// Fewer pairs say little about all.
const ENOUGH_PAIRS: usize = 200;
/// Lengths of translations go together: over 200 lines of five real corpora their correlation is 0.46 or more (0.71 and
/// more but for Japanese), and 0.21 at the most once lines are shuffled.
const RELATED: f64 = 0.3;
/// Lines that are all of one length say nothing.
const LEAST_SPREAD: f64 = 0.05;

/// Reports a corpus whose long lines are not beside long lines.
pub(super) fn unrelated(facts: &[[LineFacts; 2]], findings: &mut Vec<Finding>) {
    let full = facts.iter().filter(|[s, t]| !s.is_empty() && !t.is_empty());
    let logs: Vec<[f64; 2]> =
        full.map(|[s, t]| [s, t].map(|side| (f64::from(side.width) + 1.0).ln())).collect();
    if logs.len() < ENOUGH_PAIRS {
        return;
    }
    let count = logs.len() as f64;
    let mean = |side: usize| logs.iter().map(|pair| pair[side]).sum::<f64>() / count;
    let means = [mean(0), mean(1)];
    let product = |a: usize, b: usize| {
        logs.iter().map(|pair| (pair[a] - means[a]) * (pair[b] - means[b])).sum::<f64>() / count
    };
    let [source, target] = [product(0, 0), product(1, 1)].map(f64::sqrt);
    if source < LEAST_SPREAD || target < LEAST_SPREAD {
        return;
    }
    let correlation = product(0, 1) / (source * target);
    if correlation < RELATED {
        let detail = format!(
            "long lines are not beside long lines (correlation of lengths {correlation:.2}, usually above 0.5): are \
             lines shuffled, or files of different texts?"
        );
        findings.push(Finding { line: 1, until: facts.len() as u64, kind: Kind::Unrelated, detail });
    }
}

/// Reports sides that are mostly in another script than that side of the corpus.
pub(super) fn scripts(facts: &[[LineFacts; 2]], findings: &mut Vec<Finding>) {
    for (side, name) in ["source", "target"].into_iter().enumerate() {
        let mut lines = [0u64; SCRIPTS.len()];
        for pair in facts {
            if pair[side].script_letters > 0 {
                lines[usize::from(pair[side].script)] += 1;
            }
        }
        let Some(usual) = (0..SCRIPTS.len()).rev().max_by_key(|&script| lines[script]) else { continue };
        for (index, pair) in facts.iter().enumerate() {
            let LineFacts { script, script_letters, letters, .. } = pair[side];
            // Han alone is good Japanese, and a mixed corpus has no usual script.
            let related = usual == 5 && script == 4;
            let rare = lines[usize::from(script)] * 10 < lines[usual];
            if usize::from(script) != usual
                && !related
                && rare
                && script_letters > 3
                && script_letters * 2 > letters
            {
                let line = index as u64 + 1;
                let detail =
                    format!("{name}: {} where {} is usual", SCRIPTS[usize::from(script)], SCRIPTS[usual]);
                findings.push(Finding { line, until: line, kind: Kind::WrongScript, detail });
            }
        }
    }
}
