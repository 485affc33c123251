//! House rules that a compiler does not check: file length, module docs, the direction of dependencies.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(files.len() > 40, "this test looks in the wrong place");
    files
}

#[test]
fn files_are_short_and_say_what_they_are() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{}: {lines} lines, at most {MAX_LINES}", path.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not open with //! what it is", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The members of the workspace in the order of Cargo.toml, which is that of the data flow.
fn members() -> Vec<String> {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let list = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    list.split('"').filter_map(|part| part.strip_prefix("crates/")).map(str::to_string).collect()
}

#[test]
fn crates_use_only_crates_listed_before_them() {
    let members = members();
    assert!(members.len() > 10);
    let mut wrong = Vec::new();
    for (place, member) in members.iter().enumerate() {
        let manifest =
            std::fs::read_to_string(root().join("crates").join(member).join("Cargo.toml")).unwrap();
        let normal = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let normal = normal.split("\n[").next().unwrap();
        for line in normal.lines() {
            let Some(name) = line.split(['.', ' ', '=']).next() else { continue };
            let used = name.strip_prefix("sylvan-").or((name == "sylvan").then_some("sylvan"));
            let Some(used) = used else { continue };
            let at = members.iter().position(|other| other == used);
            if used == "testkit" || at.is_none_or(|at| at >= place) {
                wrong.push(format!("{member} uses {used}, which comes later in the data flow"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // `eval` must stay independent, so that scores can be trusted whatever the decoder does.
    let eval = std::fs::read_to_string(root().join("crates/eval/Cargo.toml")).unwrap();
    let normal = eval.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let ours: Vec<&str> = normal.lines().filter(|line| line.starts_with("sylvan")).collect();
    assert_eq!(ours, ["sylvan-base.workspace = true"]);
}
