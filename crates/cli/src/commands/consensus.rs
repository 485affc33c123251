//! `sylvan consensus`: one translation of each sentence from the n-best lists of several models or searches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use sylvan_base::Fault;
use sylvan_eval::consensus::agreed;
use sylvan_store::{Output, TextReader};

/// Chooses of all translations in some n-best lists the one that agrees best with all others.
///
/// Each list says how probable its translations are by their scores; lists of models of different kinds disagree in
/// different places, so what most of them say is more often right than what any one of them prefers. The choice is fast
/// consensus decoding (DeNero et al. 2009): the translation whose n-grams are most expected. Lists are those of `decode
/// --nbest` or `translate --nbest`, of the same text.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan decode --model tree.sylvan --nbest 100 --distinct < new.zh > tree.list\n  \
    sylvan decode --model hiero.sylvan --nbest 100 --distinct < new.zh > hiero.list\n  \
    sylvan consensus --scale 2 tree.list hiero.list > new.en"
)]
pub(crate) struct Consensus {
    /// What scores are multiplied with before they become probabilities: the more, the more the first of a list counts.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true)]
    scale: f64,
    /// How much each list counts, as many numbers as lists, with commas between them [default: all alike].
    #[arg(long, value_name = "W,W,..", value_delimiter = ',')]
    weights: Vec<f64>,
    /// How many lines the text has; without it the last sentence is the last one that a list has.
    #[arg(long, value_name = "N")]
    lines: Option<u64>,
    /// Lists: number ||| words ||| features ||| score. - for standard input.
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,
}

/// The translations of a sentence, by list.
type Listed = Vec<sylvan_eval::consensus::Listed>;

impl Consensus {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        ensure!(
            self.scale >= 0.0 && self.scale.is_finite(),
            "--scale {}: expected a number that is not negative",
            self.scale
        );
        let alike = vec![1.0; self.lists.len()];
        let weights = if self.weights.is_empty() { &alike } else { &self.weights };
        ensure!(
            weights.len() == self.lists.len(),
            "--weights: found {} numbers, expected one for each of the {} lists",
            weights.len(),
            self.lists.len()
        );
        ensure!(
            weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite()),
            "--weights: found {weights:?}, expected numbers that are not negative"
        );
        let mut sentences: BTreeMap<u64, Listed> = BTreeMap::new();
        for (number, path) in self.lists.iter().enumerate() {
            read(path, &mut |sentence, text, score| {
                let lists = sentences.entry(sentence).or_insert_with(|| vec![Vec::new(); self.lists.len()]);
                lists[number].push((text, score));
            })?;
        }
        let last = sentences.keys().next_back().copied().unwrap_or(0);
        let lines = self.lines.unwrap_or(last);
        ensure!(last <= lines, "--lines {lines}: found sentence {last} in a list");
        let mut out = Output::create(Path::new("-"))?;
        for sentence in 1..=lines {
            let listed = sentences.get(&sentence).map(Vec::as_slice).unwrap_or_default();
            out.line(agreed(listed, weights, self.scale).unwrap_or_default())?;
        }
        Ok(out.finish()?)
    }
}

/// Reads a list; `found` gets the number of a sentence, counted from 1, a translation and its score.
fn read(path: &Path, found: &mut dyn FnMut(u64, String, f64)) -> anyhow::Result<()> {
    let mut reader = TextReader::open(path)?;
    while let Some(line) = reader.next_line()? {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        let entry = match *fields {
            [number, words, .., score] => {
                let number = number.parse::<u64>().ok().filter(|number| *number > 0);
                let score = score.parse::<f64>().ok().filter(|score| score.is_finite());
                number.zip(score).map(|(number, score)| (number, words.to_string(), score))
            }
            _ => None,
        };
        let Some((number, words, score)) = entry else {
            let fault = Fault::new(
                1,
                format!("{:?}", line.chars().take(80).collect::<String>()),
                "a number from 1, words, features and a score with ||| between them",
            );
            return Err(reader
                .locate(fault.advise("lists are what `sylvan decode --nbest N` writes"))
                .into());
        };
        found(number, words, score);
    }
    Ok(())
}
