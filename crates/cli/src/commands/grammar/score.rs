//! `sylvan grammar score`: counted rules into a table.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::extract::ExtractConfig;
use sylvan_rules::{TrainConfig, score_counts};

use super::extract::parse_size;
use super::import::say;
use super::options::{ScoreOptions, TreeOptions};
use crate::outputs::OutPath;
use crate::progress::Terminal;

/// Adds up counted rules from `extract --counts`, scores them and writes a table.
///
/// Counts of several corpora or machines may be given together; equal rules add up. With the same corpus the table
/// has the same rules and features as that of `extract` alone.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan grammar score a.counts.gz b.counts.gz --lex all.lex --pairs 50000 --out enja.rules"
)]
pub(crate) struct Score {
    /// Counted rules, plain or compressed.
    #[arg(value_name = "COUNTS", required = true)]
    counts: Vec<PathBuf>,
    /// Link counts for lexical weights; without them those features are 0.
    #[arg(long, value_name = "FILE")]
    lex: Option<PathBuf>,
    /// How many sentence pairs the counts come from; significance needs it.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pairs: u64,
    /// Where the table goes.
    #[arg(long, value_name = "RULES")]
    out: OutPath,
    /// How much memory rules may take before they go to scratch files.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    memory: usize,
    #[command(flatten)]
    trees_as: TreeOptions,
    #[command(flatten)]
    scores: ScoreOptions,
}

impl Score {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let config = TrainConfig {
            preprocessing: self.trees_as.preprocessing(),
            // Which limits the counts were made with is not known here.
            extract: ExtractConfig::minimal(),
            score: self.scores.config(),
            memory: self.memory,
            ..TrainConfig::default()
        };
        let lex = self.lex.as_deref();
        let trained = score_counts(&self.counts, lex, self.pairs, &self.out, &config, &Terminal::default())?;
        say(&format!("{} rules, {} in the table", trained.scored.distinct, trained.scored.kept));
        Ok(())
    }
}
