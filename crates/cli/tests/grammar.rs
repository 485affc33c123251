//! `sylvan grammar`, run as a user runs it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;
use std::process::{Command, Output};

const TREES: &str = "(ROOT (S (NP-SBJ (PRP he)) (VP (VBZ runs))))\n\
    (ROOT (S (NP-SBJ (PRP she)) (VP (VBZ runs))))\n\
    (ROOT (S (NP-SBJ (PRP he)) (VP (VBZ eats) (NP (NP (NN rice))))))\n";
const TARGET: &str = "kare wa hashiru\nkanojo wa sa hashiru\nkare wa kome wo taberu\n";
const LINKS: &str = "0-0 1-2\n0-0 1-3\n0-0 1-4 2-2\n";

fn sylvan(folder: &Path, arguments: &str) -> Output {
    let arguments = arguments.split_ascii_whitespace().map(|part| part.replace('_', " "));
    Command::new(env!("CARGO_BIN_EXE_sylvan")).args(arguments).current_dir(folder).output().unwrap()
}

fn good(folder: &Path, arguments: &str) -> String {
    let output = sylvan(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn bad(folder: &Path, arguments: &str) -> String {
    let output = sylvan(folder, arguments);
    assert!(!output.status.success(), "{arguments} should fail");
    String::from_utf8(output.stderr).unwrap()
}

fn corpus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("t", TREES), ("e", TARGET), ("a", LINKS)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const EXTRACT: &str = "grammar extract --kind tree --trees t --target e --align a --out";

#[test]
fn extract_show_info_verify() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("{EXTRACT} r.rules --memory 64M --threads 2"));
    good(at, "grammar verify r.rules");
    let shown = good(at, "grammar show r.rules --source he");
    let first: Vec<&str> = shown.lines().take(5).collect();
    assert_eq!(
        first,
        [
            "PRP(he) -> kare",
            "    seen 2 times, source side 2, target side 2",
            "    p_ef=0.0000 p_fe=0.0000 lex_ef=0.0000 lex_fe=0.0000",
            "    links 0-0",
            "    training lines 1 3",
        ],
        "{shown}"
    );
    assert!(good(at, "grammar show r.rules --target hashiru --limit 1").starts_with("VBZ(runs) -> hashiru"));
    assert_eq!(good(at, "grammar show r.rules --source nobody"), "");
    let json = good(at, "grammar show r.rules --target wa_sa --json --limit 1 --source she");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["count"]["rule"], 1.0);
    assert_eq!(json["lines"], serde_json::json!([2]));
    let info: serde_json::Value = serde_json::from_str(&good(at, "grammar info r.rules --json")).unwrap();
    assert_eq!(info["description"]["pairs"], 3);
    assert_eq!(info["description"]["preprocessing"]["root"], "drop");
    assert!(good(at, "grammar info r.rules").contains("feature bits    16"));
}

/// Each option changes the table.
#[test]
fn no_option_is_ignored() {
    let folder = corpus();
    let at = folder.path();
    let table = |options: &str| {
        good(at, &format!("{EXTRACT} x.rules {options}"));
        good(at, "grammar export --format travatar x.rules")
    };
    let plain = table("");
    assert!(plain.contains("NP ( PRP ( \"he\" ) ) ||| \"kare\" |||"), "{plain}");
    for options in [
        "--keep-root",
        "--as-is",
        "--collapse-unary",
        "--compose 1",
        "--max-nodes 2",
        "--max-words 1",
        "--max-source-words 0",
        "--max-variables 1",
        "--phrases 9 --compose 2",
        "--attach exhaustive",
        "--attach exhaustive --attach-words 2",
        "--smoothing good-turing",
        "--smoothing kneser-ney",
        "--target-sides plain",
        "--per-source 1 --attach exhaustive",
        "--significance alpha+epsilon",
        "--significance 0.9",
        "--like-travatar",
        "--min-count 2",
    ] {
        assert_ne!(table(options), plain, "{options}");
    }
    assert_ne!(table("--significance alpha-epsilon"), table("--significance alpha+epsilon"));
    assert_ne!(table("--attach exhaustive --attach-words 2"), table("--attach exhaustive"));
    let size = |options: &str| {
        good(at, &format!("{EXTRACT} x.rules {options}"));
        good(at, "grammar info x.rules")
    };
    for options in ["--exact", "--quantize 3", "--lines 0", "--binarize right"] {
        assert_ne!(size(options), size(""), "{options}");
    }
    assert!(bad(at, &format!("{EXTRACT} x.rules --exact --quantize 3")).contains("cannot be used with"));
    assert!(bad(at, &format!("{EXTRACT} x.rules --memory lots")).contains("512M"));
    assert!(bad(at, &format!("{EXTRACT} x.rules --significance much")).contains("alpha+epsilon"));
}

#[test]
fn exported_and_imported_again_it_is_the_same_table() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("{EXTRACT} r.rules --keep-root"));
    good(at, "grammar export --format travatar r.rules --out r.txt.gz");
    good(at, "grammar import --format travatar --keep-root r.txt.gz --out again.rules");
    let text = |table: &str| {
        let mut lines: Vec<String> = good(at, &format!("grammar export --format travatar {table}"))
            .lines()
            .map(String::from)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(text("again.rules"), text("r.rules"));
    let info = good(at, "grammar info again.rules");
    assert!(info.contains("preprocessing   root \"keep\""), "{info}");
    // What one format says, another says too; Joshua's has no inner nodes.
    for (format, same) in [("moses", true), ("cdec", true), ("joshua", false)] {
        good(at, &format!("grammar export --format {format} r.rules --out r.{format}.zst"));
        good(at, &format!("grammar import --format {format} --keep-root r.{format}.zst --out other.rules"));
        let rules = |table: &str| {
            let all = good(at, &format!("grammar export --format cdec {table}"));
            let mut rules: Vec<String> = all.lines().map(String::from).collect();
            rules.sort();
            rules
        };
        assert_eq!(rules("other.rules") == rules("r.rules"), same, "{format}");
        // Without inner nodes some rules read alike, and become one.
        assert_eq!(rules("other.rules").len() == rules("r.rules").len(), same, "{format}");
    }
}

#[test]
fn mistakes_are_named() {
    let folder = corpus();
    let at = folder.path();
    assert!(bad(at, "grammar info t").contains("expected a Sylvan model file"));
    assert!(bad(at, "grammar import --format travatar t --out x.rules").contains("t:1"));
    std::fs::write(at.join("a"), "0-0\n0-9\n0-0\n").unwrap();
    let error = bad(at, &format!("{EXTRACT} x.rules"));
    assert!(error.contains("a:2") && error.contains("link 0-9"), "{error}");
    assert!(!at.join("x.rules").exists());
}

#[test]
fn counting_and_scoring_apart_give_the_same_rules() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("{EXTRACT} whole.rules"));
    good(at, &format!("{EXTRACT} c.gz --counts --lex l"));
    good(at, "grammar score c.gz --lex l --pairs 3 --out parts.rules");
    let text = |table: &str| {
        let mut lines: Vec<String> = good(at, &format!("grammar export --format travatar {table}"))
            .lines()
            .map(String::from)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(text("parts.rules"), text("whole.rules"));
    // Twice the counts, the same frequencies.
    good(at, "grammar score c.gz c.gz --lex l --out twice.rules");
    assert!(
        good(at, "grammar show twice.rules --source he --limit 1").contains("seen 4 times, source side 4")
    );
    assert_ne!(text("twice.rules"), text("whole.rules"));
    good(at, "grammar export --format travatar whole.rules --out t.txt");
    good(at, "grammar compile t.txt --out compiled.rules");
    assert_eq!(text("compiled.rules"), text("whole.rules"));
    assert!(good(at, "grammar info compiled.rules").contains("root \"drop\""));
    assert!(bad(at, &format!("{EXTRACT} c.gz --lex l")).contains("--counts"));
}

#[test]
fn a_filtered_table_has_what_the_trees_can_use() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("{EXTRACT} r.rules"));
    std::fs::write(at.join("one"), "(ROOT (S (NP (PRP he)) (VP (VBZ runs))))\n").unwrap();
    good(at, "grammar filter r.rules --out f.rules --trees one");
    let shown = good(at, "grammar show f.rules --source he --limit 0");
    assert!(shown.contains("S(NP(PRP(he)) VP(x1:VBZ))") && !shown.contains("eats"), "{shown}");
    assert_eq!(good(at, "grammar show f.rules --source she"), "");
    good(at, "grammar filter r.rules --out g.rules --min-count 2");
    let often = good(at, "grammar show g.rules --source he --limit 0");
    assert!(often.contains("PRP(he) -> kare") && !often.contains("seen 1 times"), "{often}");
    good(at, &format!("{EXTRACT} e.rules --attach exhaustive"));
    good(at, "grammar filter e.rules --out h.rules --per-source 1");
    let rules = |table: &str| good(at, &format!("grammar export --format cdec {table}")).lines().count();
    assert!(rules("h.rules") < rules("e.rules"));
}

const FOREST: &str = "sentence 1 :\nhe runs\nPRP[0,0] => he ||| 0\nVBZ[1,1] => runs ||| 0\n\
    NP[0,0] => PRP[0,0] ||| 0\nVP[1,1] => VBZ[1,1] ||| 0\nS[0,1] => NP[0,0] VP[1,1] ||| -0.105360516\n\
    S[0,1] => PRP[0,0] VP[1,1] ||| -2.302585093\n\n";

#[test]
fn forests_and_lists_give_fractional_counts() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let list = "1 ||| -0.105360516 ||| (S (NP (PRP he)) (VP (VBZ runs)))\n\
        1 ||| -2.302585093 ||| (S (PRP he) (VP (VBZ runs)))\n";
    for (name, text) in [("f", FOREST), ("l", list), ("e", "kare hashiru\n"), ("a", "0-0 1-1\n")] {
        std::fs::write(at.join(name), text).unwrap();
    }
    let seen = |options: &str, rule: &str| {
        good(at, &format!("grammar extract --kind tree --target e --align a --out x.rules {options}"));
        let all = good(at, "grammar export --format travatar x.rules");
        let line = all.lines().find(|line| line.starts_with(rule)).map(str::to_string);
        line.map(|line| {
            line.split(" ||| ").nth(3).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap()
        })
    };
    let (likely, unlikely, sure) = ("S ( x0:NP x1:VP )", "S ( x0:PRP x1:VP )", "PRP ( \"he\" )");
    let close = |count: Option<f64>, expected: f64| (count.unwrap() - expected).abs() < 1e-5;
    for source in ["--trees f --tree-format forest", "--trees l --tree-format list"] {
        assert!(close(seen(source, likely), 0.9) && close(seen(source, unlikely), 0.1), "{source}");
        assert_eq!(seen(source, sure), Some(1.0));
        assert!(close(seen(&format!("{source} --tree-scale 0"), unlikely), 0.5), "{source}");
    }
    let forest = "--trees f --tree-format forest";
    assert_eq!(seen(&format!("{forest} --least-share 0.2"), unlikely), None);
    assert_eq!(seen(&format!("{forest} --least-share 0.2"), sure), Some(1.0));
    let wrong = "grammar extract --kind tree --target e --align a --out y.rules";
    assert!(bad(at, &format!("{wrong} --trees f")).contains("--tree-format forest"));
    assert!(bad(at, &format!("{wrong} {forest} --tree-scale=-1")).contains("from 0 up"));
    assert!(bad(at, &format!("{wrong} {forest} --least-share 2")).contains("0 to 1"));
}
