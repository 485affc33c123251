//! Damaged tables: a clear error. Lies with the right checksums: an error or wrong answers, never a panic, an
//! endless loop or a read out of bounds.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sylvan_base::{Rng, Vocab};
use sylvan_rules::apply::{Applier, DefaultRules};
use sylvan_rules::{Count, Grammar, GrammarBuilder, Precision, Rule, RuleCount, Weights};
use sylvan_testkit::random_instance;

/// A table of the rules of some random trees, and the trees.
fn write(path: &Path, precision: Precision) -> Vec<String> {
    let mut rng = Rng::new(9);
    let mut vocab = Vocab::new();
    let mut builder = GrammarBuilder::new(["score", "other"]);
    let mut trees = Vec::new();
    for _ in 0..10 {
        let instance = random_instance(&mut rng);
        for (text, score) in &instance.rules {
            let rule = Rule::parse(text, &mut vocab).unwrap();
            let one = Count::ONE;
            let count = RuleCount { rule: one, source: one, target: one };
            builder.add_counted(&rule, &[*score as f32, 1.0], count, &[], &vocab);
        }
        trees.push(instance.tree);
    }
    builder.write(path, &vocab, precision).unwrap();
    trees
}

/// Uses everything that a table offers.
fn exercise(grammar: &Grammar, trees: &[String]) {
    let mut vocab = grammar.vocab();
    for id in grammar.rules().take(300) {
        grammar.rule(id);
        grammar.features(id);
        grammar.notes(id);
    }
    for (source, _) in grammar.sources().take(300) {
        grammar.source(source);
    }
    let weights = Weights::of([("score", 1.0)]);
    for text in trees {
        let tree = sylvan_trees::penn::parse_line(text, Default::default(), &mut vocab).unwrap().unwrap();
        let defaults = DefaultRules::Missing;
        Applier::new(grammar, &weights, defaults).forest(&tree, &vocab);
    }
}

#[test]
fn every_truncation_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rules");
    let trees = write(&path, Precision::Bits(4));
    let good = std::fs::read(&path).unwrap();
    exercise(&Grammar::open(&path).unwrap(), &trees);
    for length in (0..good.len()).step_by(7) {
        std::fs::write(&path, &good[..length]).unwrap();
        let error = Grammar::open(&path).unwrap_err().to_string();
        assert!(error.contains("rules: found"), "{error}");
    }
}

#[test]
fn changed_bytes_are_refused_and_lies_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rules");
    let mut rng = Rng::new(10);
    let (mut opened, mut refused) = (0, 0);
    for precision in [Precision::Exact, Precision::Bits(3)] {
        let trees = write(&path, precision);
        let good = std::fs::read(&path).unwrap();
        Grammar::open(&path).unwrap().verify().unwrap();
        for _ in 0..sylvan_testkit::cases(1_000, 20_000) {
            let mut bad = good.clone();
            for _ in 0..1 + rng.below(12) {
                let at = rng.below(bad.len());
                bad[at] = rng.next_u64() as u8;
            }
            if bad == good {
                continue;
            }
            std::fs::write(&path, &bad).unwrap();
            if let Ok(grammar) = Grammar::open(&path) {
                // Padding between sections.
                grammar.verify().unwrap();
            }
            sylvan_testkit::seal(&mut bad);
            std::fs::write(&path, &bad).unwrap();
            match Grammar::open(&path) {
                Ok(grammar) => {
                    exercise(&grammar, &trees);
                    let _ = grammar.verify();
                    opened += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains("rules: found"), "{error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(opened > 100 && refused > 100, "{opened} opened, {refused} refused");
}

/// Rules that are numbered beyond their number, or by the billion, must not be asked for.
#[test]
fn rules_that_are_numbered_wrong_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rules");
    write(&path, Precision::Exact);
    let good = std::fs::read(&path).unwrap();
    let table = good[64..].chunks(32).find(|entry| entry.starts_with(b"sources\0")).unwrap();
    let number = |at: usize| u64::from_le_bytes(table[at..at + 8].try_into().unwrap()) as usize;
    let (start, end) = (number(8), number(8) + number(16));
    for (at, value) in [(start + 80, u32::MAX), (start + 80, 0), (end - 8, u32::MAX), (end - 8, 1 << 30)] {
        let mut bad = good.clone();
        bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
        sylvan_testkit::seal(&mut bad);
        std::fs::write(&path, &bad).unwrap();
        let error = Grammar::open(&path).unwrap_err().to_string();
        assert!(error.contains("not numbered in order"), "{error}");
    }
}
