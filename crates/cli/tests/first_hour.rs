//! What a newcomer meets: names of options, what is missing, what figures mean, and warnings where something is wrong.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, arguments, failure, messages, success};
use common::run;

#[test]
fn old_names_of_options_are_answered_with_the_new_ones() {
    for (line, new) in [
        ("score --ref r --format json x", "--json"),
        ("score --ref r --metrics bleu x", "--metric"),
        ("tune --reference r", "--ref"),
        ("parser parse --model m --k-best 3", "--nbest"),
        ("parser info m --verify", "sylvan parser verify"),
        ("align symmetrize --heuristic union", "--symmetrize"),
        ("lm estimate --order 2 --arpa x", "--out"),
        ("lm estimate --order 2 --temp x --out y", "--scratch"),
        ("translate --model m --align x", "--align-out"),
        ("model diff a b --input x", "--text"),
        ("model diff a b --kind tree", "--input"),
        ("grammar import --format moses a b", "--out"),
        ("grammar filter a b", "--out"),
    ] {
        let output = run(&line.split(' ').collect::<Vec<_>>(), "");
        let told = messages(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.contains("which is now") && told.contains(new), "{line}: {told}");
    }
    // What never was an option is refused as always.
    let output = run(&["score", "--ref", "r", "--nonsense", "x"], "");
    assert!(messages(&output).contains("unexpected argument"), "{}", messages(&output));
}

#[test]
fn everything_that_is_missing_is_named_at_once_with_a_way_on() {
    let told = failure(&run(&["train", "--kind", "tree"], ""));
    for missing in [
        "--source,",
        "--target,",
        "--out,",
        "--source-lang,",
        "--target-lang,",
        "--treebank, --parser or --trees",
    ] {
        assert!(told.contains(missing), "{missing}: {told}");
    }
    assert!(told.contains("universaldependencies.org"), "{told}");
    // Without syntax there is nothing more to give.
    let told = failure(&run(&["train"], ""));
    assert!(told.contains("no --target-lang") && !told.contains("--treebank"), "{told}");
}

#[test]
fn without_a_tuning_text_a_part_of_the_training_text_is_kept_and_a_part_is_held_out() {
    let corpus = Corpus::new(1000);
    let all = "train --tokenized --source train.zh --target train.en --source-lang zh --target-lang en --trees train.tree \
               --align train.links --rounds 1 --nbest 5 --beam 10 --compose 2 --lm-order 2 --out m";
    let words: Vec<&str> = all.split_whitespace().collect();
    let output = corpus.run(&words, "");
    success(&output);
    let told = messages(&output);
    assert!(told.contains("50 pairs of the training text are kept to tune on"), "{told}");
    assert!(told.contains("the last 50 pairs are not trained on"), "{told}");
    let figures = told.lines().find(|line| line.starts_with("held-out text, 50 sentences")).unwrap();
    // The score lies in its interval.
    let number = |text: &str| text.trim().parse::<f64>().unwrap();
    let bleu = figures.split("BLEU ").nth(1).unwrap();
    let (score, rest) = bleu.split_once(" (").unwrap();
    let (low, rest) = rest.split_once(" to ").unwrap();
    let high = rest.split_once(')').unwrap().0;
    assert!(number(low) < number(score) && number(score) < number(high), "{figures}");
    let lines =
        |name: &str| corpus.read(&format!("m.work/{name}")).lines().map(str::to_string).collect::<Vec<_>>();
    let train: Vec<String> = corpus.read("train.zh").lines().map(str::to_string).collect();
    assert_eq!(lines("kept.source"), train[..900]);
    assert_eq!(lines("dev.source"), train[900..950]);
    assert_eq!(lines("holdout.source"), train[950..]);
    let report = corpus.read("m.work/report.md");
    assert!(report.contains("held-out text, 50 sentences") && report.contains("what that means"), "{report}");
    // The other way round: all pairs, and said to flatter.
    let output = corpus.run(&[&words[..words.len() - 1], &["n", "--holdout", "0"]].concat(), "");
    success(&output);
    assert!(messages(&output).contains("tuned on them, so this flatters"), "{}", messages(&output));
    let half = corpus.run(&[&words[..words.len() - 1], &["h", "--dev-source", "dev.zh"]].concat(), "");
    assert!(failure(&half).contains("--dev-source and --dev-target"), "{}", messages(&half));
}

#[test]
fn texts_that_do_not_belong_together_are_noticed() {
    let corpus = Corpus::new(300);
    // The training files are swapped, the tuning text is not.
    let swapped = ["--source", "train.en", "--target", "train.zh", "--rounds", "1", "--out", "s"];
    corpus.write("flat", &corpus.read("train.en").lines().map(flat).collect::<String>());
    corpus.write("dev.flat", &corpus.read("dev.zh").lines().map(flat).collect::<String>());
    let trees = ["--trees", "flat", "--dev-trees", "dev.flat"];
    let told = messages(&corpus.run(&arguments(&[&swapped[..], &trees].concat()), ""));
    assert!(
        told.contains("of the source side of the tuning text occur in training") && told.contains("swapped?"),
        "{told}"
    );
    // Shuffled lines.
    let mut lines: Vec<String> = corpus.read("train.en").lines().map(|line| format!("{line}\n")).collect();
    sylvan_base_shuffle(&mut lines);
    corpus.write("shuffled.en", &lines.concat());
    let check =
        corpus.run(&["check", "--source", "train.zh", "--target", "shuffled.en", "--fix", "clean"], "");
    let told = String::from_utf8(check.stdout).unwrap();
    assert!(told.contains("unrelated: long lines are not beside long lines"), "{told}");
    assert!(corpus.read("clean/train.zh").lines().count() > 200, "no lines are dropped for it");
    let fine = corpus.run(&["check", "--source", "train.zh", "--target", "train.en"], "");
    assert!(!String::from_utf8(fine.stdout).unwrap().contains("unrelated"));
    let usual = [
        "--trees",
        "train.tree",
        "--dev-trees",
        "dev.tree",
        "--target",
        "shuffled.en",
        "--rounds",
        "1",
        "--out",
        "x",
    ];
    let told = messages(&corpus.run(&arguments(&usual), ""));
    assert!(told.contains("warning: ") && told.contains("are lines shuffled"), "{told}");
}

fn flat(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(|word| format!("(X {word})")).collect();
    format!("(S {})\n", words.join(" "))
}

/// The same order every time.
fn sylvan_base_shuffle(lines: &mut [String]) {
    let mut state = 1u64;
    for index in (1..lines.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(index, (state >> 33) as usize % (index + 1));
    }
}

#[test]
fn equal_files_do_not_differ() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x"), "a b c d e\nb c d e f\nthe end of it all\n").unwrap();
    for test in ["bootstrap", "randomization", "sign"] {
        let output =
            common::run_in(dir.path(), &["compare", "--ref", "x", "--test", test, "--json", "x", "x"], "");
        let json: serde_json::Value = serde_json::from_str(&success(&output)).unwrap();
        assert_eq!(json["systems"][0]["p_value"], 1.0, "{test}: {json}");
    }
}

#[test]
fn shells_and_manuals_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = success(&run(&["completions", shell], ""));
        assert!(text.contains("translate") && text.contains("symmetrize"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    success(&common::run_in(dir.path(), &["man", "--out", "man1"], ""));
    for page in ["sylvan.1", "sylvan-train.1", "sylvan-lm-estimate.1"] {
        let text = std::fs::read_to_string(dir.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".TH") && text.contains("SYNOPSIS"), "{page}");
    }
    // Commands are listed in the order of use.
    let help = success(&run(&["--help"], ""));
    let place = |name: &str| help.find(&format!("\n  {name} ")).unwrap();
    assert!(
        place("demo") < place("train")
            && place("train") < place("translate")
            && place("translate") < place("lm")
    );
}

#[test]
fn small_things_that_confused() {
    let corpus = Corpus::new(120);
    success(&corpus.train("m", &[]));
    let tree = corpus.read("dev.tree").lines().next().unwrap().to_string() + "\n";
    // A glossary with a space for the tab.
    corpus.write("terms", "good\tgut\nvery good sehr gut\n");
    let output = corpus.run(&["translate", "--model", "m", "--input", "tree", "--glossary", "terms"], &tree);
    assert!(messages(&output).contains("terms:2: found several words and no tab"), "{}", messages(&output));
    // Corrections are counted.
    for count in ["1 line now in", "2 lines now in"] {
        let rule = format!("NN(word{}) -> x", &count[..1]);
        let output = corpus.run(&["model", "overlay", "add", "m", &rule], "");
        success(&output);
        assert!(messages(&output).contains(count), "{}", messages(&output));
    }
    let help = success(&run(&["model", "overlay", "undo", "--help"], ""));
    assert!(help.contains("sylvan model overlay undo enja.sylvan"), "{help}");
    std::fs::remove_file(corpus.path("m.overlay")).unwrap();
    // A folder is not a model.
    assert!(failure(&corpus.run(&["model", "info", "."], "")).contains("it is a folder, expected a file"));
    // Formats of trees are told apart.
    corpus.write("x.conllu", "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n");
    assert!(success(&corpus.run(&["trees", "--to", "words", "x.conllu"], "")).starts_with("a\n"));
    // Passes of a tagger are as many as asked for, and there is no figure where nothing was measured.
    corpus.write("bank", &corpus.read("train.tree"));
    let tagger = ["parser", "train", "--kind", "tagger", "--train", "t.conllu", "--out", "p", "--epochs"];
    let sentence = "1\ta\t_\tX\tX\t_\t2\tdep\t_\t_\n2\tb\t_\tY\tY\t_\t0\troot\t_\t_\n\n";
    // The same words with other tags: no tagger gets all of it right.
    corpus.write("t.conllu", &(sentence.repeat(10) + &sentence.replace("X\tX", "Z\tZ").repeat(10)));
    for epochs in ["1", "9"] {
        let output = corpus.run(&[&tagger[..], &[epochs]].concat(), "");
        success(&output);
        let told = messages(&output);
        assert_eq!(told.matches("tagger epoch").count().to_string(), epochs, "{told}");
        assert!(!told.contains("accuracy"), "{told}");
    }
    // Settings that make no sense.
    for (option, value, says) in [
        ("--compose", "0", "compose: found 0, expected at least 1"),
        ("--parser-beam", "0", "parser-beam: found 0"),
        ("--symmetrize", "zzz", "symmetrize: found \"zzz\", expected one of"),
    ] {
        let told = failure(&corpus.train("n", &[option, value]));
        assert!(told.contains(says), "{told}");
    }
    corpus.write("empty", "");
    let told = failure(&corpus.train("n", &["--source", "empty", "--target", "empty", "--trees", "empty"]));
    assert!(told.contains("empty: found no lines, expected a text to learn from"), "{told}");
    // What the search lists second is second.
    for search in ["prediction", "incremental"] {
        let options = ["--model", "m", "--input", "tree", "--search", search, "--beam", "2"];
        let nbest = success(&corpus.run(&[&["translate", "--nbest", "2"], &options[..]].concat(), &tree));
        let explained = success(&corpus.run(&[&["explain", "--json"], &options[..]].concat(), &tree));
        let json: serde_json::Value = serde_json::from_str(explained.trim()).unwrap();
        let listed: Vec<&str> = nbest.lines().collect();
        if let Some(second) = listed.get(1) {
            assert!(
                second.contains(&format!("||| {} |||", json["runner_up"]["translation"].as_str().unwrap())),
                "{nbest} {json}"
            );
            assert!(json["runner_up"]["difference"].as_f64().unwrap() >= 0.0);
        }
        assert!(json["meanings"]["lm0"].as_str().unwrap().contains("target words"), "{json}");
    }
    let text = success(&corpus.run(&["explain", "--model", "m", "--input", "tree"], &tree));
    assert!(text.contains("how likely the target side is for the source side of a rule"), "{text}");
}

/// A reader that stops reading is no error.
#[test]
fn a_closed_pipe_ends_quietly() {
    let corpus = Corpus::new(300);
    for command in [
        "lm estimate --order 2 --discount-fallback --text train.en --out -",
        "tokenize --lang en train.en",
        "trees --to penn train.tree",
    ] {
        let line = format!("\"$SYLVAN\" {command} | head -1 > first; exit ${{PIPESTATUS[0]}}");
        let output = std::process::Command::new("bash")
            .args(["-c", &line])
            .env("SYLVAN", env!("CARGO_BIN_EXE_sylvan"))
            .current_dir(corpus.dir.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !told.contains("error"), "{command}: {told}");
        assert_eq!(corpus.read("first").lines().count(), 1);
    }
}
