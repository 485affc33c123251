//! `sylvan model prune`, `diff` and `overlay` on a model of the sample corpus.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::corpus::model;
use common::run_in;
use serde_json::Value;

#[track_caller]
fn success(dir: &Path, arguments: &[&str], input: &str) -> String {
    let output = run_in(dir, arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn failure(dir: &Path, arguments: &[&str]) -> String {
    let output = run_in(dir, arguments, "");
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn translate(dir: &Path, trees: &str, more: &[&str]) -> Vec<String> {
    let arguments = [&["translate", "--model", "m", "--input", "tree"], more].concat();
    success(dir, &arguments, trees).lines().map(str::to_string).collect()
}

/// The rules of each translation.
fn rules(dir: &Path, trees: &str) -> Vec<BTreeSet<String>> {
    let out = success(dir, &["explain", "--model", "m", "--json", "--input", "tree"], trees);
    let used = out.lines().map(|line| {
        let one: Value = serde_json::from_str(line).unwrap();
        let steps = one["steps"].as_array().unwrap().iter();
        steps.map(|step| step["rule"].as_str().unwrap().to_string()).collect()
    });
    used.collect()
}

fn differing(a: &[String], b: &[String]) -> BTreeSet<usize> {
    assert_eq!(a.len(), b.len());
    (0..a.len()).filter(|&line| a[line] != b[line]).collect()
}

#[test]
fn corrections_change_the_sentences_they_are_about_and_can_be_undone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let trees = model(dir, 480, 100, &[]);
    let before = translate(dir, &trees, &[]);
    let model = std::fs::read(dir.join("m")).unwrap();
    let used = rules(dir, &trees);
    // A lexical rule that several sentences use, but few.
    let users =
        |rule: &str| (0..used.len()).filter(|&line| used[line].contains(rule)).collect::<BTreeSet<usize>>();
    let candidates: BTreeSet<&String> = used.iter().flatten().collect();
    let rule = candidates.into_iter().find(|rule| users(rule).len() == 3 && !rule.contains("x1")).unwrap();
    let overlay = |arguments: &[&str]| success(dir, &[&["model", "overlay"], arguments].concat(), "");

    overlay(&["forbid", "m", rule]);
    let after = translate(dir, &trees, &[]);
    assert!(rules(dir, &trees).iter().all(|used| !used.contains(rule)), "it is no longer used");
    let changed = differing(&before, &after);
    assert!(changed.is_subset(&users(rule)), "{changed:?} of {:?}", users(rule));
    assert_eq!(translate(dir, &trees, &["--no-overlay"]), before);
    assert_eq!(translate(dir, &trees, &["--threads", "1"]), after);
    let log = std::fs::read(dir.join("m.overlay")).unwrap();

    // A sentence with its translation: that sentence and no other.
    let tree = trees.lines().nth(7).unwrap();
    overlay(&[
        "add",
        "m",
        "--exact",
        "--author",
        "Ann",
        "--input",
        "tree",
        "--pair",
        tree,
        "zzone of zztwo .",
    ]);
    let given = translate(dir, &trees, &[]);
    assert_eq!(given[7], "zzone of zztwo .");
    let same: BTreeSet<usize> =
        (0..given.len()).filter(|&line| trees.lines().nth(line) == Some(tree)).collect();
    assert_eq!(differing(&after, &given), same);
    let listed = overlay(&["list", "m"]);
    assert_eq!(listed.lines().count(), 2);
    assert!(listed.starts_with(&format!("1\tforbid {rule}\t1 line\n2\t20")), "{listed}");
    assert!(listed.contains(&format!("Z Ann: {tree} ||| zzone of zztwo .\t1 line\n")), "{listed}");

    // Undo, step by step, to the same bytes as before.
    overlay(&["undo", "m"]);
    assert_eq!(std::fs::read(dir.join("m.overlay")).unwrap(), log);
    assert_eq!(translate(dir, &trees, &[]), after);
    overlay(&["undo", "m"]);
    assert!(!dir.join("m.overlay").exists());
    assert_eq!(translate(dir, &trees, &[]), before);
    assert_eq!(std::fs::read(dir.join("m")).unwrap(), model, "the model was never touched");
    assert!(failure(dir, &["model", "overlay", "undo", "m"]).contains("found no correction"));
    for what in ["list", "undo"] {
        std::fs::write(dir.join("text"), "no model\n").unwrap();
        assert!(failure(dir, &["model", "overlay", what, "text"]).contains("expected a Sylvan"));
        assert!(failure(dir, &["model", "overlay", what, "nowhere"]).contains("nowhere"));
    }

    // What can be learnt from a sentence is shown, counts elsewhere, and goes with it.
    let user = *users(rule).first().unwrap();
    let (_, word) = rule.split_once(" -> ").unwrap();
    let better = before[user].replacen(word, "zzother", 1);
    let pair =
        ["model", "overlay", "add", "m", "--input", "tree", "--pair", trees.lines().nth(user).unwrap()];
    let told = run_in(dir, &[&pair[..], &[better.as_str()]].concat(), "");
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("learnt: ") && told.contains("zzother"), "{told}");
    let learnt = translate(dir, &trees, &[]);
    assert_eq!(learnt[user], better);
    assert!(differing(&before, &learnt).is_subset(&users(rule)), "only where the word is");
    let told = run_in(dir, &[&pair[..], &["zz ."]].concat(), "");
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains(&format!("instead of {better:?}, which anonymous gave at 20")), "{told}");
    overlay(&["undo", "m"]);
    assert_eq!(translate(dir, &trees, &[]), learnt);
    overlay(&["undo", "m"]);
    assert_eq!(translate(dir, &trees, &[]), before);

    // A rule for a word that was translated otherwise: first added, then favoured.
    let (source, _) = rule.split_once(" -> ").unwrap();
    let new = format!("{source} -> zznew");
    overlay(&["add", "m", &format!("{new} ||| p_ef=-50")]);
    assert!(translate(dir, &trees, &[]).iter().all(|line| !line.contains("zznew")));
    overlay(&["boost", "m", "--by", "100", &new]);
    let boosted = translate(dir, &trees, &[]);
    let with: BTreeSet<usize> = (0..boosted.len()).filter(|&line| boosted[line].contains("zznew")).collect();
    assert!(users(rule).is_subset(&with), "{with:?}");
    let told = success(
        dir,
        &["explain", "--model", "m", "--json", "--input", "tree"],
        trees.lines().nth(*with.first().unwrap()).unwrap(),
    );
    let one: Value = serde_json::from_str(&told).unwrap();
    assert!(one["steps"].as_array().unwrap().iter().any(|step| step["kind"] == "overlay"));
    overlay(&["undo", "m"]);
    overlay(&["undo", "m"]);

    // What was learnt from one line alone.
    overlay(&["forbid", "m", "--line", "3"]);
    let text = std::fs::read_to_string(dir.join("m.overlay")).unwrap();
    assert!(text.starts_with("#: forbid --line 3\n#{\nforbid ") && text.ends_with("\n#}\n"), "{text}");
    let forbidden: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("forbid ")).collect();
    assert_eq!(forbidden.len() + 3, text.lines().count(), "{text}");
    assert!(rules(dir, &trees).iter().all(|used| forbidden.iter().all(|rule| !used.contains(*rule))));
    overlay(&["undo", "m"]);

    for (arguments, message) in [
        (&["forbid", "m", "NN(zz) -> zz"][..], "expected a rule of the model"),
        (&["forbid", "m", "NN(zz -> zz"], "found"),
        (&["forbid", "m", "--line", "481"], "expected the number of a training line"),
        (&["add", "m", "--pair", "", "x"], "without a parser"),
        (&["add", "m", "--input", "tree", "--pair", "(A b)", ""], "without words"),
    ] {
        let told = failure(dir, &[&["model", "overlay"], arguments].concat());
        assert!(told.contains(message), "{told}");
        assert!(!dir.join("m.overlay").exists(), "a correction that fails leaves nothing");
    }
}

#[test]
fn models_get_as_small_as_they_are_asked_to_and_differences_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let trees = model(dir, 480, 100, &[]);
    let size = |name: &str| std::fs::metadata(dir.join(name)).unwrap().len();
    let whole = size("m");
    let info = |name: &str| -> Value {
        serde_json::from_str(&success(dir, &["model", "info", "--json", name], "")).unwrap()
    };
    let section = |info: &Value, name: &str| -> u64 {
        let sections = info["sections"].as_array().unwrap();
        sections.iter().find(|one| one["name"] == name).map_or(0, |one| one["bytes"].as_u64().unwrap())
    };
    // Nothing has to go.
    let more = (whole + 10_000).to_string();
    success(dir, &["model", "prune", "--size", &more, "--out", "same", "m"], "");
    assert!(std::fs::read(dir.join("same")).unwrap() == std::fs::read(dir.join("m")).unwrap());
    success(dir, &["model", "prune", "--size", &more, "--no-lines", "--out", "bare", "m"], "");
    assert_eq!(section(&info("bare"), "lines"), 0);
    let half = (whole * 6 / 10).to_string();
    for (name, lines) in [("half", true), ("again", true), ("quiet", false)] {
        let arguments = ["model", "prune", "--size", &half, "--out", name, "m", "--no-lines"];
        success(dir, &arguments[..if lines { 7 } else { 8 }], "");
        success(dir, &["model", "verify", name], "");
        assert!(size(name) <= whole * 6 / 10 && size(name) > whole * 5 / 10, "{name}: {}", size(name));
        assert_eq!(section(&info(name), "lines") > 0, lines);
    }
    assert!(std::fs::read(dir.join("half")).unwrap() == std::fs::read(dir.join("again")).unwrap());
    assert!(section(&info("quiet"), "rules") > section(&info("half"), "rules"));
    // Where little room is left, the language model shrinks, too.
    let little = (whole * 3 / 10).to_string();
    success(dir, &["model", "prune", "--size", &little, "--out", "little", "m"], "");
    assert!(section(&info("little"), "lm0") < section(&info("m"), "lm0"));
    assert!(
        info("half")["figures"].as_object().unwrap().is_empty()
            && !info("m")["figures"].as_object().unwrap().is_empty()
    );
    assert!(
        failure(dir, &["model", "prune", "--size", "10K", "--out", "tiny", "m"])
            .contains("expected at most 10240")
    );
    assert!(!dir.join("tiny").exists());
    // Room for a table, but for none of its rules: nothing is written that could not translate.
    let sizes = (0..60).map(|step| 15_000 + step * whole / 60);
    let mut refused = 0;
    for size in sizes {
        let arguments = ["model", "prune", "--size", &size.to_string(), "--out", "tiny", "m"];
        let output = run_in(dir, &arguments, "");
        if output.status.success() {
            let said = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
            assert!(
                !said.contains(" 0 of ") && std::fs::metadata(dir.join("tiny")).unwrap().len() <= size,
                "{said}"
            );
            break;
        }
        refused += 1;
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("bytes besides the rules") && told.contains("--no-lines"), "{told}");
        assert!(!dir.join("tiny").exists());
    }
    assert!(refused > 0 && dir.join("tiny").exists());

    // The smaller one translates, mostly the same; differences come with true reasons.
    std::fs::write(dir.join("in"), &trees).unwrap();
    let diff = |more: &[&str]| success(dir, &[&["model", "diff", "m", "half"], more].concat(), "");
    let told: Value = serde_json::from_str(&diff(&["--text", "in", "--input", "tree", "--json"])).unwrap();
    let count = |name: &str| told["rules"][name].as_u64().unwrap();
    assert!(
        count("same") > 0 && count("only_first") > 0 && count("only_second") == 0 && count("changed") == 0
    );
    assert_eq!(told["rules"]["lost"].as_array().unwrap().len(), 5);
    assert_eq!(told["lines"], 100);
    let translations = told["translations"].as_array().unwrap();
    let half: Vec<String> = success(dir, &["translate", "--model", "half", "--input", "tree"], &trees)
        .lines()
        .map(str::to_string)
        .collect();
    let changed = differing(&translate(dir, &trees, &[]), &half);
    let lines: BTreeSet<usize> =
        translations.iter().map(|one| one["line"].as_u64().unwrap() as usize - 1).collect();
    assert_eq!(lines, changed);
    assert!(!changed.is_empty() && changed.len() < 80, "{changed:?}");
    assert!(translations.iter().filter(|one| !one["reasons"].as_array().unwrap().is_empty()).count() > 0);
    let text = diff(&[]);
    assert!(text.contains("setting pruned-to: none -> ") && text.contains("0 only in the second"), "{text}");
    let same = success(dir, &["model", "diff", "m", "same", "--text", "in", "--input", "tree"], "");
    assert!(same.contains("0 with other features, 0 only in the first, 0 only in the second"), "{same}");
    assert!(same.contains("translations: 0 of 100 lines differ"), "{same}");
}

/// The real thing: corrections on the 1,000 held-out sentences of English to Japanese.
#[test]
#[cfg(unix)]
fn corrections_of_a_real_model_change_what_they_should() {
    let Some(data) = sylvan_testkit::data("enja") else { return };
    let Some(model) = sylvan_testkit::variable("SYLVAN_ENJA_MODEL") else { return };
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::os::unix::fs::symlink(model, dir.join("m")).unwrap();
    let trees = std::fs::read_to_string(data.join("train.en.tree")).unwrap();
    let trees: String = trees.lines().skip(49_000).map(|line| format!("{line}\n")).collect();
    let before = translate(dir, &trees, &[]);
    let used = rules(dir, &trees);
    let users =
        |rule: &str| (0..used.len()).filter(|&line| used[line].contains(rule)).collect::<BTreeSet<usize>>();
    // Rules of words that a few sentences use.
    let mut counts: std::collections::BTreeMap<&str, usize> = Default::default();
    for rule in used.iter().flatten().filter(|rule| !rule.contains("x1")) {
        *counts.entry(rule).or_default() += 1;
    }
    let chosen: Vec<&str> =
        counts.iter().filter(|(_, users)| (4..=8).contains(*users)).map(|(rule, _)| *rule).collect();
    let mut all_changed = 0;
    for rule in chosen.into_iter().take(4) {
        success(dir, &["model", "overlay", "forbid", "m", rule], "");
        let changed = differing(&before, &translate(dir, &trees, &[]));
        eprintln!("{rule}: used in {} sentences, {} changed", users(rule).len(), changed.len());
        assert!(changed.is_subset(&users(rule)), "{rule}: {changed:?}");
        all_changed += changed.len();
        success(dir, &["model", "overlay", "undo", "m"], "");
        assert!(!dir.join("m.overlay").exists());
    }
    assert!(all_changed > 0, "nothing changed");
    let tree = trees.lines().nth(10).unwrap();
    success(
        dir,
        &["model", "overlay", "add", "m", "--input", "tree", "--pair", tree, "これ は 試験 です"],
        "",
    );
    let same = (0..used.len()).filter(|&line| trees.lines().nth(line) == Some(tree)).collect();
    assert_eq!(differing(&before, &translate(dir, &trees, &[])), same);
    success(dir, &["model", "overlay", "undo", "m"], "");
    assert_eq!(translate(dir, &trees, &[]), before);
}
