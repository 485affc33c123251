//! Nothing of the user's is lost: inputs are not written over, runs do not meet, bad lines do not cost the good ones,
//! and an interrupted run leaves nothing half-written and says how to go on.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use common::corpus::{Corpus, arguments, failure, messages, success};
use common::run_in;

/// Every command that writes files, told to write to one of those that it reads.
#[test]
fn no_command_writes_over_what_it_reads() {
    let corpus = Corpus::new(60);
    let folder = corpus.dir.path();
    for (name, text) in [("arpa", "x"), ("rules", "x"), ("model", "x"), ("links", "x"), ("weights", "x")] {
        corpus.write(name, text);
    }
    std::fs::hard_link(corpus.path("train.en"), corpus.path("same.en")).unwrap();
    let before: Vec<(std::path::PathBuf, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap()))
        .collect();
    for line in [
        "parser train --kind tagger --train train.tree --out train.tree",
        "lm estimate --order 2 --text train.en --out train.en",
        "lm estimate --order 2 --text train.en --out ./same.en",
        "lm compile --arpa arpa --out arpa",
        "lm interpolate --lm arpa --lm rules --tune dev.en --out rules",
        "align train --source train.zh --target train.en --out train.en",
        "align train --source train.zh --target train.en --out new --model train.zh",
        "align apply --model model --source train.zh --target train.en --out model",
        "align symmetrize --forward links --reverse weights --symmetrize union --out links",
        "align show --source train.zh --target train.en --align links --out links",
        "grammar extract --kind tree --trees train.tree --target train.en --align train.links --out train.links",
        "grammar score --out rules rules",
        "grammar export --format travatar rules --out rules",
        "grammar import --format travatar rules --out rules",
        "grammar compile rules --out rules",
        "grammar filter rules --out rules",
        "model prune --size 1M --out model model",
        "tune --grammar rules --lm arpa --trees dev.tree --ref dev.en --out dev.en",
        "tune --grammar rules --lm arpa --trees dev.tree --ref dev.en --out new --log dev.tree",
        "decode --grammar rules --lm arpa --weights weights --scores weights dev.tree",
        "translate --model model --align-out train.zh train.zh",
        "explain --model model --html model sentence",
        "trees --to penn --out dev.tree dev.tree",
        "tokenize --lang en --train train.en --model train.en",
        "truecase --train --model train.en train.en",
        "check --source train.zh --target train.en --fix .",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = run_in(folder, &words, "");
        let told = messages(&output);
        assert!(!output.status.success(), "{line}");
        assert!(
            told.contains("input of the same command") || told.contains("over its input"),
            "{line}: {told}"
        );
    }
    let twice = run_in(
        folder,
        &"align train --source train.zh --target train.en --out new --posteriors ./new"
            .split(' ')
            .collect::<Vec<_>>(),
        "",
    );
    assert!(failure(&twice).contains("--out writes there too"), "{}", messages(&twice));
    // Training, by options and by a configuration, over a text and over what is in its work folder.
    let trees = ["--trees", "train.tree", "--dev-trees", "dev.tree"];
    for out in ["train.zh", "dev.en", "train.tree"] {
        let output = corpus.run(&arguments(&[&trees[..], &["--out", out]].concat()), "");
        let told = messages(&output);
        assert!(told.contains("input of the same"), "{out}: {told}");
    }
    corpus.write(
        "c.toml",
        "source = 'train.zh'\ntarget = 'train.en'\ndev-source = 'dev.zh'\ndev-target = 'dev.en'\nsource-lang = 'zh'\n\
         target-lang = 'en'\ntokenized = true\ntrees = 'train.tree'\ndev-trees = 'dev.tree'\nout = 'train.en'\n",
    );
    assert!(failure(&corpus.run(&["train", "c.toml"], "")).contains("input of the same run"));
    std::fs::create_dir(corpus.path("m.work")).unwrap();
    std::fs::copy(corpus.path("train.zh"), corpus.path("m.work/mine.zh")).unwrap();
    let mine =
        corpus.run(&arguments(&[&trees[..], &["--out", "m", "--source", "m.work/mine.zh"]].concat()), "");
    assert!(failure(&mine).contains("a file in the work folder"), "{}", messages(&mine));
    for (path, bytes) in before {
        assert!(std::fs::read(&path).unwrap() == bytes, "{}", path.display());
    }
}

#[test]
fn lines_that_cannot_be_read_do_not_cost_the_others() {
    let corpus = Corpus::new(120);
    success(&corpus.train("m", &[]));
    let trees = corpus.read("dev.tree");
    let good: Vec<&str> = trees.lines().take(40).collect();
    let translate = |more: &[&str], input: &[u8]| {
        std::fs::write(corpus.path("in"), input).unwrap();
        corpus.run(&[&["translate", "--model", "m", "--input", "tree"], more, &["in"]].concat(), "")
    };
    let plain = success(&translate(&[], (good.join("\n") + "\n").as_bytes()));
    for bad in [&b"(S (A a\x01b))"[..], b"\xff\xfe", b"(S (A b)"] {
        let mut input = good[..25].join("\n").into_bytes();
        input.push(b'\n');
        input.extend_from_slice(bad);
        input.extend_from_slice(b"\n");
        input.extend_from_slice(good[25..].join("\n").as_bytes());
        for threads in ["1", "3"] {
            let output = translate(&["--threads", threads, "--align-out", "links"], &input);
            let told = messages(&output);
            let lines: Vec<&str> = success(&output).leak().lines().collect();
            assert!(told.contains("in:26:") && told.contains("1 of 41 lines could not be read"), "{told}");
            assert_eq!(lines.len(), 41);
            assert_eq!(lines[25], "");
            let others: Vec<&str> =
                lines.iter().enumerate().filter(|(at, _)| *at != 25).map(|(_, line)| *line).collect();
            assert_eq!(others, plain.lines().collect::<Vec<_>>());
            assert_eq!(corpus.read("links").lines().count(), 41);
            // Strict: what came before is there, every time.
            let output = translate(&["--threads", threads, "--strict"], &input);
            assert!(failure(&output).contains("in:26:"));
            let before: Vec<&str> = plain.lines().take(25).collect();
            assert_eq!(String::from_utf8(output.stdout).unwrap().lines().collect::<Vec<_>>(), before);
        }
    }
    let parser = "parser train --kind tagger --epochs 1 --train t.conllu --out p";
    corpus.write("t.conllu", "1\ta\t_\tX\tX\t_\t0\troot\t_\t_\n\n");
    success(&corpus.run(&parser.split(' ').collect::<Vec<_>>(), ""));
    let output = corpus.run(&["parser", "parse", "--model", "p"], "a\na\u{1}\na\n");
    assert!(messages(&output).contains("1 of 3 lines"), "{}", messages(&output));
    assert_eq!(success(&output).matches("\tX\t").count(), 2);
    assert!(!corpus.run(&["parser", "parse", "--model", "p", "--strict"], "a\na\u{1}\n").status.success());
}

#[test]
fn two_runs_into_one_place_do_not_meet() {
    let corpus = Corpus::new(300);
    let words = arguments(&["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", "m"]);
    let mut first = Command::new(env!("CARGO_BIN_EXE_sylvan"))
        .args(&words)
        .current_dir(corpus.dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(first.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(" ..") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the first run has ended too soon");
    }
    let second = corpus.run(&words, "");
    // The first may have been quick; then the second finds everything done.
    if first.try_wait().unwrap().is_none() {
        let told = failure(&second);
        assert!(
            told.contains("m.work: found another run") && told.contains("choose another --out"),
            "{told}"
        );
    }
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert!(first.wait().unwrap().success(), "{rest}");
    success(&corpus.run(&["model", "verify", "m"], ""));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_cleans_up_and_says_how_to_go_on() {
    let corpus = Corpus::new(400);
    let words = arguments(&["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", "m"]);
    let mut run = Command::new(env!("CARGO_BIN_EXE_sylvan"))
        .args(&words)
        .current_dir(corpus.dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("rules ..") && !line.contains("links ..") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it has ended too soon");
    }
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(130), "{rest}");
    assert!(rest.contains("interrupted; run the same command again to go on"), "{rest}");
    let hidden = |folder: &str| {
        let entries = std::fs::read_dir(corpus.path(folder)).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count()
    };
    assert_eq!((hidden("."), hidden("m.work")), (0, 0), "{rest}");
    success(&corpus.run(&words, ""));
    let whole = std::fs::read(corpus.path("m")).unwrap();
    let fresh = arguments(&["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", "fresh"]);
    success(&corpus.run(&fresh, ""));
    assert!(std::fs::read(corpus.path("fresh")).unwrap() == whole, "going on gives the same model");
}
