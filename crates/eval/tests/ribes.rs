//! RIBES against scores worked out by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use sylvan_eval::{Metric, Ribes, Tokenizer, Workspace};

fn ribes(hypothesis: &str, references: &[&str]) -> f64 {
    let metric = Ribes { tokenizer: Tokenizer::None, ..Ribes::default() };
    metric.value(&metric.line(hypothesis, references, &mut Workspace::default())) / 100.0
}

#[track_caller]
fn check(hypothesis: &str, references: &[&str], expected: f64) {
    let found = ribes(hypothesis, references);
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn equal_sentences_score_one() {
    check("a b c d", &["a b c d"], 1.0);
    check("a", &["a"], 1.0);
    // Every word is repeated, but runs tell the occurrences apart: "a b", "b a", and so on.
    check("a b a", &["a b a"], 1.0);
}

#[test]
fn order_is_the_share_of_pairs_in_order() {
    // Places 3 2 1 0: no pair of six is in order.
    check("d c b a", &["a b c d"], 0.0);
    // Places 1 0 2 3: five of six.
    check("b a c d", &["a b c d"], 5.0 / 6.0);
    // Places 2 3 0 1: the pairs within the halves only.
    check("c d a b", &["a b c d"], 2.0 / 6.0);
}

#[test]
fn precision_and_brevity_have_their_exponents() {
    // Three of four words are known and in order.
    check("a x b c", &["a b c d"], (3.0f64 / 4.0).powf(0.25));
    // All right but half as long: the penalty is exp(1 - 4/2).
    check("a b", &["a b c d"], (-1.0f64).exp().powf(0.10));
    // Longer is punished by precision only.
    check("a b c d x y", &["a b c d"], (4.0f64 / 6.0).powf(0.25));
}

#[test]
fn repeated_words_are_told_apart_by_runs() {
    // "the" occurs twice on both sides. The first has nothing to its left, and "the dog" stands at 3. The second has
    // "sees the" to its left, which stands at 2: the left comes first, so this is place 3 as well, although "the
    // cat" stands at 0. Places 3 4 2 3 1: of ten pairs 3-4 and 2-3 are in order.
    check("the dog sees the cat", &["the cat sees the dog"], 2.0 / 10.0);
    // The left comes first here too: "x a" puts a at 1, although "a y" would put it at 2. Places 0 1 3 4.
    check("x a y z", &["x a a y z"], (-0.25f64).exp().powf(0.10));
}

#[test]
fn words_that_cannot_be_told_apart_do_not_count() {
    // "a b" and "c a" do tell the two a apart: places 2 3 0 1.
    check("a b c a", &["c a a b"], 2.0 / 6.0);
    // Here no run with an a stands on both sides; b and c are in order, two of five words.
    check("b a a x c", &["a b y c a"], (2.0f64 / 5.0).powf(0.25));
}

#[test]
fn the_best_reference_counts_and_corners_are_zero() {
    check("a b c", &["c b a", "a b c"], 1.0);
    check("", &["a"], 0.0);
    check("a", &[""], 0.0);
    check("x y", &["a b"], 0.0);
    // One word in common has no order.
    check("a x", &["a b"], 0.0);
}

#[test]
fn a_corpus_scores_the_mean_of_its_lines() {
    let metric = Ribes { tokenizer: Tokenizer::None, ..Ribes::default() };
    let references = [vec!["a b c d", "a b c d"]];
    let one = std::num::NonZeroUsize::MIN;
    let lines = metric.line_stats(&["a b c d", "d c b a"], &references, one).unwrap();
    assert!((metric.value(&metric.sum(&lines)) - 50.0).abs() < 1e-6);
}
