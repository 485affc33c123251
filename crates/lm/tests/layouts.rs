//! All layouts answer alike.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{compiled, each_model, random_words, read};
use sylvan_base::Rng;
use sylvan_lm::{ArpaConfig, CompileConfig, LayoutKind, Lm, State, WordId};

const HASH: CompileConfig = CompileConfig { layout: LayoutKind::Hash, quantize: None, bounds: false };
const TRIE: CompileConfig = CompileConfig { layout: LayoutKind::Trie, ..HASH };

/// The scores of a sentence, bit for bit, from the given state on.
fn bits(lm: &Lm, start: State, sentence: &[String]) -> Vec<u32> {
    let mut state = start;
    let mut scores = Vec::new();
    for word in sentence {
        let (score, next) = lm.score(&state, lm.word(word));
        // The sign of a zero does not matter.
        scores.push((score + 0.0).to_bits());
        state = next;
    }
    scores.push((lm.end(&state) + 0.0).to_bits());
    scores
}

/// The words of a state as text.
fn texts(lm: &Lm, state: &State) -> Vec<String> {
    state.words().iter().map(|&word| lm.text(word).to_string()).collect()
}

#[test]
fn hash_trie_and_arpa_give_the_same_floats_and_states() {
    each_model(31, 150, 3_000, |lm, _, rng| {
        let others = [compiled(lm, HASH), compiled(lm, TRIE)];
        for other in &others {
            assert_eq!((lm.order(), lm.vocab_len()), (other.order(), other.vocab_len()));
            (0..=6).for_each(|n| assert_eq!(lm.count(n), other.count(n)));
        }
        for _ in 0..20 {
            let sentence = random_words(rng, 10);
            let begin = bits(lm, lm.begin(), &sentence);
            let null = bits(lm, lm.null(), &sentence);
            let run =
                |lm: &Lm| sentence.iter().fold(lm.begin(), |state, word| lm.score(&state, lm.word(word)).1);
            for other in &others {
                assert_eq!(begin, bits(other, other.begin(), &sentence));
                assert_eq!(null, bits(other, other.null(), &sentence));
                assert_eq!(texts(lm, &run(lm)), texts(other, &run(other)));
            }
        }
    });
}

#[test]
fn batches_answer_as_single_queries_do() {
    each_model(32, 60, 1_000, |lm, _, rng| {
        for lm in [lm.clone(), compiled(lm, HASH), compiled(lm, TRIE)] {
            let mut queries = Vec::new();
            for _ in 0..10 {
                let mut state = if rng.chance(0.5) { lm.begin() } else { lm.null() };
                for word in random_words(rng, 10) {
                    let word = lm.word(&word);
                    queries.push((state, word));
                    state = lm.score(&state, word).1;
                }
            }
            rng.shuffle(&mut queries);
            let mut results = vec![(1.0, lm.null()); 3];
            lm.score_batch(&queries, &mut results);
            assert_eq!(results.len(), queries.len());
            for ((state, word), (score, next)) in queries.iter().zip(&results) {
                let (expected, expected_next) = lm.score(state, *word);
                assert_eq!((score.to_bits(), next), (expected.to_bits(), &expected_next));
            }
        }
    });
}

#[test]
fn a_trie_is_written_as_text_that_scores_the_same() {
    each_model(33, 60, 1_000, |lm, naive, rng| {
        let trie = compiled(lm, TRIE);
        assert!(trie.is_listed() && !compiled(lm, HASH).is_listed());
        let again = read(&trie.arpa_text());
        for _ in 0..10 {
            let sentence = random_words(rng, 10);
            assert_eq!(bits(lm, lm.begin(), &sentence), bits(&again, again.begin(), &sentence));
        }
        for n in 1..=naive.order {
            assert!(again.count(n) >= lm.count(n), "blanks are stated, and nothing is lost");
        }
        assert!(compiled(lm, HASH).arpa_text().is_empty());
    });
}

#[test]
fn a_quantised_trie_is_near_and_keeps_the_states() {
    for seed in 0..5 {
        let lm = larger(seed);
        let trie = compiled(&lm, CompileConfig { quantize: Some(8), ..TRIE });
        assert_eq!(trie.info().quantize, Some(8));
        let mut rng = Rng::for_item(34, seed);
        for _ in 0..200 {
            let sentence = random_words(&mut rng, 10);
            let ids = |lm: &Lm| -> Vec<WordId> { sentence.iter().map(|word| lm.word(word)).collect() };
            let (exact, near) = (lm.sentence(&ids(&lm)), trie.sentence(&ids(&trie)));
            assert!((exact - near).abs() < 0.15 * (1 + sentence.len()) as f64, "{exact} {near}");
        }
        // Enough bits for all values lose nothing.
        let trie = compiled(&lm, CompileConfig { quantize: Some(16), ..TRIE });
        for _ in 0..50 {
            let sentence = random_words(&mut rng, 10);
            assert_eq!(bits(&lm, lm.begin(), &sentence), bits(&trie, trie.begin(), &sentence));
        }
    }
}

/// A model with some thousand n-grams, so that tables of codes are worth their room and searches guess.
fn larger(seed: u64) -> Lm {
    let mut rng = Rng::for_item(35, seed);
    read(&common::Naive::random_of(&mut rng, 4, 300, 2_000).arpa())
}

#[test]
fn larger_models_agree_too() {
    let lm = larger(9);
    let (hash, trie) = (compiled(&lm, HASH), compiled(&lm, TRIE));
    let mut rng = Rng::new(36);
    for _ in 0..2_000 {
        let sentence: Vec<String> = (0..8).map(|_| common::name_of(rng.below(310))).collect();
        let expected = bits(&lm, lm.begin(), &sentence);
        assert_eq!(expected, bits(&hash, hash.begin(), &sentence));
        assert_eq!(expected, bits(&trie, trie.begin(), &sentence));
    }
}

#[test]
fn compiled_models_are_not_compiled_again_and_unlisted_ones_not_written() {
    let lm = read(include_str!("data/lm_tiny.arpa"));
    let folder = tempfile::tempdir().unwrap();
    let hash = compiled(&lm, HASH);
    let error = hash.compile(&folder.path().join("x"), TRIE).unwrap_err().to_string();
    assert!(error.contains("found a compiled language model, expected ARPA text"), "{error}");
    let mut out = sylvan_store::Output::create(&folder.path().join("y")).unwrap();
    assert!(hash.write_arpa(&mut out).unwrap_err().to_string().contains("--layout trie"));
}

/// Random models, some of them with blanks: the words are not needed for hash tables, and nothing else knows them.
#[test]
fn a_model_without_a_list_compiles_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    each_model(35, 60, 1_000, |lm, _, _| {
        let mut out = sylvan_store::Output::create(&path("arpa")).unwrap();
        lm.write_arpa(&mut out).unwrap();
        out.finish().unwrap();
        let open = |list| Lm::open_with(&path("arpa"), ArpaConfig { list, ..ArpaConfig::default() }).unwrap();
        let (listed, bare) = (open(true), open(false));
        listed.compile(&path("listed"), HASH).unwrap();
        bare.compile(&path("bare"), HASH).unwrap();
        assert!(std::fs::read(path("listed")).unwrap() == std::fs::read(path("bare")).unwrap());
        assert!(listed.is_listed() && !bare.is_listed() && bare.with_bounds().is_none());
        assert!(bare.compile(&path("x"), TRIE).is_err());
        assert!(bare.compile(&path("x"), CompileConfig { bounds: true, ..HASH }).is_err());
    });
}

#[test]
fn clones_and_threads_share_a_model() {
    let lm = compiled(&read(include_str!("data/lm_tiny.arpa")), TRIE);
    let expected = lm.sentence(&[lm.word("a"), lm.word("b")]);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lm = lm.clone();
            std::thread::spawn(move || lm.sentence(&[lm.word("a"), lm.word("b")]))
        })
        .collect();
    drop(lm);
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}
