//! What input may demand: commands end with an error that names the line, before they take memory or time.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

/// What a command says when it fails.
#[track_caller]
fn failure(dir: &Path, arguments: &[&str], input: &str) -> String {
    let output = common::run_in(dir, arguments, input);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
    assert!(told.len() < 1_000, "{arguments:?}: a message of {} bytes", told.len());
    told
}

fn copies(dir: &Path, files: &[(&str, &str)]) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, path) in files {
        std::fs::copy(kept.join(path), dir.join(name)).unwrap();
    }
}

#[test]
fn links_of_words_that_no_sentence_has_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("good"), "0-0\n100000-100000\n").unwrap();
    std::fs::write(dir.join("bad"), "0-0\n4000000000-4000000000\n").unwrap();
    let told = failure(dir, &["align", "symmetrize", "--forward", "bad", "--reverse", "good"], "");
    assert!(told.contains("bad:2:1: found word number 4000000000, expected at most 1000000"), "{told}");
    // The largest are taken, without a matrix of all words by all words.
    let output = common::run_in(dir, &["align", "symmetrize", "--forward", "good", "--reverse", "good"], "");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0-0\n100000-100000\n");
}

#[test]
fn weights_that_no_score_survives_and_lines_of_megabytes_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    copies(dir, &[("rules", "rules/tests/formats/rules-v2.rules"), ("lm", "lm/tests/data/tiny_trie_v2.lm")]);
    let decode = ["decode", "--grammar", "rules", "--lm", "lm", "--weights", "weights"];
    std::fs::write(dir.join("weights"), "p_ef=1\nlm=1e308\n").unwrap();
    let told = failure(dir, &decode, "(A (B b))\n");
    assert!(
        told.contains("weights:2:1: found \"lm=1e308\", expected name=value with a number up to 1e9"),
        "{told}"
    );
    std::fs::write(dir.join("weights"), "x".repeat(10 << 20)).unwrap();
    let told = failure(dir, &decode, "(A (B b))\n");
    assert!(told.contains("weights:1:1: found \"xxxx") && told.contains("more bytes"), "{told}");
    std::fs::write(dir.join("weights"), "lm=1\n").unwrap();
    let deep = format!("(A b)\n{}w{}\n", "(A ".repeat(200_000), ")".repeat(200_000));
    let told = failure(dir, &decode, &deep);
    assert!(told.contains("standard input:2:60001: found more than 20000 levels of brackets"), "{told}");
}

#[test]
fn sentences_of_very_many_words_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    copies(
        dir,
        &[
            ("model", "sylvan/tests/formats/model-v1-raw.sylvan"),
            ("parser", "parse/tests/formats/constituency-v4.parser"),
        ],
    );
    let text = format!("Anna sees Mary .\n{}\n", "dog ".repeat(160_000));
    std::fs::write(dir.join("text"), &text).unwrap();
    for arguments in
        [&["translate", "--model", "model", "text"][..], &["parser", "parse", "--model", "parser", "text"]]
    {
        let told = failure(dir, arguments, "");
        assert!(told.contains("text:2: found 160000 words, expected a sentence of at most 20000"), "{told}");
    }
    let told = failure(dir, &["score", "--metrics", "ter", "--ref", "text", "text"], "");
    assert!(told.contains("found 160000 words in line 2, expected at most 5000 for TER"), "{told}");
    let output = common::run_in(dir, &["score", "--metrics", "bleu,chrf", "--ref", "text", "text"], "");
    assert!(output.status.success());
}

/// Some kilobytes that would fill the memory when they are unpacked.
#[test]
fn compressed_lines_without_an_end_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut out = sylvan_store::Output::create(&dir.join("bomb.zst")).unwrap();
    out.line("one").unwrap();
    let zeros = vec![0; 1 << 20];
    (0..200).for_each(|_| out.write(&zeros).unwrap());
    out.finish().unwrap();
    assert!(std::fs::metadata(dir.join("bomb.zst")).unwrap().len() < 100_000);
    for arguments in [
        &["check", "--source", "bomb.zst", "--target", "bomb.zst"][..],
        &["tokenize", "--lang", "en", "bomb.zst"],
        &["lm", "info", "bomb.zst"],
        &["score", "--ref", "bomb.zst", "bomb.zst"],
        &["trees", "bomb.zst"],
    ] {
        let told = failure(dir, arguments, "");
        let long = told.contains("bomb.zst:2: found a line of more than 16777216 bytes");
        assert!(long || told.contains("bomb.zst:1"), "{arguments:?}: {told}");
    }
}
