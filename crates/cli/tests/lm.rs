//! `sylvan lm` as a user meets it.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

fn sylvan(arguments: &[&str], input: &str) -> Output {
    common::run(&[&["lm"], arguments].concat(), input)
}

#[track_caller]
fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn failure(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

const TEXT: &str = include_str!("../../lm/tests/data/lm_tiny.txt");
/// What KenLM's lmplz makes of it with `-o 2 --discount_fallback`.
const ARPA: &str = include_str!("../../lm/tests/data/lm_tiny.arpa");

/// n-gram, log10 probability, back-off.
fn ngrams(arpa: &str) -> Vec<(String, f64, f64)> {
    let mut all: Vec<(String, f64, f64)> = arpa
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            let probability = fields.next()?.parse().ok()?;
            let words = fields.next()?.to_string();
            Some((words, probability, fields.next().map_or(0.0, |number| number.parse().unwrap())))
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[track_caller]
fn assert_same_model(found: &str, expected: &str) {
    let (found, expected) = (ngrams(found), ngrams(expected));
    assert!(!expected.is_empty());
    let words = |all: &[(String, f64, f64)]| all.iter().map(|gram| gram.0.clone()).collect::<Vec<_>>();
    assert_eq!(words(&found), words(&expected));
    for (ours, theirs) in found.iter().zip(&expected) {
        assert!((ours.1 - theirs.1).abs() < 1e-6 && (ours.2 - theirs.2).abs() < 1e-6, "{ours:?} {theirs:?}");
    }
}

fn estimate(dir: &Path, name: &str, more: &[&str]) -> PathBuf {
    let out = dir.join(name);
    let text = dir.join("text");
    if !text.exists() {
        std::fs::write(&text, TEXT).unwrap();
    }
    let base = ["estimate", "--text", text.to_str().unwrap(), "--out", out.to_str().unwrap()];
    stdout(&sylvan(&[&base[..], more].concat(), ""));
    out
}

#[test]
fn estimate_equals_lmplz_on_the_tiny_text() {
    let dir = tempfile::tempdir().unwrap();
    let order = ["--order", "2", "--discount-fallback"];
    let out = estimate(dir.path(), "tiny.arpa", &order);
    assert_same_model(&std::fs::read_to_string(&out).unwrap(), ARPA);
    // Threads and memory change nothing; compressed output reads back.
    let two = estimate(dir.path(), "two.arpa", &[&order[..], &["--threads", "2", "--memory", "1M"]].concat());
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(two).unwrap());
    let gz = estimate(dir.path(), "tiny.arpa.gz", &order);
    assert!(std::fs::read(&gz).unwrap().starts_with(&[0x1f, 0x8b]));
    let shown = stdout(&sylvan(&["info", gz.to_str().unwrap()], ""));
    assert!(shown.contains("2-grams       11"), "{shown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4, "no temporary files are left");
    // From standard input to standard output.
    let piped = stdout(&sylvan(&["estimate", "--order", "2", "--discount-fallback", "--out", "-"], TEXT));
    assert_same_model(&piped, ARPA);
}

#[test]
fn options_of_estimate_are_not_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let order = ["--order", "2", "--discount-fallback"];
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let pruned = read(estimate(dir.path(), "pruned", &[&order[..], &["--prune", "0 1"]].concat()));
    // "a b" occurs three times, "b c" once.
    assert!(pruned.contains("\ta b") && !pruned.contains("\tb c"), "{pruned}");
    let words = dir.path().join("words");
    std::fs::write(&words, "a b").unwrap();
    let limited =
        estimate(dir.path(), "limited", &[&order[..], &["--limit-vocab", words.to_str().unwrap()]].concat());
    let limited = read(limited);
    assert!(!limited.lines().any(|line| line.split(['\t', ' ']).any(|field| field == "c")), "{limited}");
    let marked = "a <s> b\n";
    let message =
        failure(&sylvan(&["estimate", "--order", "2", "--discount-fallback", "--out", "-"], marked));
    assert!(message.contains("standard input:1:3"), "{message}");
    let skip = ["estimate", "--order", "1", "--discount-fallback", "--skip-symbols", "--out", "-"];
    assert!(stdout(&sylvan(&skip, marked)).contains("ngram 1=5"), "<unk>, <s>, </s>, a, b");
    // Without the fallback this text is too small.
    let message = failure(&sylvan(&["estimate", "--order", "2", "--out", "-"], TEXT));
    assert!(message.contains("discount"), "{message}");
}

#[test]
fn compiled_models_answer_like_the_arpa_file() {
    let dir = tempfile::tempdir().unwrap();
    let arpa = dir.path().join("tiny.arpa");
    std::fs::write(&arpa, ARPA).unwrap();
    let arpa = arpa.to_str().unwrap();
    let query = |lm: &str| -> serde_json::Value {
        let shown = stdout(&sylvan(&["query", "--lm", lm, "--json"], "a b c\nx a\n"));
        serde_json::from_str(&shown).unwrap()
    };
    let expected = query(arpa);
    assert_eq!((expected["tokens"].as_u64(), expected["oov"].as_u64()), (Some(7), Some(1)));
    // By hand from the ARPA file: a|<s>, b|a, c|b, </s>|c; then <unk> after <s> backed off, a alone, </s>|a.
    let log10 =
        -0.7233293 - 0.75135803 - 0.7089542 - 0.43393767 + (-0.09691001 - 1.0) - 0.6264193 - 0.46351805;
    assert!((expected["log10_prob"].as_f64().unwrap() - log10).abs() < 1e-5, "{expected}");
    let perplexity = 10f64.powf(-log10 / 7.0);
    assert!((expected["perplexity"].as_f64().unwrap() - perplexity).abs() < 1e-4, "{expected}");
    let without = 10f64.powf(-(log10 + 1.09691001) / 6.0);
    assert!((expected["perplexity_without_oov"].as_f64().unwrap() - without).abs() < 1e-4, "{expected}");
    for (name, more) in [
        ("hash.lm", &["--layout", "hash"][..]),
        ("trie.lm", &["--layout", "trie"]),
        ("bounds.lm", &["--layout", "hash", "--bounds"]),
        ("quantized.lm", &["--layout", "trie", "--quantize", "8"]),
    ] {
        let out = dir.path().join(name);
        let out = out.to_str().unwrap();
        stdout(&sylvan(&[&["compile", "--arpa", arpa, "--out", out][..], more].concat(), ""));
        let found = query(out);
        if name == "quantized.lm" {
            let (a, b) = (found["log10_prob"].as_f64().unwrap(), log10);
            assert!((a - b).abs() < 0.1, "{a} {b}");
        } else {
            assert_eq!(found, expected, "{name}");
        }
        stdout(&sylvan(&["verify", out], ""));
        // One changed byte near the end: opening may succeed, verify must not.
        let mut bytes = std::fs::read(out).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(out, &bytes).unwrap();
        let message = failure(&sylvan(&["verify", out], ""));
        assert!(message.contains(name), "{message}");
        std::fs::write(out, &bytes[..last / 2]).unwrap();
        let message = failure(&sylvan(&["query", "--lm", out], "a\n"));
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_mixture_leans_to_the_model_that_knows_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let model = |name: &str, text: &str| {
        let text = write(&format!("{name}.txt"), text);
        let out = dir.path().join(name).to_str().unwrap().to_string();
        let order = ["estimate", "--order", "2", "--discount-fallback"];
        stdout(&sylvan(&[&order[..], &["--text", &text, "--out", &out]].concat(), ""));
        out
    };
    let near = model("near", "a b\na b c\nb a\n");
    let far = model("far", "x y\ny z x\nx x\n");
    let held_out = write("held-out", "a b\nb a b\nx\n");
    let mix = dir.path().join("mix").to_str().unwrap().to_string();
    let tuned = ["interpolate", "--lm", &near, "--lm", &far, "--tune", &held_out, "--out", &mix];
    let shown = stdout(&sylvan(&tuned, ""));
    let weight: f64 = shown.lines().nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(weight > 0.6 && weight < 1.0, "{shown}");
    let perplexity = |lm: &str| -> f64 {
        let shown = stdout(&sylvan(&["query", "--lm", lm, "--json", &held_out], ""));
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["perplexity"].as_f64().unwrap()
    };
    // What was promised is what the written model does. (Perplexities of the parts are not comparable: they
    // know fewer words.)
    let promised = shown.lines().find(|line| line.ends_with("the mixture")).unwrap();
    let promised: f64 = promised.split_whitespace().next().unwrap().parse().unwrap();
    assert!((perplexity(&mix) - promised).abs() < 0.01, "{} {shown}", perplexity(&mix));
    // All weight on one model: its own answers for words that it knows.
    let fixed = ["interpolate", "--lm", &near, "--lm", &far, "--weights", "1 0", "--out", &mix];
    stdout(&sylvan(&fixed, ""));
    let known = write("known", "a b\nb a b\n");
    let score = |lm: &str| stdout(&sylvan(&["query", "--lm", lm, "--words", &known], ""));
    let (mixed, alone) = (score(&mix), score(&near));
    assert_eq!(mixed.lines().next(), alone.lines().next());
    let wrong = ["interpolate", "--lm", &near, "--lm", &far, "--weights", "1", "--out", &mix];
    let message = failure(&sylvan(&wrong, ""));
    assert!(message.contains("--weights"), "{message}");
}

#[test]
fn every_command_has_an_example_and_missing_files_are_named() {
    for command in ["estimate", "compile", "query", "interpolate", "info", "verify"] {
        let help = stdout(&sylvan(&[command, "--help"], ""));
        assert!(help.contains("Example"), "{command}: {help}");
    }
    for arguments in [
        &["info", "no/such"][..],
        &["verify", "no/such"],
        &["query", "--lm", "no/such"],
        &["compile", "--arpa", "no/such", "--out", "never"],
    ] {
        let message = failure(&sylvan(arguments, ""));
        assert!(message.contains("no/such"), "{message}");
    }
    assert!(!Path::new("never").exists());
}

#[test]
fn an_empty_text_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (text, out) = (dir.path().join("nothing.txt"), dir.path().join("a.arpa"));
    std::fs::write(&text, "").unwrap();
    let (text, arpa) = (text.to_str().unwrap(), out.to_str().unwrap());
    let arguments = ["estimate", "--order", "2", "--text", text, "--out", arpa];
    let message = failure(&sylvan(&arguments, ""));
    assert!(message.contains("nothing.txt: found no sentence"), "{message}");
    assert!(!out.exists());
}
