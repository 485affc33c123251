//! A small corpus, and training on it as a user would.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Output;

use super::run_in;

/// A corpus in a folder: training text, text to tune on, trees of both.
pub struct Corpus {
    pub dir: tempfile::TempDir,
}

impl Corpus {
    pub fn new(pairs: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let corpus = Self { dir };
        let total = (pairs + 60).to_string();
        success(&corpus.run(&["sample", "--pairs", &total, "--out", "all"], ""));
        for (from, name) in
            [("source.txt", "zh"), ("target.txt", "en"), ("source.tree", "tree"), ("align.txt", "links")]
        {
            let lines = corpus.read(&format!("all/{from}"));
            let lines: Vec<&str> = lines.lines().collect();
            corpus.write(&format!("train.{name}"), &(lines[..pairs].join("\n") + "\n"));
            corpus.write(&format!("dev.{name}"), &(lines[pairs..].join("\n") + "\n"));
        }
        corpus
    }

    pub fn run(&self, arguments: &[&str], input: &str) -> Output {
        run_in(self.dir.path(), arguments, input)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Trains with given trees, quickly, and with more options.
    pub fn train(&self, out: &str, more: &[&str]) -> Output {
        let trees = ["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", out];
        self.run(&arguments(&[&trees, more].concat()), "")
    }
}

/// Trains a model `m` in a folder with given trees and more options, quickly; returns the trees of sentences
/// that training did not see.
pub fn model(dir: &Path, pairs: usize, unseen: usize, more: &[&str]) -> String {
    const DEV: usize = 40;
    let total = (pairs + DEV + unseen).to_string();
    success(&run_in(dir, &["sample", "--pairs", &total, "--out", "all"], ""));
    for (from, name) in [("source.txt", "zh"), ("target.txt", "en"), ("source.tree", "tree")] {
        let lines = std::fs::read_to_string(dir.join("all").join(from)).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        let (train, rest) = lines.split_at(pairs);
        let (dev, test) = rest.split_at(DEV);
        for (part, lines) in [("train", train), ("dev", dev), ("test", test)] {
            std::fs::write(dir.join(format!("{part}.{name}")), lines.join("\n") + "\n").unwrap();
        }
    }
    let usual = ["--trees", "train.tree", "--dev-trees", "dev.tree", "--rounds", "1", "--out", "m"];
    success(&run_in(dir, &arguments(&[&usual, more].concat()), ""));
    std::fs::read_to_string(dir.join("test.tree")).unwrap()
}

/// The usual arguments, except those that are given otherwise; of several values the last one counts.
pub fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let all: Vec<&str> = TRAIN[2..].iter().chain(more).copied().collect();
    let pairs: Vec<&[&str]> = all.chunks(2).collect();
    let last = |index: usize| pairs[index + 1..].iter().all(|later| later[0] != pairs[index][0]);
    let kept = (0..pairs.len()).filter(|&index| last(index)).flat_map(|index| pairs[index].iter().copied());
    TRAIN[..2].iter().copied().chain(kept).collect()
}

const TRAIN: [&str; 22] = [
    "train",
    "--tokenized",
    "--source",
    "train.zh",
    "--target",
    "train.en",
    "--dev-source",
    "dev.zh",
    "--dev-target",
    "dev.en",
    "--source-lang",
    "zh",
    "--target-lang",
    "en",
    "--align-preset",
    "fast",
    "--rounds",
    "2",
    "--nbest",
    "10",
    "--beam",
    "20",
];

#[track_caller]
pub fn success(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn messages(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
