//! `check` on a clean made-up corpus with faults planted in it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use sylvan_base::Rng;

const LINES: usize = 4000;

fn sylvan(dir: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sylvan")).args(arguments.split(' ')).current_dir(dir).output().unwrap()
}

/// Source, target, trees and links of a corpus without faults.
struct Corpus {
    files: [Vec<Vec<u8>>; 4],
}

const NAMES: [&str; 4] = ["source", "target", "trees", "links"];
const ALL: &str = "check --source source --target target --trees trees --align links";

impl Corpus {
    fn clean() -> Self {
        let mut rng = Rng::new(1);
        let mut files: [Vec<Vec<u8>>; 4] = Default::default();
        for _ in 0..LINES {
            let words: Vec<String> = (0..3 + rng.below(25))
                .map(|_| (0..2 + rng.below(7)).map(|_| (b'a' + rng.below(26) as u8) as char).collect())
                .collect();
            let other: Vec<String> = words.iter().rev().map(|word| format!("ø{word}")).collect();
            let tree: Vec<String> = words.iter().map(|word| format!("(X {word})")).collect();
            let links: Vec<String> =
                (0..words.len()).map(|i| format!("{i}-{}", words.len() - 1 - i)).collect();
            for (file, line) in files.iter_mut().zip([
                words.join(" "),
                other.join(" "),
                format!("(S {})", tree.join(" ")),
                links.join(" "),
            ]) {
                file.push(line.into_bytes());
            }
        }
        Self { files }
    }

    /// Replaces one side of a line and makes tree and links fit.
    fn plant(&mut self, line: usize, source: Option<&[u8]>, target: Option<&[u8]>) {
        for (file, text) in [(0, source), (1, target)] {
            if let Some(text) = text {
                self.files[file][line - 1] = text.to_vec();
            }
        }
        let words = String::from_utf8_lossy(&self.files[0][line - 1]).into_owned();
        let tree: String = words.split_whitespace().map(|word| format!(" (X {word})")).collect();
        self.files[2][line - 1] =
            if tree.is_empty() { Vec::new() } else { format!("(S{tree})").into_bytes() };
        self.files[3][line - 1].clear();
    }

    fn write(&self, dir: &Path) {
        for (name, lines) in NAMES.iter().zip(&self.files) {
            std::fs::write(dir.join(name), lines.join(&b'\n')).unwrap();
        }
    }
}

fn planted() -> (Corpus, Vec<(u64, &'static str)>) {
    let mut corpus = Corpus::clean();
    let mut expected = Vec::new();
    let mut plant = |line: usize, kind, source: Option<&[u8]>, target: Option<&[u8]>| {
        corpus.plant(line, source, target);
        expected.push((line as u64, kind));
    };
    plant(10, "empty-source", Some(b" "), None);
    plant(20, "empty-target", None, Some(b""));
    plant(30, "length-ratio", Some(b"a bc"), Some("øabc ødef ".repeat(12).as_bytes()));
    plant(40, "identical", Some(b"just the same here"), Some(b"just the same here"));
    plant(50, "wrong-script", None, Some("совсем другие буквы в этой строке и ещё немного".as_bytes()));
    plant(
        60,
        "control-character",
        Some(b"a bell\x07 rings in the night"),
        Some("øa øbell ørings øin øthe ønight".as_bytes()),
    );
    plant(
        70,
        "invalid-utf8",
        Some(b"caf\xe9 au lait this morning"),
        Some("øcafe øau ølait øthis ømorning".as_bytes()),
    );
    plant(
        80,
        "broken-encoding",
        Some("the cafÃ© is open today".as_bytes()),
        Some("øthe øcafe øis øopen øtoday".as_bytes()),
    );
    plant(90, "markup", Some(b"one <br/> two three four"), Some("øone øtwo øthree øfour øfive".as_bytes()));
    plant(
        100,
        "repetition",
        Some(b"no no no no no no no no"),
        Some("øno ønono øno ønono øno øno".as_bytes()),
    );
    plant(110, "no-letters", Some(b"--- *** ... !!! ???"), Some("ødash østar ødot".as_bytes()));
    let many = "word ".repeat(40) + &"other ".repeat(200);
    let many: String = many.split(' ').enumerate().map(|(i, word)| format!("{word}{i} ")).collect();
    let fewer = many.split(' ').take(190).collect::<Vec<_>>().join(" ").replace('o', "ø");
    plant(120, "too-long", Some(many.as_bytes()), Some(fewer.as_bytes()));
    corpus.files[2][129] = b"(S (X wrong) (X words))".to_vec();
    corpus.files[2][139] = b"(S (X unclosed)".to_vec();
    corpus.files[3][149] = b"0-0 99-0".to_vec();
    for file in &mut corpus.files {
        file[159] = file[4].clone();
    }
    expected.extend([(130, "tree-yield"), (140, "bad-tree"), (150, "alignment"), (160, "duplicate")]);
    (corpus, expected)
}

fn findings(output: &Output) -> Vec<(u64, String)> {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = value["findings"].as_array().unwrap();
    all.iter().map(|one| (one["line"].as_u64().unwrap(), one["kind"].as_str().unwrap().to_string())).collect()
}

#[test]
fn a_clean_corpus_has_nothing_wrong() {
    let dir = tempfile::tempdir().unwrap();
    Corpus::clean().write(dir.path());
    let output = sylvan(dir.path(), &format!("{ALL} --json"));
    assert_eq!(findings(&output), []);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn every_planted_fault_is_found_at_its_line_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (corpus, expected) = planted();
    corpus.write(dir.path());
    let output = sylvan(dir.path(), &format!("{ALL} --json"));
    assert_eq!(output.status.code(), Some(1));
    let expected: Vec<(u64, String)> =
        expected.into_iter().map(|(line, kind)| (line, kind.to_string())).collect();
    assert_eq!(findings(&output), expected);
    // Options that were ignored would change nothing.
    let output = sylvan(dir.path(), &format!("{ALL} --json --ignore markup --max-words 1000 --ratio 1000"));
    let fewer: Vec<_> = expected
        .into_iter()
        .filter(|(_, kind)| !["markup", "too-long", "length-ratio"].contains(&kind.as_str()))
        .collect();
    assert_eq!(findings(&output), fewer);
    let text = String::from_utf8(sylvan(dir.path(), &format!("{ALL} --show 2")).stdout).unwrap();
    assert!(text.contains("10: empty-source") && text.contains("... and 14 more"), "{text}");
    assert!(text.ends_with("16 of 4000 lines have problems\n"), "{text}");
}

#[test]
fn shifted_blocks_are_found_where_they_begin_and_end() {
    let dir = tempfile::tempdir().unwrap();
    for (shift, name) in [(1usize, "one"), (3, "three")] {
        let mut corpus = Corpus::clean();
        // Between lines 1001 and 1300 the target has lost lines and got them back at the end.
        corpus.files[1][1000..1300].rotate_left(shift);
        corpus.write(dir.path());
        let output = sylvan(dir.path(), "check --source source --target target --json");
        assert_eq!(output.status.code(), Some(1), "{name}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let blocks: Vec<&Value> =
            value["findings"].as_array().unwrap().iter().filter(|one| one["kind"] == "shifted").collect();
        assert_eq!(blocks.len(), 1, "{name}: {value}");
        let (first, last) = (blocks[0]["line"].as_u64().unwrap(), blocks[0]["until"].as_u64().unwrap());
        assert!(first.abs_diff(1001) <= 5 && last.abs_diff(1300) <= 5, "{name}: {first} {last}");
    }
}

#[test]
fn fix_writes_what_is_good_and_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let (corpus, expected) = planted();
    corpus.write(dir.path());
    let output = sylvan(dir.path(), &format!("{ALL} --fix clean"));
    assert_eq!(output.status.code(), Some(1));
    let clean = dir.path().join("clean");
    let output = sylvan(&clean, &format!("{ALL} --json"));
    assert_eq!(findings(&output), []);
    let log = std::fs::read_to_string(clean.join("dropped.tsv")).unwrap();
    assert_eq!(log.lines().count(), expected.len());
    assert!(log.starts_with("10\t10\tempty-source\t"), "{log}");
    let kept = std::fs::read(clean.join("links")).unwrap();
    assert_eq!(kept.iter().filter(|&&byte| byte == b'\n').count(), LINES - expected.len());
    // Never over its own input.
    let output = sylvan(dir.path(), &format!("{ALL} --fix ."));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn files_that_cannot_be_checked_are_errors_not_problems() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("two"), "a\nb\n").unwrap();
    std::fs::write(dir.path().join("three"), "a\nb\nc\n").unwrap();
    for (arguments, says) in [
        ("check --source two --target none", "none: cannot open"),
        ("check --source two --target three", "two has 2, three has 3"),
        ("check --source two --target two --trees three", "three has 3"),
        ("check --source two --target two --ignore nonsense", "empty-source"),
        ("check --source two --target two --ratio 0.5", "above 1"),
    ] {
        let output = sylvan(dir.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{arguments}");
    }
}
