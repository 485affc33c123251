//! `sylvan lm compile`, `query`, `info` and `verify`, run as a user runs them.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use std::path::Path;

use common::run_in as sylvan;

const ARPA: &str = include_str!("../../lm/tests/data/lm_tiny.arpa");

fn good(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = sylvan(folder, arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn bad(folder: &Path, arguments: &[&str]) -> String {
    let output = sylvan(folder, arguments, "");
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_layout_scores_as_kenlm_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("m.arpa"), ARPA).unwrap();
    for (layout, extra, out) in [
        ("hash", &["--bounds"][..], "m.hash"),
        ("trie", &[], "m.trie"),
        ("trie", &["--quantize", "16"], "m.q"),
    ] {
        let options = ["lm", "compile", "--arpa", "m.arpa", "--layout", layout, "--out", out];
        good(at, &[&options[..], extra].concat(), "");
        assert!(good(at, &["lm", "verify", out], "").contains("sound"));
        assert!(good(at, &["lm", "info", out], "").contains(&format!("layout        {layout}")));
    }
    // From `query -v summary` on the same model and text.
    let text = "a b a\nc zzz\n\n";
    for model in ["m.arpa", "m.hash", "m.trie", "m.q"] {
        let json = good(at, &["lm", "query", "--lm", model, "--json"], text);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((json["tokens"].as_u64(), json["oov"].as_u64()), (Some(8), Some(1)));
        let close = |key: &str, expected: f64| {
            let found = json[key].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-4 * expected.abs(), "{model} {key}: {found}");
        };
        close("perplexity", PERPLEXITY);
        close("perplexity_without_oov", PERPLEXITY_WITHOUT_OOV);
        let log10 = json["log10_prob"].as_f64().unwrap();
        assert!((10f64.powf(-log10 / 8.0) - PERPLEXITY).abs() < 1e-3);
    }
    let words = good(at, &["lm", "query", "--lm", "m.hash", "--words"], "a\n");
    assert!(words.starts_with("a -0.723329\t</s> "), "{words}");
    assert!(words.contains("tokens                       2"), "{words}");
}

const PERPLEXITY: f64 = 5.134_014;
const PERPLEXITY_WITHOUT_OOV: f64 = 4.227_557;

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("m.arpa"), ARPA).unwrap();
    let options = ["lm", "compile", "--arpa", "m.arpa", "--out", "m.lm"];
    assert!(bad(at, &[&options[..], &["--quantize", "8"]].concat()).contains("use --layout trie"));
    assert!(bad(at, &[&options[..], &["--quantize", "99"]].concat()).contains("2..=16"));
    good(at, &options, "");
    assert!(bad(at, &["lm", "compile", "--arpa", "m.lm", "--out", "n.lm"]).contains("expected ARPA text"));
    let mut bytes = std::fs::read(at.join("m.lm")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(at.join("m.lm"), bytes).unwrap();
    assert!(bad(at, &["lm", "verify", "m.lm"]).contains("changed bytes in section"));
    assert!(bad(at, &["lm", "query", "--lm", "none"]).contains("none: cannot open"));
    assert!(bad(at, &["lm", "query", "--lm", "m.arpa"]).contains("found no line"));
}
