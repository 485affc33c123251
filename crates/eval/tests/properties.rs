//! What must hold for every corpus.

use proptest::prelude::*;
use sylvan_eval::{Bleu, BleuStats, Case};

fn line() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-cA-C.,0-2é-]{0,3}", 0..9).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn the_order_of_sentences_does_not_matter(
        mut pairs in prop::collection::vec((line(), line()), 1..12), seed in any::<u64>(),
    ) {
        let score = |pairs: &[(String, String)]| {
            let (hypotheses, references): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
            Bleu::default().corpus(&hypotheses, &[references]).unwrap()
        };
        let before = score(&pairs);
        sylvan_base::Rng::new(seed).shuffle(&mut pairs);
        prop_assert_eq!(before, score(&pairs));
    }

    #[test]
    fn scores_stay_between_0_and_100_and_more_references_match_no_less(
        hypothesis in line(), first in line(), second in line(),
    ) {
        let bleu = Bleu::default();
        let one = bleu.sentence(&hypothesis, &[&first]).unwrap();
        let two = bleu.sentence(&hypothesis, &[&first, &second]).unwrap();
        for score in [one, two] {
            prop_assert!((0.0..=100.000_001).contains(&score.score), "{}", score);
        }
        for n in 0..4 {
            prop_assert!(one.stats.matches[n] <= two.stats.matches[n]);
            prop_assert!(two.stats.matches[n] <= two.stats.totals[n]);
        }
    }

    #[test]
    fn lower_case_ignores_case(hypothesis in line(), reference in line()) {
        let bleu = Bleu { case: Case::Lower, ..Bleu::default() };
        let one = bleu.sentence(&hypothesis, &[&reference]).unwrap();
        prop_assert_eq!(one, bleu.sentence(&hypothesis.to_uppercase(), &[&reference]).unwrap());
    }

    #[test]
    fn summed_line_statistics_give_the_corpus_score(pairs in prop::collection::vec((line(), line()), 1..12)) {
        let (hypotheses, references): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let bleu = Bleu::default();
        let references = [references];
        let lines = bleu.corpus_stats(&hypotheses, &references).unwrap();
        let sum: BleuStats = lines.into_iter().sum();
        prop_assert_eq!(bleu.score(&sum), bleu.corpus(&hypotheses, &references).unwrap());
    }
}

fn cases() -> u32 {
    if std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full") { 20_000 } else { 500 }
}
