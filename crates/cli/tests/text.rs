//! `tokenize`, `detokenize`, `truecase` and `split` as a user meets them.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

/// What a command writes for some input.
#[track_caller]
fn run(dir: &Path, arguments: &[&str], input: &str) -> String {
    let output = common::run_in(dir, arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn languages_differ_and_patterns_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = |more: &[&str], line: &str| run(dir.path(), &[&["tokenize"], more].concat(), line);
    assert_eq!(tokens(&["--lang", "en"], "l'ami, 3. Mai\n\n"), "l 'ami , 3 . Mai\n\n");
    assert_eq!(tokens(&["--lang", "fr"], "l'ami\n"), "l' ami\n");
    assert_eq!(tokens(&["--lang", "de"], "3. Mai\n"), "3. Mai\n");
    assert_eq!(tokens(&["--lang", "en"], "a [b:c] d\n"), "a [ b : c ] d\n");
    assert_eq!(tokens(&["--lang", "en", "--keep", r"\[[a-z:]*\]"], "a [b:c] d\n"), "a [b:c] d\n");
}

#[test]
fn the_way_back_is_exact_with_joiners_and_natural_without() {
    let dir = tempfile::tempdir().unwrap();
    let line = "odd ,spacing( here ) isn't natural.\n";
    let marked = run(dir.path(), &["tokenize", "--lang", "en", "--joiner"], line);
    assert_eq!(marked, "odd , ￭spacing ￭( here ) isn ￭'t natural ￭.\n");
    assert_eq!(run(dir.path(), &["detokenize", "--lang", "en", "--joiner"], &marked), line);
    let plain = run(dir.path(), &["tokenize", "--lang", "en"], line);
    let natural = "odd, spacing (here) isn't natural.\n";
    assert_eq!(run(dir.path(), &["detokenize", "--lang", "en"], &plain), natural);
    let capital = run(dir.path(), &["detokenize", "--lang", "en", "--capitalize"], &plain);
    assert_eq!(capital, "Odd, spacing (here) isn't natural.\n");
    assert_eq!(run(dir.path(), &["detokenize", "--lang", "fr"], "quoi ?\n"), "quoi ?\n");
    assert_eq!(run(dir.path(), &["detokenize", "--lang", "en"], "what ?\n"), "what?\n");
}

#[test]
fn json_tells_bytes_and_joins() {
    let dir = tempfile::tempdir().unwrap();
    let text = run(dir.path(), &["tokenize", "--lang", "en", "--json"], "é, b\n");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let comma = &value["tokens"][1];
    assert_eq!(
        (comma["text"].as_str(), comma["start"].as_u64(), comma["end"].as_u64()),
        (Some(","), Some(2), Some(3))
    );
    assert_eq!((comma["joined_left"].as_bool(), comma["joined_right"].as_bool()), (Some(true), Some(false)));
}

#[test]
fn a_segmenter_is_trained_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let text = "これ は 本 です\nそれ は ペン です\nこれ は あれ です\n".repeat(5);
    std::fs::write(dir.path().join("cut"), text).unwrap();
    let train = ["tokenize", "--lang", "ja", "--train", "cut", "--model", "ja.seg"];
    run(dir.path(), &train, "");
    let with = run(dir.path(), &["tokenize", "--lang", "ja", "--model", "ja.seg"], "それはあれです\n");
    assert_eq!(with, "それ は あれ です\n");
    assert_eq!(run(dir.path(), &["tokenize", "--lang", "ja"], "それはあれです\n"), "それはあれです\n");
    let first = std::fs::read(dir.path().join("ja.seg")).unwrap();
    run(dir.path(), &train, "");
    assert_eq!(std::fs::read(dir.path().join("ja.seg")).unwrap(), first, "training is repeatable");
    run(dir.path(), &[&train[..], &["--rounds", "1"]].concat(), "");
    assert_ne!(std::fs::read(dir.path().join("ja.seg")).unwrap(), first);
}

#[test]
fn case_is_learnt_and_sentences_are_split() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("text"), "He saw the dog in Paris .\nIn Paris , the dog ran .\n").unwrap();
    run(dir.path(), &["truecase", "--train", "--model", "case", "text"], "");
    let cased = run(dir.path(), &["truecase", "--model", "case"], "The dog ran .\nparis !\n");
    assert_eq!(cased, "the dog ran .\nParis !\n");
    assert_eq!(run(dir.path(), &["truecase", "--lowercase"], "ÉLAN Vital\n"), "élan vital\n");
    let split = run(dir.path(), &["split", "--lang", "en"], "Mr. X left. He ran!\n\nYes.\n");
    assert_eq!(split, "Mr. X left.\nHe ran!\nYes.\n");
    assert_eq!(run(dir.path(), &["split", "--lang", "de"], "Am 3. Mai ja.\n"), "Am 3. Mai ja.\n");
}
