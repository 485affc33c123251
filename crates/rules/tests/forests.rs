//! Rules out of packed forests and lists of trees: fractional counts against all trees spelt out.
#![allow(clippy::unwrap_used)]

mod shared;

use std::collections::BTreeMap;
use std::path::Path;

use shared::wrapped_forest;
use sylvan_base::{Rng, Silent, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_rules::extract::{ExtractConfig, extract_rules};
use sylvan_rules::{
    Grammar, Precision, Preprocessing, ScoreConfig, TrainConfig, TrainingFiles, TreeFormat, train,
};
use sylvan_trees::{Direction, PackedForest, Tree, egret};

/// Sentence pairs whose source sides are forests.
struct Corpus {
    forests: Vec<Option<PackedForest>>,
    targets: Vec<String>,
    links: Vec<String>,
    vocab: Vocab,
}

impl Corpus {
    fn random(seed: u64, pairs: usize) -> Self {
        let mut rng = Rng::new(seed);
        let (mut vocab, mut forests) = (Vocab::new(), Vec::new());
        let (mut targets, mut links) = (Vec::new(), Vec::new());
        for _ in 0..pairs {
            let wrapped = rng.chance(0.5);
            let forest = wrapped_forest(&mut rng, &mut vocab, wrapped);
            let length = 1 + rng.below(4);
            let words: Vec<&str> = (0..length).map(|_| *rng.pick(&["a", "b", "c"])).collect();
            let source = forest.words().len();
            let link = |s: usize| {
                let t = (s * length / source + rng.below(2)).min(length - 1);
                rng.chance(0.8).then(|| format!("{s}-{t}"))
            };
            links.push((0..source).filter_map(link).collect::<Vec<_>>().join(" "));
            targets.push(words.join(" "));
            // Now and then a sentence that could not be parsed.
            forests.push(rng.chance(0.95).then_some(forest));
        }
        Self { forests, targets, links, vocab }
    }

    fn forest_file(&self) -> String {
        let mut text = String::new();
        for (number, forest) in self.forests.iter().enumerate() {
            match forest {
                Some(forest) => egret::write(forest, number as u64 + 1, &self.vocab, &mut text),
                None => egret::write_unparsed(&[], number as u64 + 1, &self.vocab, &mut text),
            }
        }
        text
    }

    fn trees(&self) -> impl Iterator<Item = (usize, Vec<(Tree, f64)>)> + '_ {
        let all = self.forests.iter().enumerate();
        all.filter_map(|(number, forest)| Some((number, forest.as_ref()?.trees(10_000))))
    }

    fn list_file(&self) -> String {
        let mut text = String::new();
        for (number, trees) in self.trees() {
            for (tree, score) in trees {
                text.push_str(&format!("{} ||| {score:?} ||| {}\n", number + 1, tree.to_penn(&self.vocab)));
            }
        }
        text
    }

    fn write(&self, folder: &Path, trees: &str) -> TrainingFiles {
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        TrainingFiles {
            trees: file("trees", trees),
            target: file("target", &(self.targets.join("\n") + "\n")),
            links: vec![file("align", &(self.links.join("\n") + "\n"))],
        }
    }

    /// What definitions say: every tree by itself, times its probability.
    fn naive(&self, config: &TrainConfig) -> BTreeMap<String, f64> {
        let mut counts = BTreeMap::new();
        let mut vocab = self.vocab.clone();
        for (number, trees) in self.trees() {
            let weights: Vec<f64> =
                trees.iter().map(|(_, score)| (score * config.tree_scale).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let target = vocab.intern_words(&self.targets[number]);
            let links = Alignment::parse(&self.links[number], Base::Zero).unwrap();
            for ((tree, _), weight) in trees.into_iter().zip(weights) {
                let tree = config.preprocessing.apply(tree, &mut vocab).unwrap();
                for extracted in extract_rules(&tree, &target, links.sure(), config.extract).unwrap() {
                    let count: &mut f64 = counts.entry(extracted.rule.show(&vocab)).or_default();
                    *count += extracted.share * weight / sum;
                }
            }
        }
        counts
    }
}

fn config(trees: TreeFormat) -> TrainConfig {
    TrainConfig {
        trees,
        extract: ExtractConfig { minimal_rules: 3, ..ExtractConfig::default() },
        score: ScoreConfig { per_source: 0, precision: Precision::Exact, ..ScoreConfig::default() },
        ..TrainConfig::default()
    }
}

fn run(corpus: &Corpus, config: &TrainConfig) -> (BTreeMap<String, f64>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let trees = match config.trees {
        TreeFormat::Forests => corpus.forest_file(),
        _ => corpus.list_file(),
    };
    let files = corpus.write(dir.path(), &trees);
    let out = dir.path().join("rules");
    train(&files, &out, config, &Silent).unwrap();
    let grammar = Grammar::open(&out).unwrap();
    let vocab = grammar.vocab();
    let counts = grammar
        .rules()
        .map(|id| (grammar.rule(id).show(&vocab), grammar.notes(id).count.unwrap().rule.to_f64()));
    (counts.collect(), std::fs::read(&out).unwrap())
}

#[test]
fn forests_and_lists_count_every_tree_by_its_probability() {
    for (seed, scale, binarise) in [(1, 1.0, None), (2, 0.0, None), (3, 2.5, Some(Direction::Right))] {
        let corpus = Corpus::random(seed, sylvan_testkit::cases(60, 400));
        for format in [TreeFormat::Forests, TreeFormat::Lists] {
            let mut config = config(format);
            config.tree_scale = scale;
            config.preprocessing = Preprocessing { binarise, ..Preprocessing::default() };
            let expected = corpus.naive(&config);
            let (found, _) = run(&corpus, &config);
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
            // Each sentence rounds once, to 2^-20.
            for ((rule, count), expected) in found.iter().zip(expected.values()) {
                assert!((count - expected).abs() < 1e-6 * 400.0, "{rule}: {count} {expected}");
            }
            assert!(found.keys().any(|rule| rule.starts_with("ROOT(")), "some wrappers cannot go");
            assert!(found.keys().all(|rule| !rule.contains("-SBJ")), "tags go");
            assert!(found.values().any(|count| count.fract() != 0.0));
        }
    }
}

#[test]
fn the_same_bytes_for_any_memory_and_number_of_threads() {
    let corpus = Corpus::random(4, 150);
    for format in [TreeFormat::Forests, TreeFormat::Lists] {
        let (_, bytes) = run(&corpus, &config(format));
        for (threads, memory) in [(2, 1 << 30), (4, 1 << 14), (1, 1)] {
            let (_, other) = run(&corpus, &TrainConfig { threads, memory, ..config(format) });
            assert!(other == bytes, "{format:?} {threads} threads, {memory} bytes");
        }
    }
}

#[test]
fn a_single_tree_is_a_list_of_one_and_a_forest_of_one() {
    let mut corpus = Corpus::random(5, 50);
    for forest in corpus.forests.iter_mut().flatten() {
        *forest = PackedForest::from_tree(&forest.best().0);
    }
    let (forests, _) = run(&corpus, &config(TreeFormat::Forests));
    let (lists, _) = run(&corpus, &config(TreeFormat::Lists));
    assert_eq!(forests, lists);
    assert!(forests.values().all(|count| count.fract() == 0.0), "whole counts stay whole");
}

#[test]
fn mistakes_are_named() {
    let corpus = Corpus::random(6, 10);
    let error = |format: TreeFormat, trees: &str, change: &dyn Fn(&mut TrainConfig)| {
        let dir = tempfile::tempdir().unwrap();
        let files = corpus.write(dir.path(), trees);
        let mut config = config(format);
        change(&mut config);
        let out = dir.path().join("rules");
        let error = train(&files, &out, &config, &Silent).unwrap_err().to_string();
        assert!(!out.exists());
        error
    };
    let (forests, lists) = (corpus.forest_file(), corpus.list_file());
    let check = |format, trees: &str, expected: &[&str]| {
        let error = error(format, trees, &|_| {});
        assert!(expected.iter().all(|part| error.contains(part)), "{error}");
    };
    let more = format!("{forests}sentence 11 :\nw\nA[0,0] => w ||| 0\n\n");
    check(TreeFormat::Forests, &more, &["trees:", "one more forest", "after 10 sentences"]);
    let fewer = &forests[..forests.find("sentence 10").unwrap()];
    check(TreeFormat::Forests, fewer, &["trees:", "the end after 9 forests"]);
    check(TreeFormat::Lists, &format!("{lists}11 ||| 0 ||| (A w)\n"), &["sentence 11", "after 10 sentences"]);
    check(TreeFormat::Lists, "2 ||| 0 ||| (A w)\n1 ||| 0 ||| (A w)\n", &["trees:2", "in order"]);
    check(TreeFormat::Lists, "1 ||| 0 ||| (A w)\n1 ||| 0 ||| (A v)\n", &["trees:2", "other words"]);
    check(TreeFormat::Lists, "0 ||| 0 ||| (A w)\n", &["trees:1", "counted from 1"]);
    check(TreeFormat::Lists, "1 ||| 0 ||| (A w\n", &["trees:1"]);
    check(TreeFormat::Penn, &forests, &["trees:1", "--tree-format forest"]);
    check(TreeFormat::Penn, &lists, &["trees:1", "--tree-format list"]);
    let collapsed = error(TreeFormat::Forests, &forests, &|config| {
        config.preprocessing.clean_up.unaries = sylvan_trees::Unaries::Collapse;
    });
    assert!(collapsed.contains("unary chains"), "{collapsed}");
}
