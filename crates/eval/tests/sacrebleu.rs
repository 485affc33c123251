//! BLEU against numbers that sacreBLEU 2.6.0 itself gave for made-up text (`data/sacrebleu.txt`), and the corner
//! cases in which a metric is usually wrong.
//!
//! A case of the data file:
//!
//! ```text
//! case <tokenizer> <case> <smoothing> <corpus|sentence> <number of references>
//! h <hypothesis>                       repeated per line,
//! r <reference 1>                      each with its references
//! = score brevity hyp_len ref_len m1 m2 m3 m4 t1 t2 t3 t4
//! ```

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use sylvan_eval::{Bleu, BleuScore, Case, EvalError};

struct GoldCase<'a> {
    bleu: Bleu,
    whole: bool,
    hypotheses: Vec<&'a str>,
    references: Vec<Vec<&'a str>>,
}

impl GoldCase<'_> {
    fn parse(head: &str) -> Self {
        let fields: Vec<&str> = head.split(' ').collect();
        let [tokenizer, case, smoothing, level, references] = fields[..] else { panic!("{head}") };
        let bleu = Bleu {
            tokenizer: tokenizer.parse().unwrap(),
            case: if case == "lc" { Case::Lower } else { Case::Mixed },
            smoothing: smoothing.parse().unwrap(),
            effective_order: false,
        };
        let references = vec![Vec::new(); references.parse().unwrap()];
        Self { bleu, whole: level == "corpus", hypotheses: Vec::new(), references }
    }

    fn score(&self) -> BleuScore {
        if self.whole {
            self.bleu.corpus(&self.hypotheses, &self.references).unwrap()
        } else {
            let references: Vec<&str> = self.references.iter().map(|stream| stream[0]).collect();
            self.bleu.sentence(self.hypotheses[0], &references).unwrap()
        }
    }
}

/// Checks all cases of a file and returns how many there were.
fn check_cases(text: &str) -> usize {
    let (mut case, mut checked, mut next) = (GoldCase::parse("none mixed exp corpus 1"), 0, 0);
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "case" => case = GoldCase::parse(rest),
            "h" => {
                case.hypotheses.push(rest);
                next = 0;
            }
            "r" => {
                case.references[next].push(rest);
                next += 1;
            }
            "=" => {
                let numbers: Vec<f64> = rest.split(' ').map(|n| n.parse().unwrap()).collect();
                let found = case.score();
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
                assert!(close(found.score, numbers[0]), "line {number}: {} {}", found.score, numbers[0]);
                assert!(close(found.brevity, numbers[1]), "line {number}: {} {}", found.brevity, numbers[1]);
                let stats = found.stats;
                let integers: Vec<u64> = [stats.hyp_len, stats.ref_len]
                    .into_iter()
                    .chain(stats.matches)
                    .chain(stats.totals)
                    .collect();
                let expected: Vec<u64> = numbers[2..].iter().map(|&n| n as u64).collect();
                assert_eq!(integers, expected, "line {number}");
                checked += 1;
            }
            "#" | "" => {}
            _ => panic!("line {number}: {line}"),
        }
    }
    checked
}

#[test]
fn all_numbers_are_those_of_sacrebleu() {
    assert_eq!(check_cases(include_str!("data/sacrebleu.txt")), 24);
    assert_eq!(check_cases(include_str!("data/tokenizers.txt")), 48);
}

const HYPOTHESES: [&str; 3] = ["the cat sat on the mat .", "a dog is in the garden", "he does not speak"];
const FIRST: [&str; 3] =
    ["the cat is on the mat .", "there is a dog in the garden", "he doesn't speak french"];
const SECOND: [&str; 3] = ["a cat was sitting on the mat .", "in the garden is a dog", "he speaks no french"];

#[test]
fn three_sentences_with_one_and_two_references() {
    let bleu = Bleu::default();
    let one = bleu.corpus(&HYPOTHESES, &[FIRST.to_vec()]).unwrap();
    assert!((one.score - 32.454_520_055_378_48).abs() < 1e-9);
    assert_eq!((one.stats.matches, one.stats.totals), ([14, 7, 3, 1], [17, 14, 11, 8]));
    assert_eq!((one.stats.hyp_len, one.stats.ref_len), (17, 18));
    assert_eq!(
        one.to_string(),
        "BLEU = 32.45 82.4/50.0/27.3/12.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)"
    );
    let two = bleu.corpus(&HYPOTHESES, &[FIRST.to_vec(), SECOND.to_vec()]).unwrap();
    assert_eq!(two.stats.ref_len, 17);
    assert!((two.score - 34.420_876_516_527_25).abs() < 1e-9);
}

#[test]
fn zero_precisions_are_halved_one_after_the_other() {
    let score = Bleu::default().corpus(&["a b c d"], &[vec!["a x c y"]]).unwrap();
    assert_eq!(score.precisions, [50.0, 100.0 / 6.0, 12.5, 12.5]);
    assert!((score.score - 18.995_892_141_289_81).abs() < 1e-9);
}

#[test]
fn a_perfect_translation_has_100_and_a_short_one_only_by_effective_order() {
    let bleu = Bleu::default();
    assert!((bleu.corpus(&["a b c d e"], &[vec!["a b c d e"]]).unwrap().score - 100.0).abs() < 1e-9);
    assert!((bleu.sentence("a b", &["a b"]).unwrap().score - 100.0).abs() < 1e-9);
    assert_eq!(bleu.corpus(&["a b"], &[vec!["a b"]]).unwrap().score, 0.0);
}

#[test]
fn nothing_in_common_is_zero_whatever_the_smoothing() {
    for smoothing in ["exp", "floor", "add-k", "none"] {
        let bleu = Bleu { smoothing: smoothing.parse().unwrap(), ..Bleu::default() };
        for (hypothesis, reference) in [("a b c", "x y z"), ("", "x"), ("a", ""), ("", "")] {
            assert_eq!(bleu.corpus(&[hypothesis], &[vec![reference]]).unwrap().score, 0.0);
            assert_eq!(bleu.sentence(hypothesis, &[reference]).unwrap().score, 0.0);
        }
    }
}

#[test]
fn unequal_or_missing_files_are_errors() {
    let bleu = Bleu::default();
    let error = bleu.corpus(&["a", "b"], &[vec!["a", "b"], vec!["a"]]).unwrap_err();
    assert_eq!(error, EvalError::Lines { stream: 2, found: 1, expected: 2 });
    assert_eq!(error.to_string(), "found 1 lines in reference 2, expected 2 as in the translation");
    assert_eq!(bleu.corpus::<&str, &str>(&["a"], &[]), Err(EvalError::NoReference));
    assert_eq!(bleu.corpus::<&str, &str>(&[], &[vec![]]), Err(EvalError::NoSentence));
    assert_eq!(bleu.sentence::<&str>("a", &[]), Err(EvalError::NoReference));
}

#[test]
fn signatures_name_every_choice() {
    let version = env!("CARGO_PKG_VERSION");
    let default = Bleu::default().signature(2);
    assert_eq!(default, format!("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:sylvan-{version}"));
    let other = Bleu {
        tokenizer: "none".parse().unwrap(),
        case: Case::Lower,
        smoothing: "add-k".parse().unwrap(),
        effective_order: true,
    };
    let expected = format!("nrefs:1|case:lc|eff:yes|tok:none|smooth:add-k[1.00]|version:sylvan-{version}");
    assert_eq!(other.signature(1), expected);
}
