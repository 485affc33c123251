//! `sylvan align` as a user meets it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

fn sylvan(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sylvan")).arg("align").args(arguments).output().unwrap()
}

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

fn write(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// A small text with an empty line, a C1 control character and a long line.
fn text(dir: &Path) -> (String, String) {
    let (mut source, mut target) = (String::new(), String::new());
    for round in 0..40 {
        let (a, b, c) = (round % 5, round % 7, round % 3);
        // Every other line says something twice that the other side says once.
        let twice = if round % 2 == 1 { format!("b{b} ") } else { String::new() };
        source.push_str(&format!("a{a} {twice}b{b} c{c}\n"));
        target.push_str(&format!("A{a} C{c} B{b}\n"));
    }
    source.push_str("\na1 b\u{9d}2\nc1\n");
    target.push_str("A1\nA1 B\u{9d}2\n");
    target.push_str(&"C1 ".repeat(300));
    target.push('\n');
    (write(dir, "source", &source), write(dir, "target", &target))
}

#[test]
fn train_writes_a_line_for_every_line_and_apply_takes_up_the_model() {
    let dir = tempfile::tempdir().unwrap();
    let (source, target) = text(dir.path());
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let (out, model, lexicon) = (path("links"), path("model"), path("lex"));
    let base = ["--source", &source, "--target", &target];
    let arguments =
        [&["train"][..], &base, &["--out", &out, "--model", &model, "--lexicon", &lexicon]].concat();
    let run = sylvan(&arguments);
    stdout(&run);
    let notes = String::from_utf8(run.stderr).unwrap();
    assert!(notes.contains("left out 1 of 43 pairs, which have an empty side"), "{notes}");
    assert!(notes.contains("left out 1 of 43 pairs, which have more than 250 words"), "{notes}");
    let links = std::fs::read_to_string(&out).unwrap();
    let lines: Vec<&str> = links.lines().collect();
    assert_eq!(lines.len(), 43);
    assert_eq!(lines[0], "0-0 1-2 2-1");
    assert_eq!((lines[40], lines[42]), ("", ""));
    let table = std::fs::read_to_string(path("lex.f2e")).unwrap();
    assert!(table.lines().any(|line| line == "A1 a1 1.0000000"), "{table}");
    assert!(std::fs::read_to_string(path("lex.e2f")).unwrap().contains("a1 A1 1.0000000"));
    // The saved model on the same text, with scores and posteriors.
    let (scores, posteriors) = (path("scores"), path("posteriors"));
    let more = ["--model", &model, "--scores", &scores, "--posteriors", &posteriors];
    let applied = stdout(&sylvan(&[&["apply"][..], &base, &more].concat()));
    assert_eq!(applied.lines().next(), Some("0-0 1-2 2-1"));
    assert_eq!(applied.lines().count(), 43);
    let scores = std::fs::read_to_string(&scores).unwrap();
    assert_eq!(scores.lines().count(), 43);
    assert_eq!(scores.lines().nth(40), Some(""));
    let first: Vec<f64> =
        scores.lines().next().unwrap().split('\t').map(|number| number.parse().unwrap()).collect();
    assert!(first.len() == 2 && first.iter().all(|&score| score < 0.0));
    let posteriors = std::fs::read_to_string(&posteriors).unwrap();
    assert!(posteriors.starts_with("0-0:0.9") || posteriors.starts_with("0-0:1.0"), "{posteriors}");
    // Scratch files, and a missing folder for them: only a run that needs it notices.
    let nowhere = path("nowhere");
    let with = |more: &[&str]| sylvan(&[&arguments[..], more].concat());
    stdout(&with(&["--scratch", &nowhere]));
    let bytes = |name: &str| std::fs::read(path(name)).unwrap();
    let ample = [bytes("links"), bytes("model")];
    assert!(failure(&with(&["--scratch", &nowhere, "--memory", "1K"])).contains("nowhere"));
    stdout(&with(&["--memory", "1K"]));
    assert!([bytes("links"), bytes("model")] == ample, "--memory changes the result");
    assert!(failure(&with(&["--memory", "little"])).contains("expected a size"));
    assert!(failure(&with(&["--memory", "1M", "--method", "hmm"])).contains("cannot be used with"));
    // Every bit the same with other numbers of threads.
    let (links, model_bytes) = (bytes("links"), bytes("model"));
    for threads in ["1", "2", "4"] {
        stdout(&sylvan(&[&arguments[..], &["--threads", threads]].concat()));
        assert!(bytes("links") == links && bytes("model") == model_bytes, "{threads} threads");
    }
}

#[test]
fn methods_heuristics_and_their_options_work() {
    let dir = tempfile::tempdir().unwrap();
    let (source, target) = text(dir.path());
    let train =
        |more: &[&str]| sylvan(&[&["train", "--source", &source, "--target", &target], more].concat());
    for method in ["ibm1", "diagonal", "hmm"] {
        let run = train(&["--method", method, "--iterations", "3", "--symmetrize", "intersection"]);
        let notes = String::from_utf8_lossy(&run.stderr).to_string();
        assert!(notes.contains("iteration 3") && !notes.contains("iteration 4"), "{notes}");
        assert_eq!(stdout(&run).lines().count(), 43);
    }
    let union = stdout(&train(&["--symmetrize", "union"]));
    let both = stdout(&train(&["--symmetrize", "intersection"]));
    assert!(union.len() > both.len(), "the heuristic is ignored");
    let short = train(&["--max-words", "2"]);
    assert_eq!(stdout(&short).lines().filter(|line| !line.is_empty()).count(), 1);
    let plain = |alpha: &str| {
        let run = train(&["--method", "hmm", "--alpha", alpha]);
        stdout(&run);
        String::from_utf8(run.stderr).unwrap()
    };
    assert_ne!(plain("0"), plain("0.5"), "--alpha is ignored");
    let agreed = train(&["--method", "hmm", "--agreement"]);
    stdout(&agreed);
    assert_ne!(String::from_utf8(agreed.stderr).unwrap(), plain("0.01"), "--agreement is ignored");
    assert!(failure(&train(&["--method", "hmm", "--preset", "fast"])).contains("cannot be used with"));
    assert!(failure(&train(&["--symmetrize", "grow"])).contains("expected one of forward"));
    assert!(failure(&train(&["--threads", "0"])).contains("threads"));
    assert!(failure(&train(&["--preset", "quick"])).contains("expected fast, default or best"));
    let presets: Vec<String> =
        ["fast", "best"].iter().map(|name| stdout(&train(&["--preset", name]))).collect();
    assert!(presets.iter().all(|links| links.starts_with("0-0 1-2 2-1\n")));
}

#[test]
fn symmetrize_eval_and_show_read_both_numberings() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| write(dir.path(), name, text);
    let forward = file("f", "0-0 1-1 2-1 3-4\n\n");
    let reverse = file("r", "0-0 1-1 1-2 3-3 4-4\n\n");
    let combine = |more: &[&str]| {
        sylvan(&[&["symmetrize", "--forward", &forward, "--reverse", &reverse], more].concat())
    };
    assert_eq!(stdout(&combine(&[])), "0-0 1-1 1-2 2-1\n\n");
    let grown = stdout(&combine(&["--symmetrize", "grow-diag-final-and"]));
    assert_eq!(grown, "0-0 1-1 1-2 2-1 3-4\n\n");
    assert!(failure(&combine(&["--link-format", "talp"])).contains("does not count from 1"));
    assert!(failure(&combine(&["--symmetrize", "posterior"])).contains("needs no posteriors"));
    let gold = file("gold", "1-1 2-2 3p2\n");
    let pred = file("pred", &grown);
    let eval = |more: &[&str]| sylvan(&[&["eval", "--gold", &gold, "--pred", &pred], more].concat());
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&eval(&["--gold-one-based", "--json"]))).unwrap();
    // A = 5, S = 2, A & S = 2, A & P = 3.
    assert_eq!(json["precision"], 0.6);
    assert_eq!(json["recall"], 1.0);
    assert!((json["aer"].as_f64().unwrap() - 2.0 / 7.0).abs() < 1e-12);
    assert!((json["f1"].as_f64().unwrap() - 0.75).abs() < 1e-12);
    assert!(stdout(&eval(&["--gold-one-based"])).starts_with("AER 28.57"));
    assert!(failure(&eval(&["--gold-one-based", "--pred-one-based"])).contains("pred:1"));
    let short = file("short", "");
    let run = sylvan(&["eval", "--gold", &gold, "--pred", &short]);
    assert!(failure(&run).contains("as many lines as in"));
    let (source, target) = (file("s", "a b c d e\n"), file("t", "v w x y z\n"));
    let show = |more: &[&str]| {
        let base = ["show", "--source", &source, "--target", &target, "--align", &pred];
        sylvan(&[&base[..], more].concat())
    };
    let drawn = stdout(&show(&["--gold", &gold, "--gold-one-based"]));
    assert_eq!(drawn, "  v w x y z\na █ · · · ·\nb · █ + · ·\nc · █ · · ·\nd · · · · +\ne · · · · ·\n");
    assert!(stdout(&show(&["--svg"])).starts_with("<svg"));
    assert!(failure(&show(&["--line", "3"])).contains("expected line 3"));
}

#[test]
fn texts_of_different_length_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (write(dir.path(), "a", "x\ny\n"), write(dir.path(), "b", "x\n"));
    assert!(failure(&sylvan(&["train", "--source", &a, "--target", &b])).contains("the end after 1 lines"));
    let c = write(dir.path(), "c", "x\u{7}y\n");
    assert!(failure(&sylvan(&["train", "--source", &c, "--target", &b])).contains("U+0007"));
    let none = dir.path().join("none");
    let run = sylvan(&["apply", "--model", none.to_str().unwrap(), "--source", &b, "--target", &b]);
    assert!(failure(&run).contains("none"));
    let run = sylvan(&["apply", "--model", &b, "--source", &b, "--target", &b]);
    assert!(failure(&run).contains("expected a Sylvan model file"));
}
