//! `sylvan grammar import` and `sylvan decode` from end to end, on a table small enough to work out by hand.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Output;

use common::run_in as sylvan;

const RULES: &str = "\
S ( x0:NP x1:VP ) ||| x0 x1 ||| egfp=-0.105361 fgep=-0.693147 p=1
S ( x0:NP x1:VP ) ||| x1 x0 ||| egfp=-2.302585 fgep=-0.693147 p=1
NP ( \"ta\" ) ||| \"he\" ||| egfp=-0.510826 fgep=-0.693147 w=1 p=1
NP ( \"ta\" ) ||| \"she\" ||| egfp=-0.916291 fgep=-0.693147 w=1 p=1
VP ( \"shui\" ) ||| \"sleeps\" ||| egfp=-0.356675 fgep=-0.693147 w=1 p=1
VP ( \"shui\" ) ||| \"is\" \"asleep\" ||| egfp=-1.203973 fgep=-0.693147 w=2 p=1
";

const ARPA: &str = "\\data\\\nngram 1=7\nngram 2=3\n\n\\1-grams:\n-99\t<s>\t-0.3\n-1\t</s>\n-2\t<unk>\n-1\the\t-0.2\n\
    -1\tshe\t-0.2\n-1.2\tsleeps\t-0.1\n-1.5\tasleep\t-0.1\n\n\\2-grams:\n-0.2\t<s> she\n-0.3\tshe sleeps\n\
    -0.2\tsleeps </s>\n\n\\end\\\n";

/// A folder with a compiled table, a model and weights.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("table", RULES);
    file("lm.arpa", ARPA);
    file("weights", "# by hand\np_ef=1\nlm=0.5\nwords=0.1\nglue=-5\noov=-2\n");
    let import = sylvan(folder.path(), &["grammar", "import", "--format", "travatar", "table", "rules"], "");
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    folder
}

const TREES: &str = "(S (NP ta) (VP shui))\n\n(S (NP ta) (VP pao))\n";

fn decode(folder: &Path, more: &[&str]) -> Output {
    let mut arguments = vec!["decode", "--grammar", "rules", "--lm", "lm.arpa", "--weights", "weights"];
    arguments.extend(more);
    sylvan(folder, &arguments, TREES)
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn every_search_finds_the_best_translation() {
    let folder = prepared();
    for search in ["cube", "refine", "incremental", "prediction", "exact"] {
        for threads in ["1", "3"] {
            let more = ["--search", search, "--threads", threads, "--scores", "scores"];
            let output = decode(folder.path(), &more);
            // `pao` is unknown and copied; the empty line stays empty.
            assert_eq!(text(&output), "she sleeps\n\nshe pao\n", "{search}");
            let scores = std::fs::read_to_string(folder.path().join("scores")).unwrap();
            let first: f64 = scores.lines().next().unwrap().parse().unwrap();
            let expected = (0.9f64 * 0.4 * 0.7).ln() + 2.0 * 0.1 + 0.5 * std::f64::consts::LN_10 * -0.7;
            assert!((first - expected).abs() < 1e-5, "{search}: {first} not {expected}");
            assert_eq!(scores.lines().count(), 3);
        }
    }
}

#[test]
fn lists_have_features_that_make_up_the_score() {
    let folder = prepared();
    let weights = [("tm0.p_ef", 1.0), ("lm0", 0.5), ("tm0.words", 0.1), ("glue", -5.0), ("oov", -2.0)];
    for search in ["cube", "refine", "incremental", "prediction", "exact"] {
        let output = text(&decode(folder.path(), &["--search", search, "--nbest", "20", "--margin", "100"]));
        let first: Vec<&str> = output.lines().filter(|line| line.starts_with("0 |||")).collect();
        assert_eq!(first.len(), 8, "{search}: all derivations of the first tree\n{output}");
        for line in output.lines() {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            let mut sum = 0.0;
            for field in fields[2].split(' ') {
                let (name, value) = field.split_once('=').unwrap();
                let weight =
                    weights.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, weight)| *weight);
                sum += weight * value.parse::<f64>().unwrap();
            }
            assert!((sum - fields[3].parse::<f64>().unwrap()).abs() < 1e-4, "{line}: {sum}");
        }
    }
}

#[test]
fn options_do_what_they_say() {
    let folder = prepared();
    let stats = |more: &[&str]| -> serde_json::Value {
        let mut all = vec!["--stats", "stats.json"];
        all.extend(more);
        text(&decode(folder.path(), &all));
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("stats.json")).unwrap()).unwrap()
    };
    let usual = stats(&["--search", "incremental"]);
    assert_eq!((usual["sentences"].as_u64(), usual["empty"].as_u64()), (Some(3), Some(1)));
    let few = stats(&["--search", "incremental", "--beam", "1"]);
    assert!(few["pruned"].as_u64() > usual["pruned"].as_u64(), "{few} {usual}");
    let pops = stats(&["--search", "incremental", "--pops", "1"]);
    assert!(pops["items"].as_u64() < usual["items"].as_u64());
    assert_eq!(stats(&["--work", "1"])["cut_short"].as_u64(), Some(2));
    assert_eq!(stats(&["--search", "exact"])["proven"].as_u64(), Some(2));
    let blind = stats(&["--search", "incremental", "--beam", "1", "--future", "none"]);
    assert!(blind["score"].as_f64() <= usual["score"].as_f64());
    let trace = decode(folder.path(), &["--trace"]);
    let trace = String::from_utf8(trace.stderr).unwrap();
    assert!(trace.contains("[. S] [NP .]"), "{trace}");
    let trace = decode(folder.path(), &["--search", "incremental", "--trace"]);
    let trace = String::from_utf8(trace.stderr).unwrap();
    assert!(trace.contains("[. NP VP]"), "{trace}");
    text(&decode(folder.path(), &["--derivations", "derivations"]));
    let derivations = std::fs::read_to_string(folder.path().join("derivations")).unwrap();
    assert!(derivations.contains("NP(ta) -> she"), "{derivations}");
    let all = text(&decode(folder.path(), &["--nbest", "20", "--margin", "100"])).lines().count();
    let distinct = text(&decode(folder.path(), &["--nbest", "20", "--margin", "100", "--distinct"]));
    assert!(distinct.lines().count() <= all);
}

#[test]
fn a_second_model_counts() {
    let folder = prepared();
    // A model that has never seen "she".
    let other = ARPA.replace("\tshe", "\tthey").replace(" she", " they").replace("she ", "they ");
    std::fs::write(folder.path().join("other.arpa"), other).unwrap();
    std::fs::write(folder.path().join("weights"), "p_ef=1\nlm0=0.1\nlm1=3\nglue=-5\noov=-2\n").unwrap();
    for search in ["cube", "refine", "incremental", "prediction"] {
        let output = decode(folder.path(), &["--lm", "other.arpa", "--search", search]);
        assert!(text(&output).starts_with("he "), "{search}: {}", text(&output));
    }
}

#[test]
fn bad_input_is_named() {
    let folder = prepared();
    let arguments = ["decode", "--grammar", "rules", "--lm", "lm.arpa", "--weights", "weights"];
    let broken = sylvan(folder.path(), &arguments, "(S (NP ta) (VP shui))\n(S (NP ta\n");
    let message = String::from_utf8(broken.stderr).unwrap();
    assert!(!broken.status.success() && message.contains(":2"), "{message}");
    std::fs::write(folder.path().join("weights"), "lm=much\n").unwrap();
    let broken = decode(folder.path(), &[]);
    let message = String::from_utf8(broken.stderr).unwrap();
    assert!(
        !broken.status.success() && message.contains("weights") && message.contains("lm=much"),
        "{message}"
    );
    assert!(!decode(folder.path(), &["--margin", "-1"]).status.success());
    assert!(!decode(folder.path(), &["--unknown"]).status.success());
}
