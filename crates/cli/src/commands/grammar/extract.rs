//! `sylvan grammar extract`: rules from parallel trees and sentences.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::{TrainConfig, TrainingFiles, TreeFormat, extract_counts, train};

use super::import::say;
use super::options::{LimitOptions, ScoreOptions, TreeOptions};
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Learns rules from source trees, target sentences and word links, scores them and writes a table.
///
/// Everything happens in one pass over the corpus. Rules that do not fit into --memory are sorted in scratch files
/// beside the table; the table is the same bytes whatever the memory and the number of threads.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan grammar extract --kind tree --trees train.en.tree --target train.ja \\\n    \
    --align train.gdfa --out enja.rules --memory 1G --threads 2"
)]
pub(crate) struct Extract {
    /// The kind of rules.
    #[arg(long, value_enum)]
    kind: Kind,
    /// Source trees, plain or compressed.
    #[arg(long, value_name = "FILE")]
    trees: PathBuf,
    /// How the trees are written. In forests and lists a rule counts by the probability of the trees that
    /// have it.
    #[arg(long, value_enum, default_value = "penn")]
    tree_format: Written,
    /// Forests and lists: scores are multiplied by this before they count as log-probabilities; 0 counts all
    /// trees alike. (The scores of `parser parse --nbest` need about 0.0005; its forests have
    /// log-probabilities.)
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = parse_scale)]
    tree_scale: f64,
    /// Target sentences, one per line.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Word links, one line per sentence: 0-0 1-2, source first, counted from 0.
    #[arg(long, value_name = "FILE")]
    align: PathBuf,
    /// Where the table goes.
    #[arg(long, value_name = "RULES")]
    out: OutPath,
    /// Write counted rules as text to --out instead of a table; `score` takes them.
    #[arg(long)]
    counts: bool,
    /// With --counts: where link counts for lexical weights go.
    #[arg(long, value_name = "FILE", requires = "counts")]
    lex: Option<PathBuf>,
    /// How much memory rules may take before they go to scratch files, such as 512M or 2G.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    memory: usize,
    #[command(flatten)]
    threads: Threads,
    /// Where scratch files go; by default beside the table.
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
    #[command(flatten)]
    trees_as: TreeOptions,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    scores: ScoreOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Written {
    /// Penn brackets, one tree per line.
    Penn,
    /// Packed forests in Egret's format, as `parser parse --format forest` writes them.
    Forest,
    /// Lines of number ||| log score ||| tree, as `parser parse --nbest` writes them.
    List,
}

impl From<Written> for TreeFormat {
    fn from(written: Written) -> Self {
        match written {
            Written::Penn => Self::Penn,
            Written::Forest => Self::Forests,
            Written::List => Self::Lists,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Tree-to-string rules.
    Tree,
}

fn parse_scale(text: &str) -> Result<f64, String> {
    let scale = text.parse::<f64>().ok().filter(|scale| scale.is_finite() && *scale >= 0.0);
    scale.ok_or_else(|| "expected a number from 0 up".to_string())
}

/// A number of bytes, or with K, M or G after it.
pub(crate) fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.trim_end_matches(['b', 'B', 'i']).as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - suffix_len(text)], 10),
        Some(b'm' | b'M') => (&text[..text.len() - suffix_len(text)], 20),
        Some(b'g' | b'G') => (&text[..text.len() - suffix_len(text)], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e15);
    let bytes = number.ok_or("expected a size such as 512M or 2G")? * f64::from(1u32 << shift);
    Ok(bytes as usize)
}

fn suffix_len(text: &str) -> usize {
    text.len() - text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len()
}

impl Extract {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let Kind::Tree = self.kind;
        let trees = TreeFormat::from(self.tree_format);
        let config = TrainConfig {
            trees,
            tree_scale: self.tree_scale,
            preprocessing: self.trees_as.preprocessing(),
            extract: self.limits.config(trees),
            score: self.scores.config(),
            memory: self.memory,
            threads: self.threads.count(),
            scratch: self.scratch,
        };
        let files = TrainingFiles { trees: self.trees, target: self.target, align: self.align };
        let progress = Terminal::default();
        let trained = if self.counts {
            extract_counts(&files, &self.out, self.lex.as_deref(), &config, &progress)?
        } else {
            train(&files, &self.out, &config, &progress)?
        };
        say(&format!("{} lines, rules learnt from {}", trained.lines, trained.pairs));
        say(&format!("{} occurrences of {} rules", trained.occurrences, trained.scored.distinct));
        if !self.counts {
            say(&format!("{} source sides", trained.scored.sources));
            say(&format!("{} rules in the table", trained.scored.kept));
        }
        Ok(())
    }
}
