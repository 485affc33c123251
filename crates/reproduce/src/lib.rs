//! The experiments of the papers that Sylvan is built on, run again on open data.
//!
//! ```text
//! corpora --learn--> systems --tuned--> weights --run--> Measured --papers/--> Report --> Markdown, page with plots
//! ```
//!
//! A paper is a file of `papers/`: which systems and searches, which tables and plots, and of each claim what the paper
//! printed, what was found, and whether it held. Everything that takes long is done once and kept by content (`lab.rs`).
//!
//! *Useful for* seeing what a search is worth, and as a test of everything beneath. *Not useful for* translating.

#![deny(missing_docs)]

mod content;
mod corpora;
mod given;
mod lab;
mod lists;
mod measured;
mod networks;
mod orders;
mod packed;
mod papers;
mod report;
mod scores;
mod system;
mod target_models;
mod ways;

pub use papers::Paper;
pub use report::{Claim, Report, Verdict};

use std::path::PathBuf;

use sylvan_base::Progress;
use sylvan_decode::Result;

use lab::Lab;

/// Where data is and results go.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the corpora; without it the built-in corpus is used.
    pub data: Option<PathBuf>,
    /// The names of those of a paper's corpora to use; all if there are none.
    pub corpora: Vec<String>,
    /// Where reports go, and everything that is kept for the next run, in `work/`.
    pub out: PathBuf,
    /// Weights that an earlier run left beside its report; what they are for is not tuned again.
    pub weights: Vec<PathBuf>,
    /// Threads; only times depend on it.
    pub threads: usize,
}

/// Runs a paper's experiments again, writes its report, and the page of all reports of the folder.
pub fn reproduce(
    paper: Paper,
    options: &Options,
    progress: &dyn Progress,
    say: &dyn Fn(&str),
) -> Result<Report> {
    let mut lab = Lab::new(options.data.clone(), options.out.join("work"), options.threads, progress, say);
    for path in &options.weights {
        lab.given.append(&mut given::read(path)?);
    }
    let report = paper.run(&lab, &options.corpora)?;
    report.write(&options.out)?;
    given::write(&options.out.join(format!("{}.weights", report.name)), &lab.used.borrow())?;
    report::summary::write(&options.out, Paper::ALL.into_iter().flat_map(Paper::report_names))?;
    Ok(report)
}
