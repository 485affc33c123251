//! Bounds for one sentence against all histories that the sentence allows.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]
#![allow(clippy::iter_over_hash_type, reason = "every entry is checked by itself")]

mod common;

use common::{amount, compiled, each_model};
use sylvan_base::{HashMap, Rng};
use sylvan_lm::{CompileConfig, LayoutKind, Lm, WordId};

/// Which words may stand before each word, and before the end.
fn random_neighbours(lm: &Lm, rng: &mut Rng) -> HashMap<WordId, Vec<WordId>> {
    let words: Vec<WordId> = (0..lm.vocab_len() as u32)
        .map(WordId)
        .filter(|&word| word != lm.begin_word() && word != lm.end_word())
        .collect();
    let mut before = HashMap::default();
    for &word in words.iter().chain([&lm.end_word()]) {
        let mut list: Vec<WordId> = words.iter().copied().filter(|_| rng.chance(0.5)).collect();
        // Every word has some history.
        if list.is_empty() || rng.chance(0.5) {
            list.push(lm.begin_word());
        }
        before.insert(word, list);
    }
    before
}

/// The largest score of `word` after allowed histories that end in `known`, by looking at all of them.
fn best(lm: &Lm, before: &HashMap<WordId, Vec<WordId>>, known: &[WordId], word: WordId) -> f32 {
    let oldest = known.first().copied().unwrap_or(word);
    if oldest == lm.begin_word() {
        let state = known[1..].iter().fold(lm.begin(), |state, &word| lm.score(&state, word).1);
        return lm.score(&state, word).0;
    }
    if known.len() + 1 >= lm.order() {
        let state = known.iter().fold(lm.null(), |state, &word| lm.score(&state, word).1);
        return lm.score(&state, word).0;
    }
    let longer = before[&oldest].iter().map(|&older| best(lm, before, &[&[older], known].concat(), word));
    longer.fold(f32::NEG_INFINITY, f32::max)
}

#[test]
fn local_bounds_hold_and_fall_with_what_is_known() {
    let (mut checked, mut tight, mut below_global) = (0, 0, 0);
    each_model(52, 200, 5_000, |lm, _, rng| {
        let before = random_neighbours(lm, rng);
        let global = lm.with_bounds().unwrap();
        let mut words: Vec<WordId> = before.keys().copied().collect();
        words.sort_unstable();
        let mut bounds = lm.local_bounds(before.clone());
        for _ in 0..amount(25, 50) {
            let next = *rng.pick(&words);
            let mut known: Vec<WordId> = Vec::new();
            let mut last = f32::INFINITY;
            for _ in 0..lm.order() {
                let expected = best(lm, &before, &known, next);
                let found = bounds.upper_bound(&known, next);
                let slack = 1e-5 * (1.0 + expected.abs());
                assert!(found >= expected - slack, "{found} < {expected} for {known:?} {next:?}");
                assert!(found <= last + slack, "{found} > {last}: knowing more may not raise it");
                if known.len() + 1 == lm.order() {
                    assert!((found - expected).abs() <= slack, "{found} is not the score {expected}");
                }
                let all = [&known[..], &[next]].concat();
                below_global += usize::from(found < global.upper_bound(&all).unwrap() - slack);
                tight += usize::from((found - expected).abs() <= slack);
                checked += 1;
                last = found;
                let oldest = known.first().copied().unwrap_or(next);
                let older = *rng.pick(&before[&oldest]);
                if older == lm.begin_word() {
                    break;
                }
                known.insert(0, older);
            }
        }
    });
    // The bounds must be nearly the best possible ones, and better than those for all sentences.
    assert!(tight * 10 > checked * 7, "{tight} of {checked}");
    assert!(below_global * 20 > checked, "{below_global} of {checked}");
}

#[test]
fn all_layouts_give_the_same_local_bounds() {
    each_model(53, 40, 500, |lm, _, rng| {
        let before = random_neighbours(lm, rng);
        let compile = |layout| compiled(lm, CompileConfig { layout, ..CompileConfig::default() });
        for other in [compile(LayoutKind::Hash), compile(LayoutKind::Trie)] {
            let same = |word: WordId| other.word(lm.text(word));
            let list = before
                .iter()
                .map(|(&word, list)| (same(word), list.iter().map(|&word| same(word)).collect()));
            let (mut ours, mut theirs) =
                (lm.local_bounds(before.clone()), other.local_bounds(list.collect()));
            for (&word, list) in &before {
                assert_eq!(ours.upper_bound(&[], word), theirs.upper_bound(&[], same(word)));
                for &older in list {
                    let found = theirs.upper_bound(&[same(older)], same(word));
                    assert_eq!(ours.upper_bound(&[older], word), found);
                }
            }
        }
    });
}
