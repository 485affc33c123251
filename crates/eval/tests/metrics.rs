//! chrF, chrF++ and TER against numbers that sacreBLEU 2.6.0 itself gave for made-up text (`data/metrics.txt`).
//!
//! ```text
//! case <number of references>
//! h <hypothesis>                       repeated per line,
//! r <reference 1>                      each with its references
//! = chrF chrF++ TER
//! ```

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::num::NonZeroUsize;

use proptest::prelude::*;
use sylvan_eval::{Bleu, Chrf, Metric, Ribes, Ter, TerBleu, Workspace};

fn score<M: Metric>(metric: &M, hypotheses: &[&str], references: &[Vec<&str>]) -> f64 {
    metric.value(&metric.sum(&metric.line_stats(hypotheses, references, NonZeroUsize::MIN).unwrap()))
}

#[test]
fn scores_are_those_of_sacrebleu() {
    let (mut hypotheses, mut references, mut next, mut checked) = (Vec::new(), Vec::new(), 0, 0);
    for (index, line) in include_str!("data/metrics.txt").lines().enumerate() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "case" => {
                hypotheses.clear();
                references = vec![Vec::new(); rest.parse().unwrap()];
            }
            "h" => {
                hypotheses.push(rest);
                next = 0;
            }
            "r" => {
                references[next].push(rest);
                next += 1;
            }
            "=" => {
                let expected: Vec<f64> = rest.split(' ').map(|number| number.parse().unwrap()).collect();
                let found = [
                    score(&Chrf::default(), &hypotheses, &references),
                    score(&Chrf::plus_plus(), &hypotheses, &references),
                    score(&Ter::default(), &hypotheses, &references),
                ];
                for (found, expected) in found.into_iter().zip(expected) {
                    let close = (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                    assert!(close, "line {}: {found} {expected}", index + 1);
                }
                checked += 1;
            }
            _ => {}
        }
    }
    assert_eq!(checked, 60);
}

#[test]
fn hand_computed_edits() {
    let edits =
        |hyp: &str, reference: &str| Ter::default().line(hyp, &[reference], &mut Workspace::default()).edits;
    assert_eq!(edits("a b c", "a b c"), 0);
    assert_eq!(edits("A b C", "a B c"), 0, "case does not count");
    assert_eq!(edits("a x c d", "a b c"), 2, "a substitution and a deletion");
    assert_eq!(edits("c d a b", "a b c d"), 1, "one shift");
    assert_eq!(edits("", "a b"), 2);
    assert_eq!(edits("a b", ""), 2);
    // Snover et al. 2006, section 2: one shift, two substitutions, one insertion.
    let reference = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times";
    assert_eq!(
        edits("THIS WEEK THE SAUDIS denied information published in the new york times", reference),
        4
    );
    let corpus = score(&Ter::default(), &["a", ""], &[vec!["", ""]]);
    assert_eq!(corpus, 100.0, "edits without any reference words");
}

#[test]
fn ter_bleu_is_half_the_difference() {
    let (hyp, refs) = (["a b c d x", "a b"], [vec!["a b c d e", "a b"]]);
    let both = TerBleu::default();
    let expected = (score(&both.ter, &hyp, &refs) - score(&both.bleu, &hyp, &refs)) / 2.0;
    assert_eq!(score(&both, &hyp, &refs), expected);
}

/// The edit distance without shifts, spelt out.
fn levenshtein(a: &[&str], b: &[&str]) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i as u64 + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = (corner + u64::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}

proptest! {
    #[test]
    fn shifts_never_cost(hyp in prop::collection::vec(0usize..6, 0..14), reference in prop::collection::vec(0usize..6, 1..14)) {
        let names = ["a", "b", "c", "d", "e", "f"];
        let words = |ids: &[usize]| ids.iter().map(|&id| names[id]).collect::<Vec<_>>();
        let (hyp, reference) = (words(&hyp), words(&reference));
        let stats = Ter::default().line(&hyp.join(" "), &[&reference.join(" ")], &mut Workspace::default());
        prop_assert!(stats.edits <= levenshtein(&hyp, &reference));
        // Words that the other side lacks can be repaired by nothing but an edit each.
        prop_assert!(stats.edits >= hyp.len().abs_diff(reference.len()) as u64);
        prop_assert_eq!(stats.edits == 0, hyp == reference);
    }

    #[test]
    fn chrf_is_symmetric_when_precision_and_recall_weigh_the_same(a in "[ab c.新]{0,20}", b in "[ab c.新]{0,20}") {
        let chrf = Chrf { beta: 1, ..Chrf::plus_plus() };
        let one = score(&chrf, &[&a], &[vec![&b]]);
        let other = score(&chrf, &[&b], &[vec![&a]]);
        prop_assert!((one - other).abs() < 1e-9);
        prop_assert!((0.0..=100.0 + 1e-9).contains(&one));
    }
}

/// Metrics that compare words with words refuse lines that would take them hours or gigabytes; the others take them.
#[test]
fn lines_of_very_many_words_are_refused_or_linear() {
    fn told<M: Metric>(metric: &M, in_reference: bool) -> Option<String> {
        let long = vec!["w w".to_string(), "w ".repeat(160_000)];
        let short = vec!["w w".to_string(), "w".to_string()];
        let (lines, reference) = if in_reference { (short, long) } else { (long, short) };
        metric.line_stats(&lines, &[reference], NonZeroUsize::MIN).err().map(|error| error.to_string())
    }
    let expected =
        "found 160000 words in line 2, expected at most 5000 for TER; put one sentence on each line";
    for in_reference in [false, true] {
        assert_eq!(told(&Ter::default(), in_reference).unwrap(), expected);
        assert!(told(&Ribes::default(), in_reference).unwrap().contains("at most 2000 for RIBES"));
        assert!(told(&TerBleu::default(), in_reference).is_some());
        assert_eq!(told(&Bleu::default(), in_reference), None);
        assert_eq!(told(&Chrf::default(), in_reference), None);
    }
}
