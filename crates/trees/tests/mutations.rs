//! Broken input: lines with flipped, lost, doubled and mixed-up bytes go into every reader. No reader may panic, every
//! error names the file and a line, every value that comes out is a valid one, and reading always goes on to the end.
#![allow(clippy::unwrap_used)] // The helpers are tests too.

mod support;

use std::io::Cursor;

use support::{check_tree, times};
use sylvan_base::{InputError, Result, Rng, Vocab};
use sylvan_store::TextReader;
use sylvan_trees::conllu::Columns;
use sylvan_trees::penn::Layout;
use sylvan_trees::{ConlluReader, EgretReader, PennOptions, PennReader};

const PENN: &str = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))
( (S (NP-SBJ-1 (-NONE- *)) (VP (TO to) (VP (VB go) (NP=2 (-LRB- -LRB-) (NNP 新华社) (-RRB- -RRB-))))) )
(())
(ROOT (NP a (B b) c))
()
";

const CONLLU: &str = "# sent_id = 1
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\tNumber=Sing\t3\tdet\t_\t_
3\tchat\tchat\tNOUN\t_\t_\t0\troot\t_\tX=é
3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
4\t!\t!\tPUNCT\t_\t_\t_\t_\t_\t_

";

const EGRET: &str = "sentence 1 :
a 新 c
A[0,0] => a ||| -0.5
B[1,1] => 新 ||| -1e-06
X[0,1] => A[0,0] B[1,1]  ||| -2
X#2[0,1] => X[0,1] ||| -3
S[0,2] => X#2[0,1] c ||| -0.25
S[0,2] => a B[1,1] c ||| -4

sentence 2 :
b b


";

/// One to four small accidents.
fn mutate(text: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        let until = (at + 1 + rng.below(8)).min(bytes.len());
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.drain(at..until)),
            2 => {
                let piece = bytes[at..until].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => {
                let from = rng.below(other.len());
                bytes.splice(at.., other[from..].iter().copied());
            }
            4 => bytes.truncate(at),
            5 => bytes.insert(at, *rng.pick(b"()[] \t\n#|=>-,.0123456789_")),
            _ if at < bytes.len() => bytes[at] = *rng.pick(b"()[] \t\n#|=>-,.0123456789_"),
            _ => {}
        }
    }
    bytes
}

/// Reads mutated texts to their ends; `next` returns whether there was more.
fn torture(seed: u64, units: &[&str], count: usize, mut next: impl FnMut(&mut Reading) -> Result<bool>) {
    let mut rng = Rng::new(seed);
    let (mut good, mut bad) = (0, 0);
    let mut done = 0;
    while done < count {
        // Many units per text, so that readers must find their way again after an error.
        let mut bytes = Vec::new();
        for _ in 0..50 {
            let unit = rng.pick(units).as_bytes();
            let other = rng.pick(units).as_bytes();
            if rng.chance(0.9) {
                bytes.extend(mutate(unit, other, &mut rng));
            } else {
                bytes.extend(unit);
            }
            bytes.push(b'\n');
        }
        done += 50;
        let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
        let mut reading =
            Reading { bytes: Some(bytes), penn: None, conllu: None, egret: None, vocab: Vocab::new() };
        let mut steps = 0;
        loop {
            steps += 1;
            assert!(steps <= 10 * lines + 100, "a reader does not come to the end");
            match next(&mut reading) {
                Ok(false) => break,
                Ok(true) => good += 1,
                Err(InputError::Text { file, line, fault }) => {
                    bad += 1;
                    assert_eq!(file, "mutated.txt");
                    assert!((1..=lines).contains(&line), "line {line} of {lines}: {fault}");
                    assert!(!fault.found.is_empty() && !fault.expected.is_empty());
                }
                Err(error) => panic!("an error without a line: {error}"),
            }
        }
    }
    assert!(
        good > count / 20 && bad > count / 20,
        "{good} good and {bad} bad of {count}: not much of a test"
    );
}

struct Reading {
    bytes: Option<Vec<u8>>,
    penn: Option<PennReader>,
    conllu: Option<ConlluReader>,
    egret: Option<EgretReader>,
    vocab: Vocab,
}

impl Reading {
    fn text(&mut self) -> TextReader {
        TextReader::from_reader("mutated.txt", Cursor::new(self.bytes.take().unwrap_or_default()))
    }

    fn next_penn(&mut self, options: &PennOptions) -> Result<bool> {
        if self.penn.is_none() {
            self.penn = Some(PennReader::new(self.text(), options.clone()));
        }
        let tree = self.penn.as_mut().unwrap().next_tree(&mut self.vocab)?;
        if let Some(Some(tree)) = &tree {
            check_tree(tree);
        }
        Ok(tree.is_some())
    }
}

fn count() -> usize {
    times(100_000, 1_000_000)
}

#[test]
fn penn_one_tree_per_line() {
    let units: Vec<&str> = PENN.lines().collect();
    for (seed, options) in [(1, PennOptions::as_is()), (2, PennOptions::standard())] {
        torture(seed, &units, count() / 2, |reading| reading.next_penn(&options));
    }
}

#[test]
fn penn_errors_are_at_the_line_that_is_read() {
    let units: Vec<&str> = PENN.lines().collect();
    let mut rng = Rng::new(3);
    let mut vocab = Vocab::new();
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..20)
            .flat_map(|_| {
                [mutate(rng.clone().pick(&units).as_bytes(), b"x", &mut rng), b"\n".to_vec()].concat()
            })
            .collect();
        let count = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let mut reader =
            PennReader::new(TextReader::from_reader("m", Cursor::new(bytes)), PennOptions::as_is());
        let mut line = 0;
        loop {
            line += 1;
            match reader.next_tree(&mut vocab) {
                Ok(None) => break,
                Ok(Some(_)) => assert_eq!(reader.line_number(), line),
                Err(InputError::Text { line: found, .. }) => assert_eq!(found, line),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(line, count + 1);
    }
}

#[test]
fn penn_over_many_lines() {
    let units: Vec<String> = PENN.lines().map(|line| line.replace(" (", "\n (")).collect();
    let units: Vec<&str> = units.iter().map(String::as_str).collect();
    let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::standard() };
    torture(4, &units, count(), |reading| reading.next_penn(&options));
}

#[test]
fn conllu() {
    for (seed, columns) in [(5, Columns::Basic), (6, Columns::All)] {
        torture(seed, &[CONLLU], count() / 2, |reading| {
            if reading.conllu.is_none() {
                reading.conllu = Some(ConlluReader::new(reading.text(), columns));
            }
            let tree = reading.conllu.as_mut().unwrap().next_tree(&mut reading.vocab)?;
            Ok(tree.is_some())
        });
    }
}

#[test]
fn egret() {
    torture(7, &[EGRET], count(), |reading| {
        if reading.egret.is_none() {
            reading.egret = Some(EgretReader::new(reading.text()));
        }
        let forest = reading.egret.as_mut().unwrap().next_forest(&mut reading.vocab)?;
        if let Some(Some(forest)) = &forest {
            check_tree(&forest.best().0);
        }
        Ok(forest.is_some())
    });
}
