//! The obvious model that the fast one is compared with, and helpers.
#![allow(dead_code, clippy::unwrap_used, reason = "not every test file uses every helper; helpers may panic")]

use std::collections::BTreeMap;
use std::fmt::Write;

use sylvan_base::Rng;
use sylvan_lm::{CompileConfig, Lm};
use sylvan_store::TextReader;

/// Reads a model from text.
pub(crate) fn read(text: &str) -> Lm {
    Lm::read_arpa(&mut TextReader::from_text("test.arpa", text)).unwrap()
}

/// The model as a compiled file, opened. The folder may go: the file stays mapped.
pub(crate) fn compiled(lm: &Lm, config: CompileConfig) -> Lm {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.lm");
    lm.compile(&path, config).unwrap();
    let opened = Lm::open(&path).unwrap();
    opened.verify().unwrap();
    opened
}

/// Random models with sentences of their words (and of one that they do not know): `check` gets the model, its
/// definition and a generator.
pub(crate) fn each_model(seed: u64, quick: usize, full: usize, mut check: impl FnMut(&Lm, &Naive, &mut Rng)) {
    for item in 0..amount(quick, full) as u64 {
        let mut rng = Rng::for_item(seed, item);
        let (order, words) = (1 + rng.below(5), 1 + rng.below(4));
        let complete = rng.chance(0.5);
        let naive = Naive::random(&mut rng, order, words, complete);
        check(&read(&naive.arpa()), &naive, &mut rng);
    }
}

/// Words of a random sentence.
pub(crate) fn random_words(rng: &mut Rng, longest: usize) -> Vec<String> {
    (0..rng.below(longest + 1)).map(|_| char::from(b'a' + rng.below(5) as u8).to_string()).collect()
}

/// `full` when SYLVAN_TESTS=full, else `quick`.
pub(crate) fn amount(quick: usize, full: usize) -> usize {
    if std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full") { full } else { quick }
}

/// Same n-grams in the same order, with close numbers.
pub(crate) fn assert_same_arpa(found: &str, expected: &str, tolerance: f64) {
    assert_eq!(found.lines().count(), expected.lines().count());
    for (number, (a, b)) in (1..).zip(found.lines().zip(expected.lines())) {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split('\t').collect(), b.split('\t').collect());
        assert_eq!(a.len(), b.len(), "line {number}");
        for (a, b) in a.into_iter().zip(b) {
            match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => assert!((a - b).abs() <= tolerance, "line {number}: {a} {b}"),
                _ => assert_eq!(a, b, "line {number}"),
            }
        }
    }
}

/// A word for each number; the first are single letters.
pub(crate) fn name_of(number: usize) -> String {
    if number < 5 { char::from(b'a' + number as u8).to_string() } else { format!("w{number}") }
}

/// N-grams as lists of words in a map: log10 probability and log10 back-off weight.
pub(crate) struct Naive {
    pub(crate) order: usize,
    pub(crate) grams: BTreeMap<Vec<String>, (f64, f64)>,
}

impl Naive {
    /// The definition of backing off; the history may be of any length.
    pub(crate) fn log10(&self, history: &[&str], word: &str) -> f64 {
        let longest = history.len().min(self.order - 1);
        let history = &history[history.len() - longest..];
        let known = |word: &&str| {
            let word = word.to_string();
            if self.grams.contains_key(std::slice::from_ref(&word)) { word } else { "<unk>".to_string() }
        };
        let gram: Vec<String> = history.iter().chain([&word]).map(known).collect();
        if let Some(&(prob, _)) = self.grams.get(&gram) {
            return prob;
        }
        if history.is_empty() {
            return -100.0;
        }
        let backoff = self.grams.get(&gram[..gram.len() - 1]).map_or(0.0, |&(_, backoff)| backoff);
        backoff + self.log10(&history[1..], word)
    }

    /// A random model over the words `a`, `b`, ... In a `complete` one all parts of n-grams are n-grams.
    pub(crate) fn random(rng: &mut Rng, order: usize, words: usize, complete: bool) -> Self {
        let number =
            |rng: &mut Rng| (-(rng.below(4_000_000) as f64) / 1e6, rng.below(5) as f64 * 0.25 - 0.75);
        let mut grams = BTreeMap::new();
        let mut names: Vec<String> = (0..words).map(|w| char::from(b'a' + w as u8).to_string()).collect();
        names.extend(["<s>".to_string(), "</s>".to_string()]);
        if rng.chance(0.7) {
            names.push("<unk>".to_string());
        }
        for name in &names {
            grams.insert(vec![name.clone()], number(rng));
        }
        for n in 2..=order {
            for _ in 0..rng.below(1 << (n + 2)) {
                let gram: Vec<String> = (0..n).map(|_| rng.pick(&names).clone()).collect();
                // Parts must be there first: a part is an n-gram without its first or its last word.
                let shortest = if complete { 2 } else { n };
                for part in shortest..=n {
                    for window in gram.windows(part) {
                        let weights = number(rng);
                        grams.entry(window.to_vec()).or_insert(weights);
                    }
                }
            }
        }
        Self { order, grams }
    }

    /// A model of many words with `count` random n-grams per length and all their parts.
    pub(crate) fn random_of(rng: &mut Rng, order: usize, words: usize, count: usize) -> Self {
        let mut grams = BTreeMap::new();
        let mut names: Vec<String> = (0..words).map(name_of).collect();
        names.extend(["<s>", "</s>", "<unk>"].map(String::from));
        // Few different back-off weights, as in estimated models; many probabilities.
        let number = |rng: &mut Rng| (-(rng.below(40_000) as f64) / 1e4, -(rng.below(40) as f64) / 40.0);
        for name in &names {
            grams.insert(vec![name.clone()], number(rng));
        }
        for n in 2..=order {
            for _ in 0..count {
                // The first words are frequent.
                let gram: Vec<String> = (0..n)
                    .map(|_| names[(rng.unit() * rng.unit() * names.len() as f64) as usize].clone())
                    .collect();
                for part in 2..=n {
                    for window in gram.windows(part) {
                        let weights = number(rng);
                        grams.entry(window.to_vec()).or_insert(weights);
                    }
                }
            }
        }
        Self { order, grams }
    }

    pub(crate) fn arpa(&self) -> String {
        let mut text = "\\data\\\n".to_string();
        let of = |n: usize| self.grams.iter().filter(move |(gram, _)| gram.len() == n);
        for n in 1..=self.order {
            writeln!(text, "ngram {n}={}", of(n).count()).unwrap();
        }
        for n in 1..=self.order {
            writeln!(text, "\n\\{n}-grams:").unwrap();
            for (gram, (prob, backoff)) in of(n) {
                write!(text, "{prob}\t{}", gram.join(" ")).unwrap();
                // A weight of 1 may be left out.
                if *backoff != 0.0 && n < self.order {
                    write!(text, "\t{backoff}").unwrap();
                }
                text.push('\n');
            }
        }
        text + "\n\\end\\\n"
    }
}
