//! `sylvan explain` on models of the sample corpus: what it says must be true and add up.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::corpus::{model, success};
use common::run_in;
use serde_json::Value;

fn explain(dir: &Path, more: &[&str], input: &str) -> Vec<Value> {
    let arguments = [&["explain", "--model", "m", "--json", "--input", "tree"], more].concat();
    let out = success(&run_in(dir, &arguments, input));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("{name} in {value}"))
}

fn sum(parts: &Value, name: &str) -> f64 {
    parts.as_array().unwrap().iter().map(|part| part[name].as_f64().unwrap()).sum()
}

fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-4, "{what}: {a} and {b}");
}

/// All that an explanation promises, but training lines.
fn check_sums(one: &Value) {
    let score = one["score"].as_f64().unwrap();
    let steps: f64 = list(one, "steps").iter().map(|step| sum(&step["parts"], "score")).sum();
    let words: f64 = list(one, "words").iter().map(|word| sum(&word["parts"], "score")).sum();
    close(steps + words + sum(&one["end"], "score"), score, "parts");
    close(sum(&one["features"], "score"), score, "features");
    for part in list(one, "features") {
        close(
            part["value"].as_f64().unwrap() * part["weight"].as_f64().unwrap(),
            part["score"].as_f64().unwrap(),
            "a product",
        );
    }
    let mut others: Vec<&Value> = list(one, "steps").iter().map(|step| &step["competitor"]).collect();
    others.push(&one["runner_up"]);
    for other in others.into_iter().filter(|other| !other.is_null()) {
        close(sum(&other["decided"], "difference"), other["difference"].as_f64().unwrap(), "differences");
        close(score - other["score"].as_f64().unwrap(), other["difference"].as_f64().unwrap(), "scores");
        assert!(
            other["words"].as_array().unwrap().iter().ne(list(one, "words").iter().map(|word| &word["text"]))
        );
    }
}

/// Every word has a step; a step's words are those of its rule, and every rule that was learnt has a line with its
/// words. `corpus` has the lines that training was given.
fn check_lines(one: &Value, corpus: &[(Vec<String>, Vec<String>)]) -> (usize, usize) {
    let (mut learnt, mut copied) = (0, 0);
    let steps = list(one, "steps");
    for (position, word) in list(one, "words").iter().enumerate() {
        let step = &steps[word["step"].as_u64().unwrap() as usize];
        let own = list(step, "target").iter().filter_map(|piece| piece["word"].as_u64());
        assert!(own.into_iter().any(|place| place as usize == position), "{word} in {step}");
        if step["kind"] == "copy" {
            assert!(list(step, "lines").is_empty());
            copied += 1;
            continue;
        }
        learnt += 1;
        let rule = step["rule"].as_str().unwrap();
        assert!(rule.split(" -> ").nth(1).unwrap().contains(word["text"].as_str().unwrap()), "{rule}");
        let texts = |places: Vec<u64>, of: &dyn Fn(usize) -> String| -> Vec<String> {
            places.into_iter().map(|place| of(place as usize)).collect()
        };
        let source =
            texts(list(step, "source").iter().map(|place| place.as_u64().unwrap()).collect(), &|place| {
                one["source"][place].as_str().unwrap().to_string()
            });
        let target = texts(
            list(step, "target").iter().filter_map(|piece| piece["word"].as_u64()).collect(),
            &|place| one["words"][place]["text"].as_str().unwrap().to_string(),
        );
        assert!(!list(step, "lines").is_empty(), "no line for {rule}");
        // Of a word that no rule translates the lines are those of words that stand for it, each with its own.
        let stands_for: Vec<&Value> = step["stands_for"].as_array().into_iter().flatten().collect();
        let mut held = 0;
        for line in list(step, "lines") {
            let number = line["number"].as_u64().unwrap() as usize;
            let (from, to) = &corpus[number - 1];
            assert!(list(line, "source").iter().eq(from.iter()) && list(line, "target").iter().eq(to.iter()));
            held += usize::from(match stands_for.is_empty() {
                true => within(&source, from) && within(&target, to),
                false => from.iter().any(|word| stands_for.iter().any(|other| *other == word)),
            });
        }
        assert!(held > 0, "{rule} is in none of its lines");
    }
    (learnt, copied)
}

/// Whether words stand in a text in this order.
fn within(words: &[String], text: &[String]) -> bool {
    let mut text = text.iter();
    words.iter().all(|word| text.any(|other| other == word))
}

fn corpus(source: &str, target: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let cut = |line: &str| line.split_whitespace().map(str::to_string).collect();
    source.lines().zip(target.lines()).map(|(source, target)| (cut(source), cut(target))).collect()
}

#[test]
fn words_have_rules_and_lines_and_scores_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let trees = model(dir, 480, 40, &[]);
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let corpus = corpus(&read("train.zh"), &read("train.en"));
    let found = explain(dir, &[], &trees);
    assert_eq!(found.len(), 40);
    let (mut learnt, mut competitors) = (0, 0);
    for one in &found {
        check_sums(one);
        learnt += check_lines(one, &corpus).0;
        competitors += list(one, "steps").iter().filter(|step| !step["competitor"].is_null()).count();
        assert!(one["search"]["name"] == "cube" && list(&one["search"], "bins").is_empty());
    }
    assert!(learnt > 300 && competitors > 100, "{learnt} {competitors}");
    // The same translations as `translate` makes.
    let plain = success(&run_in(dir, &["translate", "--model", "m", "--input", "tree"], &trees));
    let told: Vec<&str> = found.iter().map(|one| one["translation"].as_str().unwrap()).collect();
    assert_eq!(plain.lines().collect::<Vec<_>>(), told);
}

#[test]
fn options_of_explain_do_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let trees = model(dir, 480, 40, &["--no-lines"]);
    let tree = trees.lines().next().unwrap();
    let one = &explain(dir, &["--search", "incremental", "--beam", "3"], tree)[0];
    check_sums(one);
    assert!(list(one, "steps").iter().all(|step| list(step, "lines").is_empty()), "--no-lines");
    let bins = list(&one["search"], "bins");
    assert!(one["search"]["beam"] == 3 && bins.len() > 3);
    let kept: Vec<u64> = bins.iter().map(|bin| bin["kept"].as_u64().unwrap()).collect();
    assert_eq!(kept.iter().max(), Some(&3));
    let dropped = bins.iter().flat_map(|bin| list(bin, "items")).filter(|item| item["kept"] == false);
    assert!(dropped.count() > 0, "a beam of 3 drops something");
    let agree = |bin: &Value| list(bin, "items").iter().filter(|item| item["agrees"] == true).count();
    assert_eq!(bins.iter().map(agree).max(), Some(1), "at most one item is the beginning of the answer");
    let one = &explain(dir, &["--search", "prediction"], tree)[0];
    check_sums(one);
    assert!(list(&one["search"], "bins")[0]["items"][0]["stack"].as_str().unwrap().starts_with("[. "));
    let proven = &explain(dir, &["--search", "exact"], tree)[0];
    check_sums(proven);
    assert_eq!(proven["search"]["gap"], 0.0);

    // A glossary: the words of the term say where they come from.
    let word = one["source"][0].as_str().unwrap();
    std::fs::write(dir.join("terms"), format!("{word}\tzzterm\n")).unwrap();
    let one = &explain(dir, &["--glossary", "terms"], tree)[0];
    check_sums(one);
    let term = list(one, "steps").iter().find(|step| step["kind"] == "term").unwrap();
    assert_eq!(term["source"][0], 0);
    assert_eq!(one["source"][0], word);
    let found = list(one, "words").iter().find(|word| word["text"] == "zzterm").unwrap();
    assert_eq!(found["links"], serde_json::json!([0]));
    // Its rule was learnt with another word there.
    assert!(term["rule"].as_str().unwrap().contains("zzterm"), "{term}");
    assert!(term["count"][0].as_f64().unwrap() >= 1.0, "{term}");

    // A word that was never seen is copied, and says so.
    let unknown = tree.replacen(&format!(" {word})"), " zzunknown)", 1);
    let one = &explain(dir, &[], &unknown)[0];
    check_sums(one);
    let copied = list(one, "words").iter().find(|word| word["text"] == "zzunknown").unwrap();
    let step = &list(one, "steps")[copied["step"].as_u64().unwrap() as usize];
    assert!(step["kind"] == "copy" && step["rule"].as_str().unwrap().contains("copied"), "{step}");

    // Text and page.
    let base = ["explain", "--model", "m", "--input", "tree"];
    let text = success(&run_in(dir, &[&base[..], &[tree]].concat(), ""));
    for heading in ["Source tree", "Derivation", "Words", "Features", "Second best", "Search: cube"] {
        assert!(text.contains(heading), "{heading} in {text}");
    }
    success(&run_in(dir, &[&base[..], &["--html", "page.html", tree]].concat(), ""));
    let page = std::fs::read_to_string(dir.join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("prefers-color-scheme: dark"));
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://") && !outside.contains("{{"));
    let output = run_in(dir, &[&base[..], &["--html", "page.html"]].concat(), &trees);
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected one sentence"));
    assert!(!run_in(dir, &[&base[..], &[""]].concat(), "").status.success());
}

/// The real thing: 100 sentences of English to Japanese that training did not see.
#[test]
fn a_hundred_real_sentences_have_lines_for_every_word() {
    let Some(data) = sylvan_testkit::data("enja") else { return };
    let path = |name: &str| data.join(name).to_str().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let model = match std::env::var("SYLVAN_ENJA_MODEL") {
        Ok(model) => model,
        Err(_) if sylvan_testkit::cases(0, 1) == 0 => {
            eprintln!(
                "SKIPPED: wants SYLVAN_TESTS=full to train a model, or one of enja in SYLVAN_ENJA_MODEL"
            );
            return;
        }
        Err(_) => {
            let [source, target, trees] = ["train.en", "train.ja", "train.en.tree"].map(path);
            let [dev_source, dev_target, dev_trees] = ["dev.en", "dev.ja", "dev.en.tree"].map(path);
            let links = path("train.fast_align.gdfa");
            success(&run_in(
                dir.path(),
                &[
                    "train",
                    "--tokenized",
                    "--source",
                    &source,
                    "--target",
                    &target,
                    "--trees",
                    &trees,
                    "--align",
                    &links,
                    "--dev-source",
                    &dev_source,
                    "--dev-target",
                    &dev_target,
                    "--dev-trees",
                    &dev_trees,
                    "--source-lang",
                    "en",
                    "--target-lang",
                    "ja",
                    "--holdout",
                    "1000",
                    "--rounds",
                    "2",
                    "--nbest",
                    "50",
                    "--beam",
                    "50",
                    "--out",
                    "m",
                ],
                "",
            ));
            "m".to_string()
        }
    };
    let read = |name: &str| std::fs::read_to_string(data.join(name)).unwrap();
    // The last 1,000 pairs of the text are held out.
    let trees = read("train.en.tree");
    let trees: String = trees.lines().skip(49_000).take(100).map(|line| format!("{line}\n")).collect();
    let arguments = ["explain", "--model", &model, "--json", "--input", "tree"];
    let out = success(&run_in(dir.path(), &arguments, &trees));
    let corpus = corpus(&read("train.en"), &read("train.ja"));
    let (mut learnt, mut copied) = (0, 0);
    for line in out.lines() {
        let one: Value = serde_json::from_str(line).unwrap();
        check_sums(&one);
        let found = check_lines(&one, &corpus);
        learnt += found.0;
        copied += found.1;
    }
    eprintln!("{} sentences, {learnt} words of learnt rules, {copied} copied", out.lines().count());
    assert_eq!(out.lines().count(), 100);
    assert!(learnt > 500);
}
