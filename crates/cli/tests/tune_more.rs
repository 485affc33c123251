//! Tuning on pairs of the training text as well, translated with what was learnt without them; several sets of links.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, failure, messages, success};

fn run(corpus: &Corpus, line: &str) -> String {
    success(&corpus.run(&line.split_whitespace().collect::<Vec<_>>(), ""))
}

#[test]
fn weights_are_those_of_the_rules_and_models_learnt_without_the_pairs() {
    let corpus = Corpus::new(200);
    let rounds = ["--rounds", "4", "--nbest", "30"];
    success(&corpus.train("plain", &rounds));
    for (out, more) in [("m", &["--kind", "tree"][..]), ("classes", &["--lm-classes", "10"])] {
        success(&corpus.train(out, &[&rounds[..], &["--tune-more", "40"], more].concat()));
    }
    // What the model is made of was learnt from all pairs.
    for part in ["rules", "lm"] {
        let [one, other] =
            ["plain", "m"].map(|out| std::fs::read(corpus.path(&format!("{out}.work/{part}"))).unwrap());
        assert!(one == other, "{part}");
    }
    assert_ne!(corpus.read("plain.work/weights"), corpus.read("m.work/weights"));
    assert_ne!(corpus.read("classes.work/weights"), corpus.read("m.work/weights"));
    assert!(corpus.path("classes.work/class-lm-rest").exists());
    assert!(run(&corpus, "model info m").contains("tune-more"));
    // No pair is lost, none is on both sides; every fifth is set aside.
    let lines = |name: &str| corpus.read(name).lines().map(str::to_string).collect::<Vec<_>>();
    let all = lines("train.zh");
    let (rest, aside) = (lines("m.work/rest.source"), lines("m.work/aside.source"));
    assert_eq!((rest.len(), aside.len()), (160, 40));
    let fifth: Vec<String> = all.iter().skip(4).step_by(5).cloned().collect();
    assert_eq!(aside, fifth);
    // The same by hand: rules and a language model of the rest, tuned on both texts.
    corpus.write("both.tree", &(corpus.read("dev.tree") + &corpus.read("m.work/aside.trees")));
    corpus.write("both.en", &(corpus.read("dev.en") + &corpus.read("m.work/aside.target")));
    let files = "--trees m.work/rest.trees --target m.work/rest.target --align m.work/rest.links1";
    run(
        &corpus,
        &format!("grammar extract --kind tree {files} --binarize right --evidence --out by-hand.rules"),
    );
    run(&corpus, "lm estimate --order 5 --text m.work/rest.target --discount-fallback --out by-hand.arpa");
    let tuned = run(
        &corpus,
        "tune --grammar by-hand.rules --lm by-hand.arpa --unseen related --trees both.tree --ref both.en --rounds 4 --nbest 30 \
         --beam 20",
    );
    let (_, tuned) = tuned.split_once('\n').unwrap();
    assert_eq!(tuned, corpus.read("m.work/weights"));
}

#[test]
fn too_many_pairs_are_refused_and_a_second_run_does_nothing_again() {
    let corpus = Corpus::new(100);
    let told = failure(&corpus.train("m", &["--tune-more", "26"]));
    assert!(
        told.contains("tune-more") && told.contains("at most a quarter") && told.contains("100"),
        "{told}"
    );
    let more = ["--kind", "phrase", "--tune-more", "25"];
    success(&corpus.run(&common::corpus::arguments(&[&["--out", "m"], &more[..]].concat()), ""));
    let again = corpus.run(&common::corpus::arguments(&[&["--out", "m"], &more[..]].concat()), "");
    success(&again);
    for stage in ["set-aside", "rules-rest", "lm-rest", "tune"] {
        let kept = format!("{stage}: done before, kept");
        assert!(messages(&again).lines().any(|line| line == kept), "{stage}: {}", messages(&again));
    }
}

#[test]
fn rules_are_learnt_from_each_set_of_links() {
    let corpus = Corpus::new(200);
    success(&corpus.train("one", &["--symmetrize", "mean"]));
    success(&corpus.train("two", &["--symmetrize", "mean,intersection"]));
    assert_eq!(corpus.read("one.work/links"), corpus.read("two.work/links"));
    // The second set is what aligning makes of it by itself.
    run(
        &corpus,
        "align train --source train.zh --target train.en --lowercase --preset fast --symmetrize intersection --out by-hand",
    );
    assert_eq!(corpus.read("two.work/links2"), corpus.read("by-hand"));
    let files = "--trees train.tree --target train.en --align two.work/links --align by-hand";
    run(
        &corpus,
        &format!("grammar extract --kind tree {files} --binarize right --evidence --out by-hand.rules"),
    );
    let rules = |name: &str| run(&corpus, &format!("grammar export --format travatar {name}"));
    assert_eq!(rules("by-hand.rules"), rules("two.work/rules"));
    assert_ne!(rules("one.work/rules"), rules("two.work/rules"));
    let told = failure(&corpus.train("m", &["--symmetrize", "mean,grow-dig"]));
    assert!(told.contains("symmetrize") && told.contains("grow-dig"), "{told}");
    let one = "grammar extract --kind tree --trees train.tree --target train.en --out x --significance alpha+epsilon";
    let twice = "--align two.work/links --align by-hand";
    let told = failure(&corpus.run(&format!("{one} {twice}").split_whitespace().collect::<Vec<_>>(), ""));
    assert!(told.contains("several --align"), "{told}");
}
