//! `sylvan parser` as a user meets it.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Output;

use common::run as sylvan;

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn failure(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Sample trees and sentences: source side in brackets.
fn sample(folder: &Path, pairs: usize, seed: u64) -> std::path::PathBuf {
    let out = folder.join(format!("sample{seed}"));
    stdout(&sylvan(
        &["sample", "--pairs", &pairs.to_string(), "--seed", &seed.to_string(), "--out", text(&out)],
        "",
    ));
    out
}

#[test]
fn a_parser_is_trained_used_and_measured_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let train = sample(folder.path(), 400, 1);
    let dev = sample(folder.path(), 100, 2);
    let tree_file = |folder: &Path| {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().find(|path| path.extension().is_some_and(|end| end == "tree")).unwrap()
    };
    let (train, gold) = (tree_file(&train), tree_file(&dev));
    let training = |threads: &str, more: &[&str]| {
        let model = folder.path().join(format!("model{threads}{}", more.concat()));
        let mut arguments = vec!["parser", "train", "--kind", "constituency"];
        arguments.extend(["--train", text(&train), "--dev", text(&gold), "--out", text(&model)]);
        arguments.extend(["--threads", threads, "--epochs", "3", "--beam", "4"]);
        arguments.extend(more);
        let output = sylvan(&arguments, "");
        (model, output)
    };
    let model = |threads: &str, more: &[&str]| {
        let (model, output) = training(threads, more);
        stdout(&output);
        model
    };
    let (one, two) = (model("1", &[]), model("2", &[]));
    let bytes = |model: &Path| std::fs::read(model).unwrap();
    assert!(bytes(&one) == bytes(&two), "the same bytes at 1 and 2 threads");
    assert!(bytes(&one) != bytes(&model("2", &["--members", "1"])), "the mean of two is not one of them");
    assert!(failure(&training("1", &["--members", "0"]).1).contains("--members 0"));

    let words = stdout(&sylvan(&["trees", "--to", "words", text(&gold)], ""));
    let trees = stdout(&sylvan(&["parser", "parse", "--model", text(&one), "--beam", "4"], &words));
    assert_eq!(trees.lines().count(), 100);
    let predicted = folder.path().join("predicted");
    std::fs::write(&predicted, &trees).unwrap();
    let eval = |pred: &Path| {
        sylvan(
            &[
                "parser",
                "eval",
                "--kind",
                "constituency",
                "--gold",
                text(&gold),
                "--pred",
                text(pred),
                "--json",
            ],
            "",
        )
    };
    let json: serde_json::Value = serde_json::from_str(&stdout(&eval(&predicted))).unwrap();
    assert!(json["f1"].as_f64().unwrap() > 90.0, "{json}");
    assert!(json["tag_accuracy"].as_f64().unwrap() > 90.0, "{json}");
    assert!(json["exact"].as_f64().unwrap() > 10.0, "{json}");
    let greedy = stdout(&sylvan(&["parser", "parse", "--model", text(&one), "--beam", "1"], &words));
    assert_ne!(greedy, trees, "a beam of 1 finds other trees");
    let numbered = |threads: &str| {
        let arguments = ["parser", "parse", "--model", text(&one), "--nbest", "3", "--threads", threads];
        stdout(&sylvan(&arguments, &words))
    };
    assert_eq!(numbered("1"), numbered("3"), "the same trees in the same order");

    assert!(stdout(&sylvan(&["parser", "verify", text(&one)], "")).ends_with("sound\n"));
    let info = stdout(&sylvan(&["parser", "info", text(&one)], ""));
    assert!(info.contains("constituency"), "{info}");
    // Any line gives a line.
    let odd = "\n。\n🙂 x\nab ( ) [ -LRB-\nгде мы\n";
    let trees = stdout(&sylvan(&["parser", "parse", "--model", text(&one)], odd));
    let lines: Vec<&str> = trees.lines().collect();
    assert_eq!(lines.len(), 5, "{trees}");
    assert_eq!(lines[0], "()");
    assert!(lines[2].contains("🙂") && lines[3].contains("-LRB-"), "{trees}");

    std::fs::write(&predicted, trees).unwrap();
    assert!(failure(&eval(&predicted)).contains("found 5 sentences, expected the 100"));
    assert!(failure(&sylvan(&["parser", "info", text(&predicted)], "")).contains("another kind of file"));
    assert!(
        failure(&sylvan(&["parser", "parse", "--model", text(&one), "--beam", "0"], "")).contains("--beam 0")
    );
}
