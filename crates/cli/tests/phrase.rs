//! Two texts and nothing else: phrase pairs in any order, from text to translations, explanations, terms, corrections.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, messages, success};
use serde_json::Value;

const TRAIN: &str = "train --tokenized --source train.zh --target train.en --dev-source dev.zh --dev-target dev.en \
                     --source-lang zh --target-lang en --align-preset fast --rounds 3 --nbest 20 --beam 50 --lm-order 3";

fn parsed(line: &str) -> Value {
    serde_json::from_str(line.trim()).unwrap()
}

#[test]
fn two_texts_make_a_phrase_based_model() {
    let corpus = Corpus::new(600);
    let train = |out: &str, more: &str| {
        let line = format!("{TRAIN} --kind phrase --out {out} {more}");
        corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
    };
    success(&train("m", "--threads 1"));
    success(&train("again", "--threads 3"));
    assert!(
        std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap(),
        "the same bytes at any number of threads"
    );
    success(&corpus.run(&["model", "verify", "m"], ""));
    // Weights are found by margins unless something else is asked for.
    for (tuner, same) in [("mira", true), ("mert", false)] {
        success(&train(tuner, &format!("--tuner {tuner}")));
        let weights = corpus.read(&format!("{tuner}.work/weights"));
        assert_eq!(weights == corpus.read("m.work/weights"), same, "{tuner}");
    }
    let source = corpus.read("dev.zh");
    let translate = |more: &[&str]| corpus.run(&[&["translate", "--model", "m"], more].concat(), &source);
    let bleu = |out: &str| {
        corpus.write("out", out);
        let scored = corpus.run(&["score", "--ref", "dev.en", "--tokenize", "none", "--json", "out"], "");
        parsed(&success(&scored))["bleu"]["score"].as_f64().unwrap()
    };
    let usual = success(&translate(&[]));
    assert!(bleu(&usual) > 40.0, "{}", bleu(&usual));
    assert_eq!(usual, success(&translate(&["--search", "stacks", "--threads", "3"])));
    // Order is free within the limit: none at all is worse, and both ends of the option reach the search.
    let monotone = success(&translate(&["--distortion-limit", "0"]));
    assert!(bleu(&monotone) < bleu(&usual), "{} {}", bleu(&monotone), bleu(&usual));
    assert!(bleu(&success(&translate(&["--distortion-limit", "none"]))) > 40.0);
    // Features add up to scores in every entry of a list, orders included.
    let weights = corpus.read("m.work/weights");
    let weights: Vec<(&str, f64)> = weights
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(n, v)| (n, v.parse().unwrap()))
        .collect();
    assert!(weights.iter().any(|(name, weight)| *name == "distortion" && *weight != 0.0), "{weights:?}");
    assert_eq!(weights.iter().filter(|(name, _)| name.starts_with("tm0.msd.")).count(), 6, "{weights:?}");
    let mut jumps = 0;
    for line in success(&translate(&["--json", "--nbest", "3"])).lines() {
        for entry in parsed(line)["nbest"].as_array().unwrap() {
            let value = |name: &str| entry["features"][name].as_f64().unwrap_or(0.0);
            let sum: f64 = weights.iter().map(|(name, weight)| weight * value(name)).sum();
            assert!((sum - entry["score"].as_f64().unwrap()).abs() < 1e-3, "{entry}");
            jumps += usize::from(value("distortion") < 0.0);
        }
    }
    assert!(jumps > 10, "{jumps}");
    // Explanations: spans instead of a tree, every word with its lines, the order with its cost.
    let first = source.lines().next().unwrap();
    let json = parsed(&success(&corpus.run(&["explain", "--model", "m", "--json", first], "")));
    let steps = json["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["rule"].as_str().unwrap().starts_with("X(")), "{json}");
    assert!(steps.iter().any(|step| !step["lines"].as_array().unwrap().is_empty()), "{json}");
    let sum: f64 =
        json["features"].as_array().unwrap().iter().map(|part| part["score"].as_f64().unwrap()).sum();
    assert!((sum - json["score"].as_f64().unwrap()).abs() < 1e-3, "{json}");
    assert!(success(&corpus.run(&["explain", "--model", "m", "--html", "why.html", first], "")).is_empty());
    // A term is used wherever its words stand.
    let word = first.split(' ').next().unwrap();
    corpus.write("terms", &format!("{word}\tXYZ ABC\n"));
    let with = success(&translate(&["--glossary", "terms"]));
    for (line, out) in source.lines().zip(with.lines()) {
        let wanted = line.split(' ').filter(|other| *other == word).count();
        assert_eq!(out.matches("XYZ ABC").count(), wanted, "{line}: {out}");
    }
    // Weights can be tuned again, on text.
    let tune = "tune --grammar m.work/rules --lm m.work/lm --text dev.zh --ref dev.en --method mira --rounds 2 --nbest 20";
    let tuned = success(&corpus.run(&tune.split(' ').collect::<Vec<_>>(), ""));
    assert!(tuned.contains("distortion=") && tuned.contains("tm0.msd.next.swap="), "{tuned}");
    let neither =
        corpus.run(&["tune", "--grammar", "m.work/rules", "--lm", "m.work/lm", "--ref", "dev.en"], "");
    assert!(messages(&neither).contains("--trees"), "{}", messages(&neither));
    // What does not fit together is said.
    let other = failure(&translate(&["--search", "refine"]));
    assert!(other.contains("stacks") && other.contains("phrase"), "{other}");
    assert!(messages(&translate(&["--distortion-limit", "far"])).contains("a number of words, or none"));
    let parser = train("p", "--treebank all/source.tree");
    assert!(failure(&parser).contains("one or the other"), "{}", messages(&parser));
    let wrong = train("w", "--orientation sideways");
    assert!(failure(&wrong).contains("word, phrase, hier, recent or none"), "{}", messages(&wrong));
}

/// What orders are learnt from reaches the table, and without orders there is nothing but jumps.
#[test]
fn orders_are_learnt_as_asked() {
    let corpus = Corpus::new(300);
    for (model, features) in [("word", 6), ("hier", 6), ("none", 0)] {
        let line = format!("{TRAIN} --kind phrase --rounds 1 --out {model} --orientation {model}").replacen(
            "--rounds 3 ",
            "",
            1,
        );
        success(&corpus.run(&line.split_whitespace().collect::<Vec<_>>(), ""));
        let weights = corpus.read(&format!("{model}.work/weights"));
        assert_eq!(weights.matches("msd.").count(), features, "{model}: {weights}");
        assert!(weights.contains("distortion="), "{weights}");
    }
    let source = corpus.read("dev.zh");
    let out = |model: &str| success(&corpus.run(&["translate", "--model", model], &source));
    assert!(out("word") != out("none") || out("hier") != out("none"));
    // A correction of a phrase pair counts at once.
    let first = source.lines().next().unwrap();
    let explained = parsed(&success(&corpus.run(&["explain", "--model", "hier", "--json", first], "")));
    let rule = explained["steps"][0]["rule"].as_str().unwrap().to_string();
    let said = explained["translation"].as_str().unwrap().to_string();
    success(&corpus.run(&["model", "overlay", "forbid", "hier", &rule], ""));
    let now = parsed(&success(&corpus.run(&["explain", "--model", "hier", "--json", first], "")));
    assert!(
        now["steps"].as_array().unwrap().iter().all(|step| step["rule"].as_str() != Some(&rule)),
        "{now}"
    );
    success(&corpus.run(&["model", "overlay", "undo", "hier"], ""));
    let back = parsed(&success(&corpus.run(&["explain", "--model", "hier", "--json", first], "")));
    assert_eq!(back["translation"].as_str().unwrap(), said);
}
