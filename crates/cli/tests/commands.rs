//! The program as a user meets it: arguments, files, messages, exit codes.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn sylvan(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sylvan")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The message of a command that must fail with exit code 1 and print nothing else.
#[track_caller]
fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(message.starts_with("error: "), "{message}");
    message
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

const FILES: [&str; 5] = ["source.txt", "target.txt", "source.tree", "target.conllu", "align.txt"];

#[test]
fn every_command_has_an_example_and_unknown_options_are_errors() {
    for command in [
        "sample",
        "demo",
        "score",
        "compare",
        "check",
        "tokenize",
        "detokenize",
        "truecase",
        "split",
        "trees",
        "train",
        "translate",
        "tune",
    ] {
        let help = stdout(&sylvan(&[command, "--help"]));
        assert!(help.contains("Example"), "{command}: {help}");
        let output = sylvan(&[command, "--no-such-option"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--no-such-option"), "{command}");
    }
}

#[test]
fn sample_writes_five_parallel_files_whatever_the_threads() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let mut arguments = vec!["sample", "--pairs", "9000", "--seed", "5", "--out", out.to_str().unwrap()];
        arguments.extend(more);
        stdout(&sylvan(&arguments));
        FILES.map(|file| text(&out.join(file)))
    };
    let one = run("one", &["--threads", "1"]);
    assert_eq!(one, run("three", &["--threads", "3"]));
    for lines in [&one[0], &one[1], &one[2], &one[4]] {
        assert_eq!(lines.lines().count(), 9000);
    }
    assert_eq!(one[3].lines().filter(|line| line.is_empty()).count(), 9000, "blank lines end sentences");
    // Options that are ignored would leave the same corpus.
    assert_ne!(one, run("seed", &["--types", "5000"]));
    let long = run("long", &["--min-words", "20", "--max-words", "30"]);
    for line in long[0].lines().chain(long[1].lines()) {
        assert!((20..=30).contains(&line.split(' ').count()), "{line}");
    }
    assert_eq!(std::fs::read_dir(dir.path().join("one")).unwrap().count(), 5, "no temporary files are left");
}

#[test]
fn impossible_samples_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("corpus");
    let out = out.to_str().unwrap();
    let base = ["sample", "--pairs", "5", "--out", out];
    for (more, says) in [
        (&["--min-words", "9", "--max-words", "3"][..], "9"),
        (&["--max-words", "1", "--min-words", "1"][..], "1"),
    ] {
        let message = failure(&sylvan(&[&base[..], more].concat()));
        assert!(message.contains(says), "{message}");
        assert!(!Path::new(out).exists(), "nothing is written: {message}");
    }
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let message = failure(&sylvan(&["sample", "--pairs", "5", "--out", file.to_str().unwrap()]));
    assert!(message.contains("file: cannot create"), "{message}");
}

#[test]
fn score_prints_sacrebleu_numbers_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, lines).unwrap();
        path.to_str().unwrap().to_string()
    };
    let hyp = write("hyp", "the cat sat on the mat .\na dog is in the garden\nhe does not speak\n");
    let one =
        write("ref1", "the cat is on the mat .\nthere is a dog in the garden\nhe doesn't speak french\n");
    let two = write("ref2", "a cat was sitting on the mat .\nin the garden is a dog\nhe speaks no french\n");
    let arguments = |refs: &[&str]| {
        let mut all = vec!["score", "--metric", "bleu", "--tokenize", "none", "--json"];
        for path in refs {
            all.extend(["--ref", path]);
        }
        all.push(&hyp);
        let json: serde_json::Value = serde_json::from_str(&stdout(&sylvan(&all))).unwrap();
        json["bleu"].clone()
    };
    let single = arguments(&[&one]);
    assert!((single["score"].as_f64().unwrap() - 32.45452005537848).abs() < 1e-9, "{single}");
    assert!(
        single["signature"].as_str().unwrap().starts_with("nrefs:1|case:mixed|eff:no|tok:none|smooth:exp")
    );
    let double = arguments(&[&one, &two]);
    assert!((double["score"].as_f64().unwrap() - 34.42087651652725).abs() < 1e-9, "{double}");
    // From standard input, as text.
    let shown = stdout(&common::run(&["score", "--ref", &one], &text(Path::new(&hyp))));
    assert!(shown.contains("BLEU ") && shown.contains("tok:13a"), "{shown}");
    // --lowercase and --tokenize must not be ignored.
    let upper = write("upper", &text(Path::new(&one)).to_uppercase());
    let lower = stdout(&sylvan(&["score", "--lowercase", "--ref", &one, &upper]));
    assert!(lower.starts_with("BLEU 100.00"), "{lower}");
    let mixed = stdout(&sylvan(&["score", "--ref", &one, &upper]));
    assert!(!mixed.starts_with("BLEU 100.00"), "{mixed}");
    let glued = write("glued", &text(Path::new(&one)).replace(" .", "."));
    assert!(
        stdout(&sylvan(&["score", "--tokenize", "13a", "--ref", &one, &glued])).starts_with("BLEU 100.00")
    );
    assert!(
        !stdout(&sylvan(&["score", "--tokenize", "none", "--ref", &one, &glued])).starts_with("BLEU 100.00")
    );
}

#[test]
fn score_names_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let (three, two) = (dir.path().join("three"), dir.path().join("two"));
    std::fs::write(&three, "a\nb\nc\n").unwrap();
    std::fs::write(&two, "a\nb\n").unwrap();
    let (three, two) = (three.to_str().unwrap(), two.to_str().unwrap());
    let message = failure(&sylvan(&["score", "--ref", two, three]));
    assert!(message.contains("found 2 lines") && message.contains("expected 3"), "{message}");
    let message = failure(&sylvan(&["score", "--ref", "no/such/file", three]));
    assert!(message.contains("no/such/file: cannot open"), "{message}");
    assert_eq!(message.matches("No such file").count(), 1, "the reason stands once: {message}");
    std::fs::write(dir.path().join("bad"), b"a\nb\xff\n").unwrap();
    let bad = dir.path().join("bad");
    let message = failure(&sylvan(&["score", "--ref", two, bad.to_str().unwrap()]));
    assert!(message.contains("bad:2:2: found the byte 0xff"), "{message}");
}

#[test]
fn trees_are_converted_cleaned_and_counted() {
    let original = "( (S (NP-SBJ (DT the) (JJ old) (NN dog)) (VP (VBZ sleeps) (NP (-NONE- *T*-1)))) )\n\n";
    let run = |arguments: &[&str]| stdout(&common::run(&[&["trees"], arguments].concat(), original));
    assert_eq!(
        run(&["--to", "penn", "--clean"]),
        "(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sleeps)))\n\n",
        "the sentence without a tree stays as a blank line"
    );
    assert_eq!(
        run(&["--to", "penn", "--clean", "--binarize", "right"]),
        "(S (NP (DT the) (NP' (JJ old) (NN dog))) (VP (VBZ sleeps)))\n\n"
    );
    assert_eq!(
        run(&["--to", "penn", "--clean", "--binarize", "left"]),
        "(S (NP (NP' (DT the) (JJ old)) (NN dog)) (VP (VBZ sleeps)))\n\n"
    );
    assert_eq!(run(&["--to", "words", "--clean"]), "the old dog sleeps\n\n");
    assert!(run(&[]).contains("trees        1 (sentences without one: 1)"));
    let conllu = run(&["--to", "conllu", "--clean", "--heads", "english"]);
    let heads: Vec<&str> = conllu.lines().filter_map(|line| line.split('\t').nth(6)).collect();
    assert_eq!(heads, ["3", "3", "4", "0"]);
    // And back again, through the other formats.
    let back = stdout(&common::run(&["trees", "--from", "conllu", "--to", "words"], &conllu));
    assert_eq!(back.lines().next(), Some("the old dog sleeps"));
    let egret = run(&["--to", "egret", "--clean"]);
    let back = stdout(&common::run(&["trees", "--from", "egret", "--to", "penn"], &egret));
    assert_eq!(back, "(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ sleeps)))\n\n");
    let many = "(S\n  (A a)\n  (B b))\n(S (A c))\n";
    let one = stdout(&common::run(&["trees", "--from", "penn-lines", "--to", "penn"], many));
    assert_eq!(one, "(S (A a) (B b))\n(S (A c))\n");
    let message = failure(&common::run(&["trees"], "(S (A a))\n(S (A a)\n"));
    assert!(message.contains("standard input:2"), "{message}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trees");
    std::fs::write(&path, "(S (A a))\n".repeat(200_000)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sylvan"))
        .args(["trees", "--to", "penn", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn demo_prints_scores_beside_the_oracle_and_a_derivation() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("demo");
    let arguments = ["demo", "--pairs", "2000", "--test", "40", "--out", out.to_str().unwrap()];
    let shown = stdout(&sylvan(&arguments));
    let bleu = |name: &str| -> f64 {
        let line = shown.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split("BLEU").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(bleu("oracle") >= bleu("cube"), "{shown}");
    assert!(bleu("cube") > 40.0 && bleu("incremental") > 40.0 && bleu("prediction") > 40.0, "{shown}");
    assert!(shown.contains("=> Bush held talks with Sharon ."), "{shown}");
    assert_eq!(text(&out.join("output.en")).lines().count(), 40);
    // What the demo writes is what it scored.
    let (reference, output) = (out.join("test.en"), out.join("output.en"));
    let arguments =
        ["score", "--tokenize", "none", "--ref", reference.to_str().unwrap(), output.to_str().unwrap()];
    let again = stdout(&sylvan(&arguments));
    assert!(again.starts_with(&format!("BLEU {:.1}", bleu("cube"))[..8]), "{again} after {shown}");
}
