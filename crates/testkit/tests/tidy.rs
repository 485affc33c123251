//! House rules that a compiler does not check: file length, module docs, the direction of dependencies, a kept file of
//! each version of a binary format.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below `crates`.
fn all_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = all_files();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
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

/// What stands between two texts, the first time that it does.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split_once(after).map(|(found, _)| found)
}

/// Versions that belong to no file: that of the explanation's JSON.
const NO_FILES: [&str; 1] = ["crates/decode/src/explain/mod.rs"];

#[test]
fn each_version_of_a_binary_format_has_a_file_in_the_tests() {
    // Kind and version of each container that is kept; docs/formats/container.md has the layout.
    let kept: BTreeSet<(String, u32)> = all_files()
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "tests"))
        .map(|path| std::fs::read(path).unwrap())
        .filter(|bytes| bytes.starts_with(b"SYLVAN\r\n") && bytes.len() >= 64)
        .map(|bytes| {
            let kind = String::from_utf8_lossy(&bytes[8..16]).trim_end_matches('\0').to_string();
            (kind, u32::from_le_bytes(bytes[16..20].try_into().unwrap()))
        })
        .collect();
    let mut found = 0;
    for path in rust_files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let in_source = path.components().any(|part| part.as_os_str() == "src");
        let Some(version) = between(&source, "const VERSION: u32 = ", ";").filter(|_| in_source) else {
            continue;
        };
        if NO_FILES.iter().any(|other| path.ends_with(other)) {
            continue;
        }
        let kind = between(&source, "const KIND: Name = name(\"", "\")");
        let kind = kind.unwrap_or_else(|| panic!("{}: a version without a KIND", path.display()));
        let version = version.parse().unwrap();
        assert!(
            kept.contains(&(kind.to_string(), version)),
            "{}: keep a small file of kind {kind:?}, version {version} in tests/formats beside those of older \
             versions, and a test that opens it",
            path.display()
        );
        found += 1;
    }
    assert!(found >= 7, "only {found} formats found");
}

/// The way of a sentence through the code, as docs/ARCHITECTURE.md lists it, is short, true, and never leads back.
#[test]
fn the_way_of_a_sentence_is_short_and_does_not_turn_back() {
    let text = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let list = text.split("## The way of a sentence").nth(1).unwrap().split("\n## ").next().unwrap();
    let hops: Vec<(&str, &str)> = list
        .lines()
        .filter_map(|line| line.split_once(". `")?.1.split('`').next()?.split_once(".rs:"))
        .collect();
    assert!((8..=12).contains(&hops.len()), "{} hops", hops.len());
    let mut left: Vec<String> = Vec::new();
    for (file, function) in hops {
        let path = format!("{file}.rs");
        let code = std::fs::read_to_string(root().join(&path)).unwrap_or_else(|_| panic!("no {path}"));
        let named = |open: char| code.contains(&format!("fn {function}{open}"));
        assert!(named('(') || named('<'), "{path} has no fn {function}");
        // A module is a file or a folder right below `src`.
        let (krate, inside) = file.split_once("/src/").unwrap();
        let module = format!("{krate}/{}", inside.split('/').next().unwrap());
        assert!(!left.contains(&module), "the way leads back to {module}");
        left.push(module);
    }
}
