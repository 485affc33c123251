//! Mixing models: sums, agreement with the definition, and weights.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{Naive, amount};
use sylvan_base::{Rng, Silent};
use sylvan_lm::{EstimateConfig, Estimator, Lm, Mixture, Prune, WordId};
use sylvan_store::{Output, TextReader};

fn random_lm(rng: &mut Rng, shift: usize) -> Lm {
    let order = 1 + rng.below(4);
    let prune = Prune::new(&[0, rng.below(2) as u64][..order.min(2)]).unwrap();
    let mut estimator = Estimator::new(EstimateConfig { order, prune, ..EstimateConfig::default() }).unwrap();
    for _ in 0..1 + rng.below(20) {
        let words: Vec<String> = (0..rng.below(7)).map(|_| format!("w{}", shift + rng.below(5))).collect();
        estimator.add(&words.join(" ")).unwrap();
    }
    estimator.finish().unwrap()
}

fn written(mixture: &Mixture, threads: usize) -> (String, Lm) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mix.arpa");
    let mut out = Output::create(&path).unwrap();
    mixture.write_arpa(&mut out, threads, &Silent).unwrap();
    out.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lm = Lm::read_arpa(&mut TextReader::open(&path).unwrap()).unwrap();
    (text, lm)
}

#[test]
fn mixtures_sum_to_one_and_hold_the_mixed_probabilities() {
    for seed in 0..amount(100, 2_000) as u64 {
        let mut rng = Rng::for_item(31, seed);
        let models: Vec<Lm> = (0..1 + rng.below(3)).map(|shift| random_lm(&mut rng, shift * 2)).collect();
        let weights: Vec<f64> = models.iter().map(|_| 0.1 + rng.unit()).collect();
        let mixture = Mixture::new(models.clone()).unwrap().with_weights(&weights).unwrap();
        let (text, mixed) = written(&mixture, 1);
        assert_eq!(written(&mixture, 3).0, text);

        let begin = mixed.begin_word();
        let words: Vec<WordId> = (0..mixed.vocab_len() as u32).map(WordId).filter(|&w| w != begin).collect();
        for _ in 0..10 {
            let mut state = if rng.chance(0.5) { mixed.begin() } else { mixed.null() };
            for _ in 0..rng.below(5) {
                state = mixed.score(&state, *rng.pick(&words)).1;
            }
            let sum: f64 = words.iter().map(|&word| f64::from(mixed.score(&state, word).0).exp()).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }

        // Every n-gram that is written has the mixed probability, by the obvious reader and the definition.
        let parts: Vec<Naive> = models.iter().map(|model| naive(&model.arpa_text(), model.order())).collect();
        let own = naive(&text, mixed.order());
        for (gram, &(prob, _)) in &own.grams {
            if gram == &["<s>"] {
                continue;
            }
            let (word, history) = gram.split_last().unwrap();
            let history: Vec<&str> = history.iter().map(String::as_str).collect();
            let mut expected = 0.0;
            for (model, weight) in parts.iter().zip(mixture.weights()) {
                if model.grams.contains_key(std::slice::from_ref(word)) {
                    expected += weight * 10f64.powf(model.log10(&history, word));
                }
            }
            assert!((10f64.powf(prob) - expected).abs() < 1e-5, "{gram:?}: {prob} {}", expected.log10());
        }
    }
}

/// The model as lists of words.
fn naive(text: &str, order: usize) -> Naive {
    let grams = text.lines().filter(|line| line.contains('\t')).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let backoff = fields.get(2).map_or(0.0, |field| field.parse().unwrap());
        (fields[1].split(' ').map(ToString::to_string).collect(), (fields[0].parse().unwrap(), backoff))
    });
    Naive { order, grams: grams.collect() }
}

#[test]
fn tuning_finds_the_weights_that_a_fine_grid_finds() {
    let mut rng = Rng::new(5);
    let models = vec![random_lm(&mut rng, 0), random_lm(&mut rng, 2)];
    let text = "w0 w1 w3 w9\nw2 w2 w3\nw6 w4 w4 w5\n\nw1 w0";
    let reader = || TextReader::from_text("dev", text);
    let mut mixture = Mixture::new(models.clone()).unwrap();
    let tuned = mixture.tune(&mut reader(), true).unwrap();
    assert!((mixture.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!((tuned.mixture.tokens, tuned.mixture.unknown), (18, 1));
    let at = |weight: f64| {
        let mut mixture =
            Mixture::new(models.clone()).unwrap().with_weights(&[weight, 1.0 - weight]).unwrap();
        mixture.tune(&mut reader(), false).unwrap().mixture.without_unknown()
    };
    let best = (0..=1000).map(|n| at(f64::from(n) / 1000.0)).fold(f64::INFINITY, f64::min);
    let found = tuned.mixture.without_unknown();
    assert!(found <= best + 1e-9 && found > best - 0.01, "{found} {best}");
    assert!((at(mixture.weights()[0]) - found).abs() < 1e-12);
}

#[test]
fn a_single_model_mixes_to_itself() {
    let mut rng = Rng::new(6);
    for _ in 0..20 {
        let lm = random_lm(&mut rng, 0);
        let (text, _) = written(&Mixture::new(vec![lm.clone()]).unwrap(), 1);
        let (found, expected) = (naive(&text, lm.order()), naive(&lm.arpa_text(), lm.order()));
        assert_eq!(found.grams.keys().collect::<Vec<_>>(), expected.grams.keys().collect::<Vec<_>>());
        for (gram, (prob, _)) in &expected.grams {
            assert!((found.grams[gram].0 - prob).abs() < 2e-6, "{gram:?}");
        }
    }
}

#[test]
fn weights_must_fit() {
    let lm = random_lm(&mut Rng::new(1), 0);
    assert!(Mixture::new(Vec::new()).is_none());
    for weights in [&[][..], &[1.0, 1.0], &[-1.0], &[0.0], &[f64::NAN]] {
        assert!(Mixture::new(vec![lm.clone()]).unwrap().with_weights(weights).is_none(), "{weights:?}");
    }
}
