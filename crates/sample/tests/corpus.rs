//! Every generated pair is well formed: trees, alignments, dependencies, lengths, determinism.

use std::collections::{BTreeMap, BTreeSet};

use sylvan_sample::{Config, ConfigError, FileBuffers, Sampler, Workspace};

/// A few thousand pairs in quick mode, more when `SYLVAN_TESTS=full`.
fn count(quick: u64, full: u64) -> u64 {
    if std::env::var("SYLVAN_TESTS").is_ok_and(|mode| mode == "full") { full } else { quick }
}

fn sampler(config: Config) -> Sampler {
    Sampler::new(config).expect("settings that work")
}

/// A bracketed tree as a list of nodes: label, first and last word; and the words. Written independently of the
/// generator.
fn read_tree(text: &str) -> (Vec<(String, usize, usize)>, Vec<String>) {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let (mut nodes, mut words, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            "(" => {
                assert!(open.is_empty() == nodes.is_empty(), "one root: {text}");
                nodes.push((tokens[at + 1].to_owned(), words.len(), 0));
                open.push(nodes.len() - 1);
                at += 1;
            }
            ")" => {
                let node: usize = open.pop().expect("a bracket to close");
                nodes[node].2 = words.len();
                assert!(nodes[node].1 < nodes[node].2, "empty constituent: {text}");
            }
            word => words.push(word.to_owned()),
        }
        at += 1;
    }
    assert!(open.is_empty(), "unbalanced: {text}");
    (nodes, words)
}

/// Checks a CoNLL-U block and returns its words.
fn read_conllu(block: &str, index: u64) -> Vec<String> {
    let mut lines = block.lines();
    assert_eq!(lines.next(), Some(format!("# sent_id = {}", index + 1).as_str()));
    let text = lines.next().and_then(|line| line.strip_prefix("# text = ")).expect("a text comment");
    let mut words = Vec::new();
    let mut heads = Vec::new();
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), 10, "{line}");
        assert!(fields.iter().all(|field| !field.is_empty()), "{line}");
        words.push(fields[1].to_owned());
        assert_eq!(fields[0].parse(), Ok(words.len()));
        let head: usize = fields[6].parse().expect("a head");
        assert_eq!(head == 0, fields[7] == "root", "{line}");
        let tags = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB";
        assert!(tags.split(' ').any(|tag| tag == fields[3]), "{line}");
        heads.push(head);
    }
    assert!(block.ends_with("\n\n") && lines.next().is_none());
    assert_eq!(words.join(" "), text);
    assert_eq!(heads.iter().filter(|&&head| head == 0).count(), 1, "one root: {block}");
    for start in 1..=heads.len() {
        let (mut node, mut steps) = (start, 0);
        while node != 0 {
            node = heads[node - 1];
            steps += 1;
            assert!(steps <= heads.len(), "circle: {block}");
        }
    }
    // Projective: no two arcs cross, the arc from 0 to the root included.
    let arcs: Vec<(usize, usize)> =
        heads.iter().enumerate().map(|(at, &head)| (head.min(at + 1), head.max(at + 1))).collect();
    for &(a, b) in &arcs {
        for &(c, d) in &arcs {
            assert!(!(a < c && c < b && b < d), "crossing arcs: {block}");
        }
    }
    words
}

fn read_links(line: &str) -> Vec<(usize, usize, bool)> {
    let links = line.split(' ').map(|link| {
        let sure = link.contains('-');
        let (source, target) = link.split_once(['-', 'p']).expect("two ends");
        let position = |text: &str| text.parse().expect("a position");
        (position(source), position(target), sure)
    });
    links.collect()
}

#[test]
fn every_pair_is_well_formed() {
    for config in [
        Config::default(),
        Config { seed: 2, types: Some(100_000), ..Config::default() },
        Config { seed: 3, min_words: 30, max_words: 80, ..Config::default() },
    ] {
        let sampler = sampler(config);
        let mut workspace = Workspace::new();
        for index in 0..count(2_000, 50_000) {
            let mut pair = sampler.pair(index, &mut workspace);
            let (source, target) = (pair.source(), pair.target());
            let (_, leaves) = read_tree(&pair.source_tree());
            assert_eq!(leaves.join(" "), source);
            assert_eq!(read_conllu(&pair.conllu(), index).join(" "), target);
            let links = read_links(&pair.alignment());
            let (sources, targets) = (source.split(' ').count(), target.split(' ').count());
            assert!(links.iter().all(|&(s, t, _)| s < sources && t < targets), "{source}");
            assert!(links.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)), "{source}");
            assert!(pair.free_choices() <= 1);
            assert!(pair.free_choices() == 1 || pair.oracle() == target);
            // Nothing is left that only the grammar file should see.
            assert!(!target.contains(['_', '<', '>', '%']) && !source.contains(['_', '<', '>', '%']));
        }
    }
}

#[test]
fn articles_follow_the_sound_of_the_next_word() {
    let sampler = sampler(Config::default());
    let mut workspace = Workspace::new();
    let mut seen = BTreeSet::new();
    for index in 0..count(20_000, 100_000) {
        let target = sampler.pair(index, &mut workspace).target();
        let words: Vec<&str> = target.split(' ').collect();
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "a" | "an")) {
            seen.insert((pair[0].to_owned(), pair[1].to_owned()));
        }
    }
    for (article, word) in &seen {
        let other = if article == "a" { "an" } else { "a" };
        assert!(!seen.contains(&(other.to_owned(), word.clone())), "{word}");
        // The shipped lexicon has three words that are not written as they sound.
        let vowel = match word.as_str() {
            "university" | "useful" => false,
            "honest" => true,
            _ => word.starts_with(['a', 'e', 'i', 'o', 'u']),
        };
        assert_eq!(article == "an", vowel, "{article} {word}");
    }
    assert!(seen.len() > 100);
}

#[test]
fn lengths_are_in_range() {
    for (min, max) in [(4, 60), (4, 6), (10, 12), (20, 40), (60, 100), (150, 200), (37, 37)] {
        let sampler = sampler(Config { min_words: min, max_words: max, ..Config::default() });
        let mut workspace = Workspace::new();
        let mut different = BTreeSet::new();
        for index in 0..count(300, 3_000) {
            let pair = sampler.pair(index, &mut workspace);
            for line in [pair.source(), pair.target()] {
                let length = line.split(' ').count();
                assert!((min..=max).contains(&length), "{min}..={max}: {length}: {line}");
            }
            different.insert(pair.source());
        }
        assert!(different.len() > 200, "{min}..={max}: {} different", different.len());
    }
}

#[test]
fn default_lengths_are_natural() {
    let sampler = sampler(Config::default());
    let mut workspace = Workspace::new();
    let lengths: Vec<usize> =
        (0..20_000).map(|index| sampler.pair(index, &mut workspace).target().split(' ').count()).collect();
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    assert!((9.0..=13.0).contains(&mean), "{mean}");
    assert!(lengths.iter().any(|&length| length >= 50));
}

#[test]
fn impossible_settings_are_errors() {
    let error = |config: Config| Sampler::new(config).err();
    let config = Config::default();
    assert_eq!(
        error(Config { min_words: 9, max_words: 8, ..config.clone() }),
        Some(ConfigError::Reversed { min: 9, max: 8 })
    );
    assert_eq!(error(Config { max_words: 201, ..config.clone() }), Some(ConfigError::TooLong(201)));
    for max in 0..3 {
        let limits = Config { min_words: 0, max_words: max, ..config.clone() };
        assert_eq!(error(limits), Some(ConfigError::NoSentence { min: 0, max }));
    }
    assert_eq!(error(Config { types: Some(10), ..config.clone() }), Some(ConfigError::Types(10)));
    assert_eq!(error(Config { types: Some(10_000_001), ..config }), Some(ConfigError::Types(10_000_001)));
}

#[test]
fn a_pair_depends_on_seed_and_index_only() {
    let config = Config { types: Some(1000), ..Config::default() };
    let (one, two) = (sampler(config.clone()), sampler(config.clone()));
    let other = sampler(Config { seed: 2, ..config });
    let mut whole = FileBuffers::default();
    one.write_all(0..500, &mut whole);
    // The same corpus from ranges in another order, made by another sampler.
    let mut parts = [FileBuffers::default(), FileBuffers::default()];
    two.write_all(200..500, &mut parts[1]);
    two.write_all(0..200, &mut parts[0]);
    let [mut joined, rest] = parts;
    joined.source.extend(rest.source);
    joined.target.extend(rest.target);
    joined.source_tree.extend(rest.source_tree);
    joined.target_conllu.extend(rest.target_conllu);
    joined.align.extend(rest.align);
    assert_eq!(whole, joined);
    // Text alone is the same text.
    let (mut source, mut target) = (Vec::new(), Vec::new());
    one.write_text(0..500, &mut source, &mut target);
    assert_eq!((&source, &target), (&whole.source, &whole.target));
    // Asking for the oracle leaves the pair as it was.
    let mut workspace = Workspace::new();
    for index in 0..500 {
        let mut pair = one.pair(index, &mut workspace);
        let before = (pair.target(), pair.conllu());
        pair.oracle();
        assert_eq!(before, (pair.target(), pair.conllu()));
    }
    let mut different = FileBuffers::default();
    other.write_all(0..500, &mut different);
    assert_ne!(whole.source, different.source);
}

#[test]
fn equal_sources_have_equal_oracles() {
    // Short sentences repeat most, so they are the sharpest test.
    for (max_words, seed, types) in [(60, 1, None), (7, 2, None), (7, 3, Some(600))] {
        let sampler = sampler(Config { max_words, seed, types, ..Config::default() });
        let (mut sources, mut oracles) = (Vec::new(), Vec::new());
        let pairs = count(40_000, 200_000);
        sampler.write_text(0..pairs, &mut sources, &mut Vec::new());
        sampler.write_oracle(0..pairs, &mut oracles);
        let (sources, oracles) = (String::from_utf8(sources).unwrap(), String::from_utf8(oracles).unwrap());
        let mut known: BTreeMap<&str, &str> = BTreeMap::new();
        let mut repeated = 0;
        for (source, oracle) in sources.lines().zip(oracles.lines()) {
            if let Some(other) = known.insert(source, oracle) {
                assert_eq!(other, oracle, "{source}");
                repeated += 1;
            }
        }
        assert!(repeated > 1_000, "{repeated} repeated sentences");
    }
}

#[test]
fn every_phenomenon_is_frequent_enough() {
    let sampler = sampler(Config::default());
    let mut workspace = Workspace::new();
    let pairs = count(20_000, 100_000);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for index in 0..pairs {
        for name in sampler.pair(index, &mut workspace).phenomena() {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    assert!(counts.len() >= 40, "{}", counts.len());
    assert_eq!(counts.len(), sampler.grammar().phenomena().len());
    for (name, count) in counts {
        assert!(count * 200 >= pairs, "{name}: {count} of {pairs}");
    }
    assert!(sampler.grammar().lexical_entries() >= 800);
}

#[test]
fn nothing_is_joined_or_compared_with_itself() {
    let sampler = sampler(Config::default());
    let mut workspace = Workspace::new();
    let mut seen = 0;
    for index in 0..count(20_000, 200_000) {
        let source = sampler.pair(index, &mut workspace).source();
        let words: Vec<&str> = source.split(' ').collect();
        // City 比 city, or person 比 person.
        if let [one, "比", other, _, "。"] = words.as_slice() {
            assert_ne!(one, other, "{source}");
            seen += 1;
        }
    }
    assert!(seen > 20);
}

#[test]
fn the_open_vocabulary_grows_with_the_corpus() {
    let distinct = |types: Option<usize>, pairs: u64| {
        let sampler = sampler(Config { types, ..Config::default() });
        let (mut source, mut target) = (Vec::new(), Vec::new());
        sampler.write_text(0..pairs, &mut source, &mut target);
        let words = |text: &[u8]| {
            let text = String::from_utf8(text.to_vec()).unwrap();
            text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>().len()
        };
        (words(&source), words(&target))
    };
    let (closed, small, large) =
        (distinct(None, 20_000), distinct(Some(10_000_000), 5_000), distinct(Some(10_000_000), 20_000));
    assert!(closed.0 < 1_200, "{closed:?}");
    assert!(small.0 > closed.0 + 300 && small.1 > closed.1 + 300, "{small:?} {closed:?}");
    assert!(large.0 > small.0 * 2 && large.1 > small.1 * 2, "{large:?} {small:?}");
}

/// Most constituents should be translatable as a unit, or no rules could be learnt from the corpus: a node is on
/// the frontier (Galley et al. 2004) when no sure link leaves the target span of its words.
#[test]
fn most_constituents_are_on_the_frontier() {
    let sampler = sampler(Config::default());
    let mut workspace = Workspace::new();
    let (mut frontier, mut linked) = (0, 0);
    for index in 0..2_000 {
        let mut pair = sampler.pair(index, &mut workspace);
        let (nodes, _) = read_tree(&pair.source_tree());
        let links: Vec<_> = read_links(&pair.alignment()).into_iter().filter(|link| link.2).collect();
        for (_, start, end) in nodes {
            let inside = |source: usize| (start..end).contains(&source);
            let targets: Vec<usize> = links.iter().filter(|link| inside(link.0)).map(|link| link.1).collect();
            let (Some(&low), Some(&high)) = (targets.iter().min(), targets.iter().max()) else { continue };
            linked += 1;
            let closed = links.iter().all(|link| inside(link.0) || link.1 < low || link.1 > high);
            frontier += usize::from(closed);
        }
    }
    let share = frontier as f64 / linked as f64;
    assert!(share > 0.95, "{frontier} of {linked}: {share:.3}");
}
