//! Training: parallel text to a tuned model file, in stages that are done once.
//!
//! ```text
//! raw text --tokenise, truecase--> words --check--> clean pairs --parse--> trees --+
//!                                              |--align--> links -----------------+--rules--> table --+
//!                                              +--lm--> language model -------------------------------+--tune,
//!                                                                                     evaluate, model--> one file
//! ```
//!
//! Each stage is a function of files and settings alone, so results do not depend on threads, memory, time or on
//! how often the run was interrupted (`work.rs`).

mod check;
mod config;
pub(crate) mod finish;
pub(crate) mod learn;
mod preflight;
mod text;
mod work;

use std::path::PathBuf;

use sylvan_base::{InputError, Progress};

pub use config::Config;
use finish::Finish;
use preflight::Settings;
pub use work::StageReport;
use work::WorkFolder;

use crate::decoder::DecoderError;

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// A file.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A setting, or what a file as a whole holds.
    #[error("{what}: found {found}, expected {expected}{}", advice_suffix(.advice))]
    Setting {
        /// Which.
        what: String,
        /// What was given.
        found: String,
        /// What would do.
        expected: String,
        /// What the user can do.
        advice: String,
    },
    /// The parser.
    #[error("the treebank: {0}")]
    Parser(#[from] sylvan_parse::TrainError),
    /// The language model.
    #[error("the language model: {0}")]
    LanguageModel(#[from] sylvan_lm::EstimateError),
    /// The decoder.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// The scores.
    #[error(transparent)]
    Scores(#[from] sylvan_eval::EvalError),
    /// The report.
    #[error("the report: {0}")]
    Report(#[from] crate::translate::TranslateError),
}

fn advice_suffix(advice: &str) -> String {
    if advice.is_empty() { String::new() } else { format!("; {advice}") }
}

impl PipelineError {
    fn setting(what: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        let (what, found, expected) = (what.into(), found.into(), expected.into());
        Self::Setting { what, found, expected, advice: String::new() }
    }

    fn advise(self, text: &str) -> Self {
        match self {
            Self::Setting { what, found, expected, .. } => {
                Self::Setting { what, found, expected, advice: text.to_string() }
            }
            other => other,
        }
    }
}

type Result<T> = std::result::Result<T, PipelineError>;

/// What a training gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Names and scores: `dev.bleu`, `holdout.bleu`.
    pub scores: Vec<(String, f64)>,
    /// What each stage cost.
    pub stages: Vec<StageReport>,
    /// Where intermediate files are.
    pub work: PathBuf,
}

/// One text on its way through the stages: where its words, trees and references are now.
#[derive(Debug, Clone, Default)]
struct Part {
    /// Source words.
    source: PathBuf,
    /// Target words.
    target: PathBuf,
    /// Source trees.
    trees: Option<PathBuf>,
    /// The target as it was given, to be measured against.
    reference: PathBuf,
}

/// Everything that stages need to know of each other.
struct Run<'r> {
    config: &'r Config,
    settings: Settings,
    work: WorkFolder,
    progress: &'r dyn Progress,
    threads: usize,
    train: Part,
    dev: Part,
    holdout: Option<Part>,
    links: Option<PathBuf>,
    parser: Option<PathBuf>,
    source_case: Option<PathBuf>,
}

/// Trains a model. Everything that can be checked before long work is checked first. `hear` is told what happens.
pub fn train(config: &Config, progress: &dyn Progress, hear: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let settings = preflight::check(config, hear)?;
    let folder = config.work_folder();
    let part = |source: &PathBuf, target: &PathBuf, trees: &Option<PathBuf>| Part {
        source: source.clone(),
        target: target.clone(),
        trees: trees.clone(),
        reference: target.clone(),
    };
    let mut run = Run {
        config,
        settings,
        work: WorkFolder::open(&folder)?,
        progress,
        threads: config.thread_count(),
        train: part(&config.source, &config.target, &config.trees),
        dev: part(&config.dev_source, &config.dev_target, &config.dev_trees),
        holdout: None,
        links: config.align.clone(),
        parser: config.parser.clone(),
        source_case: None,
    };
    run.hold_out(hear)?;
    run.tokenise(hear)?;
    run.truecase(hear)?;
    run.check(hear)?;
    run.train_parser(hear)?;
    run.parse(hear)?;
    run.align(hear)?;
    let rules = run.rules(hear)?;
    let model = run.language_model(hear)?;
    let finish = Finish { rules, model };
    let weights = run.tune(&finish, hear)?;
    let scores = run.evaluate(&finish, &weights, hear)?;
    run.pack(&finish, &weights, &scores, hear)?;
    run.write_report(&finish, &scores, hear)?;
    Ok(Outcome { scores, stages: run.work.reports, work: folder })
}
