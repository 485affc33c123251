//! `sylvan grammar` with phrase pairs and Hiero rules, run as a user runs it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "je ne parle pas\nje ne mange pas\ntu parles et je mange\nje mange\na b c\np u q\n";
const TARGET: &str = "i do not speak\ni do not eat\nyou speak and i eat\ni eat now\nb a c\nr s\n";
const LINKS: &str = "0-0 1-2 3-2 2-3\n0-0 1-2 3-2 2-3\n0-0 1-1 2-2 3-3 4-4\n0-0 1-1\n0-1 1-0 2-2\n0-0 2-1\n";

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

/// Lines in order: tables are sorted by the numbers of words, which depend on where each is met first.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Both texts have the same lines; shows the first that differs.
fn assert_same(found: &str, expected: &str, what: &str) {
    for (found, expected) in sorted(found).iter().zip(sorted(expected)) {
        assert_eq!(*found, expected, "{what}");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{what}");
}

fn corpus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("f", SOURCE), ("e", TARGET), ("a", LINKS)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const FILES: &str = "--source f --target e --align a --out";

#[test]
fn hiero_extract_show_info_verify_filter() {
    let folder = corpus();
    let at = folder.path();
    let tight = "--min-gap 1 --boundary tight";
    good(at, &format!("grammar extract --kind hiero {tight} {FILES} r.rules --memory 64M --threads 2"));
    good(at, "grammar verify r.rules");
    let shown = good(at, "grammar show r.rules --source ne_pas");
    let first: Vec<&str> = shown.lines().take(5).collect();
    assert_eq!(
        first,
        [
            "X(ne x1:X pas) -> not x1",
            "    seen 1 times, source side 1, target side 1",
            "    p_ef=0.0000 p_fe=0.0000 lex_ef=0.0000 lex_fe=-1.3863",
            "    links 0-0 1-0",
            "    training lines 2 1",
        ],
        "{shown}"
    );
    let info: serde_json::Value = serde_json::from_str(&good(at, "grammar info r.rules --json")).unwrap();
    assert_eq!(info["description"]["formalism"], "hiero");
    assert_eq!(info["description"]["limits"]["span"], 10);
    std::fs::write(at.join("s"), "ne mange pas\n").unwrap();
    good(at, "grammar filter r.rules --source s --out s.rules");
    let kept = good(at, "grammar export --format joshua s.rules");
    let sides: Vec<&str> = kept.lines().map(|line| line.split(" ||| ").nth(1).unwrap()).collect();
    assert_eq!(sides.len(), 4, "{kept}");
    assert!(sides.contains(&"ne [X,1] pas") && sides.contains(&"mange") && !kept.contains("je"), "{kept}");
}

#[test]
fn phrase_pairs_have_orientations() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("grammar extract --kind phrase {FILES} r.rules"));
    let json = good(at, "grammar show r.rules --source a --target a --json --limit 1");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rule"], "X(a) -> a");
    // `a` comes after `b` in the target and stands before it in the source: swap towards what is before.
    let swap = json["features"]["msd.prev.swap"].as_f64().unwrap();
    assert!((swap.exp() - 1.5 / 2.5).abs() < 1e-6, "{json}");
    let disc = json["features"]["msd.next.disc"].as_f64().unwrap();
    assert!((disc.exp() - 1.5 / 2.5).abs() < 1e-6, "{json}");
    assert!(good(at, "grammar info r.rules").contains("orientation     \"word\""));
}

/// Each option changes the table.
#[test]
fn no_option_is_ignored() {
    let folder = corpus();
    let at = folder.path();
    let table = |kind: &str, options: &str| {
        good(at, &format!("grammar extract --kind {kind} {FILES} x.rules {options}"));
        good(at, "grammar export --format travatar x.rules")
    };
    let plain = table("hiero", "");
    for options in [
        "--max-span 2",
        "--max-span 10 --max-target-span 2",
        "--boundary tight",
        "--max-symbols 3",
        "--max-target-symbols 3",
        "--max-variables 1",
        "--min-gap 1",
        "--words-first",
        "--min-target-gap 2",
        "--adjacent",
        "--unlinked --min-gap 1",
        "--whole-counts",
        "--samples 1",
        "--like chiang",
        "--like cdec",
        "--smoothing kneser-ney",
        "--per-source 1 --boundary loose",
        "--significance 1 --whole-counts",
        "--evidence",
        "--min-count 0.5",
    ] {
        assert!(table("hiero", options) != plain, "{options}");
    }
    assert!(table("hiero", "--unlinked --min-gap 1") != table("hiero", "--min-gap 1"));
    assert!(table("hiero", "--per-source 1 --boundary loose") != table("hiero", "--boundary loose"));
    assert!(table("hiero", "--significance 1 --whole-counts") != table("hiero", "--whole-counts"));
    assert!(table("hiero", "--like moses --min-gap 1") != table("hiero", "--like moses"));
    assert!(table("hiero", "--like moses") != table("hiero", "--like chiang"));
    let plain = table("lr-hiero", "--reordering lrm");
    for options in
        ["", "--reordering none", "--reordering lrm --reordering-prior 3", "--reordering lrm --max-symbols 3"]
    {
        assert!(table("lr-hiero", options) != plain, "{options}");
    }
    assert_eq!(table("lr-hiero", "--reordering nvlrm"), plain, "they differ in decoding alone");
    let plain = table("phrase", "");
    for options in [
        "--max-span 2",
        "--max-target-span 2",
        "--boundary tight",
        "--orientation phrase",
        "--orientation hier",
        "--orientation none",
        "--orientation-smoothing 1",
        "--orientation-global",
        "--significance alpha+epsilon",
    ] {
        assert!(table("phrase", options) != plain, "{options}");
    }
    let short = "--max-span 1 --orientation";
    assert_ne!(table("phrase", &format!("{short} hier")), table("phrase", &format!("{short} phrase")));
}

#[test]
fn options_of_other_kinds_are_refused() {
    let folder = corpus();
    let at = folder.path();
    for (kind, options) in [
        ("hiero", "--trees t"),
        ("hiero", "--tree-format penn"),
        ("hiero", "--tree-scale 1"),
        ("hiero", "--counts"),
        ("hiero", "--keep-root"),
        ("hiero", "--as-is"),
        ("hiero", "--collapse-unary"),
        ("hiero", "--binarize left"),
        ("hiero", "--like-travatar"),
        ("hiero", "--compose 2"),
        ("hiero", "--max-nodes 2"),
        ("hiero", "--max-words 2"),
        ("hiero", "--max-source-words 2"),
        ("hiero", "--phrases 2"),
        ("hiero", "--number-like-travatar"),
        ("hiero", "--least-share 0.1"),
        ("hiero", "--attach lowest"),
        ("hiero", "--attach-words 1"),
        ("hiero", "--target-sides plain"),
        ("hiero", "--orientation word"),
        ("hiero", "--orientation-smoothing 1"),
        ("hiero", "--orientation-global"),
        ("hiero", "--reordering lrm"),
        ("hiero", "--reordering-prior 3"),
        ("phrase", "--reordering lrm"),
        ("lr-hiero", "--orientation word"),
        ("phrase", "--max-variables 1"),
        ("phrase", "--like moses"),
        ("phrase", "--max-symbols 3"),
        ("phrase", "--max-target-symbols 3"),
        ("phrase", "--min-gap 1"),
        ("phrase", "--min-target-gap 1"),
        ("phrase", "--adjacent"),
        ("phrase", "--unlinked"),
        ("phrase", "--whole-counts"),
        ("phrase", "--samples 3"),
        ("tree", "--trees f"),
        ("tree", "--trees f --max-span 3"),
        ("tree", "--trees f --boundary tight"),
        ("tree", "--trees f --reordering lrm"),
        ("tree", "--trees f --whole-counts"),
    ] {
        let message = bad(at, &format!("grammar extract --kind {kind} {FILES} x.rules {options}"));
        assert!(message.contains(&format!("cannot be used with --kind {kind}")), "{options}: {message}");
    }
    let message = bad(at, "grammar extract --kind hiero --target e --align a --out x.rules");
    assert!(message.contains("--source"), "{message}");
    let message = bad(at, "grammar extract --kind tree --target e --align a --out x.rules");
    assert!(message.contains("--trees"), "{message}");
    let message = bad(at, &format!("grammar extract --kind hiero {FILES} x.rules --significance 3"));
    assert!(message.contains("--whole-counts"), "{message}");
    let none = "--orientation none --orientation-smoothing 1";
    assert!(bad(at, &format!("grammar extract --kind phrase {FILES} x.rules {none}")).contains("has none"));
}

#[test]
fn exported_and_imported_again_it_is_the_same_table() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("grammar extract --kind hiero {FILES} h.rules --exact --min-gap 1 --lines 0"));
    let whole = good(at, "grammar export --format travatar h.rules");
    for (format, keeps_counts) in [("travatar", true), ("moses", true), ("cdec", false), ("joshua", false)] {
        good(at, &format!("grammar export --format {format} h.rules --out h.{format}"));
        good(at, &format!("grammar import --kind hiero --format {format} h.{format} --out again.rules"));
        let again = good(at, &format!("grammar export --format {format} again.rules"));
        assert_same(&again, &std::fs::read_to_string(at.join(format!("h.{format}"))).unwrap(), format);
        if keeps_counts {
            assert_same(&good(at, "grammar export --format travatar again.rules"), &whole, format);
        }
        good(at, "grammar verify again.rules");
    }
    good(at, &format!("grammar extract --kind lr-hiero --reordering lrm {FILES} l.rules --exact --lines 0"));
    good(at, "grammar export --format kriya l.rules --out l.kriya --reordering l.order");
    good(at, "grammar import --kind lr-hiero --format kriya l.kriya --reordering l.order --out k.rules");
    let values = |rules: &str| good(at, &format!("grammar export --format cdec {rules}"));
    let (before, after) = (values("l.rules"), values("k.rules"));
    // Kriya keeps no links; the rest is the same up to the rounding of probabilities.
    let rules = |text: &str| -> Vec<(String, Vec<f64>)> {
        let rule = |line: &str| {
            let fields: Vec<&str> = line.split(" ||| ").collect();
            let value = |pair: &str| pair.split_once('=').unwrap().1.parse().unwrap();
            let numbers =
                fields[3].trim_end_matches(" |||").split_whitespace().filter(|pair| pair.contains('='));
            (format!("{} ||| {}", fields[1], fields[2]), numbers.map(value).collect())
        };
        sorted(text).into_iter().map(rule).collect()
    };
    let (before, after) = (rules(&before), rules(&after));
    assert!(before.len() == after.len() && before.len() > 20);
    for ((rule, values), (other, others)) in before.iter().zip(&after) {
        assert!(rule == other && values.len() == 10 && others.len() == 10, "{rule} {other}");
        assert!(values.iter().zip(others).all(|(a, b)| (a - b).abs() < 1e-5), "{rule} {values:?} {others:?}");
    }
    let kriya = std::fs::read_to_string(at.join("l.kriya")).unwrap();
    assert!(kriya.contains("ne X__1 pas ||| do not X__1 ||| "), "{kriya}");
    let order = std::fs::read_to_string(at.join("l.order")).unwrap();
    assert!(
        order.lines().filter(|line| line.starts_with("ne [X] pas ||| do not ||| ")).count() == 1,
        "{order}"
    );
    let moses = std::fs::read_to_string(at.join("h.moses")).unwrap();
    assert!(moses.contains("ne [X][X] pas [X] ||| not [X][X] [X] ||| "), "{moses}");
    assert!(moses.contains(" ||| 0-0 1-1 2-0 ||| "), "{moses}");
    let cdec = std::fs::read_to_string(at.join("h.cdec")).unwrap();
    assert!(cdec.contains("[X] ||| ne [X,1] pas ||| not [X,1] ||| p_ef="), "{cdec}");

    good(at, &format!("grammar extract --kind phrase {FILES} p.rules --exact --lines 0"));
    let whole = good(at, "grammar export --format travatar p.rules");
    good(at, "grammar export --format moses p.rules --out p.moses --reordering p.reordering");
    good(at, "grammar import --kind phrase --format moses p.moses --reordering p.reordering --out q.rules");
    assert_same(&good(at, "grammar export --format travatar q.rules"), &whole, "import");
    good(at, "grammar compile --kind phrase --format moses p.moses --reordering p.reordering --out c.rules");
    assert_same(&good(at, "grammar export --format travatar c.rules"), &whole, "compile");
    let table = std::fs::read_to_string(at.join("p.moses")).unwrap();
    assert!(table.contains("\nne parle pas ||| do not speak ||| "), "{table}");
    assert!(!table.contains("[X]"), "{table}");
    let line = std::fs::read_to_string(at.join("p.reordering")).unwrap();
    let line = line.lines().find(|line| line.starts_with("a ||| a |||")).unwrap();
    let values: Vec<f64> =
        line.split_once("||| a |||").unwrap().1.split_whitespace().map(|v| v.parse().unwrap()).collect();
    assert_eq!(values.len(), 6);
    assert!((values[1] - 0.6).abs() < 1e-6 && (values[0] - 0.2).abs() < 1e-6, "{line}");
}

/// What other toolkits write: glue rules, a constant score, gaps by number alone, tables of other phrase pairs.
#[test]
fn tables_of_other_toolkits_are_read() {
    let folder = corpus();
    let at = folder.path();
    let moses = "ne [X][X] pas [X] ||| not [X][X] [X] ||| 0.5 0.25 1 0.5 2.718 ||| 0-0 1-1 2-0 ||| 2 1 1\n\
                 <s> [X] ||| <s> [S] ||| 1 ||| 0-0\n\
                 [X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0 1-1\n\
                 [X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1\n";
    std::fs::write(at.join("m"), moses).unwrap();
    let said = sylvan(at, "grammar import --kind hiero --format moses m --out m.rules");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("1 rules") && said.contains("3 glue rules are not kept"), "{said}");
    assert!(said.contains("feature moses4 counts what every rule shows"), "{said}");
    let cdec = "[X] ||| ne [X,1] pas ||| not [1] ||| EgivenFCoherent=0.3 ||| 0-0 2-0\n\
                [S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1\n";
    std::fs::write(at.join("c"), cdec).unwrap();
    good(at, "grammar import --kind hiero --format cdec c --out c.rules");
    assert!(good(at, "grammar show c.rules --source ne").starts_with("X(ne x1:X pas) -> not x1\n"));
    std::fs::write(at.join("p"), "a b ||| x ||| 0.5 0.5 1 1 ||| 0-0 ||| 2 1 1\nc ||| y ||| 1 1 1 1\n")
        .unwrap();
    std::fs::write(at.join("o"), "c ||| y ||| 0.5 0.25 0.25 0.2 0.2 0.6\nd ||| z ||| 1 0 0 1 0 0\n").unwrap();
    let said = sylvan(at, "grammar import --kind phrase --format moses p --reordering o --out p.rules");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("1 of them without orientations"), "{said}");
    assert!(said.contains("1 orientations of other phrase pairs are not kept"), "{said}");
    let shown = good(at, "grammar show p.rules --source c");
    assert!(shown.contains("msd.prev.mono=-0.6931") && shown.contains("msd.next.disc=-0.5108"), "{shown}");
}

#[test]
fn mistakes_are_named() {
    let folder = corpus();
    let at = folder.path();
    good(at, &format!("grammar extract --kind hiero {FILES} h.rules"));
    good(at, &format!("grammar extract --kind phrase {FILES} p.rules --orientation none"));
    let message = bad(at, "grammar filter h.rules --trees f --out x.rules");
    assert!(message.contains("h.rules: found rules of kind hiero, expected rules of kind tree"), "{message}");
    let message = bad(at, "grammar export --format moses h.rules --out x --reordering y");
    assert!(message.contains("found rules of kind hiero, expected rules of kind phrase"), "{message}");
    let message = bad(at, "grammar export --format moses p.rules --out x --reordering y");
    assert!(message.contains("without orientations") && message.contains("--orientation"), "{message}");
    std::fs::write(at.join("lm"), "\\data\\\nngram 1=2\n\n\\1-grams:\n-1 <s>\n-1 </s>\n\n\\end\\\n").unwrap();
    std::fs::write(at.join("w"), "lm=1\n").unwrap();
    let message = bad(at, "decode --strict --grammar h.rules --lm lm --weights w f");
    assert!(message.contains("found Tree for a model of kind hiero, expected text"), "{message}");
    let message = bad(at, "decode --strict --grammar p.rules --lm lm --weights w f");
    assert!(message.contains("for a model of kind phrase"), "{message}");
    let message = bad(at, "decode --input text --search refine --grammar p.rules --lm lm --weights w f");
    assert!(message.contains("refine for a model of kind phrase"), "{message}");
    // A line that is not of the kind.
    for (kind, line, expected) in [
        ("hiero", "a [NP][X] [X] ||| [X][X] b [X] ||| 1 1 1 1 ||| 0-1 1-0", "label X"),
        ("hiero", "[X [Y a]] ||| b [X] ||| 1 1 1 1 ||| 0-0", "label X"),
        ("phrase", "a ||| b", "too few fields"),
        ("phrase", "a ||| b ||| 1 x 1 1", "a probability"),
        ("phrase", " ||| b ||| 1 1 1 1", "no"),
    ] {
        std::fs::write(at.join("bad"), format!("{line}\n")).unwrap();
        let message = bad(at, &format!("grammar import --kind {kind} --format moses bad --out x.rules"));
        assert!(message.contains("bad:1") && message.contains(expected), "{line}: {message}");
    }
    std::fs::write(at.join("good"), "a ||| b ||| 1 1 1 1\n").unwrap();
    for (line, expected) in
        [("a ||| b ||| 1 0 0", "3 probabilities"), ("a ||| b ||| 2 0 0 1 0 0", "a probability")]
    {
        std::fs::write(at.join("o"), format!("{line}\n")).unwrap();
        let command = "grammar import --kind phrase --format moses good --reordering o --out x.rules";
        let message = bad(at, command);
        assert!(message.contains("o:1") && message.contains(expected), "{message}");
    }
    for options in
        ["--kind hiero --reordering o", "--kind hiero --keep-root", "--kind phrase --binarize left"]
    {
        let message = bad(at, &format!("grammar import {options} --format moses good --out x.rules"));
        assert!(message.contains("cannot be used with --kind"), "{options}: {message}");
    }
    std::fs::write(at.join("short"), "0-9\n\n\n\n\n\n").unwrap();
    let files = "--source f --target e --align short --out x.rules";
    let message = bad(at, &format!("grammar extract --kind phrase {files}"));
    assert!(message.contains("short:1") && message.contains("link 0-9"), "{message}");
}
