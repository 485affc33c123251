//! Word classes: learnt, made a language model of, and a second language model of a trained one.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};

fn run(corpus: &Corpus, line: &str) -> String {
    success(&corpus.run(&line.split_whitespace().collect::<Vec<_>>(), ""))
}

/// The log10 probability of each sentence.
fn totals(corpus: &Corpus, lm: &str, text: &str) -> Vec<f64> {
    let told = run(corpus, &format!("lm query --lm {lm} --words {text}"));
    let scores = |line: &str| -> Vec<f64> {
        let score = |word: &str| word.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap();
        line.split('\t').map(score).collect()
    };
    // What follows the sentences is about all of them.
    told.lines().filter(|line| line.contains("</s> ")).map(|line| scores(line).iter().sum()).collect()
}

#[test]
fn a_model_of_classes_scores_words_as_a_model_of_numbers_scores_their_numbers() {
    let corpus = Corpus::new(200);
    run(&corpus, "lm classes --text train.en --count 20 --out en.classes");
    let known: std::collections::HashMap<String, String> = corpus
        .read("en.classes")
        .lines()
        .map(|line| line.split_once('\t').map(|(word, class)| (word.into(), class.into())).unwrap())
        .collect();
    let distinct: std::collections::HashSet<&String> = known.values().collect();
    assert_eq!(distinct.len(), 20, "as many as were asked for");
    // The same by hand: numbers in place of words, and a model of that text.
    let numbers: Vec<String> = corpus
        .read("train.en")
        .lines()
        .map(|line| line.split(' ').map(|word| known[word].clone()).collect::<Vec<_>>().join(" "))
        .collect();
    corpus.write("train.numbers", &(numbers.join("\n") + "\n"));
    run(&corpus, "lm estimate --order 4 --text train.numbers --discount-fallback --out numbers.arpa");
    run(
        &corpus,
        "lm estimate --order 4 --text train.en --classes en.classes --discount-fallback --out en.arpa",
    );
    assert_eq!(corpus.read("numbers.arpa"), corpus.read("en.arpa"));
    let expected = totals(&corpus, "numbers.arpa", "train.numbers");
    assert_eq!(expected.len(), 200);
    for layout in ["hash", "trie"] {
        run(
            &corpus,
            &format!("lm compile --arpa en.arpa --classes en.classes --layout {layout} --out en.lm"),
        );
        assert_eq!(totals(&corpus, "en.lm", "train.en"), expected, "{layout}");
        let info = run(&corpus, "lm info en.lm");
        assert!(info.contains(&format!("words         {}", known.len() + 3)), "{info}");
        assert!(
            info.contains("classes       23") && run(&corpus, "lm verify en.lm").contains("sound"),
            "{info}"
        );
    }
    let told = failure(&corpus.run(
        &["lm", "estimate", "--order", "2", "--text", "dev.zh", "--classes", "en.classes", "--out", "x"],
        "",
    ));
    assert!(told.contains("dev.zh:1") && told.contains("<unk>"), "{told}");
}

#[test]
fn training_with_classes_gives_a_second_language_model() {
    let corpus = Corpus::new(300);
    let classes = ["--rounds", "2", "--lm-classes", "30"];
    success(&corpus.train("m", &[&classes[..], &["--threads", "1"]].concat()));
    success(&corpus.train("again", &[&classes[..], &["--threads", "3"]].concat()));
    assert!(
        std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap(),
        "the same bytes at any number of threads"
    );
    run(&corpus, "model verify m");
    let settings = run(&corpus, "model info m");
    assert!(settings.contains("lm-classes"), "{settings}");
    assert!(run(&corpus, "lm info m.work/class-lm").contains("classes       33"));

    // What the feature says of a translation is what the model of classes says of its words.
    let trees = corpus.read("dev.tree");
    let told = success(&corpus.run(&["translate", "--model", "m", "--input", "tree", "--json"], &trees));
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: String =
        told.iter().map(|one| format!("{}\n", one["translation"].as_str().unwrap())).collect();
    corpus.write("translated", &texts);
    let scores = totals(&corpus, "m.work/class-lm", "translated");
    assert_eq!(scores.len(), told.len());
    for (one, log10) in told.iter().zip(scores) {
        let found = one["features"]["lm1"].as_f64().unwrap();
        assert!((found - log10 * std::f64::consts::LN_10).abs() < 1e-3, "{found} for {log10} in {one}");
    }
    let told = failure(&corpus.train("m", &["--lm-classes", "1000000"]));
    assert!(told.contains("lm-classes") && told.contains("65536"), "{told}");
}
