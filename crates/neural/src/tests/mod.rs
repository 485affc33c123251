//! Whole networks against their slow twin.

mod twin;

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use sylvan_base::{Rng, Silent};

use crate::network::{Network, Noise, Pair, Size};
use crate::parameters::{Parameters, Start};
use crate::tape::Tape;
use crate::train::{Config, train};
use crate::{END, Histories, History, NeuralModel, Reader, Units};

const SMALL: Size = Size { width: 8, inner: 12, heads: 2, encoder: 2, decoder: 2 };

fn random_network(size: Size, units: [usize; 2], seed: u64) -> (Network, Parameters) {
    let (network, layout, starts) = Network::new(size, units);
    let mut parameters = Parameters::start(layout, &starts, seed);
    // Numbers that training starts from are too orderly: biases are 0, gains 1.
    let mut rng = Rng::new(seed ^ 1);
    for value in &mut parameters.values {
        *value += (rng.unit() as f32 - 0.5) * 0.3;
    }
    assert!(starts.contains(&Start::Constant(1.0)));
    (network, parameters)
}

fn random_pairs(rng: &mut Rng, count: usize, units: [usize; 2]) -> Vec<Pair> {
    let mut sentence = |units: usize| -> Vec<u32> {
        let length = rng.below(6);
        (0..=length)
            .map(|place| if place == length { END } else { 1 + rng.below(units - 1) as u32 })
            .collect()
    };
    (0..count).map(|_| Pair { source: sentence(units[0]), target: sentence(units[1]) }).collect()
}

fn loss(network: &Network, parameters: &Parameters, pairs: &[Pair], smoothing: f32) -> ([f64; 2], Vec<f32>) {
    let mut tape = Tape::default();
    let mut rng = Rng::new(0);
    let mut noise = Noise { dropout: 0.0, unread: 0.0, rng: &mut rng };
    let pairs: Vec<&Pair> = pairs.iter().collect();
    let loss = network.loss(parameters, &mut tape, &pairs, &mut noise, (smoothing, 1.0));
    let mut slopes = vec![0.0; parameters.values.len()];
    tape.backward(parameters, &mut slopes);
    (loss, slopes)
}

#[test]
fn losses_are_the_twins_and_slopes_are_its_differences() {
    for seed in 0..sylvan_testkit::cases(3, 30) as u64 {
        let units = [9, 11];
        let (network, parameters) = random_network(SMALL, units, seed);
        let pairs = random_pairs(&mut Rng::new(seed), 3, units);
        let smoothing = [0.0, 0.1][seed as usize % 2];
        let ([smoothed, plain], slopes) = loss(&network, &parameters, &pairs, smoothing);
        let mut numbers: Vec<f64> = parameters.values.iter().map(|&value| f64::from(value)).collect();
        let at = |numbers: &[f64], smoothing: f64| {
            twin::loss(&network, &parameters.layout, numbers, &pairs, smoothing)
        };
        let wanted = at(&numbers, f64::from(smoothing));
        assert!((smoothed - wanted).abs() < 1e-4 * wanted, "{smoothed}, {wanted}");
        assert!((plain - at(&numbers, 0.0)).abs() < 1e-4 * plain, "{plain}");
        let mut some = 0;
        for place in 0..numbers.len() {
            let (kept, step) = (numbers[place], 1e-5);
            numbers[place] = kept + step;
            let above = at(&numbers, f64::from(smoothing));
            numbers[place] = kept - step;
            let below = at(&numbers, f64::from(smoothing));
            numbers[place] = kept;
            let difference = (above - below) / (2.0 * step);
            let slope = f64::from(slopes[place]);
            assert!(
                (slope - difference).abs() < 2e-3 + 2e-3 * difference.abs(),
                "{place}: {slope}, {difference}"
            );
            some += usize::from(difference.abs() > 0.1);
        }
        assert!(some > 100, "slopes are too flat to tell: {some}");
    }
}

/// The logarithms of the probabilities of each unit of a target, said one after the other.
fn said(reader: &Arc<Reader>, pair: &Pair) -> Vec<f32> {
    let mut histories = Histories::new(Arc::clone(reader), &pair.source, pair.target.iter().copied());
    let mut history = History::EMPTY;
    let mut said = Vec::new();
    for &unit in &pair.target {
        said.push(histories.expects(history, unit).unwrap());
        history = histories.say(&[(history, unit)]);
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sylvan_testkit::cases(20, 500) as u32))]

    #[test]
    fn one_by_one_is_all_together_is_training(seed in 0..u64::MAX) {
        let units = [9, 11];
        let (network, parameters) = random_network(SMALL, units, seed);
        let mut rng = Rng::new(seed);
        let pairs = random_pairs(&mut rng, 4, units);
        let words = [0, 1].map(|side| {
            let texts: Vec<String> = (0..units[side] - 2).map(|unit| char::from(b'a' + unit as u8).to_string()).collect();
            Units::learn(texts.iter().map(|text| (text.as_str(), 2)), 0)
        });
        let batched = pairs.iter().map(|pair| loss(&network, &parameters, std::slice::from_ref(pair), 0.0).0[1]);
        let batched: Vec<f64> = batched.collect();
        let model = Arc::new(NeuralModel { network, parameters, units: words });
        let reader = Arc::new(Reader::new(model));
        for (pair, loss) in pairs.iter().zip(batched) {
            let alone = said(&reader, pair);
            prop_assert_eq!(-alone.iter().map(|&said| f64::from(said)).sum::<f64>(), loss);
            // Many histories side by side: every prefix again and again, with other units between.
            let mut histories = Histories::new(Arc::clone(&reader), &pair.source, 1..units[1] as u32);
            let mut history = History::EMPTY;
            for (&unit, &alone) in pair.target.iter().zip(&alone) {
                prop_assert_eq!(histories.expects(history, unit), Some(alone));
                let total: f64 = histories.expected(history).map(|(_, said)| f64::from(said).exp()).sum();
                prop_assert!((total - 1.0).abs() < 1e-5);
                let before = rng.below(60);
                let other = |rng: &mut Rng| (History(rng.below(histories.len()) as u32), rng.below(units[1]) as u32);
                let mut steps: Vec<(History, u32)> = (0..before).map(|_| other(&mut rng)).collect();
                steps.push((history, unit));
                steps.extend((0..rng.below(60)).map(|_| other(&mut rng)));
                let first = histories.say(&steps);
                history = History(first.0 + before as u32);
            }
        }
    }
}

/// A text to learn: the target is the source backwards.
fn text(folder: &std::path::Path) -> Config {
    let mut rng = Rng::new(5);
    let mut lines = |name: &str, count: usize| -> [PathBuf; 2] {
        let [mut source, mut target] = [const { String::new() }; 2];
        for _ in 0..count {
            let words: Vec<&str> =
                (0..1 + rng.below(5)).map(|_| *rng.pick(&["uno", "duo", "tres", "quattuor"])).collect();
            source.push_str(&words.join(" "));
            source.push('\n');
            let backwards: Vec<&str> = words.iter().rev().copied().collect();
            target.push_str(&backwards.join(" "));
            target.push('\n');
        }
        [("source", source), ("target", target)].map(|(side, text)| {
            let path = folder.join(format!("{name}.{side}"));
            std::fs::write(&path, text).unwrap();
            path
        })
    };
    let mut config = Config { train: lines("train", 400), dev: lines("dev", 40), ..Config::default() };
    config.size = Size { width: 16, inner: 24, heads: 2, encoder: 1, decoder: 1 };
    config.units = [30; 2];
    config.batch = 100;
    config.epochs = Some(3);
    config.pace.warm_up = 50;
    config.out = folder.join("network");
    config
}

#[test]
fn any_number_of_threads_and_any_interruption_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let config = text(folder.path());
    let run = |config: &Config, name: &str| -> Vec<u8> {
        let config = Config { out: folder.path().join(name), ..config.clone() };
        train(&config, &Silent, &mut |_| {}).unwrap();
        std::fs::read(&config.out).unwrap()
    };
    let one = run(&config, "one");
    for threads in [2, 4, 7] {
        assert_eq!(run(&Config { threads, ..config.clone() }, "more"), one);
    }
    assert_ne!(run(&Config { seed: 2, ..config.clone() }, "seed"), one);
    // Cut off after each pass: the state of the pass before is there, but for the file that says that all is done.
    let cut = folder.path().join("cut");
    let mut kept = None;
    for epochs in 1..=3 {
        let config = Config { out: cut.clone(), epochs: Some(epochs), ..config.clone() };
        let state = cut.with_file_name("cut.state");
        if let Some(kept) = kept {
            std::fs::write(&state, kept).unwrap();
        }
        let mut passes = 0;
        let mut last = None;
        train(&config, &Silent, &mut |_| {
            passes += 1;
            last = std::fs::read(&state).ok();
        })
        .unwrap();
        assert_eq!(passes, 1, "it began anew");
        assert!(!state.exists());
        kept = last;
        assert!(kept.is_some());
    }
    assert_eq!(std::fs::read(&cut).unwrap(), one);
}

#[test]
fn it_learns() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = text(folder.path());
    (config.epochs, config.patience) = (Some(60), 60);
    (config.dropout, config.unread, config.smoothing) = (0.0, 0.0, 0.0);
    config.size = Size { width: 32, inner: 64, heads: 2, encoder: 1, decoder: 1 };
    config.pace.rate = 5e-3;
    let mut losses = Vec::new();
    train(&config, &Silent, &mut |epoch| losses.push(epoch.dev)).unwrap();
    let last = losses.last().unwrap();
    // One of four words at each place, or the end, said without knowing the source: more than one nat.
    assert!(losses[0] > 1.0 && *last < 0.2, "{losses:?}");
    let reader = Arc::new(Reader::new(Arc::new(NeuralModel::open(&config.out).unwrap())));
    let line = |line: &str| reader.translate(line, 1);
    assert_eq!(line("uno duo tres"), "tres duo uno");
    assert_eq!(line("quattuor quattuor uno"), "uno quattuor quattuor");
}
