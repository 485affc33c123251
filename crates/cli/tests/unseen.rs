//! Words that no rule translates, from training to explanations; and what several lists agree on.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, success};

fn run(corpus: &Corpus, line: &str, input: &str) -> std::process::Output {
    corpus.run(&line.split_whitespace().collect::<Vec<_>>(), input)
}

#[test]
fn a_word_of_two_words_is_translated_as_both() {
    let corpus = Corpus::new(300);
    success(&corpus.train("m", &["--rounds", "1"]));
    success(&corpus.train("old", &["--rounds", "1", "--unseen", "copied"]));
    // Two nouns that rules translate alone, written together.
    let trees = corpus.read("train.tree");
    let mut nouns: Vec<&str> =
        trees.split("(NN ").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    nouns.sort_unstable();
    nouns.dedup();
    let said = |line: &str, tree: &str| success(&run(&corpus, line, &format!("{tree}\n"))).trim().to_string();
    let alone = |noun: &str| said("translate --model m --input tree", &format!("(NN {noun})"));
    let mut known = nouns.iter().filter(|noun| alone(noun) != **noun);
    let [first, second] = [known.next().unwrap(), known.next().unwrap()];
    let both = format!("{first}{second}");
    assert!(!trees.contains(&both));
    let tree = format!("(NN {both})");

    assert_eq!(said("translate --model m --input tree --unseen copied", &tree), both);
    assert_eq!(said("translate --model old --input tree", &tree), both, "as the model was tuned");
    let related = said("translate --model m --input tree", &tree);
    assert!(!related.contains(&both), "{related}");
    assert_eq!(said("translate --model old --input tree --unseen related", &tree), related);
    let explained = said("explain --model m --input tree", &tree);
    assert!(explained.contains(&format!("as {first} + {second}")), "{explained}");
    // Training lines of both.
    let lines = explained.lines().filter(|line| line.contains("line ")).count();
    assert!(lines > 1 || !explained.contains("line "), "{explained}");
    assert!(corpus.read("m.work/weights").contains("unseen.parts=0.3"));

    let wrong = failure(&run(
        &corpus,
        "train --unseen some --source train.zh --target train.en --source-lang zh --target-lang en --out x",
        "",
    ));
    assert!(wrong.contains("unseen") && wrong.contains("related or copied"), "{wrong}");
}

#[test]
fn lists_agree_on_a_translation() {
    let corpus = Corpus::new(10);
    corpus
        .write("one", "1 ||| a b c d ||| f=1 ||| -1.0\n1 ||| a b c e ||| f=1 ||| -1.5\n3 ||| z ||| ||| 0\n");
    corpus.write("two", "1 ||| x y z w ||| f=1 ||| 2.0\n1 ||| a b c e ||| f=1 ||| 1.9\n");
    let said = |more: &str| run(&corpus, &format!("consensus {more}"), "");
    assert_eq!(success(&said("one two")), "a b c e\n\nz\n");
    assert_eq!(success(&said("--lines 4 --scale 100 --weights 1,0 one two")), "a b c d\n\nz\n\n");
    assert_eq!(success(&said("--scale 100 --weights 0,1 one two")), "x y z w\n\nz\n");
    for (more, expected) in [
        ("--weights 1 one two", "one for each of the 2 lists"),
        ("--weights 1,-1 one two", "not negative"),
        ("--scale -1 one", "not negative"),
        ("--lines 2 one", "sentence 3"),
        ("dev.en", "dev.en:1:"),
    ] {
        let message = failure(&said(more));
        assert!(message.contains(expected), "{more}: {message}");
    }
}
