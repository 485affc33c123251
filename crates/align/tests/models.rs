//! The models against their definitions: worked examples, likelihoods that never fall, the same at any number of
//! threads.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;
use sylvan_align::{
    Aligner, Bitext, EmConfig, EmModel, GibbsConfig, Heuristic, Iteration, Memory, Method, Model, Preset,
    ReadConfig,
};
use sylvan_base::{InputError, Rng, Silent};
use sylvan_store::Scratch;

fn bitext(pairs: &[(String, String)]) -> Bitext {
    let mut bitext = Bitext::default();
    for (source, target) in pairs {
        assert!(bitext.push(source, target, ReadConfig::default()).unwrap());
    }
    bitext
}

/// Text in which word `xN` is translated by `yN`, with some words added and some order changed.
fn random_text(rng: &mut Rng, lines: usize, types: usize) -> Vec<(String, String)> {
    (0..lines)
        .map(|_| {
            let words: Vec<usize> = (0..1 + rng.below(7)).map(|_| rng.below(types)).collect();
            let mut other: Vec<String> = words.iter().map(|word| format!("y{word}")).collect();
            if rng.chance(0.5) {
                let at = rng.below(other.len());
                other.insert(at, "the".to_string());
            }
            if other.len() > 2 && rng.chance(0.3) {
                other.swap(0, 1);
            }
            let words: Vec<String> = words.iter().map(|word| format!("x{word}")).collect();
            (words.join(" "), other.join(" "))
        })
        .collect()
}

fn likelihoods(bitext: &Bitext, config: EmConfig, threads: usize) -> Vec<Iteration> {
    let mut iterations = Vec::new();
    Aligner::train(bitext, &Method::Em(config), threads, &Silent, &mut |iteration| {
        iterations.push(iteration);
    })
    .unwrap();
    iterations
}

fn plain(schedule: Vec<(EmModel, usize)>) -> EmConfig {
    EmConfig { schedule, alpha: None, jump_smoothing: 0.0, ..EmConfig::default() }
}

#[test]
fn plain_ibm1_and_hmm_never_lower_the_likelihood() {
    let mut rng = Rng::new(5);
    for case in 0..sylvan_testkit::cases(12, 300) {
        let lines = 5 + rng.below(40);
        let bitext = bitext(&random_text(&mut rng, lines, 4 + case % 9));
        for schedule in [vec![(EmModel::Ibm1, 12)], vec![(EmModel::Ibm1, 2), (EmModel::Hmm, 12)]] {
            let smoothing = if case % 2 == 0 { 0.0 } else { 0.2 };
            let config = EmConfig { jump_smoothing: smoothing, ..plain(schedule) };
            let all = likelihoods(&bitext, config, 1);
            for pair in all.windows(2).filter(|pair| pair[0].model == pair[1].model) {
                for (before, after) in
                    [(pair[0].forward, pair[1].forward), (pair[0].reverse, pair[1].reverse)]
                {
                    // Single precision inside.
                    assert!(after >= before - 2e-6 * before.abs() - 1e-6, "case {case}: {pair:?}");
                }
            }
            assert!(all.last().unwrap().forward > all[0].forward);
        }
    }
}

/// The likelihood of IBM 1 computed as its definition says.
#[test]
fn ibm1_is_its_definition() {
    let text = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")];
    let text: Vec<(String, String)> = text.iter().map(|(s, t)| (s.to_string(), t.to_string())).collect();
    let bitext = bitext(&text);
    let found = likelihoods(&bitext, plain(vec![(EmModel::Ibm1, 6)]), 1);
    // A slow twin with maps, no-word included.
    let mut table = std::collections::BTreeMap::new();
    for iteration in &found {
        let (mut counts, mut totals) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
        let mut likelihood = 0.0f64;
        for (source, target) in &text {
            let given: Vec<&str> = source.split(' ').chain(["NULL"]).collect();
            for word in target.split(' ') {
                // Four target words to begin with... the vocabulary has the, house, book, a.
                let value = |f: &str| *table.get(&(f.to_string(), word.to_string())).unwrap_or(&0.25);
                let sum: f64 = given.iter().map(|f| value(f)).sum();
                likelihood += (sum / given.len() as f64).ln();
                for f in &given {
                    *counts.entry((f.to_string(), word.to_string())).or_insert(0.0) += value(f) / sum;
                    *totals.entry(f.to_string()).or_insert(0.0) += value(f) / sum;
                }
            }
        }
        assert!((iteration.forward - likelihood).abs() < 1e-5, "{iteration:?} {likelihood}");
        table = counts.into_iter().map(|((f, e), count)| ((f.clone(), e), count / totals[&f])).collect();
    }
}

fn all_links(bitext: &Bitext, method: &Method, threads: usize) -> Vec<String> {
    lines(&Aligner::train(bitext, method, threads, &Silent, &mut |_| {}).unwrap())
}

fn lines(aligner: &Aligner<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    aligner
        .for_each(
            |_, _, matrix| {
                (matrix.links(Heuristic::GrowDiag), matrix.forward.clone(), matrix.reverse.clone())
            },
            |_, _, (links, forward, reverse)| {
                let bits = |values: Vec<f32>| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                lines.push(format!("{links:?} {:?} {:?}", bits(forward), bits(reverse)));
                Ok::<(), InputError>(())
            },
        )
        .unwrap();
    lines
}

fn methods() -> Vec<Method> {
    let agreed = EmConfig { agreement: true, ..EmConfig::default() };
    let chains = GibbsConfig { chains: 3, ..GibbsConfig::default() };
    vec![
        Method::em(EmModel::Ibm1),
        Method::em(EmModel::Diagonal),
        Method::em(EmModel::Hmm),
        Method::Em(agreed),
        Method::Gibbs(chains),
    ]
}

#[test]
fn every_bit_is_the_same_at_any_number_of_threads() {
    let mut rng = Rng::new(8);
    let bitext = bitext(&random_text(&mut rng, 3000, 200));
    for method in methods() {
        let one = all_links(&bitext, &method, 1);
        for threads in [2, 4] {
            assert!(all_links(&bitext, &method, threads) == one, "{threads} threads, {method:?}");
        }
    }
}

/// Everything in memory, text in memory and the rest in scratch files, nothing in memory.
#[test]
fn every_bit_is_the_same_in_any_memory() {
    let mut rng = Rng::new(18);
    let text = random_text(&mut rng, 9000, 300);
    let scratch = Scratch::new(&std::env::temp_dir());
    let in_memory = |limit: usize| {
        let mut bitext = Bitext::new(Memory { limit, scratch: Arc::clone(&scratch) });
        for (source, target) in &text {
            bitext.push(source, target, ReadConfig::default()).unwrap();
        }
        bitext
    };
    let method = Method::Gibbs(GibbsConfig {
        chains: 2,
        words: 1,
        jumps: 1,
        fertility: 3,
        collect: 2,
        ..GibbsConfig::default()
    });
    let dir = tempfile::tempdir().unwrap();
    let model = |bitext: &Bitext, name: &str| {
        let path = dir.path().join(name);
        let aligner = Aligner::train(bitext, &method, 2, &Silent, &mut |_| {}).unwrap();
        aligner.model().unwrap().save(&path).unwrap();
        (std::fs::read(&path).unwrap(), Model::open(&path).unwrap())
    };
    let ample = in_memory(usize::MAX);
    let (bytes, known) = model(&ample, "ample");
    let links = all_links(&ample, &method, 1);
    let applied = |bitext: &Bitext| {
        let aligner = Aligner::apply(bitext, &known, &method, 2, &Silent).unwrap();
        lines(&aligner)
    };
    let again = applied(&ample);
    assert_eq!(scratch.peak(), 0, "a file although there is room");
    for (limit, resident) in [(2 << 20, true), (200_000, false), (0, false)] {
        let bitext = in_memory(limit);
        assert_eq!(bitext.is_resident(), resident, "{limit}");
        let before = scratch.peak();
        for threads in [1, 3] {
            assert!(all_links(&bitext, &method, threads) == links, "{limit} bytes, {threads} threads");
        }
        assert!(scratch.peak() > before || before > 0, "the limit is ignored");
        assert!(model(&bitext, "tight").0 == bytes, "{limit} bytes, the model");
        assert!(applied(&bitext) == again, "{limit} bytes, a saved model applied");
        assert_eq!(bitext.portions(), ample.portions());
        assert!(bitext.portions() > 2);
        assert_eq!(
            Aligner::train(&bitext, &Method::em(EmModel::Ibm1), 1, &Silent, &mut |_| {}).is_ok(),
            resident
        );
    }
}

#[test]
fn every_method_learns_an_easy_text() {
    let mut rng = Rng::new(9);
    let text = random_text(&mut rng, 2000, 60);
    let bitext = bitext(&text);
    let mut methods = methods();
    methods.extend(Preset::ALL.map(|preset| preset.method(bitext.len(), 3)));
    for method in methods {
        let aligner = Aligner::train(&bitext, &method, 1, &Silent, &mut |_| {}).unwrap();
        let (mut right, mut wrong) = (0, 0);
        for (pair, (source, target)) in text.iter().enumerate() {
            let (source, target): (Vec<&str>, Vec<&str>) =
                (source.split(' ').collect(), target.split(' ').collect());
            let matrix = aligner.posteriors(pair).unwrap();
            for link in matrix.links(Heuristic::Intersection) {
                let (x, y) = (source[link.source as usize], target[link.target as usize]);
                if x[1..] == y[1..] { right += 1 } else { wrong += 1 }
            }
        }
        assert!(right > 25 * wrong && right > 5000, "{right} right, {wrong} wrong with {method:?}");
    }
}

#[test]
fn seeds_and_options_matter() {
    let mut rng = Rng::new(10);
    let bitext = bitext(&random_text(&mut rng, 300, 80));
    let base = all_links(&bitext, &Preset::Fast.method(300, 1), 1);
    assert!(base != all_links(&bitext, &Preset::Fast.method(300, 2), 1), "the seed is ignored");
    assert!(base != all_links(&bitext, &Preset::Default.method(300, 1), 1), "the preset is ignored");
    let hmm = |change: fn(&mut EmConfig)| {
        let mut config = EmConfig::default();
        change(&mut config);
        all_links(&bitext, &Method::Em(config), 1)
    };
    let base = hmm(|_| {});
    let changes: [fn(&mut EmConfig); 5] = [
        |config| config.alpha = None,
        |config| config.null = 0.3,
        |config| config.jump_smoothing = 0.5,
        |config| config.agreement = true,
        |config| config.schedule = vec![(EmModel::Diagonal, 5)],
    ];
    for (which, change) in changes.into_iter().enumerate() {
        assert!(hmm(change) != base, "change {which} is ignored");
    }
}

#[test]
fn saved_models_come_back_and_align_other_text() {
    let mut rng = Rng::new(11);
    let train = bitext(&random_text(&mut rng, 1500, 50));
    let text = random_text(&mut rng, 60, 50);
    let other = bitext(&text);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    for method in methods() {
        let aligner = Aligner::train(&train, &method, 1, &Silent, &mut |_| {}).unwrap();
        let model = aligner.model().unwrap();
        model.save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        opened.save(&path).unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes, "reading and writing changes the file");
        let [forward, _] = opened.translation("x7", "y7").unwrap();
        assert!(forward > 0.6, "{forward} {method:?}");
        assert_eq!(opened.translation("x7", "nobody"), None);
        let applied = Aligner::apply(&other, &opened, &Preset::Default.method(60, 1), 1, &Silent).unwrap();
        let (mut right, mut wrong) = (0, 0);
        for (pair, (source, target)) in text.iter().enumerate() {
            let (source, target): (Vec<&str>, Vec<&str>) =
                (source.split(' ').collect(), target.split(' ').collect());
            let matrix = applied.posteriors(pair).unwrap();
            for link in matrix.links(Heuristic::Intersection) {
                let (x, y) = (source[link.source as usize], target[link.target as usize]);
                if x[1..] == y[1..] { right += 1 } else { wrong += 1 }
            }
        }
        assert!(right > 20 * wrong && right > 150, "{right} right, {wrong} wrong with {method:?}");
        let scores = Aligner::scores(&other, &opened, 2).unwrap();
        assert_eq!(scores.len(), other.len());
        assert!(scores.iter().flatten().all(|score| score.is_finite() && *score < 0.0));
    }
}

#[test]
fn damaged_models_are_refused_without_a_panic() {
    let mut rng = Rng::new(12);
    let train = bitext(&random_text(&mut rng, 40, 12));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    Aligner::train(&train, &Preset::Fast.method(40, 1), 1, &Silent, &mut |_| {})
        .unwrap()
        .model()
        .unwrap()
        .save(&path)
        .unwrap();
    let good = std::fs::read(&path).unwrap();
    for _ in 0..sylvan_testkit::cases(200, 5000) {
        let mut bad = good.clone();
        let at = rng.below(bad.len());
        bad[at] ^= 1 << rng.below(8);
        std::fs::write(&path, &bad).unwrap();
        if let Ok(model) = Model::open(&path) {
            // Padding between sections.
            model.save(&dir.path().join("again")).unwrap();
            assert!(std::fs::read(dir.path().join("again")).unwrap() == good, "byte {at}");
        }
        // A lie with the right checksums.
        sylvan_testkit::seal(&mut bad);
        std::fs::write(&path, &bad).unwrap();
        if let Ok(model) = Model::open(&path) {
            model.save(&dir.path().join("again")).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn posteriors_are_probabilities(seed in any::<u64>(), lines in 1usize..20, which in 0usize..5) {
        let mut rng = Rng::new(seed);
        let bitext = bitext(&random_text(&mut rng, lines, 6));
        let method = &methods()[which];
        let aligner = Aligner::train(&bitext, method, 1, &Silent, &mut |_| {}).unwrap();
        for pair in 0..bitext.len() {
            let matrix = aligner.posteriors(pair).unwrap();
            for j in 0..matrix.target_len {
                let sum: f32 = (0..matrix.source_len).map(|i| matrix.forward[i * matrix.target_len + j]).sum();
                prop_assert!((0.0..=1.002).contains(&sum), "{sum}");
            }
            for row in matrix.reverse.chunks(matrix.target_len) {
                let sum: f32 = row.iter().sum();
                prop_assert!((0.0..=1.002).contains(&sum), "{sum}");
            }
        }
    }
}

#[test]
fn empty_and_long_lines_are_counted_and_left_out() {
    let mut bitext = Bitext::default();
    let config = ReadConfig { max_words: 3, ..ReadConfig::default() };
    let lines =
        [("a b", "x y"), ("", "x"), ("a", " \t"), ("a b c d", "x"), ("a b c", "x y z"), ("a", "x x x x")];
    for (source, target) in lines {
        assert!(bitext.push(source, target, config).unwrap());
    }
    assert_eq!((bitext.len(), bitext.total()), (2, 6));
    assert_eq!((bitext.skipped().empty, bitext.skipped().long), (2, 2));
    assert_eq!(bitext.portion(0).unwrap().lines(), [0, 4]);
}

#[test]
fn no_text_at_all_is_no_problem() {
    let bitext = Bitext::default();
    for method in methods() {
        let aligner = Aligner::train(&bitext, &method, 2, &Silent, &mut |_| {}).unwrap();
        assert_eq!(aligner.model().unwrap().entries(), 0);
    }
}

#[test]
fn lower_case_is_a_choice() {
    let mut bitext = Bitext::default();
    bitext.push("Haus haus", "x", ReadConfig { lowercase: true, ..ReadConfig::default() }).unwrap();
    bitext.push("Haus haus", "x", ReadConfig::default()).unwrap();
    let portion = bitext.portion(0).unwrap();
    let words = |pair: usize| portion.words(sylvan_align::Side::Source, pair);
    assert_eq!(words(0)[0], words(0)[1]);
    assert_ne!(words(1)[0], words(1)[1]);
}
