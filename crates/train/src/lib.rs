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
use sylvan_decode::Result;

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

/// Trains a model. Everything that can be checked before long work is checked first. `say` gets progress
/// messages, line by line.
pub fn train(config: &Config, progress: &dyn Progress, say: &mut dyn FnMut(&str)) -> Result<Outcome> {
    let settings = preflight::check(config, say)?;
    let folder = config.work_folder();
    let mut run = Run::new(config, settings, WorkFolder::open(&folder)?, progress);
    for stage in stages::of(settings.formalism) {
        stage(&mut run, say)?;
    }
    let verdict = verdict::verdict(&run.scores, run.pairs);
    Ok(Outcome { scores: run.scores, verdict, stages: run.work.reports, work: folder })
}
