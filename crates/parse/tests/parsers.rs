//! Parsers trained on the sample corpus: what they find, that files give back what was written, that the ways to run
//! them agree.
#![allow(clippy::unwrap_used)]

use std::sync::OnceLock;

use sylvan_base::{Rng, Silent, Vocab};
use sylvan_parse::eval::brackets::BracketScore;
use sylvan_parse::structured::{Keep, Owing, Parses, Perceptron};
use sylvan_parse::{
    MergeStatistics, Parser, Templates, TrainConfig, Workspace, pack, train_constituency, train_dependency,
    train_tagger, treebank,
};
use sylvan_sample::{Config, Sampler};
use sylvan_testkit::cases;
use sylvan_trees::conllu::{Columns, parse_block};
use sylvan_trees::{DependencyTree, Head, HeadRules, Tree, penn};

/// Constituency and dependency trees of the sample corpus.
fn sample(first: u64, count: usize, vocab: &mut Vocab) -> (Vec<Tree>, Vec<DependencyTree>) {
    let sampler = Sampler::new(Config { max_words: 25, ..Config::default() }).unwrap();
    let mut workspace = sylvan_sample::Workspace::new();
    let (mut trees, mut dependencies) = (Vec::new(), Vec::new());
    for number in first..first + count as u64 {
        let mut pair = sampler.pair(number, &mut workspace);
        trees.push(penn::parse_line(&pair.source_tree(), penn::Brackets::Keep, vocab).unwrap().unwrap());
        dependencies.push(parse_block(pair.conllu().trim_end(), Columns::Basic, vocab).unwrap().unwrap());
    }
    (trees, dependencies)
}

fn quick() -> TrainConfig {
    TrainConfig { epochs: 3, beam: 4, threads: 2, ..TrainConfig::default() }
}

fn constituency(vocab: &mut Vocab, threads: usize, trees: usize) -> Parser {
    let (train, _) = sample(0, trees, vocab);
    let config = TrainConfig { threads, ..quick() };
    train_constituency(&train, &[], &HeadRules::chinese(), vocab, &config, &Silent, &mut |_| {}).unwrap()
}

fn dependency(templates: Templates, window: usize) -> Parser {
    let mut vocab = Vocab::new();
    let (_, train) = sample(0, 200, &mut vocab);
    let config = TrainConfig { templates, window, tags_alone: window <= 1, ..quick() };
    train_dependency(&train, &train[..20], &vocab, &config, &Silent, &mut |_| {}).unwrap()
}

fn small() -> &'static Parser {
    static PARSER: OnceLock<Parser> = OnceLock::new();
    PARSER.get_or_init(|| constituency(&mut Vocab::new(), 1, 200))
}

fn texts<'a>(tree: &DependencyTree, vocab: &'a Vocab) -> Vec<&'a str> {
    tree.words().iter().map(|word| vocab.text(word.form)).collect()
}

#[test]
fn fresh_sentences_of_the_sample_corpus_are_parsed_well() {
    let mut vocab = Vocab::new();
    let parser = constituency(&mut vocab, 2, cases(600, 5000));
    let (fresh, _) = sample(100_000, 200, &mut vocab);
    let mut score = BracketScore::default();
    let mut workspace = Workspace::new();
    for tree in &fresh {
        let words: Vec<String> = tree.words().iter().map(|&word| vocab.text(word).to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let parsed = parser.constituents(&words, 16, 1, &mut vocab, &mut workspace);
        score.add(tree, Some(&parsed[0].tree), &vocab).unwrap();
    }
    let least = cases(860, 970) as f64 / 10.0;
    assert!(score.f1() >= least, "{} is below {least}", score.f1());
}

#[test]
fn the_number_of_threads_does_not_change_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parser");
    let bytes = |parser: Parser| {
        parser.write(&path).unwrap();
        std::fs::read(&path).unwrap()
    };
    let constituents = |threads| bytes(constituency(&mut Vocab::new(), threads, 150));
    assert!(constituents(1) == constituents(3));
    let mut vocab = Vocab::new();
    let (_, train) = sample(0, 150, &mut vocab);
    for beam in [1, 4] {
        let dependencies = |threads| {
            let config = TrainConfig { threads, beam, ..quick() };
            bytes(train_dependency(&train, &[], &vocab, &config, &Silent, &mut |_| {}).unwrap())
        };
        assert!(dependencies(1) == dependencies(3), "beam {beam}");
    }
}

/// The same on a real treebank, the first trees of it.
#[test]
fn the_number_of_threads_does_not_change_the_file_on_real_data() {
    let Some(folder) = sylvan_testkit::data("gum") else { return };
    let mut vocab = Vocab::new();
    let dependencies = treebank::read_dependencies(&folder.join("dev.conllu"), &mut vocab).unwrap();
    let trees = treebank::read_constituents(&folder.join("dev.ptb"), &mut vocab).unwrap();
    let trees: Vec<Tree> = trees.into_iter().flatten().take(cases(60, 1500)).collect();
    let rules = treebank::head_rules(&trees, &vocab);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parser");
    let mut bytes = |threads| {
        let config = TrainConfig { threads, epochs: 2, ..quick() };
        let train = &dependencies[..cases(60, 1500).min(dependencies.len())];
        let first = train_dependency(train, &train[..50], &vocab, &config, &Silent, &mut |_| {}).unwrap();
        let held_out = &trees[..50];
        let second =
            train_constituency(&trees, held_out, &rules, &mut vocab, &config, &Silent, &mut |_| {}).unwrap();
        [first, second].map(|parser| {
            parser.write(&path).unwrap();
            std::fs::read(&path).unwrap()
        })
    };
    assert!(bytes(1) == bytes(2));
}

/// The part of words with the right head, among punctuation and among all others.
fn attachment(parser: &Parser, trees: &[DependencyTree], beam: usize, vocab: &Vocab) -> [f64; 2] {
    let mut workspace = Workspace::new();
    let mut counts = [[0.0; 2]; 2];
    for tree in trees {
        let parsed = parser.dependencies(&texts(tree, vocab), beam, None, &mut workspace).unwrap();
        for (word, found) in tree.words().iter().zip(&parsed.heads) {
            let head = match word.head {
                Head::Word(head) => Some(head),
                _ => None,
            };
            let count = &mut counts[usize::from(vocab.text(word.deprel) != "punct")];
            count[usize::from(head == *found)] += 1.0;
        }
    }
    counts.map(|[wrong, right]| right * 100.0 / (wrong + right))
}

#[test]
fn fresh_sentences_get_the_right_heads_greedily_and_with_a_beam() {
    let mut vocab = Vocab::new();
    let (_, train) = sample(0, cases(300, 3000), &mut vocab);
    let (_, fresh) = sample(100_000, 200, &mut vocab);
    for beam in [1, 8] {
        let config = TrainConfig { beam, ..quick() };
        let parser = train_dependency(&train, &[], &vocab, &config, &Silent, &mut |_| {}).unwrap();
        let [marks, words] = attachment(&parser, &fresh, beam, &vocab);
        assert!(marks > 80.0 && words > 86.0, "beam {beam}: {marks:.1} and {words:.1}");
    }
}

#[test]
fn a_written_parser_is_the_same_parser() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("parser");
    let mut vocab = Vocab::new();
    let (_, trees) = sample(50_000, 30, &mut vocab);
    let parsers = [small().clone(), dependency(Templates::Rich, 3)];
    for parser in parsers {
        parser.write(&path).unwrap();
        Parser::verify(&path).unwrap();
        let read = Parser::open(&path).unwrap();
        assert_eq!(read.kind(), parser.kind());
        assert_eq!(read.notes(), parser.notes());
        let mut workspace = Workspace::new();
        for tree in &trees {
            let words = texts(tree, &vocab);
            assert_eq!(read.tag(&words, &mut workspace), parser.tag(&words, &mut workspace));
            let mut parse = |parser: &Parser| {
                let mut own = Vocab::new();
                let parsed = parser.constituents(&words, 4, 4, &mut own, &mut workspace);
                (parsed, parser.dependencies(&words, 4, None, &mut workspace))
            };
            assert_eq!(parse(&read), parse(&parser));
        }
        // A damaged file is refused. One with lies in it and the right checksums may parse wrongly, but never panics.
        let good = std::fs::read(&path).unwrap();
        let mut rng = Rng::new(4);
        for _ in 0..cases(60, 2000) {
            let mut bad = good.clone();
            for _ in 0..1 + rng.below(30) {
                let at = 1000 + rng.below(bad.len() - 1000);
                bad[at] = rng.next_u64() as u8;
            }
            std::fs::write(&path, &bad).unwrap();
            assert!(Parser::open(&path).is_err() || Parser::verify(&path).is_ok());
            sylvan_testkit::seal(&mut bad);
            std::fs::write(&path, &bad).unwrap();
            if let Ok(parser) = Parser::open(&path) {
                let words = texts(&trees[0], &vocab);
                parser.constituents(&words, 2, 1, &mut Vocab::new(), &mut workspace);
                parser.dependencies(&words, 2, None, &mut workspace);
            }
        }
    }
}

/// Lines that no treebank has: nothing, one word, marks alone, emoji, other scripts, one of 500 words.
fn odd_lines() -> Vec<String> {
    let mut lines = vec!["很 ".repeat(500), "， ".repeat(500), "， 很 。 ".repeat(170)];
    let short = [
        "",
        "x",
        "。",
        "🙂 🙂",
        "где мы",
        "( ) -LRB- [",
        "\u{a0}",
        "， ， ， 。 。",
        "， x",
        "x ，",
        "\u{301} ـ",
    ];
    lines.extend(short.map(str::to_string));
    lines
}

#[test]
fn any_words_get_constituents() {
    let mut vocab = Vocab::new();
    let mut workspace = Workspace::new();
    for line in odd_lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let parsed = small().constituents(&words, 8, 3, &mut vocab, &mut workspace);
        assert_eq!(parsed.is_empty(), words.is_empty(), "{line}");
        for parsed in &parsed {
            let found: Vec<&str> = parsed.tree.words().iter().map(|&word| vocab.text(word)).collect();
            assert_eq!(found, words);
        }
    }
}

#[test]
fn any_words_get_dependencies() {
    let mut workspace = Workspace::new();
    for parser in [dependency(Templates::Rich, 3), dependency(Templates::Paper, 1)] {
        for (line, beam) in odd_lines().iter().flat_map(|line| [1, 8].map(|beam| (line, beam))) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            for merge in [false, true] {
                let mut statistics = MergeStatistics::default();
                let parsed =
                    parser.dependencies(&words, beam, merge.then_some(&mut statistics), &mut workspace);
                let Some(parsed) = parsed else {
                    assert!(words.is_empty(), "{line}");
                    continue;
                };
                assert_eq!([parsed.heads.len(), parsed.relations.len(), parsed.tags.len()], [words.len(); 3]);
                assert_eq!(parsed.heads.iter().filter(|head| head.is_none()).count(), 1, "one root: {line}");
                // Each word reaches the root: no more steps than words.
                for start in 0..words.len() {
                    let mut at = start;
                    let mut steps = 0;
                    while let Some(head) = parsed.heads[at] {
                        (at, steps) = (head as usize, steps + 1);
                        assert!(steps < words.len(), "a circle in {line}");
                    }
                }
            }
        }
    }
}

#[test]
fn k_best_lists_are_distinct_and_sorted_and_pack_into_forests_that_hold_them() {
    let mut vocab = Vocab::new();
    let mut workspace = Workspace::new();
    let (source, _) = sample(60_000, 30, &mut vocab);
    let (mut several, mut packed) = (0, 0);
    for tree in &source {
        let words: Vec<String> = tree.words().iter().map(|&word| vocab.text(word).to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let parsed = small().constituents(&words, 16, 16, &mut vocab, &mut workspace);
        assert!(parsed.windows(2).all(|pair| pair[0].score >= pair[1].score && pair[0].tree != pair[1].tree));
        let best = small().constituents(&words, 16, 1, &mut vocab, &mut workspace);
        assert_eq!(best[..], parsed[..1]);
        several += usize::from(parsed.len() > 1);
        let forest = pack(&parsed).unwrap();
        let held: Vec<Tree> = forest.trees(10_000).into_iter().map(|(tree, _)| tree).collect();
        assert!(held.contains(&parsed[0].tree));
        packed += usize::from(held.len() > 1);
        for node in forest.nodes() {
            let total: f64 = forest.edges(node).map(|edge| forest.score(edge).exp()).sum();
            assert!((total - 1.0).abs() < 1e-9, "edges of a node are alternatives");
        }
    }
    assert!(several > 15 && packed > 10, "{several} lists and {packed} forests of several trees");
    assert!(pack(&[]).is_none());
}

/// Word by word with all parses kept, and the batch parser with a beam that holds them all.
#[test]
fn word_by_word_gives_the_scores_of_the_batch_parser() {
    for (templates, window) in
        [(Templates::Paper, 0), (Templates::Paper, 1), (Templates::Rich, 0), (Templates::Rich, 1)]
    {
        let parser = dependency(templates, window);
        let mut vocab = Vocab::new();
        let (_, trees) = sample(70_000, 40, &mut vocab);
        let structured = Perceptron::new(parser.clone()).unwrap();
        let mut parses = Parses::new(&structured);
        let mut workspace = Workspace::new();
        let mut checked = 0;
        for tree in trees.iter().filter(|tree| tree.len() <= 7) {
            let words = texts(tree, &vocab);
            // Stacks are shared by all sentences, as they are by all hypotheses of one.
            let read: Vec<_> = words.iter().map(|word| parses.read(word)).collect();
            let parse = parses.parse(&read, Keep::ALL).unwrap();
            let batch = parser.dependencies(&words, 200_000, None, &mut workspace).unwrap();
            assert_eq!((parse.score * structured.unit()).round() as i64, batch.score, "{words:?}");
            let mut statistics = MergeStatistics::default();
            let merged = parser.dependencies(&words, 100_000, Some(&mut statistics), &mut workspace).unwrap();
            assert_eq!(merged.score, batch.score, "{words:?}");
            checked += 1;
        }
        assert!(checked > 5, "{checked} sentences were short enough");
    }
    assert!(Perceptron::new(dependency(Templates::Rich, 3)).is_none(), "it looks too far ahead");
    assert!(Perceptron::new(small().clone()).is_none());
}

/// A parser says what it gives to a word, and words are then worth about 1.
#[test]
fn words_are_worth_about_one() {
    let structured = Perceptron::new(dependency(Templates::Paper, 0)).unwrap();
    let mut vocab = Vocab::new();
    let (_, trees) = sample(70_000, 40, &mut vocab);
    let mut parses = Parses::new(Owing::new(&structured));
    let (mut score, mut count) = (0.0, 0);
    for tree in &trees {
        let read: Vec<_> = texts(tree, &vocab).iter().map(|word| parses.read(word)).collect();
        score += parses.parse(&read, Keep::ENOUGH).unwrap().score;
        count += read.len();
    }
    let mean = score / count as f64;
    assert!((0.5..1.5).contains(&mean), "{mean}");
}

#[test]
fn merging_finds_at_least_what_the_beam_finds_on_the_whole() {
    let mut vocab = Vocab::new();
    let (_, trees) = sample(80_000, 60, &mut vocab);
    let mut workspace = Workspace::new();
    for parser in [dependency(Templates::Paper, 1), dependency(Templates::Rich, 3)] {
        let (mut plain, mut merged) = (0, 0);
        for (tree, beam) in trees.iter().flat_map(|tree| [2, 4, 16].map(|beam| (tree, beam))) {
            let words = texts(tree, &vocab);
            let mut statistics = MergeStatistics::default();
            plain += parser.dependencies(&words, beam, None, &mut workspace).unwrap().score;
            let found = parser.dependencies(&words, beam, Some(&mut statistics), &mut workspace).unwrap();
            merged += found.score;
            assert_eq!(found.heads.iter().filter(|head| head.is_none()).count(), 1);
            assert!(statistics.states <= beam * (2 * words.len() - 1));
        }
        assert!(merged >= plain, "{merged} is below {plain}");
    }
}

#[test]
fn merging_without_a_limit_is_exhaustive_search() {
    let mut vocab = Vocab::new();
    let (_, trees) = sample(81_000, cases(20, 200), &mut vocab);
    let mut workspace = Workspace::new();
    // Sequences of n shifts and n - 1 reductions of two kinds: Catalan numbers times powers of two.
    let sequences = [1.0, 2.0, 8.0, 40.0, 224.0, 1344.0];
    let parsers = [(dependency(Templates::Paper, 1), false), (dependency(Templates::Rich, 3), true)];
    for (parser, puts_aside) in parsers {
        let mut fewer = 0;
        for (index, tree) in trees.iter().enumerate() {
            let length = 1 + index % sequences.len();
            let words = texts(tree, &vocab);
            let words: Vec<&str> = words.into_iter().filter(|word| word.len() > 1).take(length).collect();
            let plain = parser.dependencies(&words, 1_000_000, None, &mut workspace).unwrap();
            let mut statistics = MergeStatistics::default();
            let merged =
                parser.dependencies(&words, 1_000_000, Some(&mut statistics), &mut workspace).unwrap();
            assert_eq!(merged.score, plain.score, "{words:?}");
            assert_eq!(merged.heads, plain.heads, "{words:?}");
            // One of the parsers puts words aside that it takes for punctuation.
            let possible = &sequences[if puts_aside { 0 } else { words.len() - 1 }..words.len()];
            assert!(possible.contains(&statistics.derivations), "{words:?}: {}", statistics.derivations);
            fewer += usize::from((statistics.states as f64) < 2.0 * statistics.derivations);
        }
        assert!(fewer > 0, "states are merged");
    }
}

#[test]
fn a_tagger_without_lookahead_does_not_look_ahead() {
    let mut vocab = Vocab::new();
    let (_, train) = sample(0, 200, &mut vocab);
    let tagger = |lookahead: usize| {
        let config = TrainConfig { lookahead, ..quick() };
        train_tagger(&train, &[], &vocab, &config, &Silent, &mut |_| {}).unwrap()
    };
    let (blind, seeing) = (tagger(0), tagger(2));
    assert!(blind.features().0 < seeing.features().0, "features of later words are missing");
    assert_eq!(blind.tags(), seeing.tags());
}
