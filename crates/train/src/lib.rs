//! Training: parallel text to a tuned model file, in stages that are each done once.
//!
//! ```text
//! raw text --tokenise, truecase--> words --check--> clean pairs
//! clean pairs --+--parse--> trees --+
//!               +--align--> links --+--rules--> table --+
//!               +--lm--> language model ----------------+--tune, evaluate, model--> one file
//! ```
//!
//! Each stage is a source file (`stages/`) and a function of files and settings alone, so results do not
//! depend on threads, on memory or on how often a run was interrupted (`work.rs`). The formalism decides
//! which stages there are.
//!
//! *Useful for* making models and for finding weights ([`tuning`]). *Not useful for* translating, which is
//! `sylvan-decode`.

#![deny(missing_docs)]

mod config;
mod preflight;
mod report;
mod room;
mod run;
mod stages;
pub mod tuning;
mod verdict;
mod work;

use std::path::PathBuf;

use sylvan_base::Progress;
use sylvan_decode::{Input, Result};

pub use config::Config;
pub use work::StageReport;

use run::Run;
use work::WorkFolder;

/// The result of training.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Names and scores: `dev.bleu`, `holdout.bleu`.
    pub scores: Vec<(String, f64)>,
    /// What the scores mean, in sentences.
    pub verdict: Vec<String>,
    /// What each stage cost.
    pub stages: Vec<StageReport>,
    /// Where intermediate files are.
    pub work: PathBuf,
}

/// One text after learning: its words, or the trees of its words, and what they should become.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LearntText {
    /// What a model of the formalism reads.
    pub path: PathBuf,
    /// How it reads it.
    pub input: Input,
    /// The words themselves.
    pub source: PathBuf,
    /// The words of the translation.
    pub target: PathBuf,
}

/// All parts of a model that is not tuned yet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Learnt {
    /// The rule table.
    pub rules: PathBuf,
    /// The compiled language model.
    pub language_model: PathBuf,
    /// The compiled language model of word classes, if there is to be one.
    pub class_model: Option<PathBuf>,
    /// The parser of the source language, if there is one.
    pub parser: Option<PathBuf>,
    /// The words that were learnt from.
    pub train: [PathBuf; 2],
    /// The links between them.
    pub links: Option<PathBuf>,
    /// Trees of the source words that were learnt from, if there are any.
    pub trees: Option<PathBuf>,
    /// The text to tune on.
    pub dev: LearntText,
    /// The text that was held out.
    pub holdout: Option<LearntText>,
    /// If pairs of the training text are tuned on as well: what was learnt without them.
    pub rest: Option<LearntRest>,
}

/// What was learnt without the pairs that are tuned on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LearntRest {
    /// The rule table.
    pub rules: PathBuf,
    /// The compiled language model.
    pub language_model: PathBuf,
    /// The compiled language model of word classes, if there is to be one.
    pub class_model: Option<PathBuf>,
    /// The pairs.
    pub aside: LearntText,
}

/// Does what [`train`] does before it tunes: for experiments that tune in ways of their own.
pub fn learn(config: &Config, progress: &dyn Progress, say: &mut dyn FnMut(&str)) -> Result<Learnt> {
    let settings = preflight::check(config, say)?;
    let mut run = Run::new(config, settings, WorkFolder::open(&config.work_folder())?, progress);
    for stage in stages::learning(run.settings.formalism) {
        stage(&mut run, say)?;
    }
    let text = |part: &run::Part| -> Result<LearntText> {
        let (path, input) = part.input(run.settings.formalism)?;
        let (path, source, target) = (path.to_path_buf(), part.source.clone(), part.target.clone());
        Ok(LearntText { path, input, source, target })
    };
    let rest = |rest: &run::Rest| -> Result<LearntRest> {
        Ok(LearntRest {
            rules: rest.rules.clone(),
            language_model: rest.language_model.clone(),
            class_model: rest.class_model.clone(),
            aside: text(&rest.aside)?,
        })
    };
    Ok(Learnt {
        rest: run.rest.as_ref().map(rest).transpose()?,
        dev: text(&run.dev)?,
        holdout: run.holdout.as_ref().map(text).transpose()?,
        train: [run.train.source, run.train.target],
        links: run.links,
        trees: run.train.trees,
        rules: run.rules,
        language_model: run.language_model,
        class_model: run.class_model,
        parser: run.parser,
    })
}

/// Trains a model. Everything that can be checked before long work is checked first. `say` gets progress
/// messages, line by line.
pub fn train(config: &Config, progress: &dyn Progress, say: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let settings = preflight::check(config, say)?;
    let folder = config.work_folder();
    let mut run = Run::new(config, settings, WorkFolder::open(&folder)?, progress);
    for stage in stages::learning(run.settings.formalism).iter().chain(&stages::FINISHING) {
        stage(&mut run, say)?;
    }
    let verdict = verdict::verdict(&run.scores, run.pairs);
    Ok(Outcome { scores: run.scores, verdict, stages: run.work.reports, work: folder })
}
