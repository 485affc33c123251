//! The library as others use it: train, open, translate, lists, explanations, terms.
#![allow(clippy::unwrap_used)]

#[path = "../examples/glossary.rs"]
mod glossary;

use std::path::{Path, PathBuf};

use sylvan::train::{Config, train};
use sylvan::{Input, OpenConfig, Request, TextTranslator};
use sylvan_base::Silent;
use sylvan_sample::{Sampler, Workspace};

const PAIRS: u64 = 400;
const DEV: u64 = 40;

/// A model with a parser, and sentences that it was not trained on.
fn model(dir: &Path) -> (PathBuf, Vec<String>) {
    let sampler = Sampler::new(sylvan_sample::Config { max_words: 14, ..Default::default() }).unwrap();
    let mut workspace = Workspace::new();
    let mut texts: [[String; 3]; 3] = Default::default();
    for index in 0..PAIRS + 2 * DEV {
        let part = usize::from(index >= PAIRS) + usize::from(index >= PAIRS + DEV);
        let mut pair = sampler.pair(index, &mut workspace);
        let lines = [pair.source(), pair.target(), pair.source_tree()];
        for (text, line) in texts[part].iter_mut().zip(lines) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let file = |part: usize, side: usize| dir.join(format!("{part}.{side}"));
    for (part, sides) in texts.iter().enumerate() {
        for (side, text) in sides.iter().enumerate() {
            std::fs::write(file(part, side), text).unwrap();
        }
    }
    let config = Config {
        source: file(0, 0),
        target: file(0, 1),
        treebank: Some(file(0, 2)),
        dev_source: file(1, 0),
        dev_target: file(1, 1),
        source_lang: "zh".into(),
        target_lang: "en".into(),
        tokenized: true,
        out: dir.join("m.sylvan"),
        align_preset: "fast".into(),
        rounds: 1,
        nbest: 10,
        beam: 20,
        parser_epochs: 2,
        ..Config::default()
    };
    train(&config, &Silent, &mut |_| {}).unwrap();
    (config.out, texts[2][0].lines().map(str::to_string).collect())
}

#[test]
fn a_model_is_opened_asked_and_told_terms() {
    let dir = tempfile::tempdir().unwrap();
    let (model, lines) = model(dir.path());
    let (mut translator, missing) = TextTranslator::open_with(&model, &OpenConfig::default()).unwrap();
    assert!(missing.is_empty());
    let plain: Vec<String> = lines.iter().map(|line| translator.line(line).unwrap()).collect();
    assert!(plain.iter().filter(|line| !line.is_empty()).count() == lines.len());
    assert_eq!(translator.line("").unwrap(), "");

    // Lists: best first, different, and the first is the translation.
    let list = translator.nbest(&lines[0], 5).unwrap();
    assert!(list.len() > 1 && list[0].text == plain[0]);
    assert!(list.is_sorted_by(|a, b| a.score >= b.score && a.text != b.text));
    assert!(!list[0].features.is_empty() && !list[0].links.is_empty() && !list[0].derivation.is_empty());

    // Explanations: of the same translation, and they add up.
    let why = translator.explain(&lines[0], &Request::default()).unwrap().unwrap();
    assert_eq!(why.translation, plain[0]);
    assert!((why.score - list[0].score).abs() < 1e-4);
    assert!(translator.explain(" ", &Request::default()).unwrap().is_none());
    let tree = Request { input: Input::Tree, ..Request::default() };
    assert!(translator.explain("(IP (NN", &tree).is_err());

    // The example: a term in every translation of its word, and nothing else changes.
    let word = why.source[0].clone();
    let terms = dir.path().join("terms");
    std::fs::write(&terms, format!("{word}\tzzterm\n")).unwrap();
    let mut out = Vec::new();
    glossary::run(&model, &terms, (lines.join("\n") + "\n").as_bytes(), &mut out).unwrap();
    let told: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_string).collect();
    for ((line, plain), told) in lines.iter().zip(&plain).zip(&told) {
        let times = line.split(' ').filter(|other| *other == word).count();
        assert_eq!(told.matches("zzterm").count(), times, "{line}");
        assert!(times > 0 || plain == told);
    }
    translator.add_term(&word, "zzterm");
    assert_eq!(translator.line(&lines[0]).unwrap(), told[0]);
}
