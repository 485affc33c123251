//! Training against counting by hand, and the same bytes whatever the memory and the threads.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use sylvan_base::{Rng, Silent, Symbol, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_rules::extract::{Attach, ExtractConfig, extract_rules};
use sylvan_rules::{
    Grammar, Precision, Preprocessing, Rule, ScoreConfig, Significance, Smoothing, Source, TargetKey,
    TargetSide, TrainConfig, Trained, TrainingFiles, train,
};
use sylvan_testkit::random_instance;

/// A small random corpus with repeated words, so that rules repeat.
struct Corpus {
    trees: Vec<String>,
    targets: Vec<String>,
    links: Vec<String>,
}

impl Corpus {
    fn random(seed: u64, pairs: usize) -> Self {
        let mut rng = Rng::new(seed);
        let mut corpus = Corpus { trees: Vec::new(), targets: Vec::new(), links: Vec::new() };
        for _ in 0..pairs {
            let mut vocab = Vocab::new();
            let text = random_instance(&mut rng).tree;
            let tree =
                sylvan_trees::penn::parse_line(&text, Default::default(), &mut vocab).unwrap().unwrap();
            let source = tree.words().len();
            let length = 1 + rng.below(6);
            let links = (0..source).filter_map(|s| {
                let t = (s * length / source + rng.below(2)).min(length - 1);
                rng.chance(0.8).then(|| format!("{s}-{t}"))
            });
            corpus.links.push(links.collect::<Vec<_>>().join(" "));
            corpus.trees.push(text);
            let words = (0..length).map(|_| *rng.pick(&["a", "b", "c"]));
            corpus.targets.push(words.collect::<Vec<_>>().join(" "));
        }
        corpus
    }

    fn write(&self, folder: &Path) -> TrainingFiles {
        let file = |name: &str, lines: &[String]| {
            let path = folder.join(name);
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        };
        TrainingFiles {
            trees: file("trees", &self.trees),
            target: file("target", &self.targets),
            links: vec![file("align", &self.links)],
        }
    }
}

fn config() -> TrainConfig {
    TrainConfig {
        preprocessing: Preprocessing::as_is(),
        score: ScoreConfig { per_source: 0, precision: Precision::Exact, ..ScoreConfig::default() },
        ..TrainConfig::default()
    }
}

fn run(corpus: &Corpus, config: &TrainConfig) -> (Trained, Vec<u8>, Grammar) {
    let dir = tempfile::tempdir().unwrap();
    let files = corpus.write(dir.path());
    let out = dir.path().join("rules");
    let trained = train(&files, &out, config, &Silent).unwrap();
    let bytes = std::fs::read(&out).unwrap();
    let grammar = Grammar::open(&out).unwrap();
    grammar.verify().unwrap();
    (trained, bytes, grammar)
}

#[test]
fn the_same_bytes_for_any_memory_and_number_of_threads() {
    let corpus = Corpus::random(1, 400);
    for attach in [Attach::Lowest, Attach::Exhaustive(1)] {
        for precision in [Precision::Exact, Precision::Bits(6)] {
            let mut config = config();
            config.extract.attach = attach;
            config.score.precision = precision;
            let (trained, bytes, _) = run(&corpus, &config);
            assert_eq!(trained.scratch, 0, "a small corpus stays in memory");
            for (threads, memory) in [(2, 1 << 30), (4, 1 << 30), (1, 1 << 14), (3, 1 << 16), (1, 1)] {
                let (again, other, _) = run(&corpus, &TrainConfig { threads, memory, ..config.clone() });
                assert!(other == bytes, "{threads} threads, {memory} bytes, {attach:?}, {precision:?}");
                assert_eq!(again.scored, trained.scored);
                assert_eq!(again.scratch > 0, memory < 1 << 20, "a small memory needs scratch files");
            }
        }
    }
}

type Labelled = (Option<Symbol>, Vec<(TargetSide, Option<Symbol>)>);

fn target_side(rule: &Rule, key: TargetKey) -> Labelled {
    let labels: Vec<Symbol> = rule.variables().collect();
    let label = |symbol: &TargetSide| match symbol {
        TargetSide::Var(variable) if key == TargetKey::Labelled => Some(labels[*variable as usize]),
        _ => None,
    };
    let root = (key == TargetKey::Labelled).then(|| rule.root());
    (root, rule.target().iter().map(|symbol| (*symbol, label(symbol))).collect())
}

/// All rules of the corpus with counts, by the extractor alone; in the symbols of `vocab`.
fn naive(corpus: &Corpus, extract: ExtractConfig, vocab: &mut Vocab) -> BTreeMap<Rule, (f64, Vec<u64>)> {
    let mut counts: BTreeMap<Rule, (f64, Vec<u64>)> = BTreeMap::new();
    for (line, ((tree, target), links)) in
        corpus.trees.iter().zip(&corpus.targets).zip(&corpus.links).enumerate()
    {
        let tree = sylvan_trees::penn::parse_line(tree, Default::default(), vocab).unwrap().unwrap();
        let target = vocab.intern_words(target);
        let links = Alignment::parse(links, Base::Zero).unwrap();
        for extracted in extract_rules(&tree, &target, links.sure(), extract).unwrap() {
            let entry = counts.entry(extracted.rule).or_default();
            entry.0 += extracted.share;
            entry.1.push(line as u64 + 1);
        }
    }
    counts
}

#[test]
fn frequencies_equal_counting_by_hand_and_sum_to_one() {
    for (seed, key) in [(2, TargetKey::Labelled), (3, TargetKey::Plain)] {
        let corpus = Corpus::random(seed, 300);
        let mut config = config();
        config.score.target_key = key;
        config.score.lines = 2;
        config.score.evidence = key == TargetKey::Plain;
        let (trained, _, grammar) = run(&corpus, &config);
        let mut vocab = grammar.vocab();
        let counts = naive(&corpus, config.extract, &mut vocab);
        assert_eq!(grammar.len(), counts.len());
        assert_eq!(trained.occurrences as f64, counts.values().map(|(count, _)| count).sum::<f64>());
        let mut of_source: BTreeMap<&[Source], f64> = BTreeMap::new();
        let mut of_target: BTreeMap<Labelled, f64> = BTreeMap::new();
        for (rule, (count, _)) in &counts {
            *of_source.entry(rule.source()).or_default() += count;
            *of_target.entry(target_side(rule, key)).or_default() += count;
        }
        let mut sums: BTreeMap<Vec<Source>, f64> = BTreeMap::new();
        for id in grammar.rules() {
            let rule = grammar.rule(id);
            let (count, lines) = &counts[&rule];
            let features = grammar.features(id);
            let notes = grammar.notes(id);
            let counted = notes.count.unwrap();
            assert_eq!(counted.rule.to_f64(), *count);
            assert_eq!(counted.source.to_f64(), of_source[rule.source()]);
            assert_eq!(counted.target.to_f64(), of_target[&target_side(&rule, key)]);
            assert!((f64::from(features[0]).exp() - count / of_source[rule.source()]).abs() < 1e-6);
            assert!(
                (f64::from(features[1]).exp() - count / of_target[&target_side(&rule, key)]).abs() < 1e-6
            );
            if config.score.evidence {
                let lexical = rule.source().iter().any(|symbol| matches!(symbol, Source::Word(_)));
                assert!((f64::from(features[4]) - 1.0 / count).abs() < 1e-6);
                assert_eq!(features[5], if lexical { 1.0 } else { 0.0 });
            }
            assert_eq!(features.len(), if config.score.evidence { 6 } else { 4 });
            *sums.entry(rule.source().to_vec()).or_default() += f64::from(features[0]).exp();
            assert!(!notes.lines.is_empty() && notes.lines.len() <= 2);
            assert!(notes.lines.iter().all(|line| lines.contains(line)), "{:?} of {lines:?}", notes.lines);
            let distinct = lines.iter().collect::<std::collections::BTreeSet<_>>().len();
            assert_eq!(notes.lines.len(), distinct.min(2));
        }
        assert!(sums.values().all(|sum| (sum - 1.0).abs() < 1e-5));
    }
}

#[test]
fn of_several_sets_of_links_each_counts_for_its_share() {
    let first = Corpus::random(6, 200);
    let mut second = Corpus::random(6, 200);
    // Links that the second set does not have, and lines without any.
    for (line, links) in second.links.iter_mut().enumerate() {
        let kept = links.split(' ').skip(1 + line % 3).collect::<Vec<_>>().join(" ");
        *links = kept;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut files = first.write(dir.path());
    files.links.push(dir.path().join("second"));
    std::fs::write(&files.links[1], second.links.join("\n") + "\n").unwrap();
    let out = dir.path().join("rules");
    for threads in [1, 3] {
        train(&files, &out, &TrainConfig { threads, ..config() }, &Silent).unwrap();
        let grammar = Grammar::open(&out).unwrap();
        let mut vocab = grammar.vocab();
        let sets = [&first, &second].map(|corpus| naive(corpus, config().extract, &mut vocab));
        let of = |rule: &Rule| {
            sets.iter().filter_map(|set| set.get(rule)).map(|(count, _)| count / 2.0).sum::<f64>()
        };
        let mut sums: BTreeMap<Vec<Source>, f64> = BTreeMap::new();
        let rules: std::collections::BTreeSet<&Rule> = sets.iter().flat_map(BTreeMap::keys).collect();
        assert!(sets.iter().all(|set| set.len() < rules.len()) && grammar.len() == rules.len());
        for &rule in &rules {
            *sums.entry(rule.source().to_vec()).or_default() += of(rule);
        }
        for id in grammar.rules() {
            let rule = grammar.rule(id);
            assert!((grammar.notes(id).count.unwrap().rule.to_f64() - of(&rule)).abs() < 1e-3);
            let share = f64::from(grammar.features(id)[0]).exp();
            assert!((share - of(&rule) / sums[rule.source()]).abs() < 1e-4, "{share}");
        }
    }
    // The same links twice are the links.
    files.links[1] = files.links[0].clone();
    let count = |files: &TrainingFiles| {
        train(files, &out, &config(), &Silent).unwrap();
        let grammar = Grammar::open(&out).unwrap();
        grammar
            .rules()
            .map(|id| (grammar.rule(id), grammar.features(id).to_vec()))
            .collect::<BTreeMap<_, _>>()
    };
    let twice = count(&files);
    files.links.truncate(1);
    assert_eq!(twice, count(&files));
    // What is wrong in the second file is said of it.
    let mut broken = second.links;
    broken[6] = "0-99".into();
    files.links.push(dir.path().join("second"));
    std::fs::write(&files.links[1], broken.join("\n") + "\n").unwrap();
    let told = train(&files, &out, &config(), &Silent).unwrap_err().to_string();
    assert!(told.contains("second:7"), "{told}");
}

#[test]
fn limits_smoothing_and_pruning_do_what_they_say() {
    let corpus = Corpus::random(4, 300);
    let (all, _, grammar) = run(&corpus, &config());
    let score = |change: &dyn Fn(&mut ScoreConfig)| {
        let mut config = config();
        change(&mut config.score);
        run(&corpus, &config)
    };
    let (limited, _, few) = score(&|score| score.per_source = 2);
    assert!(limited.scored.kept < all.scored.kept && limited.scored.distinct == all.scored.distinct);
    assert!(few.sources().all(|(_, rules)| rules.count() <= 2));
    // The most frequent stay, with their frequencies among all.
    let kept: BTreeMap<Rule, f32> = few.rules().map(|id| (few.rule(id), few.features(id)[0])).collect();
    for (_, rules) in grammar.sources() {
        let mut counts: Vec<_> = rules.map(|id| (grammar.notes(id).count.unwrap().rule, id)).collect();
        counts.sort();
        let (_, best) = counts[counts.len() - 1];
        let most = counts[counts.len() - 1].0;
        if counts.iter().filter(|(count, _)| *count == most).count() == 1 {
            assert_eq!(kept.get(&grammar.rule(best)), Some(&grammar.features(best)[0]));
        }
    }
    for smoothing in [Smoothing::GoodTuring, Smoothing::KneserNey] {
        let (_, _, smooth) = score(&|score| score.smoothing = smoothing);
        assert_eq!(smooth.len(), grammar.len());
        let ones = |grammar: &Grammar| grammar.rules().filter(|&id| grammar.features(id)[0] == 0.0).count();
        assert!(ones(&smooth) < ones(&grammar), "{smoothing:?} lets nothing that was seen once be certain");
    }
    let (strict, ..) = score(&|score| score.significance = Significance::AlphaPlus);
    let (loose, ..) = score(&|score| score.significance = Significance::AlphaMinus);
    assert!(strict.scored.kept < loose.scored.kept && loose.scored.kept <= all.scored.kept);
    let (none, ..) = score(&|score| score.significance = Significance::Above(1e9));
    assert_eq!(none.scored.kept, 0);
    let (_, _, bare) = score(&|score| score.lines = 0);
    assert!(bare.rules().all(|id| bare.notes(id).lines.is_empty()));
    assert_eq!(grammar.meta().lines_per_rule, 3);
}

#[test]
fn broken_corpora_are_named_with_file_and_line() {
    let good = Corpus::random(5, 20);
    for (broken, place) in [(0, "trees:7"), (2, "align:7"), (3, "align:7")] {
        let mut corpus = Corpus::random(5, 20);
        match broken {
            0 => corpus.trees[6] = "(A (B".into(),
            2 => corpus.links[6] = "0-x".into(),
            _ => corpus.links[6] = "0-99".into(),
        }
        for threads in [1, 3] {
            let dir = tempfile::tempdir().unwrap();
            let files = corpus.write(dir.path());
            let out = dir.path().join("rules");
            let error =
                train(&files, &out, &TrainConfig { threads, ..config() }, &Silent).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
            assert!(!out.exists(), "no half-written table");
        }
    }
    let mut short = good;
    short.targets.pop();
    let dir = tempfile::tempdir().unwrap();
    let files = short.write(dir.path());
    let error = train(&files, &dir.path().join("rules"), &config(), &Silent).unwrap_err().to_string();
    assert!(error.contains("the end after 19 lines"), "{error}");
}
