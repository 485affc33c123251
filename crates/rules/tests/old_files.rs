//! Tables of every version open, and say what they said when they were made.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use sylvan_base::hash::content_hash;
use sylvan_rules::{Count, Grammar, Leaves, Rule, RuleId};

fn open(file: &str) -> Grammar {
    let grammar =
        Grammar::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file)).unwrap();
    grammar.verify().unwrap();
    assert_eq!((grammar.len(), grammar.source_count()), (181, 163), "{file}");
    grammar
}

/// The features of a rule, its three counts, its links and its training lines.
fn about(grammar: &Grammar, id: RuleId) -> String {
    let notes = grammar.notes(id);
    let count = notes.count.unwrap();
    let counts = [count.rule, count.source, count.target].map(Count::to_f64);
    format!("{:?} {counts:?} {:?} {:?}", grammar.features(id), notes.links, notes.lines)
}

fn about_rule(grammar: &Grammar, rule: &str) -> String {
    let rule = Rule::parse(rule, &mut grammar.vocab()).unwrap();
    about(grammar, grammar.find_rule(&rule).unwrap())
}

/// A sum of everything that a table says, rule by rule.
fn everything(grammar: &Grammar) -> u64 {
    let vocab = grammar.vocab();
    let rules =
        grammar.rules().map(|id| format!("{} {}\n", grammar.rule(id).show(&vocab), about(grammar, id)));
    content_hash(rules.collect::<String>().as_bytes())
}

#[test]
fn version_1_with_codes_and_lines_opens() {
    let grammar = open("rules-v1.rules");
    assert_eq!(grammar.feature_names(), ["p_ef", "p_fe", "lex_ef", "lex_fe"]);
    assert_eq!(about_rule(&grammar, "PN(他) -> he"), "[0.0, 0.0, 0.0, 0.0] [3.0, 3.0, 3.0] [(0, 0)] [1, 8]");
    assert_eq!(
        about_rule(&grammar, "VP(x1:VV AS(了) x2:NP) -> x1 the x2"),
        "[-0.6931472, 0.0, -0.84729785, -0.6931472] [1.0, 2.0, 1.0] [] [7]"
    );
    assert_eq!(
        about_rule(&grammar, "NP(NN(选举) x1:NN) -> x1 of the election"),
        "[0.0, 0.0, -2.7932081, 0.0] [1.0, 1.0, 1.0] [(0, 2)] [3]"
    );
    assert_eq!(everything(&grammar), 15_348_393_594_295_947_970);
}

#[test]
fn version_1_with_exact_values_opens() {
    let grammar = open("rules-exact-v1.rules");
    assert_eq!(grammar.feature_names(), ["p_ef", "p_fe", "lex_ef", "lex_fe", "rare", "lexical"]);
    assert_eq!(
        about_rule(&grammar, "PN(他) -> he"),
        "[0.0, 0.0, 0.0, 0.0, 0.33333334, 1.0] [3.0, 3.0, 3.0] [(0, 0)] []"
    );
    assert_eq!(
        about_rule(&grammar, "VP(x1:VV AS(了) x2:NP) -> x1 the x2"),
        "[-0.6931472, 0.0, -0.84729785, -0.6931472, 1.0, 1.0] [1.0, 2.0, 1.0] [] []"
    );
    assert_eq!(
        about_rule(&grammar, "NP(NN(选举) x1:NN) -> x1 of the election"),
        "[0.0, 0.0, -2.7932081, 0.0, 1.0, 1.0] [1.0, 1.0, 1.0] [(0, 2)] []"
    );
    assert_eq!(everything(&grammar), 17_179_126_128_053_863_148);
}

#[test]
fn version_2_says_how_words_are_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/rules-v2.rules");
    let grammar = Grammar::open(&path).unwrap();
    grammar.verify().unwrap();
    assert_eq!(grammar.meta().preprocessing.leaves, Leaves::Surface);
    assert_eq!(
        about_rule(&grammar, "PU(\"(\") -> \"(\""),
        "[0.0, 0.0, 0.0, 0.0] [1.0, 1.0, 1.0] [(0, 0)] [9]"
    );
    assert_eq!(about_rule(&grammar, "PN(他) -> he"), "[0.0, 0.0, 0.0, 0.0] [3.0, 3.0, 3.0] [(0, 0)] [1, 8]");
    assert_eq!(open("rules-v1.rules").meta().preprocessing.leaves, Leaves::Written);
}
