//! Tables of phrase pairs and Hiero rules: counts by hand, and the same bytes whatever the memory and the threads.
#![allow(clippy::unwrap_used)]

mod slow;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sylvan_base::{Rng, Silent, Vocab};
use sylvan_corpus::{Alignment, Base};
use sylvan_rules::extract::{
    Boundary, FlatExtractor, FlatRules, GapReordering, HieroConfig, LeftToRight, Orientation,
    OrientationModel, PhraseConfig, PhrasePair,
};
use sylvan_rules::{
    Count, Filter, FlatConfig, Foretold, Formalism, Grammar, MapSmoothing, OrientationSmoothing, Precision,
    Rule, ScoreConfig, Source, TextFiles, Trained, train_flat,
};

/// Sentences of few words, so that rules repeat; a quarter of the words is swapped or has no link.
struct Corpus(Vec<[String; 3]>);

impl Corpus {
    fn random(seed: u64, pairs: usize) -> Self {
        let mut rng = Rng::new(seed);
        let line = |_| {
            let length = rng.below(9);
            let mut order: Vec<usize> = (0..length).collect();
            if length > 1 && rng.chance(0.5) {
                let place = rng.below(length - 1);
                order.swap(place, place + 1);
            }
            let source: Vec<String> = (0..length).map(|_| format!("f{}", rng.below(5))).collect();
            let target: Vec<String> = order.iter().map(|&place| source[place].replace('f', "e")).collect();
            let links = order.iter().enumerate().filter(|_| rng.chance(0.85));
            let links: Vec<String> = links.map(|(t, s)| format!("{s}-{t}")).collect();
            [source.join(" "), target.join(" "), links.join(" ")]
        };
        Self((0..pairs).map(line).collect())
    }

    fn write(&self, folder: &Path) -> TextFiles {
        let file = |name: &str, place: usize| {
            let path = folder.join(name);
            let lines: Vec<&str> = self.0.iter().map(|line| line[place].as_str()).collect();
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        };
        TextFiles { source: file("source", 0), target: file("target", 1), links: vec![file("align", 2)] }
    }

    fn run(&self, config: &FlatConfig) -> (Trained, Vec<u8>, Grammar) {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("rules");
        let trained = train_flat(&self.write(dir.path()), &out, config, &Silent).unwrap();
        let bytes = std::fs::read(&out).unwrap();
        let grammar = Grammar::open(&out).unwrap();
        grammar.verify().unwrap();
        (trained, bytes, grammar)
    }
}

fn phrases(orientation: OrientationModel) -> FlatRules {
    FlatRules::Phrase(PhraseConfig { orientation: Some(orientation), ..PhraseConfig::default() })
}

fn left_to_right(rules: HieroConfig) -> FlatRules {
    FlatRules::LeftToRight(LeftToRight { rules, reordering: Some(GapReordering::Lrm) })
}

fn exact(rules: FlatRules) -> FlatConfig {
    let score = ScoreConfig { per_source: 0, precision: Precision::Exact, ..ScoreConfig::default() };
    FlatConfig { score, ..FlatConfig::new(rules) }
}

#[test]
fn the_same_bytes_for_any_memory_and_number_of_threads() {
    let corpus = Corpus::random(1, 400);
    let sampled = HieroConfig { samples: 7, ..HieroConfig::default() };
    for rules in [
        FlatRules::Hiero(HieroConfig::default()),
        FlatRules::Hiero(sampled),
        phrases(OrientationModel::Word),
        phrases(OrientationModel::Hier),
        left_to_right(HieroConfig::left_to_right()),
    ] {
        for precision in [Precision::Exact, Precision::Bits(6)] {
            let mut config = exact(rules);
            config.score.precision = precision;
            let (trained, bytes, _) = corpus.run(&config);
            assert_eq!(trained.scratch, 0, "a small corpus stays in memory");
            for (threads, memory) in [(2, 1 << 30), (3, 1 << 30), (1, 1 << 14), (2, 1 << 16), (3, 1)] {
                let (again, other, _) = corpus.run(&FlatConfig { threads, memory, ..config.clone() });
                assert!(other == bytes, "{threads} threads, {memory} bytes, {rules:?}, {precision:?}");
                assert_eq!(again.scored, trained.scored);
                assert_eq!(again.scratch > 0, memory < 1 << 20, "a small memory needs scratch files");
            }
        }
    }
}

#[test]
fn of_several_sets_of_links_each_counts_for_its_share() {
    let first = Corpus::random(11, 300);
    let mut second = Corpus::random(11, 300);
    for (line, [.., links]) in second.0.iter_mut().enumerate() {
        let kept = links.split(' ').skip(1 + line % 3).collect::<Vec<_>>().join(" ");
        *links = kept;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut files = first.write(dir.path());
    let other = second.write(&{
        let folder = dir.path().join("other");
        std::fs::create_dir(&folder).unwrap();
        folder
    });
    files.links.extend(other.links);
    let out = dir.path().join("rules");
    for rules in [
        FlatRules::Hiero(HieroConfig::default()),
        phrases(OrientationModel::Hier),
        left_to_right(HieroConfig::left_to_right()),
    ] {
        let sets = [&first, &second].map(|corpus| naive(corpus, rules));
        train_flat(&files, &out, &FlatConfig { threads: 2, ..exact(rules) }, &Silent).unwrap();
        let grammar = Grammar::open(&out).unwrap();
        let vocab = grammar.vocab();
        let all: std::collections::BTreeSet<&String> = sets.iter().flat_map(BTreeMap::keys).collect();
        assert!(sets.iter().all(|set| set.len() < all.len()) && grammar.len() == all.len());
        for id in grammar.rules() {
            let text = grammar.rule(id).show(&vocab).to_string();
            let wanted: f64 =
                sets.iter().filter_map(|set| set.get(&text)).map(|tally| tally.count / 2.0).sum();
            let counted = grammar.notes(id).count.unwrap().rule.to_f64();
            assert!((counted - wanted).abs() < 1e-3, "{text}: {counted} for {wanted}");
        }
    }
}

#[derive(Debug, Default, Clone, PartialEq)]
struct Tally {
    count: f64,
    orientations: [f64; 6],
    lines: Vec<u64>,
    links: BTreeMap<Vec<(u32, u32)>, f64>,
}

/// All rules of the corpus, by the extractor alone, as text.
fn naive(corpus: &Corpus, rules: FlatRules) -> BTreeMap<String, Tally> {
    let mut vocab = Vocab::new();
    let label = vocab.intern("X");
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for (index, [source, target, links]) in corpus.0.iter().enumerate() {
        let (source, target) = (vocab.intern_words(source), vocab.intern_words(target));
        let links = Alignment::parse(links, Base::Zero).unwrap();
        FlatExtractor::new(rules)
            .extract(&source, &target, links.sure(), |occurrence| {
                let tally = tallies.entry(occurrence.rule(label).show(&vocab)).or_default();
                // As counts are kept: in steps of 2^-20.
                let share = Count::from_f64(occurrence.share()).to_f64();
                tally.count += share;
                *tally.links.entry(occurrence.links()).or_default() += share;
                tally.lines.push(index as u64 + 1);
                if let Some((previous, next)) = occurrence.orientations() {
                    tally.orientations[previous as usize] += 1.0;
                    tally.orientations[3 + next as usize] += 1.0;
                }
            })
            .unwrap();
    }
    tallies
}

fn sides(rule: &str) -> (&str, &str) {
    rule.split_once(" -> ").unwrap()
}

fn close(a: f32, b: f64) -> bool {
    (f64::from(a) - b).abs() < 1e-5
}

#[test]
fn counts_frequencies_links_lines_and_orientations_equal_counting_by_hand() {
    let corpus = Corpus::random(2, 300);
    let loose =
        HieroConfig { boundary: Boundary::Loose, adjacent: true, unlinked: true, ..HieroConfig::default() };
    for rules in [
        FlatRules::Hiero(HieroConfig::default()),
        FlatRules::Hiero(loose),
        phrases(OrientationModel::Word),
        phrases(OrientationModel::Phrase),
        phrases(OrientationModel::Hier),
    ] {
        let config = exact(rules);
        let (trained, _, grammar) = corpus.run(&config);
        let expected = naive(&corpus, rules);
        assert_eq!(trained.scored.distinct, expected.len() as u64);
        assert_eq!(grammar.len(), expected.len());
        let (mut by_source, mut by_target) = (BTreeMap::<&str, f64>::new(), BTreeMap::<&str, f64>::new());
        for (rule, tally) in &expected {
            *by_source.entry(sides(rule).0).or_default() += tally.count;
            *by_target.entry(sides(rule).1).or_default() += tally.count;
        }
        let vocab = grammar.vocab();
        let place = |name: &str| grammar.feature_names().iter().position(|known| known == name).unwrap();
        for id in grammar.rules() {
            let text = grammar.rule(id).show(&vocab);
            let tally = &expected[&text];
            let (notes, features) = (grammar.notes(id), grammar.features(id));
            let count = notes.count.unwrap();
            let (of_source, of_target) = (by_source[sides(&text).0], by_target[sides(&text).1]);
            assert!((count.rule.to_f64() - tally.count).abs() < 1e-9, "{text}");
            assert!((count.source.to_f64() - of_source).abs() < 1e-9, "{text}");
            assert!((count.target.to_f64() - of_target).abs() < 1e-9, "{text}");
            assert!(close(features[place("p_ef")], (tally.count / of_source).ln()), "{text}");
            assert!(close(features[place("p_fe")], (tally.count / of_target).ln()), "{text}");
            let most = tally.links.values().copied().fold(0.0, f64::max);
            assert_eq!(tally.links[&notes.links], most, "{text}: the links seen most often");
            assert!(!notes.lines.is_empty() && notes.lines.iter().all(|line| tally.lines.contains(line)));
            if let FlatRules::Phrase(_) = rules {
                for half in [0, 3] {
                    let sum: f64 = tally.orientations[half..half + 3].iter().sum::<f64>() + 1.5;
                    for kind in half..half + 3 {
                        let p = (tally.orientations[kind] + 0.5) / sum;
                        assert!(close(features[4 + kind], p.ln()), "{text} {kind} {tally:?}");
                    }
                }
            }
        }
        assert_eq!(Orientation::Mono as usize, 0);
    }
}

/// What is left out for being rare changes no frequency of what stays.
#[test]
fn rare_rules_are_left_out_and_still_count() {
    let corpus = Corpus::random(9, 100);
    let rules = FlatRules::Hiero(HieroConfig::default());
    let (_, _, all) = corpus.run(&exact(rules));
    let mut config = exact(rules);
    config.score.min_count = 0.75;
    let (_, _, few) = corpus.run(&config);
    let about = |grammar: &Grammar| -> BTreeMap<String, (Vec<f32>, f64)> {
        let vocab = grammar.vocab();
        let entry = |id| {
            let count = grammar.notes(id).count.unwrap().rule.to_f64();
            (grammar.rule(id).show(&vocab), (grammar.features(id), count))
        };
        grammar.rules().map(entry).collect()
    };
    let mut expected = about(&all);
    expected.retain(|_, (_, count)| *count >= 0.75);
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(about(&few), expected);
}

/// More lines than wait for threads at a time, so that a reader whom nobody tells would wait for ever.
#[test]
fn a_bad_link_ends_the_reading_with_any_number_of_threads() {
    let mut corpus = Corpus::random(10, 4_000);
    corpus.0.iter_mut().for_each(|line| line[2] = "99-0".to_string());
    let dir = tempfile::tempdir().unwrap();
    let (files, out) = (corpus.write(dir.path()), dir.path().join("rules"));
    for threads in [1, 2, 3] {
        let config = FlatConfig { threads, ..exact(phrases(OrientationModel::Word)) };
        let message = train_flat(&files, &out, &config, &Silent).unwrap_err().to_string();
        assert!(message.contains("link 99-0") && message.contains("align:"), "{message}");
        assert!(!out.exists());
    }
}

#[test]
fn tables_say_what_they_are() {
    let corpus = Corpus::random(3, 50);
    let (_, _, hiero) = corpus.run(&exact(FlatRules::Hiero(HieroConfig::default())));
    assert_eq!(hiero.meta().formalism, Formalism::Hiero);
    let limits = &hiero.meta().limits;
    assert_eq!(
        (limits.span, limits.symbols, limits.variables, limits.gap),
        (Some(10), Some(5), Some(2), Some(2))
    );
    assert!(hiero.meta().made_by.contains("loose, fractional counts"), "{}", hiero.meta().made_by);
    let message = hiero.expect(Formalism::Tree).unwrap_err().to_string();
    assert!(message.contains("found rules of kind hiero, expected rules of kind tree"), "{message}");
    assert!(hiero.expect(Formalism::Hiero).is_ok());
    let (_, _, phrases) = corpus.run(&exact(phrases(OrientationModel::Phrase)));
    assert_eq!(phrases.meta().formalism.as_str(), "phrase");
    assert_eq!(phrases.meta().orientation, "phrase");
    assert!(phrases.rules().all(|id| phrases.rule(id).variables().next().is_none()));
}

/// The smoothing of orientations reaches the table.
#[test]
fn orientations_are_smoothed_as_asked() {
    let corpus = Corpus::random(4, 60);
    let with = |constant, global| {
        let orientations = OrientationSmoothing { constant, global };
        corpus.run(&FlatConfig { orientations, ..exact(phrases(OrientationModel::Word)) }).1
    };
    let plain = with(0.5, false);
    assert!(plain == corpus.run(&exact(phrases(OrientationModel::Word))).1);
    assert!(plain != with(0.1, false) && plain != with(0.5, true));
}

#[test]
fn a_sample_is_all_if_there_are_no_more_and_else_has_so_many() {
    let corpus = Corpus::random(5, 200);
    let config = |samples| {
        exact(FlatRules::Hiero(HieroConfig { samples, whole_counts: true, ..HieroConfig::chiang() }))
    };
    let rules = |grammar: &Grammar| -> BTreeMap<String, (Count, Vec<u64>)> {
        let vocab = grammar.vocab();
        let entry = |id| {
            let notes = grammar.notes(id);
            (grammar.rule(id).show(&vocab), (notes.count.unwrap().rule, notes.lines))
        };
        grammar.rules().map(entry).collect()
    };
    let (_, _, all) = corpus.run(&config(0));
    let (_, _, enough) = corpus.run(&config(1_000_000));
    assert_eq!(rules(&all), rules(&enough));
    let (_, _, few) = corpus.run(&config(5));
    let source_counts = |grammar: &Grammar| -> BTreeMap<String, Count> {
        let vocab = grammar.vocab();
        let entry = |id| {
            let text = grammar.rule(id).show(&vocab);
            (sides(&text).0.to_string(), grammar.notes(id).count.unwrap().source)
        };
        grammar.rules().map(entry).collect()
    };
    let (whole, sampled) = (source_counts(&all), source_counts(&few));
    // With tight phrases each occurrence of a source side has one target side.
    assert!(whole.len() == sampled.len() && sampled.values().any(|count| *count == Count::whole(5)));
    assert!(sampled.iter().all(|(side, count)| *count == whole[side].min(Count::whole(5))));
    let (all, kept) = (rules(&all), rules(&few));
    assert!(kept.iter().all(|(rule, (count, _))| *count <= all[rule].0));
}

/// Whether a flat source side matches somewhere, by trying everything.
fn matches(source: &[Source], words: &[sylvan_base::Symbol]) -> bool {
    match source.split_first() {
        None => true,
        Some((Source::Word(word), rest)) => words.first() == Some(word) && matches(rest, &words[1..]),
        Some((_, rest)) => (1..=words.len()).any(|length| matches(rest, &words[length..])),
    }
}

#[test]
fn a_filtered_table_has_what_the_sentences_can_use() {
    let corpus = Corpus::random(6, 100);
    for rules in [FlatRules::Hiero(HieroConfig::default()), phrases(OrientationModel::Word)] {
        let (_, _, grammar) = corpus.run(&exact(rules));
        let mut vocab = grammar.vocab();
        let text = ["f0 f1 f2 f9 f1", "f3", "", "f4 f4 f0 f2 f2 f1"];
        let sentences: Vec<Vec<_>> = text.iter().map(|line| vocab.intern_words(line)).collect();
        let mut filter = Filter::default();
        filter.only_marked(&grammar);
        sentences.iter().for_each(|words| filter.mark_sentence(&grammar, words));
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("filtered");
        grammar.write_filtered(&out, &filter).unwrap();
        let filtered = Grammar::open(&out).unwrap();
        assert_eq!(filtered.meta().formalism, grammar.meta().formalism);
        let usable = |rule: &Rule| {
            let side = &rule.source()[1..];
            sentences.iter().any(|words| (0..words.len()).any(|start| matches(side, &words[start..])))
        };
        let all: Vec<Rule> = grammar.rules().map(|id| grammar.rule(id)).collect();
        let kept: Vec<Rule> = filtered.rules().map(|id| filtered.rule(id)).collect();
        let expected: Vec<Rule> = all.iter().filter(|rule| usable(rule)).cloned().collect();
        assert_eq!(kept, expected);
        assert!(!kept.is_empty() && kept.len() < all.len());
    }
}

/// What a rule's words say: the source side without gaps at its ends, `*` for gaps inside, and the target words.
fn phrase_of(rule: &str) -> (String, String) {
    let (source, target) = sides(rule);
    let source =
        source.trim_start_matches("X(").trim_end_matches(')').replace("x1:X", "*").replace("x2:X", "*");
    let words = target.split(' ').filter(|word| !word.starts_with('x')).collect::<Vec<_>>();
    (source.trim_matches([' ', '*']).to_string(), words.join(" "))
}

/// Which orientations a place in a sentence pair has, by trying all phrase pairs: before it, then after it.
fn neighbours(case: &slow::Case, all: &[PhrasePair], place: &PhrasePair) -> [f64; 6] {
    let &PhrasePair { s1, s2, t1, t2 } = place;
    let some = |test: &dyn Fn(&PhrasePair) -> bool| all.iter().any(test);
    let first = s1 == 0 && t1 == 0;
    let last = s2 as usize == case.source.len() && t2 as usize == case.target.len();
    let before = [first || some(&|p| p.t2 == t1 && p.s2 == s1), some(&|p| p.t2 == t1 && p.s1 == s2)];
    let after = [last || some(&|p| p.t1 == t2 && p.s1 == s2), some(&|p| p.t1 == t2 && p.s2 == s1)];
    let three = |[mono, swap]: [bool; 2]| [mono, swap, !mono && !swap].map(|seen| f64::from(u8::from(seen)));
    [three(before), three(after)].concat().try_into().unwrap()
}

type Orientations = BTreeMap<(String, String), [f64; 6]>;

/// The orientations of the phrase pairs of all rules, each place once.
fn orientations(lines: &[[String; 3]], config: HieroConfig) -> Orientations {
    let mut counts = Orientations::new();
    for [source, target, links] in lines {
        let links = Alignment::parse(links, Base::Zero).unwrap();
        let case = slow::Case::new(source, target, links.sure().to_vec());
        let all = slow::pairs(&case, u32::MAX, u32::MAX, config.boundary);
        let mut places = BTreeSet::new();
        FlatExtractor::new(left_to_right(config))
            .extract(&case.source, &case.target, &case.links, |occurrence| {
                let (pair, variables) = (occurrence.pair(), occurrence.variables());
                let is_own = |word: &u32| !variables.iter().any(|gap| (gap.s1..gap.s2).contains(word));
                let own: Vec<u32> = (pair.s1..pair.s2).filter(is_own).collect();
                let end = variables.iter().map(|gap| gap.t1).min().unwrap_or(pair.t2);
                places.insert((own, pair.t1, end, phrase_of(&occurrence.rule(case.label).show(&case.vocab))));
            })
            .unwrap();
        for (own, t1, t2, phrase) in places {
            let place = PhrasePair { s1: own[0], s2: own[own.len() - 1] + 1, t1, t2 };
            let seen = neighbours(&case, &all, &place);
            counts.entry(phrase).or_default().iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen);
        }
    }
    counts
}

/// The orientations that tables keep are those of the definition, smoothed.
#[test]
fn orientations_of_rules_with_gaps_equal_their_definition() {
    let mut rng = Rng::new(11);
    for seed in 0..sylvan_testkit::cases(6, 500) as u64 {
        let corpus = Corpus::random(100 + seed, 40);
        let boundary = if rng.chance(0.3) { Boundary::Tight } else { Boundary::Loose };
        let rules = HieroConfig { boundary, span: 2 + rng.below(8) as u32, ..HieroConfig::left_to_right() };
        let map = MapSmoothing { global: 3.0, side: 5.0 * rng.unit(), source: 2.0, target: 1.0 };
        let (_, _, grammar) = corpus.run(&FlatConfig { map, ..exact(left_to_right(rules)) });
        let counts = orientations(&corpus.0, rules);
        let sum = |wanted: &dyn Fn(&(String, String)) -> bool| {
            let mut sums = [0.0; 6];
            for (_, counts) in counts.iter().filter(|(phrase, _)| wanted(phrase)) {
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            sums
        };
        let all = sum(&|_| true);
        let vocab = grammar.vocab();
        assert_eq!(grammar.meta().orientation, "lrm");
        for id in grammar.rules() {
            let phrase = phrase_of(&grammar.rule(id).show(&vocab));
            let (pair, source) = (counts[&phrase], sum(&|other| other.0 == phrase.0));
            let target = sum(&|other| other.1 == phrase.1);
            let features = grammar.features(id);
            for half in [0, 3] {
                let three = |counts: [f64; 6]| [counts[half], counts[half + 1], counts[half + 2]];
                let p = map.probabilities(three(pair), three(source), three(target), three(all));
                for (place, p) in p.into_iter().enumerate() {
                    assert!(close(features[4 + half + place], p.ln()), "{phrase:?}");
                }
            }
        }
    }
}

/// Orientations of sentence pairs that nothing was counted on, foretold by the counts of others.
#[test]
fn orientations_are_foretold_as_their_definition_says() {
    let mut rng = Rng::new(12);
    for seed in 0..sylvan_testkit::cases(6, 500) as u64 {
        let lines = Corpus::random(300 + seed, 40).0;
        let rules = HieroConfig { span: 2 + rng.below(8) as u32, ..HieroConfig::left_to_right() };
        let map = MapSmoothing { global: 3.0, side: 0.5 + 5.0 * rng.unit(), source: 2.0, target: 1.0 };
        let (known, held) = lines.split_at(30);
        let mut foretold = Foretold::new(left_to_right(rules), map);
        let mut vocab = Vocab::new();
        for (place, [source, target, links]) in lines.iter().enumerate() {
            let links = Alignment::parse(links, Base::Zero).unwrap();
            let [source, target] = [source, target]
                .map(|line| line.split_whitespace().map(|word| vocab.intern(word)).collect::<Vec<_>>());
            match place < known.len() {
                true => foretold.learn(&source, &target, links.sure()).unwrap(),
                false => foretold.measure(&source, &target, links.sure()).unwrap(),
            }
        }
        let counts = orientations(known, rules);
        let sum = |wanted: &dyn Fn(&(String, String)) -> bool| {
            let mut sums = [0.0; 6];
            for (_, counts) in counts.iter().filter(|(phrase, _)| wanted(phrase)) {
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            sums
        };
        let (mut cases, mut logs) = (0.0, [0.0; 2]);
        for (phrase, seen) in orientations(held, rules) {
            let source = sum(&|other| other.0 == phrase.0);
            let target = sum(&|other| other.1 == phrase.1);
            let pair = counts.get(&phrase).copied().unwrap_or_default();
            for half in [0, 3] {
                let three = |counts: [f64; 6]| [counts[half], counts[half + 1], counts[half + 2]];
                let all = three(sum(&|_| true));
                let given = map.probabilities(three(pair), three(source), three(target), all);
                let nothing = map.probabilities([0.0; 3], [0.0; 3], [0.0; 3], all);
                for place in 0..3 {
                    cases += seen[half + place];
                    logs[0] += seen[half + place] * given[place].ln();
                    logs[1] += seen[half + place] * nothing[place].ln();
                }
            }
        }
        assert!(cases > 10.0, "{cases}");
        for (found, log) in foretold.perplexities().into_iter().zip(logs) {
            assert!((found - f64::exp(-log / cases)).abs() < 1e-9, "seed {seed}: {found}");
        }
    }
}

/// The orientations of figure 2 of Siahbani & Sarkar 2017 in training, as the specification has them.
#[test]
fn siahbani_2017_figure_2_orientations_in_training() {
    let line = [
        "他 补充 说 , 联合 政府 目前 状况 稳定 。",
        "He added that the coalition government is now in stable condition .",
        "0-0 1-1 2-2 4-4 5-5 6-6 6-7 8-9 7-10 9-11",
    ];
    let corpus = Corpus(vec![line.map(String::from)]);
    let unsmoothed = MapSmoothing { global: 1e-9, side: 1e-9, source: 1e-9, target: 1e-9 };
    let config = FlatConfig { map: unsmoothed, ..exact(left_to_right(HieroConfig::left_to_right())) };
    let (_, _, grammar) = corpus.run(&config);
    let vocab = grammar.vocab();
    let likely = |text: &str| {
        let id = grammar.rules().find(|&id| grammar.rule(id).show(&vocab) == text).unwrap();
        let features = grammar.features(id);
        let best = |half: usize| (0..3).find(|kind| features[4 + half + kind] > -1e-3).unwrap();
        (best(0), best(3))
    };
    let (mono, swap, disc) = (0, 1, 2);
    assert_eq!(likely("X(他 补充 说 , x1:X) -> He added that x1"), (mono, mono));
    assert_eq!(likely("X(联合 政府 x1:X) -> the coalition government x1"), (mono, mono));
    assert_eq!(likely("X(目前 x1:X 稳定 x2:X) -> is now in stable x1 x2"), (mono, disc));
    assert_eq!(likely("X(状况) -> condition"), (swap, disc));
    assert_eq!(likely("X(。) -> ."), (mono, mono));
}
