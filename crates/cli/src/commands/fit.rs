//! `sylvan fit`: what undirected search should expect of what is missing.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use sylvan::decode::List;
use sylvan::{Input, Model, Search, SearchName, Stop, Worker};
use sylvan_base::{Progress, parallel};
use sylvan_rules::Weights;
use sylvan_search::Undirected;
use sylvan_store::{Output, TextReader};
use sylvan_tune::{Knob, pattern_search};

use super::searching::Searching;
use super::tune::read_sentences;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Fits what undirected search expects of missing words to a text.
///
/// Undirected search compares parts of different sizes, so it has to guess what the language model will say of all that a
/// part lacks. The text is translated with one guess after the other; the one whose translations score best by the model's
/// own score is printed, as options. No references are needed. The guess depends on the language pair and the weights, and
/// a little on the beam.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan fit --model enja.sylvan --beam 64 dev.en\n  \
    sylvan fit --grammar hiero.rules --lm en.lm --weights weights --plain --beam 4 --what word --what once dev.de")]
pub(crate) struct Fit {
    /// A model, or its parts.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["grammar", "lm", "weights"])]
    model: Option<PathBuf>,
    /// The rule table, made by `sylvan grammar`.
    #[arg(long, value_name = "RULES", required_unless_present = "model")]
    grammar: Option<PathBuf>,
    /// A language model, ARPA or compiled; repeat the option for several.
    #[arg(long, value_name = "LM", required_unless_present = "model")]
    lm: Vec<PathBuf>,
    /// Weights, as `sylvan tune` writes them.
    #[arg(long, value_name = "FILE", required_unless_present = "model")]
    weights: Option<PathBuf>,
    /// What to fit; repeat the option for several [default: share].
    #[arg(long, value_enum, value_name = "WHAT")]
    what: Vec<What>,
    /// What the lines are.
    #[arg(long, value_enum, default_value = "text")]
    input: super::model_options::InputName,
    #[command(flatten)]
    searching: Searching,
    #[command(flatten)]
    threads: Threads,
    /// The text, a sentence per line.
    #[arg(value_name = "TEXT")]
    text: PathBuf,
}

/// A number to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// `--missing-word`.
    Word,
    /// `--missing-once`.
    Once,
    /// `--missing-share`.
    Share,
}

impl What {
    fn option(self) -> &'static str {
        match self {
            Self::Word => "--missing-word",
            Self::Once => "--missing-once",
            Self::Share => "--missing-share",
        }
    }

    /// In thousandths.
    fn knob(self, config: &Undirected) -> Knob {
        let missing = config.missing;
        match self {
            Self::Word => {
                Knob { start: missing.per_word.into(), step: 400, least: 50, range: (-20_000, 20_000) }
            }
            Self::Once => {
                Knob { start: missing.once.into(), step: 800, least: 100, range: (-50_000, 50_000) }
            }
            Self::Share => Knob { start: missing.share.into(), step: 200, least: 25, range: (0, 2_000) },
        }
    }

    fn set(self, config: &mut Undirected, value: i64) {
        match self {
            Self::Word => config.missing.per_word = value as i32,
            Self::Once => config.missing.once = value as i32,
            Self::Share => config.missing.share = value as u32,
        }
    }
}

impl Fit {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        self.searching.check_named()?;
        let model = match &self.model {
            Some(path) => Model::open(path)?,
            None => {
                let weights = match &self.weights {
                    Some(path) => Weights::read(&mut TextReader::open(path)?)?,
                    None => Weights::default(),
                };
                let grammar = self.grammar.clone().unwrap_or_default();
                Model::open_parts(&grammar, &self.lm, &weights)?.0
            }
        };
        let model = Arc::new(self.searching.applied(model));
        let undirected = Search::named(SearchName::Undirected);
        let Search::Undirected(usual) = self.searching.search_or(&model, undirected)? else {
            anyhow::bail!(
                "--search: found another search, expected undirected; it alone compares parts that differ in size"
            );
        };
        let input: Input = self.input.into();
        let sentences = read_sentences(&model, &self.text, input)?;
        let asked = |what: &What| self.what.contains(what) || (self.what.is_empty() && *what == What::Share);
        let what: Vec<What> = [What::Word, What::Once, What::Share].into_iter().filter(asked).collect();
        let progress = Terminal::default();
        let knobs: Vec<Knob> = what.iter().map(|what| what.knob(&usual)).collect();
        let mut workers: Vec<Worker> =
            (0..self.threads.count()).map(|_| Worker::new(Arc::clone(&model))).collect();
        let mut out = Output::create(std::path::Path::new("-"))?;
        let mut failed = None;
        let (best, score) = pattern_search(&knobs, |values| {
            let mut config = usual;
            what.iter().zip(values).for_each(|(what, &value)| what.set(&mut config, value));
            progress.begin("translating the text", Some(sentences.len() as u64));
            let done = AtomicU64::new(0);
            let scores = parallel::map_with(&mut workers, &sentences, |worker, _, sentence| {
                let sentence = sentence.as_ref()?;
                let search = Search::Undirected(config);
                let found =
                    worker.decode(sentence, Default::default(), search, List::default(), &Stop::NEVER);
                progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
                found.hypotheses.first().map(|best| best.score)
            });
            progress.end();
            let scores: Vec<f64> = scores.into_iter().flatten().collect();
            let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
            let line = format!("# {}: {mean:.4}", options(&what, values));
            if let Err(error) = out.line(&line) {
                failed = Some(error);
            }
            mean
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        out.line(&format!("# best, {score:.4} on average; as options:"))?;
        out.line(&options(&what, &best))?;
        Ok(out.finish()?)
    }
}

/// Settings as on the command line.
fn options(what: &[What], values: &[i64]) -> String {
    let shown =
        what.iter().zip(values).map(|(what, &value)| format!("{} {}", what.option(), value as f64 / 1e3));
    shown.collect::<Vec<_>>().join(" ")
}
