//! Kneser-Ney estimation: the model that `lmplz` makes of a tiny text, and what holds for every text.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{amount, assert_same_arpa, read};
use sylvan_base::Rng;
use sylvan_lm::{EstimateConfig, EstimateError, Estimator, Lm, Prune, WordId};

fn estimate<S: AsRef<str>>(lines: &[S], config: EstimateConfig) -> Result<Lm, EstimateError> {
    let mut estimator = Estimator::new(config)?;
    for line in lines {
        estimator.add(line.as_ref()).unwrap();
    }
    estimator.finish()
}

#[test]
fn the_tiny_text_gives_the_model_of_lmplz() {
    let lines: Vec<&str> = include_str!("data/lm_tiny.txt").lines().collect();
    let lm = estimate(&lines, EstimateConfig { order: 2, ..EstimateConfig::default() }).unwrap();
    assert_same_arpa(&lm.arpa_text(), include_str!("data/lm_tiny.arpa"), 2e-7);
}

fn random_text(rng: &mut Rng) -> Vec<String> {
    let words = 1 + rng.below(8);
    (0..1 + rng.below(30))
        .map(|_| {
            let line: Vec<String> = (0..rng.below(9))
                .map(|_| format!("w{}", (rng.unit() * rng.unit() * words as f64) as usize))
                .collect();
            line.join(" ")
        })
        .collect()
}

#[test]
fn probabilities_sum_to_one_after_every_history() {
    for seed in 0..amount(300, 5_000) as u64 {
        let mut rng = Rng::for_item(21, seed);
        let text = random_text(&mut rng);
        let config = EstimateConfig { order: 1 + rng.below(7), ..EstimateConfig::default() };
        let lm = estimate(&text, config).unwrap();
        let begin = lm.word("<s>");
        let words: Vec<WordId> = (0..lm.vocab_len() as u32).map(WordId).filter(|&w| w != begin).collect();
        for _ in 0..20 {
            // Histories start at the sentence start or nowhere; unseen and unknown words are among them.
            let mut state = if rng.chance(0.5) { lm.begin() } else { lm.null() };
            for _ in 0..rng.below(6) {
                state = lm.score(&state, *rng.pick(&words)).1;
            }
            let sum: f64 = words.iter().map(|&word| f64::from(lm.score(&state, word).0).exp()).sum();
            assert!((sum - 1.0).abs() < 2e-6, "{sum} for {text:?}");
        }
    }
}

#[test]
fn an_n_gram_is_never_less_likely_than_backing_off() {
    for seed in 0..amount(200, 2_000) as u64 {
        let mut rng = Rng::for_item(22, seed);
        let lm = estimate(&random_text(&mut rng), EstimateConfig::default()).unwrap();
        let naive = parse(&lm.arpa_text());
        for (gram, &(prob, _)) in naive.iter().filter(|(gram, _)| gram.len() > 1) {
            let backoff = naive[&gram[..gram.len() - 1]].1;
            assert!(prob >= backoff + naive[&gram[1..]].0 - 1e-5, "{gram:?}");
        }
    }
}

type Grams = std::collections::BTreeMap<Vec<String>, (f64, f64)>;

fn parse(arpa: &str) -> Grams {
    let lines = arpa.lines().filter(|line| line.contains('\t'));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let backoff = fields.get(2).map_or(0.0, |field| field.parse().unwrap());
            let words = fields[1].split(' ').map(ToString::to_string).collect();
            (words, (fields[0].parse().unwrap(), backoff))
        })
        .collect()
}

/// The formulas once more, for 2-grams only, with maps and without any sorting.
#[test]
fn bigram_models_agree_with_the_formulas_written_down_naively() {
    for seed in 0..amount(200, 2_000) as u64 {
        let mut rng = Rng::for_item(23, seed);
        let text = random_text(&mut rng);
        let lm = estimate(&text, EstimateConfig { order: 2, ..EstimateConfig::default() }).unwrap();
        let mut pairs = std::collections::BTreeMap::new();
        for line in &text {
            let padded: Vec<&str> =
                ["<s>"].into_iter().chain(line.split_whitespace()).chain(["</s>"]).collect();
            for pair in padded.windows(2) {
                *pairs.entry((pair[0], pair[1])).or_insert(0u32) += 1;
            }
        }
        let mut singles = std::collections::BTreeMap::new();
        for (_, word) in pairs.keys() {
            *singles.entry(*word).or_insert(0u32) += 1;
        }
        let discount = |counts: &mut dyn Iterator<Item = u32>| -> [f64; 3] {
            let mut n = [0.0; 5];
            counts.filter(|&count| count < 5).for_each(|count| n[count as usize] += 1.0);
            let y = n[1] / (n[1] + 2.0 * n[2]);
            let d = [1.0, 2.0, 3.0].map(|i: f64| i - (i + 1.0) * y * n[i as usize + 1] / n[i as usize]);
            let sound = (0..3).all(|i| d[i] >= 0.0 && d[i] <= i as f64 + 1.0);
            if sound { d } else { [0.5, 1.0, 1.5] }
        };
        let d1 = discount(&mut singles.values().copied());
        let d2 = discount(&mut pairs.values().copied());
        let take = |d: &[f64; 3], count: u32| d[count.min(3) as usize - 1];
        let total: u32 = singles.values().sum();
        let gamma: f64 = singles.values().map(|&c| take(&d1, c)).sum::<f64>() / f64::from(total);
        let vocab = singles.len() + 1;
        let single = |word: &str| {
            let own = singles.get(word).map_or(0.0, |&c| (f64::from(c) - take(&d1, c)) / f64::from(total));
            own + gamma / vocab as f64
        };
        for (&(left, word), &c) in &pairs {
            let row = || pairs.iter().filter(|((other, _), _)| *other == left).map(|(_, &c)| c);
            let total = f64::from(row().sum::<u32>());
            let gamma = row().map(|c| take(&d2, c)).sum::<f64>() / total;
            let expected = (f64::from(c) - take(&d2, c)) / total + gamma * single(word);
            let state = if left == "<s>" { lm.begin() } else { lm.score(&lm.null(), lm.word(left)).1 };
            let found = f64::from(lm.score(&state, lm.word(word)).0).exp();
            assert!((found - expected).abs() < 1e-6, "{left} {word}: {found} {expected}");
        }
        assert!((lm.local(&[WordId(0)]).exp() - single("never")).abs() < 1e-6);
    }
}

#[test]
fn estimated_models_survive_writing_and_reading() {
    for seed in 0..amount(100, 1_000) as u64 {
        let mut rng = Rng::for_item(24, seed);
        let config = EstimateConfig { order: 1 + rng.below(7), ..EstimateConfig::default() };
        let lm = estimate(&random_text(&mut rng), config).unwrap();
        let text = lm.arpa_text();
        assert_eq!(read(&text).arpa_text(), text);
    }
}

#[test]
fn impossible_wishes_are_refused() {
    let order = |order| EstimateConfig { order, ..EstimateConfig::default() };
    for wrong in [0, 8] {
        assert!(
            matches!(Estimator::new(order(wrong)).unwrap_err(), EstimateError::Order { found } if found == wrong)
        );
    }
    let prune = Prune::parse("0 0 1").unwrap();
    let error = Estimator::new(EstimateConfig { prune, ..order(2) }).unwrap_err();
    assert!(matches!(error, EstimateError::Thresholds { found: 3, order: 2 }));
    assert!(matches!(estimate::<&str>(&[], order(3)).unwrap_err(), EstimateError::NoText));
    let strict = EstimateConfig { fallback: None, ..order(2) };
    let error = estimate(&["a b", "a c"], strict).unwrap_err();
    assert!(matches!(error, EstimateError::Discounts { n: 1, counts: [3, 1, 0, 0] }), "{error}");
    let mut estimator = Estimator::new(order(2)).unwrap();
    let fault = estimator.add("新 x<s> <s>").unwrap_err();
    assert_eq!((fault.column, fault.found.as_str()), (8, "<s>"));
}
