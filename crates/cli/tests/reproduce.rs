//! `sylvan reproduce`: what it says before it begins. What it finds is tested in its own crate.
#![allow(clippy::unwrap_used)]

mod common;

#[test]
fn what_cannot_be_run_is_an_error_that_says_what_can() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let arguments = [&["reproduce", "--out", "out"], arguments].concat();
        let output = common::run_in(folder.path(), &arguments, "");
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&["cross"]).contains("--sample"));
    assert!(said(&["cross", "--sample", "--corpus", "enja"]).contains("--corpus"));
    assert!(said(&["moses", "--sample"]).contains("feng-2012"));
    let missing = said(&["cross", "--data", "nowhere"]);
    assert!(missing.contains("nowhere/enja/train.en"), "{missing}");
    let other = said(&["cross", "--data", "nowhere", "--corpus", "fren"]);
    assert!(other.contains("fren") && other.contains("enja, zhen, deen"), "{other}");
}
