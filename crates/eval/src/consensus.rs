//! Consensus: of several translations of a sentence the one that agrees best with all of them (fast consensus decoding,
//! DeNero, Chiang & Knight 2009).
//!
//! Each translation has a probability. What is expected of an n-gram is how often it occurs in a translation, on average.
//! The one is chosen whose n-grams match what is expected best, as BLEU matches those of a reference: that takes as long as
//! reading all translations once, where comparing each with each would take the square of it.

use sylvan_base::HashMap;

use crate::ORDER;

/// A translation and how probable it is; probabilities need not add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate<'t> {
    /// Its words.
    pub words: Vec<&'t str>,
    /// How probable it is.
    pub probability: f64,
}

/// The place of the candidate that agrees best with all, and the BLEU that is expected of each (0 to 1; one is added to
/// counts above the first order, as for sentences alone). `None` if there are none. Of equals the more probable one is
/// chosen, then the first.
pub fn consensus(candidates: &[Candidate<'_>]) -> Option<(usize, Vec<f64>)> {
    let total: f64 = candidates.iter().map(|candidate| candidate.probability).sum();
    let share = |candidate: &Candidate<'_>| match total > 0.0 {
        true => candidate.probability / total,
        false => 1.0 / candidates.len() as f64,
    };
    let mut expected: HashMap<&[&str], f64> = HashMap::default();
    let mut length = 0.0;
    for candidate in candidates {
        length += share(candidate) * candidate.words.len() as f64;
        for gram in grams(&candidate.words) {
            *expected.entry(gram).or_default() += share(candidate);
        }
    }
    let scores: Vec<f64> =
        candidates.iter().map(|candidate| score(&candidate.words, &expected, length)).collect();
    let better = |one: usize, other: usize| {
        let [a, b] = [one, other].map(|place| (scores[place], candidates[place].probability));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).is_gt()
    };
    let best = (0..candidates.len()).reduce(|best, one| if better(one, best) { one } else { best })?;
    Some((best, scores))
}

/// A list of translations of a sentence with their scores, whatever these are logarithms of.
pub type Listed = Vec<(String, f64)>;

/// The translation of some lists that agrees best with all; `None` if there are none. What scores are multiplied with
/// before they become probabilities says how much the first of a list counts; the probabilities of each list add up to its
/// weight.
pub fn agreed<'l>(lists: &'l [Listed], weights: &[f64], scale: f64) -> Option<&'l str> {
    let mut order: Vec<&str> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::default();
    let mut probabilities: Vec<f64> = Vec::new();
    for (list, weight) in lists.iter().zip(weights) {
        let best = list.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
        let mass = |score: f64| ((score - best) * scale).exp();
        let all: f64 = list.iter().map(|(_, score)| mass(*score)).sum();
        for (text, score) in list {
            let place = *places.entry(text).or_insert_with(|| {
                order.push(text);
                probabilities.push(0.0);
                order.len() - 1
            });
            probabilities[place] += weight * mass(*score) / all;
        }
    }
    let candidates: Vec<Candidate<'_>> = order
        .iter()
        .zip(probabilities)
        .map(|(text, probability)| Candidate { words: text.split_whitespace().collect(), probability })
        .collect();
    consensus(&candidates).map(|(best, _)| order[best])
}

/// All n-grams, shortest first.
fn grams<'w, 't>(words: &'w [&'t str]) -> impl Iterator<Item = &'w [&'t str]> {
    (1..=ORDER).flat_map(|order| words.windows(order))
}

/// The BLEU of a translation whose reference has these n-grams and this length.
fn score<'w, 't>(words: &'w [&'t str], expected: &HashMap<&'w [&'t str], f64>, length: f64) -> f64 {
    let mut own: HashMap<&[&str], u32> = HashMap::default();
    grams(words).for_each(|gram| *own.entry(gram).or_default() += 1);
    let mut matched = [0.0; ORDER];
    // In the order of the words, so that sums are the same whatever the map's order.
    for gram in grams(words) {
        if let Some(count) = own.remove(gram) {
            matched[gram.len() - 1] += f64::from(count).min(expected.get(&gram).copied().unwrap_or(0.0));
        }
    }
    let mut logarithms = 0.0;
    for (order, matched) in (1..).zip(matched) {
        let all = (words.len() + 1).saturating_sub(order) as f64;
        let added = if order > 1 { 1.0 } else { 0.0 };
        if matched + added <= 0.0 {
            return 0.0;
        }
        logarithms += ((matched + added) / (all + added)).ln();
    }
    let brevity = (1.0 - length / words.len() as f64).min(0.0);
    (logarithms / ORDER as f64 + brevity).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sylvan_base::Rng;

    use crate::{Bleu, Smoothing, Tokenizer};

    fn candidates<'t>(lines: &[(&'t str, f64)]) -> Vec<Candidate<'t>> {
        let one = |&(line, probability): &(&'t str, f64)| Candidate {
            words: line.split(' ').filter(|word| !word.is_empty()).collect(),
            probability,
        };
        lines.iter().map(one).collect()
    }

    /// What is expected of one translation alone is that translation, so the score is BLEU with one reference.
    #[test]
    fn with_one_probable_translation_it_is_the_bleu_of_a_sentence() {
        let mut rng = Rng::new(5);
        let bleu = Bleu {
            tokenizer: Tokenizer::None,
            smoothing: Smoothing::AddK(1.0),
            effective_order: false,
            ..Bleu::default()
        };
        for _ in 0..500 {
            let mut line = || {
                let words = (0..4 + rng.below(6)).map(|_| *rng.pick(&["a", "b", "c", "d"]));
                words.collect::<Vec<_>>().join(" ")
            };
            let (hypothesis, reference) = (line(), line());
            let (_, scores) = consensus(&candidates(&[(&reference, 1.0), (&hypothesis, 0.0)])).unwrap();
            let expected = bleu.corpus(&[&hypothesis], &[vec![&reference]]).unwrap().score / 100.0;
            assert!(
                (scores[1] - expected).abs() < 1e-9,
                "{hypothesis} / {reference}: {} {expected}",
                scores[1]
            );
            assert!((scores[0] - 1.0).abs() < 1e-12);
        }
    }

    /// Counts worked out by hand: `a b` is expected 0.6 times, `a c` 0.4 times, `b` once.
    #[test]
    fn what_many_say_in_part_wins_over_what_one_says_alone() {
        let all = candidates(&[("a x b y", 0.4), ("a b c d", 0.3), ("a b c e", 0.3)]);
        let (best, scores) = consensus(&all).unwrap();
        assert_eq!(best, 1, "{scores:?}");
        // 1-grams: a 1, b 1, c 0.6, d 0.3 of 4; 2-grams: 0.6 + 0.6 + 0.3 of 3, and one; 3-grams: 0.6 + 0.3 of 2; 0.3 of 1.
        let expected: f64 =
            [2.9 / 4.0, 2.5 / 4.0, 1.9 / 3.0, 1.3 / 2.0].iter().map(|p: &f64| p.ln() / 4.0).sum();
        assert!((scores[1] - expected.exp()).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn nothing_and_equals() {
        assert_eq!(consensus(&[]), None);
        let (best, _) = consensus(&candidates(&[("", 1.0)])).unwrap();
        assert_eq!(best, 0);
        // No probabilities: all count alike; equals go to the first.
        assert_eq!(consensus(&candidates(&[("a", 0.0), ("b", 0.0)])).unwrap().0, 0);
        assert_eq!(consensus(&candidates(&[("a b", 1.0), ("a b", 2.0)])).unwrap().0, 1);
    }

    #[test]
    fn the_scale_and_the_weights_of_lists_decide() {
        let list =
            |lines: &[(&str, f64)]| lines.iter().map(|(text, score)| (text.to_string(), *score)).collect();
        let lists: Vec<Listed> =
            vec![list(&[("a b c d", 0.0), ("e f g h", -1.0), ("e f g i", -1.0)]), list(&[("q r s t", 3.0)])];
        // Two that agree win while all count alike; the first of the list if scores count; the other list by its weight.
        assert_eq!(agreed(&lists, &[1.0, 0.0], 0.1), Some("e f g h"));
        assert_eq!(agreed(&lists, &[1.0, 0.0], 5.0), Some("a b c d"));
        assert_eq!(agreed(&lists, &[1.0, 9.0], 0.1), Some("q r s t"));
        assert_eq!(agreed(&[], &[], 1.0), None);
    }
}
