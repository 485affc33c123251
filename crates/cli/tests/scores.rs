//! `score` and `compare` as a user meets them.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn sylvan(dir: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sylvan")).args(arguments.split(' ')).current_dir(dir).output().unwrap()
}

#[track_caller]
fn json(dir: &Path, arguments: &str) -> Value {
    let output = sylvan(dir, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A reference and three translations: bad, better, and the bad one again with other mistakes.
fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let line = |i: usize, wrong: usize| {
        let words =
            (0..8).map(|w| if (i + w) % 7 < wrong { format!("x{w}") } else { format!("w{}", (i * w) % 11) });
        words.collect::<Vec<_>>().join(" ") + ".\n"
    };
    for (name, wrong, shift) in [("ref", 0, 0), ("bad", 3, 0), ("good", 1, 0), ("bad2", 3, 2)] {
        let text: String =
            (0..60).map(|i| if shift > 0 { line(i, 0).replace("w1", "y") } else { line(i, wrong) }).collect();
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn all_metrics_have_score_and_signature() {
    let dir = files();
    let value = json(dir.path(), "score --ref ref --metric bleu,chrf,chrf++,ter,ribes,ter-bleu --json good");
    for (name, says) in [
        ("bleu", "tok:13a"),
        ("chrf", "nw:0"),
        ("chrf++", "nw:2"),
        ("ter", "tok:tercom"),
        ("ribes", "alpha:0.25"),
        ("ter-bleu", "tok:tercom"),
    ] {
        assert!(value[name]["score"].is_f64(), "{value}");
        assert!(value[name]["signature"].as_str().unwrap().contains(says), "{value}");
    }
    let half = (value["ter"]["score"].as_f64().unwrap() - value["bleu"]["score"].as_f64().unwrap()) / 2.0;
    assert_eq!(value["ter-bleu"]["score"], half);
}

#[test]
fn every_tokeniser_changes_the_score_and_threads_do_not() {
    let dir = files();
    let score = |more: &str| json(dir.path(), &format!("score --ref ref --json {more} bad"))["bleu"].clone();
    let mut seen = Vec::new();
    for tokenizer in ["none", "13a", "char"] {
        let value = score(&format!("--tokenize {tokenizer}"));
        assert!(value["signature"].as_str().unwrap().contains(&format!("tok:{tokenizer}")));
        assert!(!seen.contains(&value["score"]), "{tokenizer}");
        seen.push(value["score"].clone());
    }
    for tokenizer in ["intl", "zh"] {
        let value = score(&format!("--tokenize {tokenizer}"));
        assert!(value["signature"].as_str().unwrap().contains(&format!("tok:{tokenizer}")));
    }
    assert_eq!(score("--threads 1"), score("--threads 5"));
    assert!(score("--lowercase")["signature"].as_str().unwrap().contains("case:lc"));
}

#[test]
fn sentences_are_scored_one_by_one_on_request() {
    let dir = files();
    let value = json(dir.path(), "score --ref ref --metric ter,bleu --sentences --json good");
    assert_eq!(value["ter"]["sentences"].as_array().unwrap().len(), 60);
    let text = sylvan(dir.path(), "score --ref ref --metric ter,bleu --sentences good").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("line\tTER\tBLEU\n1\t"), "{text}");
    assert_eq!(text.lines().count(), 1 + 60 + 4);
}

#[test]
fn a_better_system_is_found_by_every_test() {
    let dir = files();
    for test in ["bootstrap", "randomization", "sign"] {
        let arguments = format!("compare --ref ref --metric bleu --test {test} --seed 7 --json bad good bad");
        let value = json(dir.path(), &arguments);
        let [good, same] = &value["systems"].as_array().unwrap()[..] else { panic!("{value}") };
        assert!(good["p_value"].as_f64().unwrap() < 0.01, "{value}");
        assert!(good["difference"].as_f64().unwrap() > 0.0);
        assert_eq!(good["wins"].as_u64().unwrap() + good["ties"].as_u64().unwrap(), 60);
        assert_eq!(same["ties"], 60);
        assert_eq!(same["difference"], 0.0);
        assert_eq!(value["test"], test);
    }
}

#[test]
fn seed_samples_and_replicates_are_heeded() {
    let dir = files();
    let run =
        |more: &str| json(dir.path(), &format!("compare --ref ref --metric chrf --json {more} bad bad2"));
    let first = run("--samples 300");
    assert_eq!(first, run("--samples 300"));
    assert_ne!(first["systems"], run("--samples 300 --seed 2")["systems"]);
    assert_ne!(first["systems"], run("--samples 50")["systems"]);
    let value = json(
        dir.path(),
        "compare --ref ref --test randomization --samples 200 --replicates 2 --json bad bad2 good good",
    );
    assert_eq!(value["systems"].as_array().unwrap().len(), 1);
    assert_eq!(value["replicates"], 2);
    for (arguments, says) in [
        ("compare --ref ref bad", "at least one system"),
        ("compare --ref ref --replicates 2 bad good bad2", "2 file(s) each"),
        ("compare --ref ref --test sign --replicates 2 bad bad2 good good", "randomization"),
    ] {
        let output = sylvan(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{arguments}");
    }
}
