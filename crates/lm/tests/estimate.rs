//! Kneser-Ney estimation: the model that `lmplz` makes of a tiny text, and what holds for every text.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{amount, assert_same_arpa, read};
use sylvan_base::{Rng, Silent};
use sylvan_lm::{EstimateConfig, EstimateError, EstimateSummary, Estimator, Lm, Marks, Prune, WordId};
use sylvan_store::{Output, TextReader};

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

fn random_prune(rng: &mut Rng, order: usize) -> Prune {
    let mut thresholds = [0; 7].map(|_: u64| rng.below(3) as u64);
    thresholds[0] = 0;
    thresholds.sort_unstable();
    Prune::new(&thresholds[..1 + rng.below(order)]).unwrap()
}

#[test]
fn probabilities_sum_to_one_after_every_history() {
    for seed in 0..amount(300, 5_000) as u64 {
        let mut rng = Rng::for_item(21, seed);
        let text = random_text(&mut rng);
        let order = 1 + rng.below(7);
        let config =
            EstimateConfig { order, prune: random_prune(&mut rng, order), ..EstimateConfig::default() };
        let mut estimator = Estimator::new(config).unwrap();
        if rng.chance(0.3) {
            estimator = estimator.limit_vocabulary(["w0", "w2", "w3", "other"].map(String::from));
        }
        text.iter().for_each(|line| estimator.add(line).unwrap());
        let lm = estimator.finish().unwrap();
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

/// Estimates to a file in the way that large texts are, in several readings.
fn stream(text: &[String], config: EstimateConfig, parts: usize) -> (String, EstimateSummary) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lm.arpa");
    let mut estimator = Estimator::with_temp(config, dir.path()).unwrap();
    for part in text.chunks(text.len().div_ceil(parts)) {
        let lines = part.join("\n") + "\n";
        estimator.read(&mut TextReader::from_text("text", lines), &Silent).unwrap();
    }
    let mut out = Output::create(&path).unwrap();
    let summary = estimator.write_arpa(&mut out, &Silent).unwrap();
    out.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "temporary files are gone");
    (text, summary)
}

#[test]
fn neither_memory_nor_threads_nor_blocks_change_a_byte() {
    for seed in 0..amount(40, 500) as u64 {
        let mut rng = Rng::for_item(25, seed);
        let text: Vec<String> = (0..20).flat_map(|_| random_text(&mut rng)).collect();
        let order = 1 + rng.below(7);
        let prune = random_prune(&mut rng, order);
        let config = EstimateConfig { order, prune, ..EstimateConfig::default() };
        let (expected, summary) = stream(&text, config, 1);
        assert_eq!(summary.disk, 0);
        for (memory, threads, parts) in
            [(1 << 30, 3, 1), (100, 1, 1), (100, 2, 5), (5_000, 3, 2), (50_000, 2, 7)]
        {
            let (found, summary) = stream(&text, EstimateConfig { memory, threads, ..config }, parts);
            assert!(found == expected, "order {order}, memory {memory}, {threads} threads, {parts} blocks");
            assert!(memory > 100 || order == 1 || summary.disk > 0);
        }
        let lm = estimate(&text, config).unwrap();
        assert_same_arpa(&lm.arpa_text(), &expected, 1e-6);
    }
}

/// The formulas for any order, with pruning and a limited vocabulary, by maps and without any sorting.
#[test]
fn models_agree_with_the_formulas_written_down_naively() {
    for seed in 0..amount(150, 2_000) as u64 {
        let mut rng = Rng::for_item(26, seed);
        let text = random_text(&mut rng);
        let order = 1 + rng.below(5);
        let thresholds: Vec<u64> = (0..order as u64).map(|n| (n / 2).min(seed % 3)).collect();
        let limit = (seed % 4 == 0).then_some(["w0", "w1", "w4"]);
        let prune = Prune::new(&thresholds).unwrap();
        let config = EstimateConfig { order, prune, ..EstimateConfig::default() };
        let mut estimator = Estimator::new(config).unwrap();
        if let Some(limit) = limit {
            estimator = estimator.limit_vocabulary(limit.map(String::from));
        }
        text.iter().for_each(|line| estimator.add(line).unwrap());
        let found = parse(&estimator.finish().unwrap().arpa_text());
        let inside = |word: &str| word.starts_with('<') || limit.is_none_or(|limit| limit.contains(&word));
        let expected = naive(&text, order, &thresholds, inside);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{text:?}");
        for (gram, &(prob, backoff)) in &expected {
            let (p, b) = found[gram];
            // A context that leaves nothing to back off to has weight 0, which ARPA files write as -99.
            let backoff = backoff.max(-99.0);
            assert!(
                (p - prob).abs() < 1e-5 && (b - backoff).abs() < 1e-5,
                "{gram:?} {p} {prob} {b} {backoff}"
            );
        }
    }
}

fn naive(text: &[String], order: usize, thresholds: &[u64], inside: impl Fn(&str) -> bool) -> Grams {
    use std::collections::BTreeMap;
    type Counts = BTreeMap<Vec<String>, u64>;
    let mut raw: Vec<Counts> = vec![Counts::new(); order + 1];
    for line in text {
        let padded: Vec<String> =
            ["<s>"].into_iter().chain(line.split_whitespace()).chain(["</s>"]).map(String::from).collect();
        for (n, counts) in raw.iter_mut().enumerate().skip(1) {
            padded.windows(n).for_each(|window| *counts.entry(window.to_vec()).or_default() += 1);
        }
    }
    raw[1].remove(&vec!["<s>".to_string()]);
    let mut probs: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    let mut gammas: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for n in 1..=order {
        let adjusted = |gram: &Vec<String>| {
            if n == order || gram[0] == "<s>" {
                return raw[n][gram];
            }
            raw[n + 1].keys().filter(|longer| longer[1..] == gram[..]).count() as u64
        };
        let all: Counts = raw[n].keys().map(|gram| (gram.clone(), adjusted(gram))).collect();
        let stays = |gram: &Vec<String>| {
            (raw[n][gram] > thresholds[n - 1] || gram == &["</s>"]) && gram.iter().all(|word| inside(word))
        };
        let mut times = [0.0; 5];
        all.values().filter(|&&count| count < 5).for_each(|&count| times[count as usize] += 1.0);
        let y = times[1] / (times[1] + 2.0 * times[2]);
        let own = [1.0, 2.0, 3.0].map(|i: f64| i - (i + 1.0) * y * times[i as usize + 1] / times[i as usize]);
        let sound = (0..3).all(|i| own[i] >= 0.0 && own[i] <= i as f64 + 1.0);
        let d = if sound { own } else { [0.5, 1.0, 1.5] };
        let take = |count: u64| d[count.min(3) as usize - 1];
        let mut contexts: BTreeMap<&[String], (f64, f64)> = BTreeMap::new();
        for (gram, &count) in &all {
            let (total, mass) = contexts.entry(&gram[..n - 1]).or_default();
            *total += count as f64;
            *mass += if stays(gram) { take(count) } else { count as f64 };
        }
        let words = all.keys().filter(|gram| stays(gram)).count() + 1;
        for (gram, &count) in all.iter().filter(|(gram, _)| stays(gram)) {
            let (total, mass) = contexts[&gram[..n - 1]];
            let shorter = if n == 1 { 1.0 / words as f64 } else { probs[&gram[1..]] };
            probs.insert(gram.clone(), (count as f64 - take(count)) / total + mass / total * shorter);
        }
        if n == 1 {
            let (total, mass) = contexts[&[][..]];
            probs.insert(vec!["<unk>".to_string()], mass / total / words as f64);
            probs.insert(vec!["<s>".to_string()], 1.0);
        }
        for (context, (total, mass)) in contexts {
            gammas.insert(context.to_vec(), mass / total);
        }
    }
    let backoff = |gram: &Vec<String>| {
        if gram.len() < order { gammas.get(gram).map_or(0.0, |g| g.log10()) } else { 0.0 }
    };
    probs.iter().map(|(gram, prob)| (gram.clone(), (prob.log10(), backoff(gram)))).collect()
}

#[test]
fn marks_in_the_text_are_named_or_skipped() {
    let lines = "a b\nb </s> a\n";
    let config = EstimateConfig { order: 2, ..EstimateConfig::default() };
    let mut estimator = Estimator::new(config).unwrap();
    let error = estimator.read(&mut TextReader::from_text("text", lines), &Silent).unwrap_err().to_string();
    assert!(error.starts_with("text:2:3: found </s>, expected a word"), "{error}");
    let read = |config, lines: &str| {
        let mut estimator = Estimator::new(config).unwrap();
        estimator.read(&mut TextReader::from_text("text", lines), &Silent).unwrap();
        estimator.finish().unwrap().arpa_text()
    };
    let skipping = EstimateConfig { marks: Marks::Skip, ..config };
    assert_eq!(read(skipping, lines), read(config, "a b\nb a\n"));
}

#[test]
fn odd_texts_give_models() {
    for text in ["\n", "a\n", "\n\n\n", "a a a a a a a a a\n", "\u{3000}x \t y\n"] {
        for order in 1..=7 {
            let config = EstimateConfig { order, ..EstimateConfig::default() };
            let mut estimator = Estimator::new(config).unwrap();
            estimator.read(&mut TextReader::from_text("text", text), &Silent).unwrap();
            let lm = estimator.finish().unwrap();
            assert!(lm.end(&lm.begin()) <= 0.0);
        }
    }
}
