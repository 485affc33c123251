//! Damaged compiled files are refused; lies with the right checksums are an error or wrong numbers, and nothing else.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod common;

use common::{Naive, amount, read};
use sylvan_base::Rng;
use sylvan_lm::{CompileConfig, Joiner, LayoutKind, Lm, WordId};
use sylvan_testkit::seal;

/// Everything that can be asked.
fn use_it(lm: &Lm, rng: &mut Rng) {
    let words: Vec<WordId> = ["a", "b", "c", "<s>", "</s>", "zzz"].map(|word| lm.word(word)).to_vec();
    let mut queries = Vec::new();
    let mut state = lm.begin();
    let mut joiner = Joiner::new(lm);
    for _ in 0..30 {
        // Words of other models and damaged histories must do no harm either.
        let word = if rng.chance(0.1) { WordId(rng.next_u64() as u32) } else { *rng.pick(&words) };
        queries.push((state, word));
        state = lm.score(&state, word).1;
        lm.text(word);
        if rng.chance(0.3) {
            let (score, piece) = lm.piece(&[word, *rng.pick(&words)]);
            joiner.piece(&piece, score);
        }
        lm.upper_bound(&[*rng.pick(&words), *rng.pick(&words), word]);
    }
    lm.score_batch(&queries, &mut Vec::new());
    lm.end(&state);
    let _ = lm.verify();
    let _ = lm.info();
    if rng.chance(0.05) {
        lm.arpa_text();
    }
}

#[test]
fn damaged_files_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let mut rng = Rng::new(61);
    let mut seeds = Vec::new();
    for order in [1, 2, 4] {
        let complete = rng.chance(0.5);
        let lm = read(&Naive::random(&mut rng, order, 3, complete).arpa());
        for layout in [LayoutKind::Hash, LayoutKind::Trie] {
            for quantize in [None, Some(3)] {
                let bounds = quantize.is_none();
                lm.compile(&path, CompileConfig { layout, quantize, bounds }).unwrap();
                seeds.push(std::fs::read(&path).unwrap());
            }
        }
    }
    let (mut opened, mut refused) = (0, 0);
    for round in 0..amount(6_000, 100_000) {
        let mut bytes = rng.pick(&seeds).clone();
        let header = 64 + 32 * u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
        match rng.below(10) {
            0 => bytes.truncate(rng.below(bytes.len())),
            1 => {
                let at = rng.below(header);
                bytes[at] ^= 1 << rng.below(8);
            }
            2 => {
                // A lie of the section table: another length, offset or name.
                let at = 64 + 8 * rng.below((header - 64) / 8);
                bytes[at] = rng.next_u64() as u8;
            }
            3 => {
                // The last section, "meta", has 40 numbers.
                let at = bytes.len() - 320 + 8 * rng.below(40) + rng.below(2);
                bytes[at] = rng.next_u64() as u8;
            }
            _ => {
                for _ in 0..1 + rng.below(60) {
                    let at = header + rng.below(bytes.len() - header);
                    bytes[at] = if rng.chance(0.3) { 0xff } else { rng.next_u64() as u8 };
                }
            }
        }
        if rng.chance(0.95) {
            seal(&mut bytes);
        }
        // A new name each time: some file systems wait for the disk when a file is written over.
        let path = folder.path().join(format!("m{round}"));
        std::fs::write(&path, &bytes).unwrap();
        let result = Lm::open(&path);
        std::fs::remove_file(&path).unwrap();
        match result {
            Ok(lm) => {
                opened += 1;
                use_it(&lm, &mut rng);
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains('m'));
            }
        }
    }
    assert!(opened > 1_000 && refused > 500, "{opened} {refused}");
}

#[test]
fn every_changed_byte_of_the_sections_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let lm = read(include_str!("data/lm_tiny.arpa"));
    for layout in [LayoutKind::Hash, LayoutKind::Trie] {
        lm.compile(&path, CompileConfig { layout, ..CompileConfig::default() }).unwrap();
        let good = std::fs::read(&path).unwrap();
        let sections = u32::from_le_bytes(good[20..24].try_into().unwrap()) as usize;
        for entry in good[64..64 + 32 * sections].chunks(32) {
            let number = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap()) as usize;
            for at in number(8)..number(8) + number(16) {
                let mut bad = good.clone();
                bad[at] ^= 4;
                let path = folder.path().join(format!("m{at}"));
                std::fs::write(&path, &bad).unwrap();
                assert!(Lm::open(&path).is_err(), "byte {at}");
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
}

/// Files of every released version stay readable, and score as the text that they were made from.
#[test]
fn old_files_open() {
    let folder = tempfile::tempdir().unwrap();
    let lm = read(include_str!("data/lm_tiny.arpa"));
    for (version, bytes) in [
        ("hash 1", &include_bytes!("data/tiny_hash_v1.lm")[..]),
        ("trie 1", &include_bytes!("data/tiny_trie_v1.lm")[..]),
        ("trie 2", &include_bytes!("data/tiny_trie_v2.lm")[..]),
    ] {
        let path = folder.path().join(version);
        std::fs::write(&path, bytes).unwrap();
        let old = Lm::open(&path).unwrap();
        old.verify().unwrap();
        for line in include_str!("data/lm_tiny.scores").lines() {
            let words = line.split_once('\t').unwrap().1.split_ascii_whitespace();
            let score = |lm: &Lm| lm.sentence(&words.clone().map(|word| lm.word(word)).collect::<Vec<_>>());
            assert_eq!(score(&old), score(&lm), "{version}: {line}");
        }
    }
}

#[test]
fn other_files_are_called_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let message = || Lm::open(&path).unwrap_err().to_string();
    assert!(message().contains("m: cannot open"));
    std::fs::write(&path, "mmap lm http://kheafield.com/code format version 5\n\0").unwrap();
    assert!(message().contains("a binary file of KenLM"), "{}", message());
    sylvan_store::FrozenVocab::write(&path, &sylvan_base::Vocab::of(["a"])).unwrap();
    assert!(message().contains("found a \"vocab\" file, expected a \"lm\" file"), "{}", message());
}
