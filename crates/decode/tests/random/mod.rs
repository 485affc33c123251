//! Random language models and models over the words of [`sylvan_testkit::random_instance`].
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write;

use sylvan_base::{Rng, Vocab};
use sylvan_decode::{Decoded, Hypothesis, Input, Sentence, With, Worker};
use sylvan_forest::TranslationForest;
use sylvan_lm::{Lm, WordId};
use sylvan_search::{Beam, Cube, Effort, Incremental, Limits, Prediction, Search, Undirected};
use sylvan_store::TextReader;

/// A model's ids of the tokens of a forest.
pub fn word_ids(lm: &Lm, forest: &TranslationForest, vocab: &Vocab) -> Vec<WordId> {
    forest.tokens().iter().map(|token| lm.word(vocab.text(token.word))).collect()
}

/// Every search, as wide as it takes for small problems.
pub fn every_search() -> [Search; 8] {
    let wide = Beam(100_000);
    [
        Search::Cube(Cube::new(wide)),
        Search::Cube(Cube::focused(Beam::UNLIMITED)),
        Search::Refine(wide),
        Search::Incremental(Limits::beam(wide), Incremental::default()),
        Search::Prediction(Limits::beam(wide), Prediction::default()),
        Search::Undirected(Undirected::new(wide)),
        Search::Undirected(Undirected::paper(wide)),
        Search::Exact(wide, Effort { joins: u64::MAX }),
    ]
}

/// Reads a tree that is valid and not empty.
pub fn read_tree(worker: &mut Worker, tree: &str, with: With<'_>) -> Sentence {
    worker.read(tree, Input::Tree, with).unwrap().unwrap()
}

/// Weights times values, from the list of features.
pub fn replayed(
    worker: &Worker,
    sentence: &Sentence,
    with: With<'_>,
    found: &Decoded,
    hypothesis: &Hypothesis,
) -> f64 {
    let derived = worker.derived(sentence, with, &found.forest, &hypothesis.derivation);
    let weights = worker.model().weights();
    let score = |(name, value): &(String, f64)| sylvan_decode::features::weight_of(weights, name) * value;
    derived.features().iter().map(score).sum()
}

/// A model with all n-grams of a few random sentences and random numbers, back-off weights above 1 among them.
pub fn random_model(rng: &mut Rng) -> Lm {
    let order = 1 + rng.below(5);
    let mut grams: Vec<BTreeSet<Vec<&str>>> = vec![BTreeSet::new(); order];
    for word in ["<s>", "</s>", "<unk>"] {
        grams[0].insert(vec![word]);
    }
    for _ in 0..1 + rng.below(8) {
        let inner = (0..rng.below(7)).map(|_| *rng.pick(&["a", "b", "c", "d"]));
        let words: Vec<&str> = ["<s>"].into_iter().chain(inner).chain(["</s>"]).collect();
        for (n, set) in (1..).zip(&mut grams) {
            set.extend(words.windows(n).map(<[_]>::to_vec));
        }
    }
    let raised = rng.chance(0.3);
    let mut arpa = "\\data\\\n".to_string();
    for (n, set) in (1..).zip(&grams) {
        writeln!(arpa, "ngram {n}={}", set.len()).unwrap();
    }
    for (n, set) in (1..).zip(&grams) {
        writeln!(arpa, "\n\\{n}-grams:").unwrap();
        for words in set {
            let prob = -3.0 * rng.unit();
            let backoff = if raised { 1.0 - 2.0 * rng.unit() } else { -1.5 * rng.unit() };
            match n == order {
                true => writeln!(arpa, "{prob:.4}\t{}", words.join(" ")).unwrap(),
                false => writeln!(arpa, "{prob:.4}\t{}\t{backoff:.4}", words.join(" ")).unwrap(),
            }
        }
    }
    arpa.push_str("\n\\end\\\n");
    Lm::read_arpa(&mut TextReader::from_text("random.arpa", arpa)).unwrap()
}
