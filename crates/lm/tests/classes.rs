//! Models of word classes answer about words as a model of classes answers about their classes.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{compiled, random_words};
use sylvan_base::{Rng, Silent};
use sylvan_lm::classes::{ClassConfig, Classes};
use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, LayoutKind, Lm};
use sylvan_store::TextReader;

const HASH: CompileConfig = CompileConfig { layout: LayoutKind::Hash, quantize: None, bounds: false };
const TRIE: CompileConfig = CompileConfig { layout: LayoutKind::Trie, ..HASH };

fn estimator(order: usize) -> Estimator {
    let fallback = Some([0.5, 1.0, 1.5]);
    Estimator::new(EstimateConfig { order, fallback, ..EstimateConfig::default() }).unwrap()
}

/// ln p of a sentence, bit for bit.
fn bits(lm: &Lm, sentence: &[String]) -> u64 {
    let ids: Vec<_> = sentence.iter().map(|word| lm.word(word)).collect();
    lm.sentence(&ids).to_bits()
}

#[test]
fn words_are_scored_as_their_classes_in_memory_and_in_both_layouts() {
    for seed in 0..sylvan_testkit::cases(20, 300) {
        let mut rng = Rng::new(seed as u64);
        let text: Vec<Vec<String>> = (0..40).map(|_| random_words(&mut rng, 12)).collect();
        let lines: Vec<String> = text.iter().map(|words| words.join(" ")).collect();
        let classes = Classes::learn(&lines, ClassConfig { count: 4, passes: 5 });
        let as_classes: Vec<String> = lines.iter().map(|line| classes.line(line)).collect();
        let mut plain = estimator(4);
        as_classes.iter().for_each(|line| plain.add(line).unwrap());
        let plain = plain.finish().unwrap();
        assert_eq!(plain.classed_words(), None);
        let lm = plain.with_classes(&classes);
        // Unknown word and both ends besides.
        assert_eq!(lm.classed_words(), Some(classes.iter().count() + 3));
        for lm in [lm.clone(), compiled(&lm, HASH), compiled(&lm, TRIE)] {
            lm.verify().unwrap();
            assert_eq!(lm.vocab_len(), plain.vocab_len());
            for words in &text {
                let own: Vec<String> =
                    words.iter().map(|word| classes.of(word).unwrap().to_string()).collect();
                assert_eq!(bits(&lm, words), bits(&plain, &own), "{words:?}");
            }
            // A word that was never seen has no class, and the number of a class is no word.
            for unseen in ["never-seen", "0"] {
                assert_eq!(bits(&lm, &[unseen.to_string()]), bits(&plain, &["<unk>".to_string()]));
            }
        }
    }
}

#[test]
fn texts_are_read_as_their_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let lines = ["a b a c", "", "c b", "a a b d"];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let classes = Classes::learn(lines, ClassConfig { count: 2, passes: 5 });
    let [mut one, mut other] = [(); 2].map(|()| estimator(3));
    one.read_classes(&mut TextReader::open(&path).unwrap(), &classes, &Silent).unwrap();
    lines.iter().for_each(|line| other.add(&classes.line(line)).unwrap());
    let [one, other] = [one, other].map(|estimator| estimator.finish().unwrap().with_classes(&classes));
    let sentence = ["a", "b", "d"].map(str::to_string);
    assert_eq!(bits(&one, &sentence), bits(&other, &sentence));

    let few = Classes::learn(["a b"], ClassConfig { count: 2, passes: 5 });
    let error = estimator(3).read_classes(&mut TextReader::open(&path).unwrap(), &few, &Silent).unwrap_err();
    assert!(error.to_string().contains("text:1"), "{error}");
}

#[test]
fn an_old_file_of_classes_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old");
    std::fs::write(&path, include_bytes!("data/tiny_classes_v3.lm")).unwrap();
    let old = Lm::open(&path).unwrap();
    old.verify().unwrap();
    let lines: Vec<&str> = include_str!("data/lm_tiny.txt").lines().collect();
    let classes = Classes::learn(&lines, ClassConfig { count: 3, ..ClassConfig::default() });
    let mut made = estimator(3);
    lines.iter().for_each(|line| made.add(&classes.line(line)).unwrap());
    let made = made.finish().unwrap().with_classes(&classes);
    for line in lines.iter().chain(&["never seen"]) {
        let words: Vec<String> = line.split_ascii_whitespace().map(str::to_string).collect();
        let [old, made] = [&old, &made].map(|lm| f64::from_bits(bits(lm, &words)));
        // Its numbers went through text.
        assert!((old - made).abs() < 1e-5, "{line}: {old} and {made}");
    }
}
