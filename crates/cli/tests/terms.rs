//! `sylvan translate --glossary` on whole texts: every term that can be used is there.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::corpus::{model, success};
use common::run_in;
use serde_json::Value;
use sylvan_base::Rng;

/// One to three terms of each sentence: one to three words of it, and a translation that no model knows.
fn terms(sentences: &[Vec<&str>], rng: &mut Rng) -> BTreeMap<String, String> {
    let mut terms = BTreeMap::new();
    for words in sentences {
        for _ in 0..1 + rng.below(3) {
            let length = (1 + rng.below(3)).min(words.len());
            let start = rng.below(words.len() - length + 1);
            let number = terms.len();
            terms
                .entry(words[start..start + length].join(" "))
                .or_insert_with(|| format!("term{number} part{number}"));
        }
    }
    terms
}

/// How often the words of `part` stand in `words`.
fn times(words: &[&str], part: &str) -> usize {
    let part: Vec<&str> = part.split(' ').collect();
    words.windows(part.len()).filter(|window| *window == part).count()
}

/// Translates trees with a glossary of their own words: how many terms stand in the text, and how many of them overlap
/// longer ones. All others must be in the translations, as often as in the text.
fn check(dir: &Path, model: &str, trees: &str, sentences: &[Vec<&str>]) -> (usize, usize) {
    let terms = terms(sentences, &mut Rng::new(4));
    let glossary: String = terms.iter().map(|(source, target)| format!("{source}\t{target}\n")).collect();
    std::fs::write(dir.join("glossary"), glossary).unwrap();
    let arguments = ["translate", "--model", model, "--input", "tree", "--json", "--glossary", "glossary"];
    let out = success(&run_in(dir, &arguments, trees));
    let (mut all, mut overlapping) = (0, 0);
    assert_eq!(out.lines().count(), sentences.len());
    for (line, source) in out.lines().zip(sentences) {
        let one: Value = serde_json::from_str(line).unwrap();
        let found: Vec<&str> =
            one["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let missed = one["missed_terms"].as_array().unwrap();
        let missed: Vec<String> = missed
            .iter()
            .map(|span| {
                let at = |end: usize| span[end].as_u64().unwrap() as usize;
                source[at(0)..at(1)].join(" ")
            })
            .collect();
        for (term, target) in &terms {
            let here = times(source, term);
            let gone = missed.iter().filter(|missed| *missed == term).count();
            assert_eq!(
                times(&found, target),
                here - gone,
                "{term} in {}: {}",
                source.join(" "),
                found.join(" ")
            );
            (all, overlapping) = (all + here, overlapping + gone);
        }
    }
    (all, overlapping)
}

fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_ascii_whitespace().collect()).collect()
}

#[test]
fn terms_of_the_sample_corpus_are_in_its_translations() {
    let dir = tempfile::tempdir().unwrap();
    let trees = model(dir.path(), 480, 100, &[]);
    let text = std::fs::read_to_string(dir.path().join("test.zh")).unwrap();
    let (all, overlapping) = check(dir.path(), "m", &trees, &words(&text));
    assert!(all > 150 && overlapping < all / 2, "{all} terms, {overlapping} overlapping");
}

#[test]
fn terms_of_five_hundred_real_sentences_are_in_their_translations() {
    let Some(data) = sylvan_testkit::data("enja") else { return };
    let Some(model) = sylvan_testkit::variable("SYLVAN_ENJA_MODEL") else { return };
    // The last 1,000 pairs of the text are held out.
    let read = |name: &str| {
        let text = std::fs::read_to_string(data.join(name)).unwrap();
        text.lines().skip(49_000).take(500).map(|line| format!("{line}\n")).collect::<String>()
    };
    let (trees, text) = (read("train.en.tree"), read("train.en"));
    let dir = tempfile::tempdir().unwrap();
    let (all, overlapping) = check(dir.path(), &model, &trees, &words(&text));
    eprintln!("500 sentences, {all} terms in them, {overlapping} of them overlap longer ones");
    assert!(all > 1_000 && overlapping < all);
}
