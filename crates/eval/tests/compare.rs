//! Significance tests: exact small cases, and what must hold for any.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::num::NonZeroUsize;

use sylvan_base::Rng;
use sylvan_eval::compare::{bootstrap, mean_score, randomization, sign, tally, two_sided};
use sylvan_eval::{Bleu, BleuStats, Chrf, Metric, Ter, Tokenizer};

/// A reference, and translations of it in which each word is wrong with some probability.
fn corpus(lines: usize, seed: u64, rates: &[f64]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rng = Rng::new(seed);
    let word = |rng: &mut Rng| format!("w{}", rng.below(300));
    let reference: Vec<Vec<String>> =
        (0..lines).map(|_| (0..5 + rng.below(15)).map(|_| word(&mut rng)).collect()).collect();
    let systems = rates
        .iter()
        .map(|&rate| {
            let spoil = |rng: &mut Rng, w: &String| if rng.chance(rate) { word(rng) } else { w.clone() };
            reference
                .iter()
                .map(|line| line.iter().map(|w| spoil(&mut rng, w)).collect::<Vec<_>>().join(" "))
                .collect()
        })
        .collect();
    (reference.iter().map(|line| line.join(" ")).collect(), systems)
}

fn bleu() -> Bleu {
    Bleu { tokenizer: Tokenizer::None, ..Bleu::default() }
}

fn stats(reference: &[String], systems: &[Vec<String>]) -> Vec<Vec<BleuStats>> {
    let references = [reference.to_vec()];
    let of = |system: &Vec<String>| bleu().line_stats(system, &references, NonZeroUsize::MIN).unwrap();
    systems.iter().map(of).collect()
}

#[test]
fn fair_coins() {
    assert_eq!(two_sided(0, 0), 1.0);
    assert_eq!(two_sided(5, 5), 1.0);
    assert!((two_sided(0, 5) - 2.0 / 32.0).abs() < 1e-12);
    assert!((two_sided(8, 2) - 2.0 * 56.0 / 1024.0).abs() < 1e-12);
    assert_eq!(two_sided(8, 2), two_sided(2, 8));
    // 100,000 tosses and two standard deviations: about 0.0455, and no underflow.
    let p = two_sided(50_316, 49_684);
    assert!((p - 0.0459).abs() < 0.001, "{p}");
}

#[test]
fn collins_2005_counts_a_sentence_by_what_it_does_to_the_corpus_score() {
    let reference = ["a b c d e", "f g h i j", "k l m n o"].map(String::from).to_vec();
    let base = ["a b c d x", "f g h i j", "k l m n o"].map(String::from).to_vec();
    let system = ["a b c d e", "f g h x j", "k l m n o"].map(String::from).to_vec();
    let lines = stats(&reference, &[base, system]);
    let result = sign(&bleu(), &lines[0], &lines[1]);
    assert_eq!((result.tally.wins, result.tally.ties, result.tally.losses), (1, 1, 1));
    assert_eq!(result.p_value, 1.0);
}

#[test]
fn lower_is_better_turns_wins_around() {
    let reference = vec!["a b c d e".to_string(); 4];
    let (good, bad) = (vec!["a b c d e".to_string(); 4], vec!["a b x d e".to_string(); 4]);
    let references = [reference];
    let of = |lines: &Vec<String>| Ter::default().line_stats(lines, &references, NonZeroUsize::MIN).unwrap();
    let wins = tally(&Ter::default(), &of(&bad), &of(&good));
    assert_eq!((wins.wins, wins.losses), (4, 0));
    let result = bootstrap(&Ter::default(), &[of(&bad)], &[of(&good)], 50, 1);
    assert_eq!(result.better, 1.0);
}

#[test]
fn a_clear_difference_is_found_and_none_is_not() {
    let (reference, systems) = corpus(200, 3, &[0.3, 0.1, 0.3]);
    let lines = stats(&reference, &systems);
    let (base, better, equal) = (&lines[..1], &lines[1..2], &lines[2..]);
    let metric = bleu();
    assert!(bootstrap(&metric, base, better, 300, 1).p_value < 0.01);
    assert!(randomization(&metric, base, better, 300, 1) < 0.01);
    assert!(sign(&metric, &base[0], &better[0]).p_value < 0.01);
    assert!(bootstrap(&metric, base, equal, 300, 1).p_value > 0.05);
    assert!(randomization(&metric, base, equal, 300, 1) > 0.05);
    // A system against itself.
    assert_eq!(randomization(&metric, base, base, 100, 1), 1.0);
    assert_eq!(bootstrap(&metric, base, base, 100, 1).p_value, 1.0);
    assert_eq!(sign(&metric, &base[0], &base[0]).p_value, 1.0);
}

#[test]
fn randomisation_approaches_all_deals() {
    // Six sentences have 64 deals; 20,000 random ones must come close to their share.
    let (reference, systems) = corpus(6, 12, &[0.3, 0.3]);
    let lines = stats(&reference, &systems);
    let metric = bleu();
    let seen = (mean_score(&metric, &lines[1..]) - mean_score(&metric, &lines[..1])).abs();
    let mut extreme = 0;
    for deal in 0..64u32 {
        let mut totals = [BleuStats::default(); 2];
        for (line, (&a, &b)) in lines[0].iter().zip(&lines[1]).enumerate() {
            let (first, second) = if deal >> line & 1 == 1 { (b, a) } else { (a, b) };
            totals[0] += first;
            totals[1] += second;
        }
        extreme += u32::from((metric.value(&totals[0]) - metric.value(&totals[1])).abs() > seen);
    }
    let exact = f64::from(extreme) / 64.0;
    assert!(exact > 0.0 && exact < 1.0);
    let found = randomization(&metric, &lines[..1], &lines[1..], 20_000, 5);
    assert!(
        (found - exact).abs() < 4.0 * (exact * (1.0 - exact) / 20_000.0).sqrt() + 1e-4,
        "{found} {exact}"
    );
}

#[test]
fn replicates_are_dealt_out_and_averaged() {
    let (reference, systems) = corpus(150, 7, &[0.3, 0.3, 0.3, 0.15, 0.15, 0.15]);
    let lines = stats(&reference, &systems);
    let metric = bleu();
    let mean = mean_score(&metric, &lines[..3]);
    let each: f64 = lines[..3].iter().map(|one| metric.value(&metric.sum(one))).sum();
    assert!((mean - each / 3.0).abs() < 1e-12);
    assert!(randomization(&metric, &lines[..3], &lines[3..], 200, 1) < 0.01);
    assert!(randomization(&metric, &lines[..1], &lines[1..2], 200, 1) > 0.05);
    let result = bootstrap(&metric, &lines[..3], &lines[3..], 200, 1);
    assert!(result.difference.low > 0.0 && result.difference.low < result.difference.high);
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let (reference, systems) = corpus(101, 5, &[0.3, 0.29]);
    let lines = stats(&reference, &systems);
    let metric = bleu();
    let run = |seed| bootstrap(&metric, &lines[..1], &lines[1..], 200, seed);
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let references = [reference];
    for threads in [2, 3, 7, 200] {
        let threads = NonZeroUsize::new(threads).unwrap();
        assert_eq!(bleu().line_stats(&systems[0], &references, threads).unwrap(), lines[0]);
        let one = Chrf::plus_plus().line_stats(&systems[0], &references, NonZeroUsize::MIN).unwrap();
        assert_eq!(Chrf::plus_plus().line_stats(&systems[0], &references, threads).unwrap(), one);
    }
}
