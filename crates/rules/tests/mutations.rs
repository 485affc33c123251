//! Broken input: an error with its place, or a rule; never a panic.
#![allow(clippy::unwrap_used)]

use sylvan_base::{Rng, Vocab};
use sylvan_rules::formats::{RuleReader, TextFormat};
use sylvan_rules::{Rule, Weights, read_travatar};
use sylvan_store::TextReader;
use sylvan_testkit::mutate;

/// Feeds mutated lines one by one after a good one, and checks that each error names file and line 2.
fn check(good: &[&str], mut read: impl FnMut(TextReader) -> sylvan_base::Result<()>) {
    let mut rng = Rng::new(21);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..100_000 {
        let line = good[round % good.len()];
        let mut bytes = format!("{}\n", good[0]).into_bytes();
        let mutated: Vec<u8> =
            mutate(line.as_bytes(), &mut rng).into_iter().filter(|&b| b != b'\n').collect();
        bytes.extend(mutated);
        match read(TextReader::from_reader("broken", std::io::Cursor::new(bytes))) {
            Ok(()) => accepted += 1,
            Err(error) => {
                refused += 1;
                assert!(error.to_string().starts_with("broken:2"), "{error}");
            }
        }
    }
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn travatar_tables() {
    let good = [
        "VP ( VB ( \"show\" ) x0:NP ) ||| x0 \"を\" \"見せ\" ||| egfp=-2.48 fgep=-1.09 p=1 w=2 ||| 1 12 3 ||| 0-1",
        "S' ( x0:NP VP ( MD ( \"can\" ) x1:VP ) ) ||| x0:NP x1:VP \"b\" @ S ||| egfp=0",
    ];
    let mut vocab = Vocab::new();
    check(&good, |mut reader| read_travatar(&mut reader, &["egfp", "w"], &mut vocab).map(|_| ()));
}

#[test]
fn tables_of_the_others() {
    let tables = [
        (
            TextFormat::Moses,
            "[VP [VB show] [NP]] ||| [X][X] を 見せ [X] ||| 0.1 1 ||| 0-2 1-0 ||| 3 12 1 ||| |||",
        ),
        (TextFormat::Moses, "a [B][X] [A] ||| [B][X] c&amp; [X] ||| 1 2.718 ||| 1-0"),
        (TextFormat::Cdec, "(VP (VB show) [NP]) ||| [1] を 見せ ||| p_ef=-2.48 p_fe=-1.09 ||| 0-2"),
        (TextFormat::Joshua, "[VP] ||| show [NP,1] ||| [NP,1] を 見せ ||| p_ef=-2.48 0.5 ||| 0-2"),
    ];
    for (format, good) in tables {
        let mut vocab = Vocab::new();
        check(&[good], |mut reader| {
            let mut rules = RuleReader::new(format);
            while rules.next_rule(&mut reader, &mut vocab)?.is_some() {}
            Ok(())
        });
    }
}

#[test]
fn weights() {
    check(&["lm=0.5", "words = -1e-3 # a comment"], |mut reader| Weights::read(&mut reader).map(|_| ()));
}

#[test]
fn readable_rules() {
    let mut vocab = Vocab::new();
    let good = ["VP(PP(P(yu) x1:NP) x2:VP) -> x2 with x1", "\"a b\"(x1:\"c\\\"\" d) -> \"x1\" x1"];
    check(&good, |mut reader| {
        while let Some(line) = reader.next_line()? {
            let parsed = Rule::parse(line, &mut vocab);
            parsed.map_err(|fault| reader.locate(fault))?;
        }
        Ok(())
    });
}
