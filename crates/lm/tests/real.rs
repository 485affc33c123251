//! A model of real size, if the data folder is there (environment variable SYLVAN_DATA).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use std::io::Write;
use std::path::PathBuf;

use common::assert_same_arpa;
use sylvan_lm::{EstimateConfig, Estimator, Lm};
use sylvan_store::TextReader;

/// The path of a data file, or `None` with a message that libtest does not swallow.
fn data(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("SYLVAN_DATA").map(|folder| PathBuf::from(folder).join(name));
    let found = path.filter(|path| path.exists());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {name} not found; set SYLVAN_DATA to the data folder");
    }
    found
}

fn score(lm: &Lm, line: &str) -> f64 {
    let ids: Vec<_> = line.split_ascii_whitespace().map(|word| lm.word(word)).collect();
    lm.sentence(&ids)
}

/// The estimator makes of the text behind a published 5-gram model the same model, and the sum over a development
/// set is that of KenLM.
#[test]
fn a_real_model_is_read_scored_and_estimated_as_in_kenlm() {
    let names = ["travatar-enja/ja.5.arpa.gz", "enja/dev.ja", "enja/train.ja"].map(data);
    let [Some(model), Some(dev), Some(train)] = names else { return };
    let lm = Lm::read_arpa(&mut TextReader::open(&model).unwrap()).unwrap();
    assert_eq!([1, 2, 3, 4, 5].map(|n| lm.count(n)), [8777, 55588, 149275, 236786, 288406]);

    let mut estimator =
        Estimator::new(EstimateConfig { order: 5, fallback: None, ..EstimateConfig::default() }).unwrap();
    let mut reader = TextReader::open(&train).unwrap();
    while let Some(line) = reader.next_line().unwrap() {
        estimator.add(line).unwrap();
    }
    let ours = estimator.finish().unwrap();
    assert_same_arpa(&ours.arpa_text(), &lm.arpa_text(), 1e-6);

    let mut reader = TextReader::open(&dev).unwrap();
    let mut sum = 0.0;
    while let Some(line) = reader.next_line().unwrap() {
        let theirs = score(&lm, line);
        sum += theirs;
        let own = score(&ours, line);
        assert!((own - theirs).abs() < 1e-5 * theirs.abs(), "{own} {theirs}");
    }
    assert!((sum / std::f64::consts::LN_10 - KENLM_SUM).abs() < 1e-3, "{}", sum / std::f64::consts::LN_10);
}

/// log10 of the probability of dev.ja, sentence ends included, from KenLM 0.3.0.
const KENLM_SUM: f64 = -6_662.585_573;
