//! Undirected search from the command line: translating, explaining in which order it went, fitting what it expects.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};

const TRAIN: &str = "train --tokenized --source train.zh --target train.en --dev-source dev.zh --dev-target dev.en \
                     --source-lang zh --target-lang en --align-preset fast --rounds 1 --nbest 10 --beam 20 --lm-order 3 \
                     --kind hiero --out m";

#[test]
fn sentences_are_translated_in_any_order() {
    let corpus = Corpus::new(300);
    success(&corpus.run(&TRAIN.split_whitespace().collect::<Vec<_>>(), ""));
    let source: String = corpus.read("dev.zh").lines().take(20).map(|line| format!("{line}\n")).collect();
    corpus.write("text", &source);
    let translate = |options: &str| {
        let line = format!("translate --model m --search undirected {options}");
        success(&corpus.run(&line.split_whitespace().collect::<Vec<_>>(), &source))
    };
    assert_eq!(translate("--threads 1"), translate("--threads 3"));
    // Wide enough, the paper's way and ours agree with cube pruning.
    let wide =
        success(&corpus.run(&["translate", "--model", "m", "--search", "cube", "--beam", "500"], &source));
    assert_eq!(translate("--beam 500 --even --slack 9"), wide);
    // A list is made of what was found.
    for line in translate("--json --nbest 3 --plain --beam 4").lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let list = json["nbest"].as_array().unwrap();
        let scores: Vec<f64> = list.iter().map(|one| one["score"].as_f64().unwrap()).collect();
        assert!(!scores.is_empty() && scores.is_sorted_by(|a, b| a >= b), "{line}");
    }
    // The explanation says when each part of the answer was taken.
    let first = source.lines().next().unwrap();
    let explain = |more: &str| {
        let mut words = vec!["explain", "--model", "m", "--search", "undirected"];
        words.extend(more.split_whitespace().chain([first]));
        success(&corpus.run(&words, ""))
    };
    let json: serde_json::Value = serde_json::from_str(explain("--json").trim()).unwrap();
    let taken = json["search"]["taken"].as_array().unwrap();
    let numbers: Vec<u64> = taken.iter().map(|part| part["before"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted() && numbers.len() > 2, "{numbers:?}");
    let first_part = taken.first().unwrap();
    assert!(first_part["words"] != "" && first_part["waiting"].as_u64().unwrap() > 1, "{first_part}");
    assert_eq!(json["search"]["bins"].as_array().unwrap().len(), 0);
    assert!(explain("").contains("in the order in which they were taken"));
    assert!(explain("--plain --beam 1").contains("_"), "partial items have a hole");
    success(
        &corpus.run(&["explain", "--model", "m", "--search", "undirected", "--html", "why.html", first], ""),
    );
    assert!(corpus.read("why.html").contains("\"taken\""));
    // What is expected of what is missing can be fitted, and used.
    let fit = |options: &str| {
        let line = format!("fit --model m {options} text");
        corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
    };
    let fitted = success(&fit("--beam 2 --plain --what word --what once"));
    assert_eq!(fitted, success(&fit("--beam 2 --plain --what word --what once --threads 3")));
    let tried: Vec<f64> = fitted
        .lines()
        .filter_map(|line| line.strip_prefix("# --missing")?.rsplit(' ').next()?.parse().ok())
        .collect();
    let best = tried.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(tried.len() > 5 && fitted.contains(&format!("# best, {best:.4}")), "{fitted}");
    let options = fitted.lines().last().unwrap();
    assert!(options.starts_with("--missing-word "), "{fitted}");
    translate(&format!("--beam 2 --plain {options}"));
    assert!(success(&fit("--beam 8")).lines().last().unwrap().starts_with("--missing-share "));
    for (options, expected) in [("--search cube", "undirected"), ("--missing-share -1", "0 or more")] {
        let told = failure(&fit(options));
        assert!(told.contains(expected), "{told}");
    }
}
