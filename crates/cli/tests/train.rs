//! From parallel text to translations, as a user does it: train, translate, model.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::corpus::{Corpus, arguments, failure, messages, success};

#[test]
fn training_gives_a_model_that_translates_and_says_what_it_is() {
    let corpus = Corpus::new(400);
    let output = corpus.train("m", &["--parser", "none", "--holdout", "40"]);
    assert!(failure(&output).contains("none: cannot open"));
    success(&corpus.run(
        &[
            "parser",
            "train",
            "--kind",
            "constituency",
            "--train",
            "train.tree",
            "--out",
            "p",
            "--epochs",
            "2",
            "--beam",
            "4",
        ],
        "",
    ));
    let output = corpus.train("m", &["--parser", "p", "--holdout", "40", "--licence", "CC0"]);
    success(&output);
    let told = messages(&output);
    assert!(told.contains("held-out text, 40 sentences (neither trained nor tuned on): BLEU "), "{told}");
    assert!(told.contains("what that means: "), "{told}");
    success(&corpus.run(&["model", "verify", "m"], ""));
    let info = success(&corpus.run(&["model", "info", "m"], ""));
    assert!(info.contains("zh to en, tokenised text") && info.contains("licence: CC0"), "{info}");
    let json: serde_json::Value =
        serde_json::from_str(&success(&corpus.run(&["model", "info", "--json", "m"], ""))).unwrap();
    assert_eq!(json["origins"][0]["lines"], 400);
    assert!(
        json["weights"]["lm0"].is_number() && json["figures"]["dev.bleu"].as_f64().unwrap() > 20.0,
        "{json}"
    );
    let report: serde_json::Value = serde_json::from_str(&corpus.read("m.work/report.json")).unwrap();
    let stages: Vec<&str> =
        report["stages"].as_array().unwrap().iter().map(|s| s["stage"].as_str().unwrap()).collect();
    assert_eq!(stages, ["hold-out", "check", "align", "rules", "lm", "tune", "evaluate", "lines", "model"]);
    assert!(corpus.read("m.work/tune.svg").starts_with("<svg"));

    // Text and trees, empty lines, the same at any number of threads.
    let text = corpus.read("dev.zh").replace('\n', "\n\n");
    let one = success(&corpus.run(&["translate", "--model", "m", "--threads", "1"], &text));
    let three = success(&corpus.run(&["translate", "--model", "m", "--threads", "3"], &text));
    assert_eq!(one, three);
    let lines: Vec<&str> = one.lines().collect();
    assert_eq!(lines.len(), 120);
    assert!(lines.iter().skip(1).step_by(2).all(|line| line.is_empty()));
    assert!(lines.iter().step_by(2).all(|line| !line.is_empty()));
    let trees = corpus.read("dev.tree");
    let translated =
        success(&corpus.run(&["translate", "--model", "m", "--input", "tree", "--beam", "20"], &trees));
    assert_eq!(translated, corpus.read("m.work/dev.out"), "as it was measured");
    for search in ["cube", "incremental", "prediction"] {
        let other = success(&corpus.run(&["translate", "--model", "m", "--search", search], &text));
        assert_eq!(other.lines().count(), 120, "{search}");
    }
}

#[test]
fn lists_links_features_and_terms_of_a_translation() {
    let corpus = Corpus::new(300);
    success(&corpus.train("m", &[]));
    let first = corpus.read("dev.tree").lines().take(5).collect::<Vec<_>>().join("\n") + "\n";
    let tree = |more: &[&str]| {
        let mut arguments = vec!["translate", "--model", "m", "--input", "tree"];
        arguments.extend(more);
        success(&corpus.run(&arguments, &first))
    };
    let plain = tree(&[]);
    let list = tree(&["--nbest", "3"]);
    let heads_of = |number: usize| -> Vec<&str> {
        list.lines().filter(|line| line.starts_with(&format!("{number} ||| "))).collect()
    };
    let lengths: Vec<usize> = (0..5).map(|number| heads_of(number).len()).collect();
    assert!(lengths.contains(&3) && lengths.iter().all(|length| *length <= 3), "{list}");
    for (number, line) in plain.lines().enumerate() {
        assert_eq!(heads_of(number)[0].split(" ||| ").nth(1), Some(line));
    }
    let weights: serde_json::Value = {
        let info = success(&corpus.run(&["model", "info", "--json", "m"], ""));
        serde_json::from_str::<serde_json::Value>(&info).unwrap()["weights"].clone()
    };
    for (line, wanted) in tree(&["--json", "--align-out", "links"]).lines().zip(plain.lines()) {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["translation"], wanted);
        let score: f64 = object["features"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| weights[name].as_f64().unwrap_or(0.0) * value.as_f64().unwrap())
            .sum();
        assert!((score - object["score"].as_f64().unwrap()).abs() < 1e-4, "{line}");
        // Every word has a link, and links stay inside.
        let (sources, targets) =
            (object["source"].as_array().unwrap().len(), object["words"].as_array().unwrap().len());
        let links: Vec<(u64, u64)> = object["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap()))
            .collect();
        assert!(links.iter().all(|&(s, t)| s < sources as u64 && t < targets as u64), "{line}");
    }
    assert_eq!(corpus.read("links").lines().count(), 5);
    for line in tree(&["--json", "--nbest", "2"]).lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["nbest"][0]["translation"], object["translation"]);
        assert!(object["nbest"][0]["score"].as_f64() >= object["nbest"][1]["score"].as_f64());
    }
    // A term is used, wherever it stands.
    let word = first
        .split(' ')
        .find_map(|piece| piece.split(')').next().filter(|w| !w.starts_with('(') && !w.is_empty()))
        .unwrap();
    corpus.write("terms", &format!("{word}\tXYZ ABC\n"));
    let with = tree(&["--glossary", "terms"]);
    assert!(with.lines().next().unwrap().contains("XYZ ABC"), "{with}");
    corpus.write("bad", "a\tb\tc\n");
    let output = corpus.run(&["translate", "--model", "m", "--input", "tree", "--glossary", "bad"], "");
    assert!(failure(&output).contains("bad:1:1: found"), "{}", messages(&output));
    let output = corpus.run(&["translate", "--model", "m"], "x\n");
    assert!(failure(&output).contains("without a parser"));
    let output = corpus.run(&["translate", "--model", "m", "--input", "tree", "--strict"], "(A (B c))\n(A\n");
    assert!(failure(&output).contains(":2"), "{}", messages(&output));
}

#[test]
fn raw_text_is_cut_cased_and_put_together_again() {
    let corpus = Corpus::new(10);
    // A tiny language: English in capitals where sentences begin, German beside it.
    let (mut source, mut target, mut bank) = (String::new(), String::new(), String::new());
    for (i, (who, wer)) in
        [("Anna", "Anna"), ("Peter", "Peter"), ("Tom", "Tom"), ("Mary", "Maria")].iter().enumerate()
    {
        for (what, was) in [("cat", "Katze"), ("dog", "Ratte"), ("house", "Tür"), ("car", "Uhr")] {
            source.push_str(&format!("{who} sees the {what}.\nThe {what} sees {who}.\n"));
            target.push_str(&format!("{wer} sieht die {was}.\nDie {was} sieht {wer}.\n"));
            bank.push_str(&format!("(S (NP (NNP {who})) (VP (VBZ sees) (NP (DT the) (NN {what}))) (. .))\n"));
            bank.push_str(&format!("(S (NP (DT the) (NN {what})) (VP (VBZ sees) (NP (NNP {who}))) (. .))\n"));
        }
        assert!(i < 4);
    }
    corpus.write("en", &source);
    corpus.write("de", &target);
    corpus.write("bank", &bank);
    let dev: String = source.lines().take(8).map(|line| format!("{line}\n")).collect();
    let dev_target: String = target.lines().take(8).map(|line| format!("{line}\n")).collect();
    corpus.write("dev.en.raw", &dev);
    corpus.write("dev.de.raw", &dev_target);
    corpus.write(
        "c.toml",
        "source = 'en'\ntarget = 'de'\ndev-source = 'dev.en.raw'\ndev-target = 'dev.de.raw'\nsource-lang = 'en'\n\
         target-lang = 'de'\ntreebank = 'bank'\nout = 'm'\nrounds = 2\nlm-order = 3\nparser-epochs = 2\n",
    );
    success(&corpus.run(&["train", "c.toml", "--nbest", "20"], ""));
    let input = "The dog sees Mary.\n\nTom sees the house.\nSee https://example.org/a?b=1 Tom.\n";
    let output = success(&corpus.run(&["translate", "--model", "m"], input));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[..3], ["Die Ratte sieht Maria.", "", "Tom sieht die Tür."]);
    assert!(lines[3].contains("https://example.org/a?b=1"), "{output}");
    let tokens =
        success(&corpus.run(&["translate", "--model", "m", "--no-detokenize"], "The dog sees Mary.\n"));
    assert_eq!(tokens, "die Ratte sieht Maria .\n");
    let kept = success(&corpus.run(&["translate", "--model", "m", "--keep", "dog"], "The dog sees Mary.\n"));
    assert!(kept.contains("dog"), "{kept}");
    corpus.write("terms", "The house\tdie Bude\n");
    let with =
        success(&corpus.run(&["translate", "--model", "m", "--glossary", "terms"], "The house sees Tom.\n"));
    assert_eq!(with, "Die Bude sieht Tom.\n");
}

#[test]
fn what_was_done_is_kept_and_what_changed_is_done_again() {
    let corpus = Corpus::new(200);
    success(&corpus.train("m", &[]));
    let model = std::fs::read(corpus.path("m")).unwrap();
    let needed = |compose: &str| {
        let told = messages(&corpus.train("m", &["--compose", compose]));
        told.lines().filter(|line| line.contains("MB of memory") || line.contains("MB of disk")).count()
    };
    assert_eq!(needed("4"), 2, "disk and memory are estimated");
    success(&corpus.train("m", &[]));
    let again = messages(&corpus.train("m", &["--threads", "3", "--memory", "16M"]));
    assert!(!again.contains(" .."), "nothing is done again: {again}");
    let other = messages(&corpus.train("m", &["--lm-order", "2"]));
    for (stage, redone) in
        [("check", false), ("align", false), ("rules", false), ("lm", true), ("tune", true), ("model", true)]
    {
        assert_eq!(other.contains(&format!("{stage} ..")), redone, "{stage}: {other}");
    }
    assert_ne!(std::fs::read(corpus.path("m")).unwrap(), model);
    // Another folder, other threads: the same bytes.
    success(&corpus.train("n", &["--threads", "2", "--memory", "16M"]));
    assert!(
        std::fs::read(corpus.path("n")).unwrap() == model,
        "the model depends on threads, memory or its name"
    );
    // Each of these changes something.
    for option in [
        ["--align-preset", "default"],
        ["--symmetrize", "union"],
        ["--compose", "1"],
        ["--smoothing", "good-turing"],
        ["--evidence", "false"],
        ["--binarize", "none"],
        ["--metric", "ter"],
        ["--tuner", "forest-mert"],
        ["--tuner", "mira"],
        ["--seed", "2"],
        ["--rounds", "1"],
        ["--nbest", "20"],
        ["--beam", "5"],
        ["--align", "train.links"],
    ] {
        success(&corpus.train("m", &option));
        assert!(std::fs::read(corpus.path("m")).unwrap() != model, "{option:?} is ignored");
    }
    success(&corpus.train("m", &["--evidence", "false"]));
    assert!(!corpus.read("m.work/weights").contains("rare"));
    success(&corpus.train("m", &["--evidence", "true"]));
    assert!(corpus.read("m.work/weights").contains("tm0.rare="));
    corpus.write("more.en", "the cat sleeps .\n");
    let more = messages(&corpus.train("n", &["--lm-text", "more.en"]));
    assert!(more.contains("lm .."), "{more}");
}

/// The parser's command is the oracle.
#[test]
fn texts_are_parsed_with_the_beam_that_was_asked_for() {
    let corpus = Corpus::new(100);
    let trees: Vec<String> = corpus.read("train.tree").lines().map(str::to_string).collect();
    corpus.write("bank", &(trees[..25].join("\n") + "\n"));
    let parser = ["--treebank", "bank", "--parser-epochs", "1", "--out", "m", "--rounds", "1"];
    let parse = |beam: &str| {
        let arguments = ["parser", "parse", "--model", "m.work/parser", "--beam", beam];
        success(&corpus.run(&arguments, &corpus.read("train.zh")))
    };
    for beam in ["1", "12"] {
        success(&corpus.run(&arguments(&[&parser[..], &["--parser-beam", beam]].concat()), ""));
        assert_eq!(corpus.read("m.work/train.trees"), parse(beam));
    }
    assert_ne!(parse("1"), parse("12"), "the beam matters to this parser");
}

#[test]
fn killed_runs_go_on_and_end_with_the_same_bytes() {
    let corpus = Corpus::new(150);
    let started = std::time::Instant::now();
    success(&corpus.train("whole", &[]));
    let whole = started.elapsed();
    let wanted = std::fs::read(corpus.path("whole")).unwrap();
    let mut rng = sylvan_base::Rng::new(5);
    let arguments = arguments(&["--trees", "train.tree", "--dev-trees", "dev.tree", "--out", "killed"]);
    for _ in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sylvan"))
            .args(&arguments)
            .current_dir(corpus.dir.path())
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(rng.unit() * 0.5));
        // SIGKILL; harmless if the run has already ended.
        child.kill().unwrap();
        child.wait().unwrap();
        if let Ok(found) = std::fs::read(corpus.path("killed")) {
            assert!(found == wanted, "a model that is not whole");
        }
    }
    success(&corpus.run(&arguments, ""));
    assert!(std::fs::read(corpus.path("killed")).unwrap() == wanted);
    let left = std::fs::read_dir(corpus.path("killed.work")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn what_is_wrong_is_told_before_long_work_and_leaves_no_model() {
    let corpus = Corpus::new(120);
    let told = |more: &[&str]| {
        let message = failure(&corpus.run(&arguments(&[&["--out", "m"], more].concat()), ""));
        assert!(!corpus.path("m").exists());
        message.lines().last().unwrap().to_string()
    };
    let trees = ["--trees", "train.tree", "--dev-trees", "dev.tree"];
    let with = |more: &[&'static str]| told(&[&trees[..], more].concat());
    let short: String = corpus.read("train.en").lines().take(119).map(|line| format!("{line}\n")).collect();
    corpus.write("short.en", &short);
    assert!(with(&["--target", "short.en"]).contains("found 120 lines, expected 119 lines as in short.en"));
    corpus.write("empty", "");
    assert!(
        with(&["--dev-source", "empty", "--dev-target", "empty"])
            .contains("empty: found no lines, expected a text to tune on")
    );
    let mut bytes = std::fs::read(corpus.path("train.zh")).unwrap();
    let second = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes[second] = 0xff;
    std::fs::write(corpus.path("bad.zh"), bytes).unwrap();
    let message = with(&["--source", "bad.zh"]);
    assert!(message.contains("bad.zh:2") && message.contains("UTF-8"), "{message}");
    assert!(told(&["--kind", "tree"]).contains("--treebank, --parser or --trees"));
    assert!(told(&["--kind", "phrases"]).contains("tree, hiero, phrase or lr-hiero"));
    corpus.write(
        "english",
        "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))\n(S (NP (DT a) (NN dog)) (VP (VBZ runs)))\n",
    );
    let message = told(&["--treebank", "english"]);
    assert!(message.contains("0 of the") && message.contains("trees of the source language"), "{message}");
    corpus.write("nonsense", "no trees here\n");
    assert!(told(&["--treebank", "nonsense"]).contains("nonsense:1"));
    let shuffled: String = corpus.read("train.tree").lines().rev().map(|line| format!("{line}\n")).collect();
    corpus.write("shuffled", &shuffled);
    let message = told(&["--trees", "shuffled", "--dev-trees", "dev.tree"]);
    assert!(message.contains("lines that cannot be used") && message.contains("tree-yield"), "{message}");
    for (option, value, expected) in [
        ("--symmetrize", "magic", "symmetrize"),
        ("--metric", "blue", "bleu, ter, chrf or ribes"),
        ("--tuner", "magic", "expected mert, forest-mert or mira"),
        ("--smoothing", "x", "kneser-ney"),
        ("--binarize", "x", "none, left or right"),
        ("--align-preset", "x", "fast, default or best"),
        ("--lm-order", "9", "1 to 7"),
        ("--holdout", "120", "more than the 120"),
        ("--out", "no/such/m", "a folder for the model"),
    ] {
        let message = with(&[option, value]);
        assert!(message.contains(expected), "{option} {value}: {message}");
    }
    let output = corpus.run(&["train", "none.toml"], "");
    assert!(failure(&output).contains("none.toml: cannot read"));
}

#[test]
fn models_that_are_cut_or_of_another_kind_are_refused() {
    let corpus = Corpus::new(100);
    success(&corpus.train("m", &[]));
    let model = std::fs::read(corpus.path("m")).unwrap();
    let refused = |bytes: &[u8], arguments: &[&str]| {
        std::fs::write(corpus.path("bad"), bytes).unwrap();
        failure(&corpus.run(arguments, ""))
    };
    for arguments in
        [&["model", "info", "bad"][..], &["model", "verify", "bad"], &["translate", "--model", "bad"]]
    {
        assert!(refused(&model[..model.len() - 1], arguments).contains("copy it again"));
        assert!(refused(b"no model", arguments).contains("another kind of file"));
        let mut newer = model.clone();
        newer[16] += 1;
        assert!(refused(&newer, arguments).contains("found version 2, expected version 1 to 1"));
    }
    let mut changed = model.clone();
    let at = model.len() - 100;
    changed[at] ^= 1;
    assert!(refused(&changed, &["model", "verify", "bad"]).contains("changed bytes in section"));
    let rules = std::fs::read(Path::new(&corpus.path("m.work/rules"))).unwrap();
    assert!(refused(&rules, &["model", "info", "bad"]).contains("found a \"rules\" file"));
}

/// The parser stage included. Peaks are those that the system tells, where it does.
#[test]
fn the_memory_that_is_announced_is_enough() {
    let corpus = Corpus::new(300);
    let parser = ["--treebank", "train.tree", "--parser-epochs", "2", "--rounds", "1", "--out", "m"];
    let output = corpus.run(&arguments(&parser), "");
    success(&output);
    let told = messages(&output);
    let announced =
        told.lines().find_map(|line| line.strip_prefix("at most about ")?.strip_suffix(" MB of memory"));
    let Some(announced) = announced else { panic!("{told}") };
    let announced = announced.parse::<u64>().unwrap() << 20;
    let report: serde_json::Value = serde_json::from_str(&corpus.read("m.work/report.json")).unwrap();
    for stage in report["stages"].as_array().unwrap() {
        let peak = stage["peak_bytes"].as_u64().unwrap_or(0);
        assert!(peak <= announced, "{}: {peak} of {announced} bytes", stage["stage"]);
    }
}
