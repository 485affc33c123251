//! Tuning by itself.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};

/// Tuning on the files of a model.
const OF_MODEL: [&str; 7] = ["tune", "--grammar", "m.work/rules", "--lm", "m.work/lm", "--trees", "dev.tree"];

#[test]
fn tuning_alone_improves_the_score_and_is_the_same_at_any_number_of_threads() {
    let corpus = Corpus::new(200);
    success(&corpus.train("m", &[]));
    let tune = |more: &[&str]| {
        let mut arguments = OF_MODEL.to_vec();
        arguments.extend(["--ref", "dev.en", "--rounds", "3", "--nbest", "20", "--beam", "20"]);
        arguments.extend(["--log", "log.json"]);
        let named: Vec<&str> = more.iter().copied().step_by(2).collect();
        let all: Vec<&str> = arguments[1..]
            .chunks(2)
            .filter(|pair| !named.contains(&pair[0]))
            .chain(more.chunks(2))
            .flatten()
            .copied()
            .collect();
        let weights = success(&corpus.run(&[&["tune"], &all[..]].concat(), ""));
        weights + &corpus.read("log.json")
    };
    let one = tune(&["--threads", "1", "--plot", "plot.svg"]);
    assert_eq!(one, tune(&["--threads", "3"]));
    let log: serde_json::Value = serde_json::from_str(&corpus.read("log.json")).unwrap();
    let score = |round: usize| log["rounds"][round]["score"].as_f64().unwrap();
    assert!(log["score"].as_f64().unwrap() >= score(0), "{log}");
    assert_eq!(log["metric"], "BLEU");
    assert!(corpus.read("plot.svg").contains("BLEU per round"));
    for option in [
        &["--method", "mira"][..],
        &["--method", "forest-mert"],
        &["--method", "pro"],
        &["--metric", "ter:2,chrf"],
        &["--seed", "2"],
        &["--restarts", "0"],
        &["--tokenize", "char"],
        &["--search", "refine"],
        &["--rounds", "1"],
        &["--nbest", "5"],
        &["--beam", "3"],
    ] {
        assert_ne!(tune(option), one, "{option:?} is ignored");
    }
    corpus.write("w", "lm0=1\nwords=0\n");
    assert_ne!(tune(&["--weights", "w"]), one);
    let output = corpus.run(&[&OF_MODEL[..], &["--ref", "train.en"]].concat(), "");
    assert!(failure(&output).contains("found 200 lines, expected 60 as in dev.tree"));
}

#[test]
fn forests_are_tuned_on_and_decode_as_tuning_saw_them() {
    let corpus = Corpus::new(200);
    success(&corpus.train("m", &[]));
    // Two language models: what they say of an arc is told apart.
    let model = ["--grammar", "m.work/rules", "--lm", "m.work/lm", "--lm", "m.work/lm"];
    let text = ["--trees", "dev.tree", "--ref", "dev.en", "--rounds", "5", "--nbest", "5"];
    let method = ["--method", "forest-mert", "--restarts", "1", "--out", "w", "--log", "l"];
    let tune = |more: &[&str]| corpus.run(&[&["tune"], &model[..], &text, &method, more].concat(), "");
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let weights = |more: &[&str]| {
        success(&tune(more));
        corpus.read("w")
    };
    let mut better = 0;
    // `crates/decode/tests/feature_forests.rs` has all searches.
    for search in ["refine", "prediction"] {
        let search = ["--search", search, "--beam", "10"];
        let one = weights(&[&search[..], &["--threads", "1"]].concat());
        assert_eq!(weights(&[&search[..], &["--threads", "3"]].concat()), one, "{search:?}");
        let log = json(&corpus.read("l"));
        let round = |number: usize, what: &str| log["rounds"][number][what].as_f64().unwrap();
        let score = log["score"].as_f64().unwrap();
        assert!(score >= round(0, "score"), "{search:?}: {log}");
        better += usize::from(score > round(0, "score"));
        // With these weights the decoder finds what the best round found.
        let decode = [&["decode", "--weights", "w"], &model[..], &search].concat();
        corpus.write("out", &success(&corpus.run(&decode, &corpus.read("dev.tree"))));
        let score = ["score", "--ref", "dev.en", "--tokenize", "none", "--json", "out"];
        let score = json(&success(&corpus.run(&score, "")));
        let (seen, found) = (log["score"].as_f64().unwrap(), score["bleu"]["score"].as_f64().unwrap());
        assert!((found - seen).abs() < 0.01, "{search:?}: {found} and {seen}");
    }
    assert!(better > 0, "no search was tuned to anything better");
    // A margin of 0 leaves the best derivations, a wide one leaves more; lists alone are something else again.
    let all = [&["--forest-margin", "0"][..], &["--forest-margin", "inf"], &["--forest-margin", "1"], &[]]
        .map(|more| weights(&[&["--beam", "10"], more].concat()));
    assert!(all[0] != all[1] && all[2] == all[3] && all[3] != all[0], "{all:?}");
    assert!(failure(&tune(&["--forest-margin", "-1"])).contains("expected 0 or more, or inf; 1 is usual"));
    assert!(failure(&tune(&["--sparse"])).contains("found --method forest-mert, expected mira or pro"));
}

#[test]
fn sparse_features_are_tuned_and_decode_as_tuning_saw_them() {
    let corpus = Corpus::new(200);
    success(&corpus.train("m", &[]));
    let model = ["--grammar", "m.work/rules", "--lm", "m.work/lm"];
    let text = ["--trees", "dev.tree", "--ref", "dev.en", "--rounds", "3", "--nbest", "20"];
    let search = ["--search", "cube", "--beam", "20"];
    let tune = |more: &[&str]| {
        corpus.run(&[&["tune"], &model[..], &text, &search, &["--out", "w", "--log", "l"], more].concat(), "")
    };
    assert!(failure(&tune(&["--sparse"])).contains("found --method mert, expected mira or pro"));
    success(&tune(&["--sparse", "--method", "mira"]));
    let sparse = corpus.read("w").lines().filter(|line| line.starts_with("wp.")).count();
    assert!(sparse > 10, "{sparse} pairs of words have weights");
    // With these weights the decoder finds what the best round found.
    let log: serde_json::Value = serde_json::from_str(&corpus.read("l")).unwrap();
    let trees = corpus.read("dev.tree");
    let decode = [&["decode", "--weights", "w"], &model[..], &search].concat();
    corpus.write("out", &success(&corpus.run(&decode, &trees)));
    let score = ["score", "--ref", "dev.en", "--tokenize", "none", "--json", "out"];
    let score: serde_json::Value = serde_json::from_str(&success(&corpus.run(&score, ""))).unwrap();
    let seen = log["score"].as_f64().unwrap();
    assert!((score["bleu"]["score"].as_f64().unwrap() - seen).abs() < 0.01, "{score} and {seen}");
}
