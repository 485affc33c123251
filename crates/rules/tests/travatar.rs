//! The other toolkit's table from the same corpus, links and limits: the same rules and counts.
#![allow(clippy::unwrap_used)]

use sylvan_base::{HashMap, Silent, Vocab};
use sylvan_rules::extract::{ExtractConfig, Numbering};
use sylvan_rules::formats::{RuleReader, TextFormat};
use sylvan_rules::{
    Grammar, Preprocessing, Rule, RuleCount, ScoreConfig, TargetKey, TrainConfig, TrainingFiles, train,
};
use sylvan_store::TextReader;
use sylvan_trees::Direction;

/// Rules of a table that ours has too, and with the same three counts; and how many there are in all.
fn agreement(grammar: &Grammar, theirs: &std::path::Path) -> (usize, usize, usize) {
    let mut vocab: Vocab = grammar.vocab();
    let ours: HashMap<Rule, RuleCount> =
        grammar.rules().map(|id| (grammar.rule(id), grammar.notes(id).count.unwrap())).collect();
    let mut reader = TextReader::open(theirs).unwrap();
    let mut lines = RuleReader::new(TextFormat::Travatar);
    let (mut all, mut both, mut equal) = (0, 0, 0);
    while let Some(line) = lines.next_rule(&mut reader, &mut vocab).unwrap() {
        all += 1;
        if let Some(count) = ours.get(&line.rule) {
            both += 1;
            equal += usize::from(*count == line.count);
        }
    }
    (all, both, equal)
}

/// Takes a minute without optimisation: run with SYLVAN_TESTS=full.
#[test]
fn all_rules_and_counts_of_the_reference_table() {
    if sylvan_testkit::cases(0, 1) == 0 {
        return;
    }
    let (Some(theirs), Some(enja)) =
        (sylvan_testkit::data("travatar-enja/rule-table.gz"), sylvan_testkit::data("enja"))
    else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("rules");
    let files = TrainingFiles {
        trees: enja.join("train.en.tree"),
        target: enja.join("train.ja"),
        links: vec![enja.join("train.fast_align.gdfa")],
    };
    let mut config = TrainConfig {
        preprocessing: Preprocessing { binarise: Some(Direction::Right), ..Preprocessing::as_is() },
        extract: ExtractConfig { numbering: Numbering::Travatar, ..ExtractConfig::travatar() },
        score: ScoreConfig { target_key: TargetKey::Plain, ..ScoreConfig::default() },
        threads: 2,
        ..TrainConfig::default()
    };
    train(&files, &out, &config, &Silent).unwrap();
    let grammar = Grammar::open(&out).unwrap();
    // With its own way to number variables: everything.
    assert_eq!(agreement(&grammar, &theirs), (642_918, 642_918, 642_918));
    assert_eq!(grammar.len(), 642_918);
    // With variables that mean the same node on both sides, the rules that it confuses differ.
    config.extract.numbering = Numbering::Source;
    train(&files, &out, &config, &Silent).unwrap();
    let (all, both, _) = agreement(&Grammar::open(&out).unwrap(), &theirs);
    assert!(both as f64 > 0.93 * all as f64, "{both} of {all}");
}
