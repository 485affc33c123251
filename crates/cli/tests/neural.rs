//! A network from two texts to translations that are chosen with it.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};

fn run(corpus: &Corpus, line: &str) -> std::process::Output {
    corpus.run(&line.split_whitespace().collect::<Vec<_>>(), "")
}

/// Small enough for a test.
const SMALL: &str = "--width 32 --inner 64 --heads 2 --encoder-layers 1 --decoder-layers 1 --batch 300 --warm-up 50 --rate 0.005";

#[test]
fn from_two_texts_to_chosen_translations() {
    let corpus = Corpus::new(300);
    success(&corpus.train("m", &["--rounds", "2"]));
    let learn = format!(
        "neural train --source train.zh --target train.en --dev-source dev.zh --dev-target dev.en {SMALL} --epochs 12"
    );
    success(&run(&corpus, &format!("{learn} --out zh.neural --threads 1")));
    success(&run(&corpus, &format!("{learn} --out again.neural --threads 3")));
    let bytes = |name: &str| std::fs::read(corpus.path(name)).unwrap();
    assert!(bytes("zh.neural") == bytes("again.neural"), "the same bytes at any number of threads");
    let info = success(&run(&corpus, "neural info zh.neural --parts"));
    assert!(
        info.contains("1 of the encoder, 1 of the decoder") && info.contains("decoder0.recurrence.gate"),
        "{info}"
    );

    // Words add up to lines, and right translations are more probable than those of other lines.
    let sums = |target: &str, more: &str| {
        success(&run(
            &corpus,
            &format!("neural score --model zh.neural --source dev.zh --target {target} {more}"),
        ))
    };
    let total = |text: &str| text.lines().map(|line| line.parse::<f64>().unwrap()).sum::<f64>();
    let right = sums("dev.en", "");
    for (line, words) in right.lines().zip(sums("dev.en", "--words").lines()) {
        let values = words.split(' ').map(|word| word.rsplit_once('=').unwrap().1.parse::<f64>().unwrap());
        assert!((values.sum::<f64>() - line.parse::<f64>().unwrap()).abs() < 1e-4, "{line}: {words}");
        assert!(words.split(' ').next_back().unwrap().starts_with("</s>="), "{words}");
    }
    let turned: Vec<String> = corpus.read("dev.en").lines().rev().map(str::to_string).collect();
    corpus.write("turned.en", &(turned.join("\n") + "\n"));
    assert!(total(&right) > total(&sums("turned.en", "")), "it has read the source");
    let said = success(&run(&corpus, "neural translate --model zh.neural dev.zh --beam 2"));
    assert_eq!(said.lines().count(), 60);

    // Its weight decides; without one it is not asked.
    let decode = |weights: &str, more: &str| {
        corpus.write("weights", &(corpus.read("m.work/weights") + weights));
        let line = "decode --grammar m.work/rules --lm m.work/lm --weights weights --scores scores";
        success(&run(&corpus, &format!("{line} {more} dev.tree")))
    };
    let without = decode("", "");
    assert_eq!(decode("", "--neural zh.neural"), without);
    assert_eq!(decode("neural=0\n", "--neural zh.neural"), without);
    let with = decode("neural=2\n", "--neural zh.neural --nbest 3");
    let first: Vec<&str> = with.lines().filter(|line| line.contains("neural=-")).collect();
    assert_eq!(first.len(), with.lines().count(), "{with}");
    corpus.write("with.en", &decode("neural=2\n", "--neural zh.neural"));
    corpus.write("without.en", &without);
    let [with, without] = ["with.en", "without.en"].map(|name| total(&sums(name, "")));
    assert!(with > without, "what is chosen with it is more probable to it: {with}, {without}");
}

#[test]
fn training_a_model_trains_its_network() {
    let corpus = Corpus::new(200);
    let more = ["--rounds", "1", "--neural-epochs", "2", "--neural-width", "16"];
    let train = |out: &str, threads: &str| {
        let more = [&more[..], &["--threads", threads]].concat();
        let trees = ["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", out];
        let mut arguments = common::corpus::arguments(&[&trees[..], &more].concat());
        arguments.push("--neural");
        success(&corpus.run(&arguments, ""))
    };
    train("m", "1");
    train("again", "2");
    assert!(std::fs::read(corpus.path("m")).unwrap() == std::fs::read(corpus.path("again")).unwrap());
    assert!(corpus.read("m.work/weights").lines().any(|line| line.starts_with("neural=")));
    success(&run(&corpus, "model verify m"));
    assert!(success(&run(&corpus, "model info m")).contains("neural-width"));
    let tree = corpus.read("dev.tree").lines().next().unwrap().to_string() + "\n";
    let said = |arguments: &[&str]| success(&corpus.run(arguments, &tree));
    let one = said(&["translate", "--model", "m", "--input", "tree"]);
    assert_eq!(one, said(&["translate", "--model", "m", "--input", "tree", "--threads", "2"]));
    assert!(said(&["explain", "--model", "m", "--input", "tree"]).contains("neural"));
    let told =
        failure(&corpus.run(&["translate", "--model", "m", "--input", "tree", "--search", "exact"], &tree));
    assert!(told.contains("nothing bounds its scores"), "{told}");
}

#[test]
fn what_cannot_be_learnt_is_told() {
    let corpus = Corpus::new(20);
    corpus.write("short.en", "one line\n");
    corpus.write("empty", "");
    let usual = "--dev-source dev.zh --dev-target dev.en --out n";
    for (line, expected) in [
        ("--source train.zh --target short.en", "short.en"),
        ("--source empty --target empty", "empty: found no words, expected sentences"),
        ("--source nowhere --target train.en", "nowhere"),
        ("--source train.zh --target train.en --heads 7", "expected a width that --heads divides"),
        ("--source train.zh --target train.en --dropout 1.5", "--dropout 1.5: expected 0 or more"),
        ("--source train.zh --target train.en --rate=-1", "--rate -1: expected more than 0"),
    ] {
        let told = failure(&run(&corpus, &format!("neural train {line} {usual}")));
        assert!(told.contains(expected), "{line}: {told}");
        assert!(!corpus.path("n").exists());
    }
    let told = failure(&run(&corpus, "neural info train.zh"));
    assert!(told.contains("train.zh"), "{told}");
}
