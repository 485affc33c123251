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
    let import =
        sylvan(folder.path(), &["grammar", "import", "--format", "travatar", "table", "--out", "rules"], "");
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
    for search in ["cube", "focus", "refine", "incremental", "prediction", "exact"] {
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
    for search in ["cube", "focus", "refine", "incremental", "prediction", "exact"] {
        let output = text(&decode(folder.path(), &["--search", search, "--nbest", "20"]));
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
    assert_eq!(stats(&["--search", "prediction", "--work", "1"])["cut_short"].as_u64(), Some(2));
    assert_eq!(stats(&["--search", "exact"])["proven"].as_u64(), Some(2));
    let blind = stats(&["--search", "incremental", "--beam", "1", "--future", "none"]);
    assert!(blind["score"].as_f64() <= usual["score"].as_f64());
    let trace = decode(folder.path(), &["--search", "prediction", "--trace"]);
    let trace = String::from_utf8(trace.stderr).unwrap();
    assert!(trace.contains("[. S] [NP .]"), "{trace}");
    let trace = decode(folder.path(), &["--search", "incremental", "--trace"]);
    let trace = String::from_utf8(trace.stderr).unwrap();
    assert!(trace.contains("[. NP VP]"), "{trace}");
    text(&decode(folder.path(), &["--derivations", "derivations"]));
    let derivations = std::fs::read_to_string(folder.path().join("derivations")).unwrap();
    assert!(derivations.contains("NP(ta) -> she"), "{derivations}");
    let all = text(&decode(folder.path(), &["--nbest", "20"])).lines().count();
    let distinct = text(&decode(folder.path(), &["--nbest", "20", "--distinct"]));
    assert!(distinct.lines().count() <= all);
}

#[test]
fn what_each_sentence_cost_is_written() {
    let folder = prepared();
    let more =
        ["--search", "prediction", "--times", "times.tsv", "--scores", "scores", "--stats", "stats.json"];
    text(&decode(folder.path(), &more));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (times, scores) = (read("times.tsv"), read("scores"));
    let rows: Vec<Vec<&str>> = times.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["number", "words", "milliseconds", "score", "items", "lm_queries"]);
    assert_eq!(rows.len(), 4);
    let stats: serde_json::Value = serde_json::from_str(&read("stats.json")).unwrap();
    for (column, name) in [(4, "items"), (5, "lm_queries")] {
        let total: u64 = rows[1..].iter().map(|row| row[column].parse::<u64>().unwrap()).sum();
        assert_eq!(stats[name], total, "{name}");
    }
    // The empty line has no words, no score and no cost.
    assert_eq!([rows[1][1], rows[2][1], rows[3][1]], ["2", "0", "2"]);
    assert_eq!((rows[2][4], rows[2][5]), ("0", "0"));
    assert_eq!(rows[1][3], scores.lines().next().unwrap());
    assert!(rows[1][2].parse::<f64>().unwrap() > 0.0);
}

#[test]
fn default_rules_can_be_everywhere() {
    let folder = prepared();
    std::fs::write(folder.path().join("weights"), "p_ef=1\nlm=0.5\nglue=5\noov=2\n").unwrap();
    // With a reward for copying, words are copied even where there are rules.
    let everywhere = decode(folder.path(), &["--default-rules", "always"]);
    assert_eq!(text(&everywhere), "ta shui\n\nta pao\n");
    let never = decode(folder.path(), &["--default-rules", "never"]);
    assert_eq!(text(&never), "she sleeps\n\n\n");
}

#[test]
fn a_second_model_counts() {
    let folder = prepared();
    // A model that has never seen "she".
    let other = ARPA.replace("\tshe", "\tthey").replace(" she", " they").replace("she ", "they ");
    std::fs::write(folder.path().join("other.arpa"), other).unwrap();
    std::fs::write(folder.path().join("weights"), "p_ef=1\nlm0=0.1\nlm1=3\nglue=-5\noov=-2\n").unwrap();
    for search in ["cube", "focus", "refine", "incremental", "prediction"] {
        let output = decode(folder.path(), &["--lm", "other.arpa", "--search", search]);
        assert!(text(&output).starts_with("he "), "{search}: {}", text(&output));
    }
}

#[test]
fn bad_input_is_named() {
    let folder = prepared();
    let arguments = ["decode", "--grammar", "rules", "--lm", "lm.arpa", "--weights", "weights", "--strict"];
    let trees = "(S (NP ta) (VP shui))\n(S (NP ta\n(S (NP ta) (VP shui))\n";
    let broken = sylvan(folder.path(), &arguments, trees);
    let message = String::from_utf8(broken.stderr).unwrap();
    assert!(!broken.status.success() && message.contains(":2"), "{message}");
    assert_eq!(String::from_utf8(broken.stdout).unwrap(), "she sleeps\n", "what came before is written");
    // Without --strict it goes on.
    let scores = [&arguments[..arguments.len() - 1], &["--scores", "scores"]].concat();
    let told = sylvan(folder.path(), &scores, trees);
    let message = String::from_utf8(told.stderr).unwrap();
    assert!(
        told.status.success() && message.contains(":2:") && message.contains("1 of 3 lines"),
        "{message}"
    );
    assert_eq!(String::from_utf8(told.stdout).unwrap(), "she sleeps\n\nshe sleeps\n");
    assert_eq!(std::fs::read_to_string(folder.path().join("scores")).unwrap().lines().nth(1), Some("0"));
    std::fs::write(folder.path().join("weights"), "lm=much\n").unwrap();
    let broken = decode(folder.path(), &[]);
    let message = String::from_utf8(broken.stderr).unwrap();
    assert!(
        !broken.status.success() && message.contains("weights") && message.contains("lm=much"),
        "{message}"
    );
    let negative = decode(folder.path(), &["--search", "incremental", "--margin", "-1"]);
    assert!(!negative.status.success());
    assert!(String::from_utf8_lossy(&negative.stderr).contains("--margin -1: expected 0 or more"));
    assert!(!decode(folder.path(), &["--unknown"]).status.success());
}

#[test]
fn terms_of_a_glossary_are_in_every_translation() {
    let folder = prepared();
    // "ta" is given, "pao" is kept; the last sentence has "ta shui" as one term across two brackets.
    std::fs::write(folder.path().join("terms"), "ta\tTHEY\npao\n").unwrap();
    for search in ["cube", "focus", "refine", "incremental", "prediction", "exact"] {
        let more = ["--search", search, "--glossary", "terms", "--stats", "stats.json", "--nbest", "1"];
        let output = text(&decode(folder.path(), &more));
        let words: Vec<&str> = output.lines().map(|line| line.split(" ||| ").nth(1).unwrap()).collect();
        assert_eq!(words, ["THEY sleeps", "THEY pao"], "{search}");
        // The features of a term's rule count, and make up the score.
        assert!(output.contains("tm0.rules=3") && output.contains("tm0.words=2"), "{output}");
        let stats = std::fs::read_to_string(folder.path().join("stats.json")).unwrap();
        assert!(stats.contains("\"terms\":3") && stats.contains("\"terms_missed\":0"), "{stats}");
    }
    std::fs::write(folder.path().join("terms"), "ta shui\tone two\nshui\tnever\n").unwrap();
    let more = ["--glossary", "terms", "--stats", "stats.json", "--derivations", "why"];
    assert_eq!(text(&decode(folder.path(), &more)), "one two\n\nshe pao\n");
    let why = std::fs::read_to_string(folder.path().join("why")).unwrap();
    assert!(why.contains("[ ta shui ]") && why.contains("one two"), "{why}");
    let stats = std::fs::read_to_string(folder.path().join("stats.json")).unwrap();
    assert!(stats.contains("\"terms_missed\":1"), "{stats}");
    std::fs::write(folder.path().join("terms"), "ta\tx\nta\ty\tz\n").unwrap();
    let broken = decode(folder.path(), &["--glossary", "terms"]);
    let message = String::from_utf8(broken.stderr).unwrap();
    assert!(!broken.status.success() && message.contains("terms:2"), "{message}");
}

#[test]
fn forests_are_translated_with_their_scores() {
    let folder = prepared();
    let table = format!("{RULES}S ( x0:VP x1:NP ) ||| x0 x1 ||| egfp=-0.5 p=1\n");
    std::fs::write(folder.path().join("table"), table).unwrap();
    let import =
        sylvan(folder.path(), &["grammar", "import", "--format", "travatar", "table", "--out", "rules"], "");
    assert!(import.status.success());
    let forest = "sentence 1 :\nta shui\nNP[0,0] => ta ||| -0.1\nVP[0,0] => ta ||| -0.5\nVP[1,1] => shui ||| -0.1\n\
        NP[1,1] => shui ||| -2\nS[0,1] => NP[0,0] VP[1,1] ||| -1\nS[0,1] => VP[0,0] NP[1,1] ||| -0.2\n\n\
        sentence 2 :\nta shui\n\n";
    let weights = |parse: f64| format!("p_ef=1\nlm=0.5\nwords=0.1\nglue=-5\noov=-2\nparse={parse}\n");
    let run = |parse: f64, more: &[&str]| {
        std::fs::write(folder.path().join("weights"), weights(parse)).unwrap();
        let mut arguments = vec!["decode", "--grammar", "rules", "--lm", "lm.arpa", "--weights", "weights"];
        arguments.extend(["--input", "forest"]);
        arguments.extend(more);
        text(&sylvan(folder.path(), &arguments, forest))
    };
    for search in ["cube", "focus", "refine", "incremental", "prediction", "exact"] {
        assert_eq!(run(1.0, &["--search", search]), "she sleeps\n\n");
        // The scores of the ways taken count: -0.1 -0.1 -1 against -0.5 -2 -0.2.
        let list = run(1.0, &["--search", search, "--nbest", "9"]);
        assert!(list.lines().next().unwrap().contains("parse=-1.2"), "{list}");
        // A parser that is trusted backwards makes the other tree win: no rules, words copied.
        assert_eq!(run(-30.0, &["--search", search]), "ta shui\n\n");
    }
    std::fs::write(folder.path().join("terms"), "shui\tnaps\n").unwrap();
    assert_eq!(run(1.0, &["--glossary", "terms"]), "she naps\n\n");
}

/// Follows the best edges (by their own scores) of a forest in JSON down from a vertex.
fn best_words(forest: &serde_json::Value, vertex: u64) -> (f64, Vec<String>) {
    let edges = forest["vertices"][vertex as usize]["edges"].as_array().unwrap();
    let read = |edge: &serde_json::Value| {
        let mut score = edge["score"].as_f64().unwrap();
        let mut words = Vec::new();
        for symbol in edge["target"].as_array().unwrap() {
            match symbol.as_u64() {
                Some(tail) => {
                    let (below, more) = best_words(forest, tail);
                    score += below;
                    words.extend(more);
                }
                None => words.push(symbol.as_str().unwrap().to_string()),
            }
        }
        (score, words)
    };
    edges.iter().map(read).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

#[test]
fn forests_can_be_written_and_pruned() {
    let folder = prepared();
    // Without a language model the best translation can be read off the forest.
    std::fs::write(folder.path().join("weights"), "p_ef=1\nlm=0\nwords=0.1\nglue=-5\noov=-2\n").unwrap();
    let more = ["--forests", "forests", "--scores", "scores", "--search", "exact"];
    let found = text(&decode(folder.path(), &more));
    let forests = std::fs::read_to_string(folder.path().join("forests")).unwrap();
    let scores = std::fs::read_to_string(folder.path().join("scores")).unwrap();
    let mut edges = Vec::new();
    for ((line, found), score) in forests.lines().zip(found.lines()).zip(scores.lines()) {
        let forest: serde_json::Value = serde_json::from_str(line).unwrap();
        if forest.is_null() {
            assert!(found.is_empty());
            continue;
        }
        let (best, words) = best_words(&forest, forest["goal"].as_u64().unwrap());
        assert_eq!(words.join(" "), found);
        assert!((best - score.parse::<f64>().unwrap()).abs() < 1e-4, "{best} {score}");
        let vertices = forest["vertices"].as_array().unwrap();
        edges.push(vertices.iter().map(|vertex| vertex["edges"].as_array().unwrap().len()).sum::<usize>());
    }
    assert_eq!(edges, [6, 5]);
    // A margin of nothing leaves the best derivation alone.
    text(&decode(folder.path(), &["--forests", "forests", "--forest-margin", "0"]));
    let forests = std::fs::read_to_string(folder.path().join("forests")).unwrap();
    assert_eq!(forests.lines().next().unwrap().matches("\"rule\"").count(), 3, "{forests}");
    assert!(!decode(folder.path(), &["--forest-margin", "-1"]).status.success());
}

#[test]
fn sparse_features_are_listed_and_weighed() {
    let folder = prepared();
    let listed = text(&decode(folder.path(), &["--nbest", "50", "--sparse"]));
    let score = |line: &str| line.rsplit(" ||| ").next().unwrap().parse::<f64>().unwrap();
    let count = |line: &str, name: &str| {
        let features = line.split(" ||| ").nth(2).unwrap();
        let value = features.split(' ').find_map(|feature| feature.strip_prefix(name)?.strip_prefix('='));
        value.map_or(0.0, |value| value.parse::<f64>().unwrap())
    };
    let best = listed.lines().next().unwrap();
    assert!(best.contains("tw.she=1") && best.contains("ro.S.1-2=1"), "{best}");
    // New weights change each score by weight times count, and nothing else.
    let weights = std::fs::read_to_string(folder.path().join("weights")).unwrap();
    let more = format!("{weights}tw.he=2.5\ntw.asleep=0.25\nro.S.2-1=-0.5\nwp.ta~he=9\ntw.nobody=9\n");
    std::fs::write(folder.path().join("weights"), more).unwrap();
    let again = text(&decode(folder.path(), &["--nbest", "50", "--sparse"]));
    let words = |line: &str| line.split(" ||| ").take(2).map(str::to_string).collect::<Vec<_>>();
    let mut compared = 0;
    for line in again.lines() {
        let old = listed.lines().find(|old| words(old) == words(line)).unwrap();
        let gain =
            2.5 * count(line, "tw.he") + 0.25 * count(line, "tw.asleep") - 0.5 * count(line, "ro.S.2-1");
        assert!((score(line) - score(old) - gain).abs() < 1e-5, "{old}\n{line}");
        compared += 1;
    }
    assert!(compared >= 8 && again.lines().next().unwrap().contains("||| he sleeps |||"), "{again}");
}
