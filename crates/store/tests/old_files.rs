//! Files of every version of a format open, and say what they said when they were made.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sylvan_base::{Symbol, Vocab};
use sylvan_store::{Container, ContainerWriter, FrozenVocab, Lines, LinesWriter, name};

const WORDS: [&str; 6] = ["<unk>", "the", "cat", "", "新华社", "a word with spaces"];
/// More than two blocks.
const LINES: u64 = 600;

fn line(number: u64) -> String {
    match number % 3 {
        0 => format!("{number}\tthe cat number {number}\t第 {number} 只 猫"),
        1 => String::new(),
        _ => format!("{number}\t{}", "long ".repeat(number as usize % 50)),
    }
}

fn kept(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(file)
}

/// How the files were made. New ones go to Cargo's folder for temporary files, for somebody to look at and copy.
#[test]
fn files_can_be_made_anew_elsewhere() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut writer = ContainerWriter::create(&folder.join("container.bin"), name("fixture"), 7, 3).unwrap();
    writer.section(name("numbers"), &[1u32, 2, 0xffff_fffe]).unwrap();
    writer.section::<u8>(name("empty"), &[]).unwrap();
    writer.section(name("text"), "新华社\n".as_bytes()).unwrap();
    writer.finish().unwrap();
    FrozenVocab::write(&folder.join("vocab.bin"), &Vocab::of(WORDS)).unwrap();
    let mut writer = LinesWriter::create(&folder.join("lines.bin")).unwrap();
    for number in 0..LINES {
        writer.push(&line(number)).unwrap();
    }
    writer.finish().unwrap();
    check_container(&folder.join("container.bin"));
    check_vocab(&folder.join("vocab.bin"));
    check_lines(&folder.join("lines.bin"));
}

fn check_container(path: &Path) {
    let file = Container::open(path, name("fixture"), 7..=7).unwrap();
    assert_eq!(file.version(), 7);
    let sections: Vec<(String, u64)> = file.sections().collect();
    let names = [("numbers", 12), ("empty", 0), ("text", 10)];
    assert_eq!(sections, names.map(|(name, length)| (name.to_string(), length)));
    assert_eq!(file.section::<u32>(name("numbers")).unwrap(), [1, 2, 0xffff_fffe]);
    assert!(file.section::<u8>(name("empty")).unwrap().is_empty());
    assert_eq!(file.section::<u8>(name("text")).unwrap(), "新华社\n".as_bytes());
    file.verify().unwrap();
}

fn check_vocab(path: &Path) {
    let vocab = FrozenVocab::open(path).unwrap();
    vocab.verify().unwrap();
    assert_eq!(vocab.len(), WORDS.len());
    for (id, word) in (0..).zip(WORDS) {
        assert_eq!(vocab.text(Symbol(id)), Some(word));
        assert_eq!(vocab.get(word), Some(Symbol(id)), "{word:?}");
    }
    assert_eq!(vocab.get("dog"), None);
}

fn check_lines(path: &Path) {
    let lines = Lines::open(path).unwrap();
    assert_eq!(lines.len(), LINES);
    for number in [0, 1, 2, 255, 256, 257, 511, 512, 599] {
        assert_eq!(lines.get(number).unwrap(), Some(line(number)), "line {number}");
    }
    assert_eq!(lines.get(LINES).unwrap(), None);
    let mut next = 0;
    let all: Result<(), sylvan_base::InputError> = lines.each(|found| {
        assert_eq!(found, line(next));
        next += 1;
        Ok(())
    });
    all.unwrap();
    assert_eq!(next, LINES);
}

#[test]
fn containers_of_old_open() {
    check_container(&kept("container.bin"));
}

#[test]
fn vocabularies_of_every_version_open() {
    check_vocab(&kept("vocab-v1.bin"));
}

#[test]
fn lines_of_every_version_open() {
    check_lines(&kept("lines-v1.bin"));
}
