//! Coverage: do the texts belong together? Says so if the words of the tuning text hardly occur in training.

use std::path::Path;

use sylvan_base::HashSet;
use sylvan_store::TextReader;

use crate::run::Run;
use sylvan_decode::Result;

/// If fewer of the tuning text's words are known, something is wrong with the files rather than with the language.
const FEW: f64 = 0.5;

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let ((source, pairs), (target, _)) = (words(&run.train.source)?, words(&run.train.target)?);
    run.pairs = pairs;
    for (side, text, ours, other, option) in [
        ("source", &run.dev.source, &source, &target, "--target"),
        ("target", &run.dev.target, &target, &source, "--source"),
    ] {
        let [known, elsewhere] = shares(text, [ours, other])?;
        if known >= FEW {
            continue;
        }
        let swapped = elsewhere > 2.0 * known;
        let guess = if swapped {
            format!("{:.0} % occur in {option}: are the sides swapped?", 100.0 * elsewhere)
        } else {
            "are both in the same language, and cut into words alike?".to_string()
        };
        say(&format!(
            "warning: only {:.0} % of the words of the {side} side of the tuning text occur in training; {guess}",
            100.0 * known
        ));
    }
    Ok(())
}

/// The different words of a text, and the number of its lines.
fn words(path: &Path) -> Result<(HashSet<String>, u64)> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut words = HashSet::default();
    while let Some(line) = reader.next_line()? {
        for word in line.split_ascii_whitespace() {
            if !words.contains(word) {
                words.insert(word.to_string());
            }
        }
    }
    Ok((words, reader.line_number()))
}

/// Which share of a text's words with letters is in each set.
fn shares(path: &Path, sets: [&HashSet<String>; 2]) -> Result<[f64; 2]> {
    let mut reader = TextReader::open(path)?.tolerant();
    let (mut all, mut known) = (0u64, [0u64; 2]);
    while let Some(line) = reader.next_line()? {
        for word in line.split_ascii_whitespace().filter(|word| word.contains(char::is_alphabetic)) {
            all += 1;
            for (known, set) in known.iter_mut().zip(sets) {
                *known += u64::from(set.contains(word));
            }
        }
    }
    // A text without words is not what this is about.
    Ok(known.map(|known| if all == 0 { 1.0 } else { known as f64 / all as f64 }))
}
