//! Queries against the definition, on random models.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use std::f64::consts::LN_10;

use common::{Naive, amount, read};
use sylvan_base::Rng;
use sylvan_lm::{Lm, State};

fn random_sentence(rng: &mut Rng, words: usize) -> Vec<String> {
    (0..rng.below(12)).map(|_| char::from(b'a' + rng.below(words + 1) as u8).to_string()).collect()
}

#[track_caller]
fn assert_close(found: f64, log10: f64) {
    let expected = log10 * LN_10;
    assert!((found - expected).abs() <= 2e-6 * expected.abs().max(1.0), "{found} {expected}");
}

/// Runs over random models and sentences and calls `check` with the model, its definition and a sentence.
fn each_random(mut check: impl FnMut(&Lm, &Naive, &[&str])) {
    for seed in 0..amount(400, 20_000) as u64 {
        let mut rng = Rng::for_item(11, seed);
        let (order, words) = (1 + rng.below(4), 1 + rng.below(4));
        let complete = rng.chance(0.5);
        let naive = Naive::random(&mut rng, order, words, complete);
        let lm = read(&naive.arpa());
        for _ in 0..20 {
            let sentence = random_sentence(&mut rng, words);
            let sentence: Vec<&str> = sentence.iter().map(String::as_str).collect();
            check(&lm, &naive, &sentence);
        }
    }
}

#[test]
fn minimal_states_score_as_full_histories() {
    each_random(|lm, naive, sentence| {
        let mut history = vec!["<s>"];
        let mut state = lm.begin();
        let mut sum = 0.0;
        for &word in sentence.iter().chain([&"</s>"]) {
            let expected = naive.log10(&history, word);
            let (found, next) = lm.score(&state, lm.word(word));
            assert_close(f64::from(found), expected);
            sum += expected;
            history.push(word);
            state = next;
        }
        let ids: Vec<_> = sentence.iter().map(|word| lm.word(word)).collect();
        assert_close(lm.sentence(&ids), sum);
    });
}

#[test]
fn without_context_nothing_is_charged_for_backing_off() {
    each_random(|lm, naive, sentence| {
        let mut sum = 0.0;
        for (index, word) in sentence.iter().enumerate() {
            sum += naive.log10(&sentence[..index], word);
        }
        let ids: Vec<_> = sentence.iter().map(|word| lm.word(word)).collect();
        assert_close(lm.local(&ids), sum);
        assert!(lm.null().words().is_empty());
    });
}

#[test]
fn states_of_complete_models_keep_no_word_in_vain() {
    for seed in 0..amount(200, 5_000) as u64 {
        let mut rng = Rng::for_item(12, seed);
        let order = 2 + rng.below(3);
        let naive = Naive::random(&mut rng, order, 3, true);
        let lm = read(&naive.arpa());
        // A context matters if an n-gram continues it or if leaving it costs something, or if this is so for some
        // longer context that ends in it: in a chart the words before it may be known only later.
        let matters = |context: &[&str]| {
            let context: Vec<String> = context.iter().map(ToString::to_string).collect();
            naive.grams.iter().any(|(gram, &(_, backoff))| {
                let charged = backoff != 0.0 && gram.len() < order && gram.ends_with(&context);
                charged || gram[..gram.len() - 1].ends_with(&context)
            })
        };
        for _ in 0..10 {
            let sentence = random_sentence(&mut rng, 3);
            let known = |word: &String| if lm.word(word).0 == 0 { "<unk>".to_string() } else { word.clone() };
            let history: Vec<String> =
                ["<s>".to_string()].into_iter().chain(sentence.iter().map(known)).collect();
            let history: Vec<&str> = history.iter().map(String::as_str).collect();
            let mut state = lm.begin();
            for word in &history[1..] {
                state = lm.score(&state, lm.word(word)).1;
            }
            let longest = (1..order.min(history.len() + 1)).rev();
            let expected = longest.into_iter().find(|&n| matters(&history[history.len() - n..])).unwrap_or(0);
            let newest_first: Vec<&str> = history.iter().rev().take(expected).copied().collect();
            let found: Vec<&str> = state.words().iter().map(|&word| lm.text(word)).collect();
            assert_eq!(found, newest_first);
        }
    }
}

#[test]
fn what_is_written_reads_back_to_the_same_floats() {
    each_random_model(|lm, naive| {
        let text = lm.arpa_text();
        let again = read(&text);
        assert_eq!(text, again.arpa_text());
        let mut rng = Rng::new(5);
        for _ in 0..5 {
            let sentence = random_sentence(&mut rng, 4);
            let score = |lm: &Lm| {
                let ids: Vec<_> = sentence.iter().map(|word| lm.word(word)).collect();
                lm.sentence(&ids)
            };
            assert_eq!(score(lm), score(&again));
        }
        for n in 2..=naive.order {
            assert_eq!(again.count(n), naive.grams.keys().filter(|gram| gram.len() == n).count());
        }
    });
}

fn each_random_model(mut check: impl FnMut(&Lm, &Naive)) {
    for seed in 0..amount(300, 5_000) as u64 {
        let mut rng = Rng::for_item(13, seed);
        let complete = rng.chance(0.5);
        let order = 1 + rng.below(4);
        let naive = Naive::random(&mut rng, order, 4, complete);
        check(&read(&naive.arpa()), &naive);
    }
}

#[test]
fn a_written_file_is_the_text() {
    let lm = read(include_str!("data/lm_tiny.arpa"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tiny.arpa");
    let mut out = sylvan_store::Output::create(&path).unwrap();
    lm.write_arpa(&mut out).unwrap();
    out.finish().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), lm.arpa_text());
}

/// The sums are those of KenLM's query on the same file.
#[test]
fn the_tiny_model_scores_as_in_kenlm() {
    let lm = read(include_str!("data/lm_tiny.arpa"));
    for line in include_str!("data/lm_tiny.scores").lines() {
        let (score, sentence) = line.split_once('\t').unwrap();
        let ids: Vec<_> = sentence.split_ascii_whitespace().map(|word| lm.word(word)).collect();
        assert_close(lm.sentence(&ids), score.parse().unwrap());
    }
    assert_eq!((lm.order(), lm.count(1), lm.count(2), lm.count(3)), (2, 6, 11, 0));
}

#[test]
fn equal_states_have_equal_bytes() {
    let lm = read(include_str!("data/lm_tiny.arpa"));
    let after = |words: &[&str]| -> State {
        words.iter().fold(lm.begin(), |state, word| lm.score(&state, lm.word(word)).1)
    };
    assert_eq!(after(&["a"]), after(&["c", "b", "a"]));
    // Nothing follows the unknown word or the end of a sentence.
    assert_eq!(after(&["b", "zzz"]), lm.null());
    assert_ne!(after(&["a"]), after(&["b"]));
}
