//! Model files of every version open, and translate as they did when they were made.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

/// Runs the program in a folder and returns what it says.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = common::run_in(folder, arguments, "");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn version_1_opens() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats");
    let text = |ending: &str| std::fs::read_to_string(kept.join(format!("model-v1.{ending}"))).unwrap();
    // A copy: corrections and work files lie beside a model.
    let folder = tempfile::tempdir().unwrap();
    for name in ["model-v1.sylvan", "model-v1.trees", "model-v1.text"] {
        std::fs::copy(kept.join(name), folder.path().join(name)).unwrap();
    }
    let model = "model-v1.sylvan";
    assert_eq!(said(folder.path(), &["model", "verify", model]), "");
    let translate =
        |input, file| said(folder.path(), &["translate", "--model", model, "--input", input, file]);
    assert_eq!(translate("tree", "model-v1.trees"), text("from-trees"));
    assert_eq!(translate("text", "model-v1.text"), text("from-text"), "the parser is a part too");
    // Other words around them may change; what the file says must be shown.
    let info = said(folder.path(), &["model", "info", model]);
    for line in text("info").lines() {
        assert!(info.lines().any(|other| other == line), "{line:?} is not in\n{info}");
    }
    // The training text is a part as well: an explanation shows a line of it.
    let explained = common::run_in(folder.path(), &["explain", "--model", model], "选举 日期 晚上 公布 。\n");
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("I will go to Rome by boat tomorrow ."), "{explained}");
}

/// Its rules know brackets as codes of a treebank, and its parser says nothing of how that treebank writes.
#[test]
fn version_1_of_raw_text_opens_and_writes_no_codes() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sylvan/tests/formats");
    let folder = tempfile::tempdir().unwrap();
    for name in ["model-v1-raw.sylvan", "model-v1-raw.text"] {
        std::fs::copy(kept.join(name), folder.path().join(name)).unwrap();
    }
    let translate = |more: &[&str]| {
        let usual = ["translate", "--model", "model-v1-raw.sylvan", "model-v1-raw.text"];
        said(folder.path(), &[&usual, more].concat())
    };
    let expected = std::fs::read_to_string(kept.join("model-v1-raw.from-text")).unwrap();
    assert_eq!(translate(&[]), expected);
    for more in [&["--json", "--nbest", "5"][..], &["--no-detokenize"], &["--search", "prediction"]] {
        let said = translate(more);
        assert!(!said.contains("RB-") && said.contains('('), "{said}");
    }
    let explained = common::run_in(
        folder.path(),
        &["explain", "--model", "model-v1-raw.sylvan"],
        "The dog (bold) sees Anna.\n",
    );
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("Die Ratte (bold) sieht Anna"), "{explained}");
    // As it did then.
    assert!(translate(&["--json"]).contains("[\"Mary\",\"doesn\",\"'t\",\"see\""));
}
