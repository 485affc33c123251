//! The report of a training run.
#![allow(clippy::unwrap_used)]

mod common;

use common::corpus::{Corpus, messages};

#[test]
fn the_report_tells_what_the_files_hold() {
    let corpus = Corpus::new(150);
    let told = messages(&corpus.train("m", &[]));
    assert!(told.contains("report: m.work/report.html"), "{told}");
    let (page, text) = (corpus.read("m.work/report.html"), corpus.read("m.work/report.md"));
    let words = |name: &str| corpus.read(name).split_ascii_whitespace().count();
    let (source, target) = (words("m.work/clean.source"), words("m.work/clean.target"));
    let pairs = corpus.read("m.work/clean.source").lines().count();
    let wanted = format!("{pairs} sentence pairs, {source} and {target} words");
    assert!(page.contains(&wanted) && text.contains(&wanted), "{wanted}");
    let kind = "of kind tree: rules with syntax";
    assert!(page.contains(kind) && text.contains(kind));
    let scores: serde_json::Value = serde_json::from_str(&corpus.read("m.work/scores.json")).unwrap();
    let bleu = format!("| dev | prediction | {:.2} |", scores["dev.prediction.bleu"].as_f64().unwrap());
    assert!(text.contains(&bleu), "{text}");
    for stage in ["check", "align", "rules", "lm", "tune", "evaluate", "model"] {
        assert!(page.contains(&format!(">{stage}</text>")) && text.contains(&format!("| {stage} | ")));
    }
    // Unknown words, found another way.
    let known: std::collections::HashSet<String> =
        corpus.read("m.work/clean.source").split_ascii_whitespace().map(str::to_string).collect();
    let dev = corpus.read("dev.zh");
    let unknown = dev.split_ascii_whitespace().filter(|word| !known.contains(*word)).count();
    assert!(text.contains(&format!("{unknown} of {} words of the tuning text", words("dev.zh"))), "{text}");
    // Every sentence that is shown has its page, and the worst ones are no better than the others.
    let links: Vec<&str> = text.split("[why](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(links.len() >= 8);
    for link in links {
        assert!(
            corpus.read(&format!("m.work/{link}")).to_lowercase().starts_with("<!doctype html>"),
            "{link}"
        );
        assert!(page.contains(&format!("href=\"{link}\"")));
    }
    let chrf = |part: &str| -> Vec<f64> {
        let parts = part.split("chrF ").skip(1);
        parts.map(|rest| rest.split([' ', '\n']).next().unwrap().parse().unwrap()).collect()
    };
    let (first, worst) = text.split_once("## Worst").unwrap();
    let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
    assert!(mean(chrf(worst)) <= mean(chrf(first)));
    assert!(page.matches("<svg").count() >= 6, "curve, bars, lengths, matrices");
    assert!(
        !page.contains("http://")
            || page.matches("http").count() == page.matches("http://www.w3.org").count()
    );
}
