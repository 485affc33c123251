//! Left-to-right Hiero, from two texts to translations, explanations and terms.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, messages, success};

const TRAIN: &str = "train --tokenized --source train.zh --target train.en --dev-source dev.zh --dev-target dev.en \
                     --source-lang zh --target-lang en --align-preset fast --rounds 3 --nbest 20 --beam 50 --lm-order 3";

fn run(corpus: &Corpus, line: &str) -> std::process::Output {
    corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
}

#[test]
fn rules_that_translate_from_left_to_right() {
    let corpus = Corpus::new(600);
    success(&run(&corpus, &format!("{TRAIN} --kind lr-hiero --threads 1 --out m")));
    success(&run(&corpus, &format!("{TRAIN} --kind lr-hiero --reordering lrm --threads 3 --out again")));
    assert!(
        std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap(),
        "the same bytes at any number of threads, and with the usual reordering model asked for"
    );
    success(&run(&corpus, "model verify m"));
    let source = corpus.read("dev.zh");
    let translate = |more: &str| {
        let words = ["translate", "--model", "m"].into_iter().chain(more.split_whitespace());
        corpus.run(&words.collect::<Vec<_>>(), &source)
    };
    let bleu = |text: &str| {
        corpus.write("out", text);
        let scored = run(&corpus, "score --ref dev.en --tokenize none --json out");
        let json: serde_json::Value = serde_json::from_str(&success(&scored)).unwrap();
        json["bleu"]["score"].as_f64().unwrap()
    };
    let usual = success(&translate(""));
    assert!(bleu(&usual) > 40.0, "far better than copying");
    assert_eq!(usual, success(&translate("--threads 3")));
    for more in ["--pops 500 --diversity 10", "--future phrases", "--options 10", "--beam 10"] {
        assert!(bleu(&success(&translate(more))) > 35.0, "{more}");
    }
    // Bottom-up searches cannot know what was translated before.
    let output = translate("--search cube");
    assert!(failure(&output).contains("reordering model"), "{}", messages(&output));
    // Why: which orientation, and against what. Features add up.
    let first = source.lines().next().unwrap();
    let explained = success(&corpus.run(&["explain", "--model", "m", "--json", first], ""));
    let json: serde_json::Value = serde_json::from_str(explained.trim()).unwrap();
    let sum: f64 =
        json["features"].as_array().unwrap().iter().map(|part| part["score"].as_f64().unwrap()).sum();
    assert!((sum - json["score"].as_f64().unwrap()).abs() < 1e-3, "{json}");
    let steps = json["steps"].as_array().unwrap();
    let orders: Vec<&str> = steps.iter().filter_map(|step| step["order"]["orientation"].as_str()).collect();
    let shares = |name: &str| {
        let parts = steps.iter().flat_map(|step| step["parts"].as_array().unwrap());
        parts.filter(|part| part["feature"].as_str().unwrap().contains(name)).count()
    };
    for orientation in ["mono", "swap", "disc"] {
        let counted = orders.iter().filter(|order| **order == orientation).count();
        // Words that are copied have an order and no opinion of it.
        assert!(shares(&format!("msd.prev.{orientation}")) <= counted, "{orientation}: {json}");
    }
    assert!(orders.len() > 1 && shares("msd.prev.") > 0, "{orders:?}");
    assert!(steps[0]["rule"].as_str().unwrap().starts_with("X("), "{json}");
    let text = success(&corpus.run(&["explain", "--model", "m", first], ""));
    assert!(text.contains("(mono)") && text.contains("Search: incremental"), "{text}");
    assert!(success(&corpus.run(&["explain", "--model", "m", "--html", "why.html", first], "")).is_empty());
    // The trace shows the spans still to be translated, next first.
    let length = first.split(' ').count();
    assert!(json["search"]["bins"][0]["items"][0]["stack"] == format!("[. [0,{length})]"), "{json}");
    // n-best lists, and terms.
    for line in success(&translate("--json --nbest 3")).lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(json["nbest"].as_array().unwrap().len() <= 3 && json["links"].is_array(), "{line}");
    }
    let word = first.split(' ').next().unwrap();
    corpus.write("terms", &format!("{word}\tXYZ ABC\n"));
    for (line, out) in source.lines().zip(success(&translate("--glossary terms")).lines()) {
        let wanted = line.split(' ').filter(|other| *other == word).count();
        assert_eq!(out.matches("XYZ ABC").count(), wanted, "{line}: {out}");
    }
    assert!(corpus.read("m.work/report.md").contains("of kind lr-hiero"));
    // Trees are words with constituents: one that holds all words changes nothing.
    let flat = |line: &str| {
        let words = line.split(' ').map(|word| format!("(A {word})")).collect::<Vec<_>>().join(" ");
        format!("(S {words})\n")
    };
    corpus.write("flat", &source.lines().map(flat).collect::<String>());
    let decode = |input: &str, file: &str| {
        let parts = "decode --grammar m.work/rules --lm m.work/lm --weights m.work/weights";
        success(&run(&corpus, &format!("{parts} --input {input} {file}")))
    };
    assert_eq!(decode("tree", "flat"), decode("text", "dev.zh"));
}

#[test]
fn reordering_models_and_searches_without_one() {
    let corpus = Corpus::new(300);
    for model in ["none", "nvlrm"] {
        success(&run(&corpus, &format!("{TRAIN} --kind lr-hiero --reordering {model} --out {model}")));
    }
    let source = corpus.read("dev.zh");
    let best = |model: &str, search: &str| {
        let options = ["translate", "--model", model, "--search", search, "--json"];
        let lines = success(&corpus.run(&options, &source));
        let score = |line: &str| {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            json["score"].as_f64().unwrap()
        };
        lines.lines().map(score).sum::<f64>()
    };
    // Without orientations every search works on the same derivations, and none is better than the proven optimum.
    let optimum = best("none", "exact");
    for search in ["cube", "focus", "refine", "incremental", "prediction"] {
        let found = best("none", search);
        assert!(
            found <= optimum + 1e-3 && found > optimum - 0.02 * optimum.abs(),
            "{search}: {found} {optimum}"
        );
    }
    assert!(best("nvlrm", "incremental").is_finite());
    let info = success(&run(&corpus, "model info nvlrm"));
    assert!(info.contains("nvlrm"), "{info}");
    let output = run(&corpus, &format!("{TRAIN} --kind lr-hiero --reordering hier --out x"));
    assert!(failure(&output).contains("lrm, nvlrm or none"), "{}", messages(&output));
    // Tuning without some features leaves them at 0 and the others free.
    let tune = |more: &str| {
        let line = format!(
            "tune --grammar nvlrm.work/rules --lm nvlrm.work/lm --text dev.zh --ref dev.en --method mira --rounds 2 --nbest 20 \
             --out w {more}"
        );
        run(&corpus, &line)
    };
    success(&tune("--without tm0.msd.next.* --without glue_distortion"));
    let weights = corpus.read("w");
    let weight = |name: &str| -> f64 {
        let line = weights.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap().parse().unwrap()
    };
    for name in ["tm0.msd.next.mono", "tm0.msd.next.swap", "tm0.msd.next.disc", "glue_distortion"] {
        assert_eq!(weight(name), 0.0, "{name}");
    }
    assert!(weight("tm0.msd.prev.mono") != 0.0 && weight("distortion") != 0.0, "{weights}");
    let output = tune("--without nothing");
    assert!(failure(&output).contains("no such feature"), "{}", messages(&output));
    // A phrase-based decoder may look at the recent span as well.
    success(&run(&corpus, &format!("{TRAIN} --kind phrase --orientation recent --out p")));
    let output = corpus.run(&["translate", "--model", "p"], &source);
    assert_eq!(success(&output).lines().count(), source.lines().count());
}
