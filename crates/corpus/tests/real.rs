//! Real corpora, if the data folder is there (environment variable SYLVAN_DATA).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::io::Write;
use std::path::PathBuf;

use sylvan_corpus::{Alignment, Base, ParallelReader, split_pair};

/// The paths of data files, or `None` with a message that libtest does not swallow.
fn data(names: &[&str]) -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("SYLVAN_DATA").map(PathBuf::from)?;
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    paths.iter().all(|path| path.exists()).then_some(paths)
}

fn skip() {
    let _ = writeln!(std::io::stderr(), "SKIPPED: data not found; set SYLVAN_DATA to the data folder");
}

fn words(line: &str) -> usize {
    line.split_ascii_whitespace().count()
}

#[test]
fn automatic_links_stay_within_their_sentences() {
    let Some(paths) = data(&["enja/train.en", "enja/train.ja", "enja/train.fast_align.gdfa"]) else {
        return skip();
    };
    let mut reader = ParallelReader::open(&paths).unwrap();
    let mut all = 0;
    while let Some(lines) = reader.next_lines().unwrap() {
        let (source, target) = (words(&lines[0]), words(&lines[1]));
        all += target;
        let alignment = Alignment::parse_within(&lines[2], Base::Zero, source, target);
        assert!(alignment.is_ok_and(|alignment| alignment.possible().is_empty()));
    }
    assert_eq!((reader.line_number(), all), (50_000, 565_618));
}

#[test]
fn gold_links_stay_within_their_sentences() {
    // The Japanese-English set is left out: its text holds control characters, which the reader refuses.
    for (name, lines, has_possible) in [("enfr", 447, true), ("zhen", 450, true), ("encs", 2500, false)] {
        let names = [format!("align/{name}.src-tgt"), format!("align/{name}.gold")];
        let Some(paths) = data(&[&names[0], &names[1]]) else { return skip() };
        let mut reader = ParallelReader::open(&paths).unwrap();
        let mut possible = 0;
        while let Some(lines) = reader.next_lines().unwrap() {
            let (source, target) = split_pair(&lines[0]).unwrap();
            let alignment = Alignment::parse_within(&lines[1], Base::One, words(source), words(target));
            let place = |fault| reader.locate(1, fault);
            possible += alignment.map_err(place).unwrap().possible().len();
        }
        assert_eq!((reader.line_number(), possible > 0), (lines, has_possible), "{name}");
    }
}
