//! A structured language model, from a treebank of the target language to translations and explanations.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};
use serde_json::Value;

fn run(corpus: &Corpus, line: &str) -> std::process::Output {
    corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
}

fn score(corpus: &Corpus, more: &str) -> (f64, String) {
    let line = format!(
        "decode --grammar m.work/rules --lm m.work/lm --structured-lm m.work/structured --weights weights --scores scores \
         {more} dev.tree"
    );
    let text = success(&run(corpus, &line));
    let scores: Vec<f64> = corpus.read("scores").lines().map(|line| line.parse().unwrap()).collect();
    (scores.iter().sum::<f64>() / scores.len() as f64, text)
}

#[test]
fn from_a_treebank_to_translations_with_trees() {
    let corpus = Corpus::new(300);
    let parser = "parser train --kind dependency --train all/target.conllu --epochs 2 --members 1";
    success(&run(&corpus, &format!("{parser} --out en.parser")));
    let more = ["--rounds", "2", "--structured-lm", "en.parser"];
    success(&corpus.train("m", &[&more[..], &["--threads", "1"]].concat()));
    success(&corpus.train("again", &[&more[..], &["--threads", "3"]].concat()));
    assert!(
        std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap(),
        "the same bytes at any number of threads"
    );
    success(&run(&corpus, "model verify m"));
    let weights = corpus.read("m.work/weights");
    assert!(weights.lines().any(|line| line.starts_with("slm=")), "{weights}");

    // Left to right is usual, and threads change nothing.
    let trees = corpus.read("dev.tree");
    let translate = |more: &str| {
        let words =
            ["translate", "--model", "m", "--input", "tree"].into_iter().chain(more.split_whitespace());
        success(&corpus.run(&words.collect::<Vec<_>>(), &trees))
    };
    let usual = translate("");
    assert_eq!(usual, translate("--threads 3"));
    assert_eq!(
        usual,
        translate("--search incremental --beam 200 --structured packed --parses 4 --shortlist 1")
    );

    // With a weight that matters, wide searches of every way find about the same, and narrow ones less.
    let strong: String =
        weights.lines().filter(|line| !line.starts_with("slm=")).map(|l| format!("{l}\n")).collect();
    corpus.write("weights", &format!("{strong}slm=0.5\n"));
    let wide = score(&corpus, "--search incremental --beam 300 --parses 16").0;
    for way in ["grouping --groups 10", "naive", "rerank"] {
        let other = score(&corpus, &format!("--search incremental --beam 300 --structured {way}")).0;
        assert!((other - wide).abs() < 0.05 * wide.abs(), "{way}: {other} for {wide}");
    }
    let narrow = score(&corpus, "--search incremental --beam 2 --structured best-parse").0;
    assert!(narrow < wide, "{narrow} for {wide}");
    let prediction = score(&corpus, "--search prediction --beam 300").0;
    assert!((prediction - wide).abs() < 0.05 * wide.abs(), "{prediction} for {wide}");

    // A weight of 0 is the model without it.
    corpus.write("weights", &format!("{strong}slm=0\n"));
    let (nothing, text) = score(&corpus, "--search incremental");
    let line = "decode --grammar m.work/rules --lm m.work/lm --weights weights --scores scores --search incremental dev.tree";
    assert_eq!(success(&run(&corpus, line)), text);
    let scores: Vec<f64> = corpus.read("scores").lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(scores.iter().sum::<f64>() / scores.len() as f64, nothing);

    // Text can be scored, and tuning takes the file.
    let query = success(&run(&corpus, "lm query --lm m.work/structured --json dev.en"));
    let query: Value = serde_json::from_str(&query).unwrap();
    assert!(query["perplexity"].as_f64().unwrap() < 200.0, "{query}");
    let info = success(&run(&corpus, "lm info m.work/structured"));
    assert!(info.contains("probabilities") && info.contains(" NNS "), "{info}");
    assert!(success(&run(&corpus, "lm verify m.work/structured")).contains("sound"));
    let mut bytes = std::fs::read(corpus.path("m.work/structured")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(corpus.path("damaged"), bytes).unwrap();
    let said = failure(&run(&corpus, "lm verify damaged"));
    assert!(said.contains("damaged"), "{said}");
    let tune = "tune --grammar m.work/rules --lm m.work/lm --structured-lm m.work/structured --trees dev.tree --ref dev.en \
                --rounds 1 --nbest 10 --out tuned";
    success(&run(&corpus, tune));
    assert!(corpus.read("tuned").contains("slm="));

    // The explanation shows the tree of the translation.
    let tree = trees.lines().next().unwrap();
    let explain = |more: &[&str]| {
        let words = [&["explain", "--model", "m", "--input", "tree"][..], more, &[tree]].concat();
        success(&corpus.run(&words, ""))
    };
    let json: Value = serde_json::from_str(explain(&["--json"]).trim()).unwrap();
    let words = json["structure"]["words"].as_array().unwrap();
    assert_eq!(words.len(), json["words"].as_array().unwrap().len());
    assert_eq!(words.iter().filter(|word| word["head"].is_null()).count(), 1, "one root");
    let said: f64 = json["features"]
        .as_array()
        .unwrap()
        .iter()
        .find(|part| part["feature"] == "slm")
        .map_or(0.0, |part| part["value"].as_f64().unwrap());
    assert!((json["structure"]["value"].as_f64().unwrap() - said).abs() < 1e-6);
    let text = explain(&[]);
    assert!(text.contains("Target tree") && text.contains("trees"), "{text}");
    success(&corpus.run(&["explain", "--model", "m", "--input", "tree", "--html", "why.html", tree], ""));
    assert!(corpus.read("why.html").contains("id=\"structure\""));
}

#[test]
fn parsers_that_do_not_fit_are_told_apart() {
    let corpus = Corpus::new(60);
    let parser = "parser train --kind dependency --train all/target.conllu --epochs 1 --members 1";
    success(&run(&corpus, &format!("{parser} --out wide.parser")));
    success(&run(
        &corpus,
        "parser train --kind tagger --train all/target.conllu --epochs 1 --out tagger.parser",
    ));
    let train = |more: &[&str]| failure(&corpus.train("m", more));
    let told = train(&["--structured-lm", "tagger.parser"]);
    assert!(told.contains("tagger.parser") && told.contains("expected a dependency parser"), "{told}");
    let told = train(&["--structured-lm", "wide.parser", "--structured-kind", "perceptron"]);
    assert!(told.contains("further than one word ahead") && told.contains("--window 0"), "{told}");
    let told = train(&["--structured-lm", "wide.parser", "--structured-kind", "neural"]);
    assert!(told.contains("structured-kind") && told.contains("generative or perceptron"), "{told}");
    let told = failure(&run(&corpus, "lm structured --parser tagger.parser --text train.en --out s"));
    assert!(told.contains("found a tagger parser"), "{told}");
    corpus.write("empty", "\n\n");
    let told = failure(&run(&corpus, "lm structured --parser wide.parser --text empty --out s"));
    assert!(told.contains("empty: found no words"), "{told}");
    // The paper's model is a parser that works word by word.
    success(&run(
        &corpus,
        &format!("{parser} --features paper --window 0 --lookahead 0 --tags-alone --out paper.parser"),
    ));
    success(&corpus.train(
        "m",
        &["--rounds", "1", "--structured-lm", "paper.parser", "--structured-kind", "perceptron"],
    ));
    success(&run(&corpus, "model verify m"));
    let query = success(&run(&corpus, "lm query --lm paper.parser dev.en"));
    assert!(query.contains("score of the best trees") && !query.contains("perplexity"), "{query}");
}
