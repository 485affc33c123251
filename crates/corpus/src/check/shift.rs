//! Blocks of lines paired with the wrong lines, as when a line was lost on either side.
//!
//! Translations of long lines are long. So for each shift k the evidence that line i belongs to line i+k and not
//! to line i is a likelihood ratio of two length ratios, and a shifted block is a run of lines whose evidence adds
//! up (a CUSUM test, Page 1954). The sum grows slowly, so blocks below about thirty lines
//! escape; its threshold keeps false alarms below one in millions of lines.

use super::line::LineFacts;
use super::whole::Usual;
use super::{Finding, Kind};

/// How far lines may have moved.
const FARTHEST: isize = 5;
/// How much evidence makes a block, in natural log-odds.
const ENOUGH: f64 = 25.0;
/// What each line must bring to count at all.
const TOLL: f64 = 0.25;
/// More evidence than this proves nothing about a single line.
const MOST: f64 = 4.0;

/// A run of lines that fit better with a shift.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: usize,
    last: usize,
    sum: f64,
    shift: isize,
}

/// Reports shifted blocks.
pub(super) fn blocks(facts: &[[LineFacts; 2]], usual: Usual, findings: &mut Vec<Finding>) {
    let mut runs: Vec<Run> = Vec::new();
    for shift in (-FARTHEST..=FARTHEST).filter(|&shift| shift != 0) {
        runs_at(facts, usual, shift, &mut runs);
    }
    // The strongest explain the weaker ones that they overlap.
    runs.sort_by(|a, b| b.sum.total_cmp(&a.sum).then(a.first.cmp(&b.first)).then(a.shift.cmp(&b.shift)));
    let mut kept: Vec<Run> = Vec::new();
    for run in runs {
        if kept.iter().all(|other| run.last < other.first || run.first > other.last) {
            kept.push(run);
        }
    }
    for Run { first, last, shift, .. } in kept {
        let detail = format!(
            "lines {} to {} fit the target {} line(s) {}",
            first + 1,
            last + 1,
            shift.abs(),
            if shift > 0 { "below" } else { "above" }
        );
        findings.push(Finding {
            line: first as u64 + 1,
            until: last as u64 + 1,
            kind: Kind::Shifted,
            detail,
        });
    }
}

fn runs_at(facts: &[[LineFacts; 2]], usual: Usual, shift: isize, runs: &mut Vec<Run>) {
    let mut run: Option<Run> = None;
    let mut sum = 0.0;
    let mut first = 0;
    for (index, [source, target]) in facts.iter().enumerate() {
        let other = index.checked_add_signed(shift).and_then(|index| facts.get(index)).map(|pair| &pair[1]);
        let evidence = match other {
            Some(other) if !source.is_empty() && !target.is_empty() && !other.is_empty() => {
                let [here, there] =
                    [usual.off(source, target), usual.off(source, other)].map(|z| z.clamp(-4.0, 4.0));
                ((here * here - there * there) / 2.0).clamp(-MOST, MOST)
            }
            _ => 0.0,
        };
        if sum == 0.0 {
            first = index;
        }
        sum = f64::max(0.0, sum + evidence - TOLL);
        match &mut run {
            Some(open) if sum > open.sum => (open.last, open.sum) = (index, sum),
            // The block has ended once the evidence has fallen well below its peak.
            Some(open) if sum < open.sum - ENOUGH || sum == 0.0 => {
                runs.extend(run.take());
                sum = 0.0;
            }
            None if sum > ENOUGH => run = Some(Run { first, last: index, sum, shift }),
            _ => {}
        }
    }
    runs.extend(run);
}
