//! Moses' own phrase, reordering and rule tables, read and written again: real data, below SYLVAN_DATA.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::Silent;
use sylvan_rules::formats::{TextFormat, export, export_reordering};
use sylvan_rules::{Formalism, Grammar, ImportConfig, import};
use sylvan_store::{Output, TextReader};

/// Both sides and links in order, without entities; and the scores.
fn lines(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut reader = TextReader::open(path).unwrap();
    let mut found = BTreeMap::new();
    while let Some(line) = reader.next_line().unwrap() {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        let scores = fields[2].split_whitespace().map(|score| score.parse().unwrap()).collect();
        let mut links: Vec<&str> = fields.get(3).copied().unwrap_or_default().split_whitespace().collect();
        links.sort_unstable();
        let key = format!("{} ||| {} ||| {}", fields[0], fields[1], links.join(" ")).replace("&amp;", "&");
        found.insert(key, scores);
    }
    found
}

fn assert_close(found: &BTreeMap<String, Vec<f64>>, expected: &BTreeMap<String, Vec<f64>>) {
    assert!(found.len() == expected.len() && !found.is_empty(), "{} {}", found.len(), expected.len());
    for ((key, scores), (known, values)) in found.iter().zip(expected) {
        assert_eq!(key, known);
        assert_eq!(scores.len(), values.len(), "{key}");
        for (score, value) in scores.iter().zip(values) {
            assert!((score - value).abs() <= 2e-6 * value, "{key}: {score} {value}");
        }
    }
}

#[test]
fn what_is_read_is_written_again() {
    let Some(data) = sylvan_testkit::data("moses-deen") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (rules, text, orientations) =
        (folder.path().join("rules"), folder.path().join("text"), folder.path().join("orientations"));
    for (formalism, table) in [(Formalism::Phrase, "phrase-table.gz"), (Formalism::Hiero, "rule-table.gz")] {
        let has_orientations = formalism == Formalism::Phrase;
        let reordering = has_orientations.then(|| data.join("reordering-table.gz"));
        let config = ImportConfig { formalism, reordering, ..ImportConfig::default() };
        let imported = import(&data.join(table), TextFormat::Moses, &rules, &config, &Silent).unwrap();
        assert_eq!((imported.unoriented, imported.unused, imported.glue), (0, 0, 0));
        let grammar = Grammar::open(&rules).unwrap();
        grammar.verify().unwrap();
        let mut out = Output::create(&text).unwrap();
        export(&grammar, &grammar.vocab(), TextFormat::Moses, &mut out).unwrap();
        out.finish().unwrap();
        assert_close(&lines(&text), &lines(&data.join(table)));
        if has_orientations {
            let mut out = Output::create(&orientations).unwrap();
            export_reordering(&grammar, &grammar.vocab(), &mut out).unwrap();
            out.finish().unwrap();
            assert_close(&lines(&orientations), &lines(&data.join("reordering-table.gz")));
        }
    }
}

/// The specification's resolution H6: the first of rules that read alike stays, with the counts of all.
#[test]
fn rules_that_read_alike_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let (text, rules) = (folder.path().join("text"), folder.path().join("rules"));
    let lines = [
        "das ||| that ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 4 10 3",
        "der Hund ||| the dog ||| 0.9 0.9 0.9 0.9 ||| 0-0 1-1 ||| 2 2 2",
        "das ||| it ||| 0.25 0.5 0.5 0.5 ||| 0-0 ||| 4 10 1",
        "das ||| that ||| 0.125 0.5 0.5 0.5 ||| 0-0 ||| 4 10 2",
        "Hund ||| that ||| 0.75 0.5 0.5 0.5 ||| 0-0 ||| 4 10 1",
    ];
    std::fs::write(&text, lines.join("\n") + "\n").unwrap();
    let config = ImportConfig { formalism: Formalism::Phrase, ..ImportConfig::default() };
    let imported = import(&text, TextFormat::Moses, &rules, &config, &Silent).unwrap();
    assert_eq!((imported.rules, imported.repeated), (5, 1));
    let grammar = Grammar::open(&rules).unwrap();
    let vocab = grammar.vocab();
    let found: BTreeMap<String, (f32, f64)> = grammar
        .rules()
        .map(|id| {
            let count = grammar.notes(id).count.unwrap().rule.to_f64();
            (grammar.rule(id).show(&vocab), (grammar.features(id)[1].exp(), count))
        })
        .collect();
    let expected = [
        ("X(Hund) -> that", (0.75, 1.0)),
        ("X(das) -> it", (0.25, 1.0)),
        ("X(das) -> that", (0.5, 5.0)),
        ("X(der Hund) -> the dog", (0.9, 2.0)),
    ];
    assert_eq!(found.len(), expected.len());
    for (rule, (value, count)) in expected {
        assert!((found[rule].0 - value).abs() < 1e-5 && found[rule].1 == count, "{rule}: {:?}", found[rule]);
    }
}
