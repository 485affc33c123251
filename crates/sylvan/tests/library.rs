//! The library as others use it: train, open, translate, lists, explanations, terms.
#![allow(clippy::unwrap_used)]

#[path = "../examples/explain.rs"]
mod explain;
#[path = "../examples/glossary.rs"]
mod glossary;
#[path = "../examples/train.rs"]
mod training;
#[path = "../examples/translate.rs"]
mod translate;

use std::path::{Path, PathBuf};

use std::sync::Arc;

use sylvan::{Config, Glossary, Input, Model, Request, Worker};
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
    let mut config = Config::default();
    (config.source, config.target, config.treebank) = (file(0, 0), file(0, 1), Some(file(0, 2)));
    (config.dev_source, config.dev_target) = (file(1, 0), file(1, 1));
    (config.source_lang, config.target_lang, config.tokenized) = ("zh".into(), "en".into(), true);
    config.out = dir.join("m.sylvan");
    config.align_preset = "fast".into();
    (config.rounds, config.nbest, config.beam, config.parser_epochs) = (1, 10, 20, 2);
    training::run(&config, &mut Vec::new()).unwrap();
    (config.out, texts[2][0].lines().map(str::to_string).collect())
}

#[test]
fn a_model_is_opened_asked_and_told_terms() {
    let dir = tempfile::tempdir().unwrap();
    let (model, lines) = model(dir.path());
    let opened = Arc::new(Model::open(&model).unwrap());
    let mut worker = Worker::new(Arc::clone(&opened));
    let usual = Request::default();
    let mut line = |line: &str, request: &Request| worker.translate(line, request).unwrap();
    let plain: Vec<String> = lines.iter().map(|text| line(text, &usual).text().to_string()).collect();
    assert!(plain.iter().filter(|line| !line.is_empty()).count() == lines.len());
    assert_eq!(line("", &usual).text(), "");
    // The example of several threads says the same.
    let mut out = Vec::new();
    let text = lines.join("\n") + "\n";
    translate::run(&model, text.as_bytes(), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().lines().collect::<Vec<_>>(), plain);

    // Lists: best first, different, and the first is the translation. Words know their bytes.
    let translated = line(&lines[0], &Request::list(5));
    let list = &translated.best;
    assert!(list.len() > 1 && list[0].text == plain[0]);
    assert!(list.is_sorted_by(|a, b| a.score >= b.score && a.text != b.text));
    assert!(!list[0].features.is_empty() && !list[0].links.is_empty() && !list[0].rules.is_empty());
    for (word, [start, end]) in list[0].words.iter().zip(&list[0].spans) {
        assert_eq!(&list[0].text[*start..*end], word);
    }
    for word in &translated.source {
        let [start, end] = word.span.unwrap();
        assert_eq!(&lines[0][start..end], word.text);
    }
    assert!(serde_json::to_string(&translated).unwrap().contains("\"translation\""));

    // Explanations: of the same translation, and they add up.
    let why = worker.explain(&lines[0], &usual).unwrap().unwrap();
    assert_eq!(why.translation, plain[0]);
    assert!((why.score - list[0].score).abs() < 1e-4);
    assert!(worker.explain(" ", &usual).unwrap().is_none());
    let mut tree = Request::default();
    tree.input = Input::Tree;
    assert!(worker.explain("(IP (NN", &tree).is_err());
    let mut out = Vec::new();
    explain::run(&model, &lines[0], &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains(&plain[0]));

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
    let mut terms = Glossary::default();
    opened.add_term(&mut terms, &word, "zzterm");
    let mut request = Request::default();
    request.glossary = Some(Arc::new(terms));
    assert_eq!(worker.translate(&lines[0], &request).unwrap().text(), told[0]);
}
