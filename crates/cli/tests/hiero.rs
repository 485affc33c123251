//! Two texts and nothing else: rules with gaps, from text to translations, explanations and terms.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, messages, success};

const TRAIN: &str = "train --tokenized --source train.zh --target train.en --dev-source dev.zh --dev-target dev.en \
                     --source-lang zh --target-lang en --align-preset fast --rounds 3 --nbest 20 --beam 50 --lm-order 3";

#[test]
fn two_texts_make_a_model_that_translates_explains_and_obeys() {
    let corpus = Corpus::new(600);
    let train = |out: &str, more: &str| {
        let line = format!("{TRAIN} --out {out} {more}");
        corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
    };
    let output = train("m", "--threads 1");
    success(&output);
    let told = messages(&output);
    assert!(told.contains("rules with gaps are learnt from the text alone (--kind hiero)"), "{told}");
    success(&train("again", "--threads 3 --kind hiero"));
    assert!(
        std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap(),
        "the same bytes at any number of threads, chosen or asked for"
    );
    success(&corpus.run(&["model", "verify", "m"], ""));
    // Far better than copying.
    let source = corpus.read("dev.zh");
    let translate = |more: &[&str]| corpus.run(&[&["translate", "--model", "m"], more].concat(), &source);
    for search in ["refine", "cube", "focus", "incremental", "prediction", "undirected"] {
        corpus.write("out", &success(&translate(&["--search", search])));
        let scored = corpus.run(&["score", "--ref", "dev.en", "--tokenize", "none", "--json", "out"], "");
        let json: serde_json::Value = serde_json::from_str(&success(&scored)).unwrap();
        assert!(json["bleu"]["score"].as_f64().unwrap() > 40.0, "{search}: {json}");
    }
    assert_eq!(success(&translate(&["--threads", "1"])), success(&translate(&["--threads", "3"])));
    // Rules have gaps: shorter spans allow less, and the option reaches the search.
    let short = success(&translate(&["--max-span", "1"]));
    assert_ne!(short, success(&translate(&[])));
    // Features add up to scores, and words have sources.
    for line in success(&translate(&["--json", "--nbest", "3"])).lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(json["nbest"].as_array().unwrap().len() <= 3 && json["links"].is_array(), "{line}");
    }
    let first = source.lines().next().unwrap();
    let explained = success(&corpus.run(&["explain", "--model", "m", "--json", first], ""));
    let json: serde_json::Value = serde_json::from_str(explained.trim()).unwrap();
    let sum: f64 =
        json["features"].as_array().unwrap().iter().map(|part| part["score"].as_f64().unwrap()).sum();
    assert!((sum - json["score"].as_f64().unwrap()).abs() < 1e-3, "{json}");
    let rules: Vec<&str> =
        json["steps"].as_array().unwrap().iter().map(|step| step["rule"].as_str().unwrap()).collect();
    assert!(rules.iter().any(|rule| rule.starts_with("X(")), "{rules:?}");
    assert!(
        json["steps"].as_array().unwrap().iter().any(|step| !step["lines"].as_array().unwrap().is_empty())
    );
    assert!(success(&corpus.run(&["explain", "--model", "m", "--html", "why.html", first], "")).is_empty());
    // A term is used wherever its words stand, in every search.
    let word = first.split(' ').next().unwrap();
    corpus.write("terms", &format!("{word}\tXYZ ABC\n"));
    for search in ["refine", "cube", "focus", "incremental", "prediction"] {
        let with = success(&translate(&["--glossary", "terms", "--search", search]));
        for (line, out) in source.lines().zip(with.lines()) {
            let wanted = line.split(' ').filter(|other| *other == word).count();
            assert_eq!(out.matches("XYZ ABC").count(), wanted, "{search}: {line}: {out}");
        }
    }
    for page in ["m.work/report.html", "m.work/report.md"] {
        assert!(corpus.read(page).contains("of kind hiero: rules with gaps"), "{page}");
    }
    // What a model of this kind cannot do is said.
    let output = corpus.run(&["translate", "--model", "m", "--input", "tree", "--strict"], "(A b)\n");
    assert!(failure(&output).contains("hiero"), "{}", messages(&output));
    let parser = train("p", "--kind hiero --treebank all/source.tree");
    assert!(failure(&parser).contains("one or the other"), "{}", messages(&parser));
}

/// What the table of a model holds is what extraction by hand makes with the settings that the manifest names.
#[test]
fn rare_rules_are_left_out_as_asked() {
    let corpus = Corpus::new(300);
    // Traces of a wrong encoding are no reason to stop halfway.
    for (side, text) in [("zh", "abc\u{8f}d efg\n"), ("en", "abc\u{93}d efg\n")] {
        let name = format!("train.{side}");
        corpus.write(&name, &(corpus.read(&name) + text));
    }
    let run = |line: &str| corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "");
    for (out, option) in [("whole", ""), ("few", "--min-count 0.4")] {
        success(&run(&format!("{TRAIN} --kind hiero --out {out} {option}")));
        let work = format!(
            "--source {out}.work/clean.source --target {out}.work/clean.target --align {out}.work/links"
        );
        let settings = "--kind hiero --smoothing good-turing --evidence";
        success(&run(&format!("grammar extract {settings} {option} {work} --out {out}.rules")));
        let bytes = |name: &str| std::fs::read(corpus.path(name)).unwrap();
        assert!(bytes(&format!("{out}.rules")) == bytes(&format!("{out}.work/rules")), "{out}");
    }
    let size = |name: &str| std::fs::metadata(corpus.path(name)).unwrap().len();
    assert!(size("few.rules") < size("whole.rules"));
    let info = success(&run("model info few"));
    for told in ["min-count", "0.4", "good-turing", "mira"] {
        assert!(info.contains(told), "{told}: {info}");
    }
    let output = run(&format!("{TRAIN} --kind hiero --min-count=-1 --out wrong"));
    assert!(failure(&output).contains("min-count"), "{}", messages(&output));
    // A folder of the model's name is seen before the work, not after it.
    let output = run(&format!("{TRAIN} --kind hiero --out all"));
    assert!(failure(&output).contains("expected the name of a file") && !corpus.path("all.work").exists());
}

/// Everything that can be done with a finished model, without syntax too.
#[test]
fn models_from_text_alone_are_corrected_pruned_and_compared() {
    let corpus = Corpus::new(300);
    let run = |line: &str| corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "");
    for kind in ["hiero", "phrase", "lr-hiero"] {
        success(&run(&format!("{TRAIN} --kind {kind} --out {kind}")));
        let dev = corpus.read("dev.zh");
        let translate = || success(&corpus.run(&["translate", "--model", kind], &dev));
        let before = translate();
        // A pair holds for its sentence, however long, and for no other.
        let long = dev.lines().take(12).collect::<Vec<_>>().join(" ");
        assert!(long.split(' ').count() > 40, "{long}");
        let overlay = |arguments: &[&str]| corpus.run(&[&["model", "overlay"], arguments].concat(), "");
        let first = dev.lines().next().unwrap();
        for sentence in [first, long.as_str()] {
            success(&overlay(&["add", kind, "--pair", sentence, "so it shall be ."]));
            let output = corpus.run(&["translate", "--model", kind], &format!("{sentence}\n"));
            assert_eq!(success(&output), "so it shall be .\n", "{kind}");
        }
        let with = translate();
        for (line, (before, after)) in dev.lines().zip(before.lines().zip(with.lines())) {
            assert_eq!(after, if line == first { "so it shall be ." } else { before }, "{kind}: {line}");
        }
        success(&overlay(&["undo", kind]));
        success(&overlay(&["undo", kind]));
        assert_eq!(translate(), before);
        // A rule that is forbidden is gone, one that is favoured wins.
        let word = first.split(' ').next().unwrap();
        let rule = format!("X({word}) -> sesame street");
        success(&overlay(&["add", kind, &format!("{rule} ||| boost=20")]));
        assert!(translate().lines().next().unwrap().contains("sesame street"), "{kind}");
        success(&overlay(&["forbid", kind, &format!("X({word}) -> *")]));
        success(&overlay(&["undo", kind]));
        success(&overlay(&["undo", kind]));
        // Pruning makes a smaller model that still translates, and comparing says how they differ.
        let size = |name: &str| std::fs::metadata(corpus.path(name)).unwrap().len();
        let most = size(kind) * 6 / 10;
        success(&run(&format!("model prune {kind} --out {kind}.small --size {most}")));
        assert!(size(&format!("{kind}.small")) <= most, "{kind}");
        let small = success(&corpus.run(&["translate", "--model", &format!("{kind}.small")], &dev));
        assert_eq!(small.lines().count(), before.lines().count());
        let diff = corpus.run(&["model", "diff", kind, &format!("{kind}.small"), "--text", "dev.zh"], "");
        assert!(success(&diff).contains("rules"), "{}", messages(&diff));
    }
}
