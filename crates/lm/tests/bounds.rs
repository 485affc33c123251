//! Upper bounds against all histories there are.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{Naive, amount, compiled, read};
use sylvan_base::Rng;
use sylvan_lm::{CompileConfig, LayoutKind, Lm, WordId};

/// The largest score of the last of `words` after any history of up to `more` further words.
fn best(lm: &Lm, words: &[WordId], more: usize) -> f32 {
    let (&word, context) = words.split_last().unwrap();
    let mut best = f32::NEG_INFINITY;
    let mut histories: Vec<Vec<WordId>> = vec![Vec::new()];
    for _ in 0..=more {
        for history in &histories {
            let all = history.iter().chain(context);
            let state = all.fold(lm.null(), |state, &word| lm.score(&state, word).1);
            best = best.max(lm.score(&state, word).0);
        }
        let longer = histories.iter().flat_map(|history| {
            (0..lm.vocab_len() as u32).map(move |word| [&[WordId(word)], history.as_slice()].concat())
        });
        histories = longer.collect();
    }
    best
}

#[test]
fn bounds_are_least_upper_bounds() {
    let (mut lifted, mut checked) = (0, 0);
    for seed in 0..amount(60, 2_000) as u64 {
        let mut rng = Rng::for_item(51, seed);
        let order = 1 + rng.below(4);
        let complete = rng.chance(0.5);
        let words = 1 + rng.below(2);
        let naive = Naive::random(&mut rng, order, words, complete);
        let plain = read(&naive.arpa());
        assert!(plain.upper_bound(&[WordId(0)]).is_none() && !plain.has_bounds());
        let memory = plain.with_bounds().unwrap();
        let config = CompileConfig { bounds: true, ..CompileConfig::default() };
        let hash = compiled(&plain, config);
        let trie = compiled(&plain, CompileConfig { layout: LayoutKind::Trie, ..config });
        for _ in 0..25 {
            let length = 1 + rng.below(order);
            let texts: Vec<String> = (0..length)
                .map(|_| plain.text(WordId(rng.below(plain.vocab_len()) as u32)).to_string())
                .collect();
            let ids = |lm: &Lm| -> Vec<WordId> { texts.iter().map(|text| lm.word(text)).collect() };
            let words = ids(&plain);
            let expected = best(&plain, &words, order - length);
            let found = memory.upper_bound(&words).unwrap();
            assert!(found >= expected, "{found} < {expected} for {texts:?}");
            assert!(found <= expected + 1e-4 * (1.0 + expected.abs()), "{found} > {expected} for {texts:?}");
            if length == order {
                let direct = best(&plain, &words, 0);
                assert_eq!(found, direct, "nothing older can matter");
            }
            for other in [&hash, &trie] {
                assert_eq!(other.upper_bound(&ids(other)), Some(found));
            }
            let context = &words[..length - 1];
            let state = context.iter().fold(plain.null(), |state, &word| plain.score(&state, word).1);
            lifted += usize::from(expected > plain.score(&state, words[length - 1]).0);
            checked += 1;
        }
        assert!(memory.upper_bound(&[]).is_none());
    }
    // Histories that raise a score must be common, or the test tests nothing.
    assert!(lifted * 10 > checked, "{lifted} of {checked}");
}
