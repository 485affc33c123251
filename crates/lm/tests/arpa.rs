//! Bad ARPA files: every error names the place, and nothing makes the reader panic or grow.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use std::io::Cursor;

use common::{Naive, amount, read};
use sylvan_base::{InputError, Rng};
use sylvan_lm::{ArpaConfig, Lm};
use sylvan_store::TextReader;

const GOOD: &str = "\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-1\t<s>\t-0.5
-1\t</s>
-1\ta\t-0.25
-99\tb

\\2-grams:
-0.5\t<s> a
-0.5\ta b

\\end\\
";

fn fail(text: &str) -> String {
    Lm::read_arpa(&mut TextReader::from_text("m", text)).unwrap_err().to_string()
}

/// Replaces `old`, which must be there, and checks the start of the message.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert!(GOOD.contains(old), "{old}");
    let found = fail(&GOOD.replacen(old, new, 1));
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn wrong_lines_are_named() {
    read(GOOD);
    check("-1\ta", "-x\ta", "m:8:1: found \"-x\", expected a log10 probability");
    check("-1\ta", "nan\ta", "m:8:1: found \"nan\", expected a log10 probability");
    check("-1\ta", "-inf\ta", "m:8:1: found \"-inf\", expected a log10 probability; write -99");
    check("-1\ta", "-1e300\ta", "m:8:1: found \"-1e300\", expected a log10 probability");
    check("-1\ta", "0.1\ta", "m:8:1: found the log10 probability 0.1, expected at most 0");
    check("-0.25", "x", "m:8:6: found \"x\", expected a log10 back-off weight or the end");
    check("-1\ta\t-0.25", "-1\ta\t-0.25 7", "m:8:12: found \"7\", expected the end of a line with 1 words");
    check("-0.5\ta b", "-0.5\ta q", "m:13:8: found \"q\", expected a word that is among the 1-grams");
    check("-0.5\ta b", "-0.5\ta", "m:13: found 2 fields, expected a log10 probability, 2 words");
    check("-0.5\ta b", "-0.5\t<s> a", "m:13: found a second \"-0.5\t<s> a\", expected each n-gram once");
    check("-99\tb", "-99\ta", "m:9: found a second \"-99\ta\"");
    check("</s>", "end", "m:11: found no </s> among the 1-grams, expected a 1-gram </s>");
    check("\t<s>\t", "\tstart\t", "m:11: found no <s> among the 1-grams");
}

#[test]
fn wrong_sizes_and_sections_are_named() {
    check("1=4", "1=5", "m:11: found the end of the section after 4 1-grams, expected 5 as the header says");
    check("1=4", "1=3", "m:9: found one more, expected 3 1-grams as the header says");
    check("2=2", "2=3", "m:15: found the end of the section after 2 2-grams, expected 3");
    check("2=2", "2=x", "m:3: found \"ngram 2=x\", expected \"ngram 2=\" and a number");
    check("2=2", "3=2", "m:3: found \"ngram 3=2\", expected \"ngram 2=\" and a number");
    check("2=2", "8=2", "m:3: found n-grams of 8 words, expected n-grams of at most 7 words");
    check("ngram 1=4\nngram 2=2\n", "", "m:3: found \"\\1-grams:\", expected \"ngram 1=\"");
    check("\\1-grams:", "\\2-grams:", "m:5:1: found \"\\2-grams:\", expected \\1-grams:");
    check("\\2-grams:", "\\3-grams:", "m:11:1: found \"\\3-grams:\", expected \\2-grams:");
    check("\\2-grams:", "\\end\\", "m:11:1: found \"\\end\\\", expected \\2-grams:");
    check("\\end\\", "\\3-grams:", "m:15:1: found \"\\3-grams:\", expected \\end\\");
    check("\\end\\", "", "m:15: found the end of the file, expected \\end\\; the file seems cut off");
    check(
        "\n\\2-grams:\n-0.5\t<s> a\n-0.5\ta b\n\n\\end\\\n",
        "",
        "m:9: found the end of the file, expected \\2-",
    );
    check(
        "-0.5\ta b\n\n\\end\\\n",
        "",
        "m:12: found the end of the file, expected 2 2-grams, of which 1 are",
    );
    assert!(fail("").starts_with("m:1: found the end of the file, expected \\data\\"));
    assert!(fail("\\data\\\n").starts_with("m:1: found the end of the file, expected \"ngram 1=\""));
    assert!(
        fail("\n\\data\\\nngram 1=1\n").starts_with("m:3: found the end of the file, expected \\1-grams:")
    );
}

#[test]
fn foreign_files_are_called_by_their_name() {
    let binary = "mmap lm http://kheafield.com/code format version 5\n\0\0\0";
    assert_eq!(
        fail(binary),
        "m:1:1: found a binary file of KenLM, expected \\data\\, the start of an ARPA file; \
         give the ARPA file that it was built from"
    );
    assert!(fail("iARPA\n\\data\\\n").contains("IRSTLM"));
    assert!(fail("the cat sat on the mat , which was as flat as a flounder\n").starts_with(
        "m:1:1: found \"the cat sat on the mat , which was as fl...\", expected \\data\\, the start"
    ));
}

#[test]
fn a_header_that_promises_a_trillion_n_grams_costs_nothing() {
    check("2=2", "2=1000000000000", "m:15: found the end of the section after 2 2-grams");
    check("1=4", "1=18446744073709551615", "m:11: found the end of the section after 4 1-grams");
    check("1=4", "1=18446744073709551616", "m:2: found \"ngram 1=18446744073709551616\"");
}

/// N-grams are added some lines after they were read; errors come in the order of the lines all the same.
#[test]
fn the_first_of_several_errors_is_told() {
    check("2=2", "2=3", "m:15: found the end of the section after 2 2-grams");
    let twice = GOOD.replacen("2=2", "2=4", 1).replacen("-0.5\ta b", "-0.5\t<s> a\n-0.5\ta b\nx\ta a", 1);
    let found = fail(&twice);
    assert!(found.starts_with("m:13: found a second \"-0.5\t<s> a\""), "{found}");
}

#[test]
fn the_unknown_word_may_be_missing_shouted_or_given() {
    let none = read(GOOD);
    assert_eq!(none.local(&[none.word("zzz")]), f64::from(-100.0f32 * std::f32::consts::LN_10));
    let config = ArpaConfig { unknown: -7.0, ..ArpaConfig::default() };
    let low = Lm::read_arpa_with(&mut TextReader::from_text("m", GOOD), config).unwrap();
    assert!((low.local(&[low.word("zzz")]) + 7.0 * std::f64::consts::LN_10).abs() < 1e-5);
    for name in ["<unk>", "<UNK>"] {
        let text = GOOD.replace("1=4", "1=5").replace("\n\n\\2", &format!("\n-3\t{name}\n\n\\2"));
        let given = read(&text.replace("a b", &format!("a {name}")));
        assert_eq!(given.word("zzz").0, 0);
        assert!(
            (given.local(&[given.word("a"), given.word("zzz")]) + 1.5 * std::f64::consts::LN_10).abs() < 1e-5
        );
    }
}

#[test]
fn loose_layout_is_accepted() {
    let loose = GOOD.replace("ngram 1=4", "ngram  1 =  4").replace('\t', "  ").replace('\n', "\r\n\r\n");
    assert_eq!(read(&loose).arpa_text(), read(GOOD).arpa_text());
    // A back-off weight behind the longest n-grams means nothing.
    assert_eq!(read(&GOOD.replace("a b", "a b\t-0.5")).arpa_text(), read(GOOD).arpa_text());
}

/// One small change: bytes, lines or pieces.
fn mutate(rng: &mut Rng, text: &mut Vec<u8>) {
    const BYTES: &[u8] = b"\\\n\t -.0123456789=<>/segndatra:\r\0\xff\xe6e+";
    let at = rng.below(text.len() + 1);
    let end = (at + rng.below(12)).min(text.len());
    match rng.below(6) {
        0 => text.insert(at, *rng.pick(BYTES)),
        1 if at < text.len() => text[at] = *rng.pick(BYTES),
        2 => drop(text.drain(at..end)),
        3 => {
            let piece = text[at..end].to_vec();
            let to = rng.below(text.len() + 1);
            text.splice(to..to, piece);
        }
        4 => {
            let mut lines: Vec<Vec<u8>> = text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let (one, other) = (rng.below(lines.len()), rng.below(lines.len()));
            if rng.chance(0.5) {
                lines.swap(one, other);
            } else {
                lines[one] = lines[other].clone();
            }
            *text = lines.join(&b'\n');
        }
        _ if rng.chance(0.1) => text.truncate(at),
        _ => {}
    }
}

#[test]
fn a_hundred_thousand_damaged_files_do_no_harm() {
    let mut rng = Rng::new(17);
    let mut seeds = vec![GOOD.to_string(), include_str!("data/lm_tiny.arpa").to_string()];
    seeds.extend((1..=3).map(|order| Naive::random(&mut rng, order, 2, true).arpa()));
    let (mut good, mut bad) = (0, 0);
    for _ in 0..amount(100_000, 1_000_000) {
        let mut text = rng.pick(&seeds).clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            mutate(&mut rng, &mut text);
        }
        match Lm::read_arpa(&mut TextReader::from_reader("m", Cursor::new(text))) {
            Ok(lm) => {
                good += 1;
                let words = [lm.word("a"), lm.word("b"), lm.word("<s>"), lm.word("a")];
                assert!(lm.sentence(&words).is_finite());
            }
            Err(InputError::Text { file, line, .. }) => {
                bad += 1;
                assert_eq!(file, "m");
                assert!(line >= 1);
            }
            Err(other) => panic!("{other}"),
        }
    }
    // Both must happen often, or the test tests nothing.
    assert!(good > 1_000 && bad > 10_000, "{good} {bad}");
}
