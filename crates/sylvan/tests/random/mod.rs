//! Random language models over the words of [`sylvan_testkit::random_instance`].

use std::collections::BTreeSet;
use std::fmt::Write;

use sylvan_base::Rng;
use sylvan_lm::Lm;
use sylvan_store::TextReader;

/// A model with all n-grams of a few random sentences and random numbers, back-off weights above 1 among them.
pub(crate) fn random_model(rng: &mut Rng) -> Lm {
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
