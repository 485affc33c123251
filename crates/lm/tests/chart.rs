//! Pieces of sentences: however a sentence is cut and joined, the sum is that of the whole.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{amount, compiled, each_model, random_words};
use sylvan_base::Rng;
use sylvan_lm::{ChartState, CompileConfig, Joiner, LayoutKind, Lm, WordId};

fn ids(lm: &Lm, words: &[String]) -> Vec<WordId> {
    words.iter().map(|word| lm.word(word)).collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{found} {expected}");
}

/// Scores words in a random bracketing. The depth is that of a random binary tree, a few words.
fn bracketed(lm: &Lm, words: &[WordId], rng: &mut Rng) -> (f64, ChartState) {
    if words.len() <= 1 || rng.chance(0.2) {
        return lm.piece(words);
    }
    let mut joiner = Joiner::new(lm);
    let mut rest = words;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(1 + rng.below(rest.len()));
        if rng.chance(0.3) || now.len() == words.len() {
            now.iter().for_each(|&word| joiner.word(word));
        } else {
            let (score, piece) = bracketed(lm, now, rng);
            joiner.piece(&piece, score);
        }
        rest = later;
    }
    joiner.finish()
}

#[test]
fn every_bracketing_scores_as_the_whole() {
    each_model(41, 300, 10_000, |lm, _, rng| {
        let trie = CompileConfig { layout: LayoutKind::Trie, ..CompileConfig::default() };
        for lm in [lm.clone(), compiled(lm, trie)] {
            for _ in 0..15 {
                let words = ids(&lm, &random_words(rng, 10));
                let (score, state) = bracketed(&lm, &words, rng);
                assert_close(score, lm.local(&words));
                // With the whole piece behind the start of a sentence nothing is left open.
                let mut joiner = Joiner::begin(&lm);
                joiner.piece(&state, score);
                joiner.word(lm.end_word());
                let (sum, whole) = joiner.finish();
                assert_close(sum, lm.sentence(&words));
                assert!(whole.left.is_closed() && whole.left.open() == 0);
            }
        }
    });
}

#[test]
fn states_do_not_depend_on_the_bracketing_and_equal_states_have_equal_futures() {
    each_model(42, 200, 5_000, |lm, _, rng| {
        let pieces: Vec<(f64, ChartState)> = (0..30)
            .map(|_| {
                let words = ids(lm, &random_words(rng, 6));
                let (one, other) = (bracketed(lm, &words, rng), bracketed(lm, &words, rng));
                assert_eq!(one.1, other.1, "{words:?}");
                one
            })
            .collect();
        for (score, piece) in &pieces {
            for (other_score, other) in pieces.iter().filter(|(_, other)| other == piece) {
                let (before, after) = (ids(lm, &random_words(rng, 4)), ids(lm, &random_words(rng, 4)));
                let around = |piece: &ChartState, score: f64| {
                    let mut joiner = Joiner::begin(lm);
                    before.iter().for_each(|&word| joiner.word(word));
                    joiner.piece(piece, score);
                    after.iter().for_each(|&word| joiner.word(word));
                    joiner.finish().0 - score
                };
                assert_close(around(piece, *score), around(other, *other_score));
            }
        }
    });
}

#[test]
fn revealing_word_by_word_adds_up_to_direct_scoring() {
    let mut steps = 0;
    each_model(43, 400, 10_000, |lm, _, rng| {
        for _ in 0..15 {
            let (before, words) = (ids(lm, &random_words(rng, 6)), ids(lm, &random_words(rng, 6)));
            let context = before.iter().fold(lm.null(), |state, &word| lm.score(&state, word).1);
            let (mut sum, mut piece) = lm.piece(&words);
            let (_, untouched) = lm.piece(&words);
            // First the words next to the piece, then more and more of them.
            let mut seen = 0;
            while seen < context.words().len() {
                let more = seen + 1 + rng.below(context.words().len() - seen);
                let newest: Vec<WordId> = context.words()[..more].iter().rev().copied().collect();
                let part = newest.iter().fold(lm.null(), |state, &word| lm.score(&state, word).1);
                // A part may matter less than the whole; then its state is shorter and reveals less.
                let now = part.words().len().max(seen);
                sum += lm.reveal(&part, seen, &mut piece);
                seen = now.max(seen);
                if now < more {
                    break;
                }
                steps += 1;
            }
            sum += lm.reveal(&context, seen, &mut piece);
            let whole: Vec<WordId> = before.iter().chain(&words).copied().collect();
            assert_close(sum, lm.local(&whole) - lm.local(&before));
            // Revealing everything at once comes to the same.
            let mut at_once = untouched;
            let change = lm.reveal(&context, 0, &mut at_once);
            assert_close(lm.local(&words) + change, sum);
        }
    });
    assert!(steps > amount(2_000, 50_000), "{steps}");
}

#[test]
fn rest_costs_are_those_of_the_lower_models() {
    for seed in 0..amount(60, 1_000) as u64 {
        let mut rng = Rng::for_item(45, seed);
        let order = 2 + rng.below(3);
        let models: Vec<Lm> = (1..=order)
            .map(|order| common::read(&common::Naive::random(&mut rng, order, 3, true).arpa()))
            .collect();
        let (plain, lower) = models.split_last().unwrap();
        assert!(plain.with_rest_costs(&lower[..order - 2]).is_none());
        let lm = plain.with_rest_costs(lower).unwrap();
        for _ in 0..20 {
            let texts = random_words(&mut rng, 6);
            // Words that the models do not know may be known to the lower ones; the rest costs are of what is asked.
            let (score, piece) = lm.piece(&ids(&lm, &texts));
            assert_eq!((score, piece), plain.piece(&ids(plain, &texts)), "scores do not change");
            let names: Vec<String> =
                ids(&lm, &texts).into_iter().map(|word| lm.text(word).to_string()).collect();
            let expected: f64 = (1..=piece.left.open())
                .map(|n| {
                    let last =
                        |lm: &Lm| lm.local(&ids(lm, &names[..n])) - lm.local(&ids(lm, &names[..n - 1]));
                    last(&lower[n - 1]) - last(&lm)
                })
                .sum();
            assert_close(lm.rest(&piece.left), expected);
            assert_eq!(plain.rest(&piece.left), 0.0);
        }
    }
}

#[test]
fn nothing_seen_changes_nothing_and_closing_forgets() {
    each_model(44, 50, 500, |lm, _, rng| {
        let (_, mut piece) = lm.piece(&ids(lm, &random_words(rng, 5)));
        let before = piece;
        assert_eq!(lm.reveal(&lm.null(), 0, &mut piece), 0.0);
        assert_eq!(piece, before);
        piece.close();
        assert!(piece.left.is_closed() && piece.left.open() == 0);
        assert_eq!(piece.right, before.right);
    });
}
