//! `sylvan grammar extract`: rules from parallel text with links, with trees or without.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::extract::FlatRules;
use sylvan_rules::{
    FlatConfig, ScoreConfig, Significance, TextFiles, TrainConfig, Trained, TrainingFiles, TreeFormat,
    extract_counts, train, train_flat,
};

use super::flat_options::{FlatOptions, Kind, refuse};
use super::import::say;
use super::options::{LimitOptions, ScoreOptions, TreeOptions};
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Learns rules from source trees or sentences, target sentences and word links, scores them and writes a table.
///
/// --kind tree needs --trees; --kind hiero and --kind phrase need --source and no trees.
///
/// Everything happens in one pass over the corpus. Rules that do not fit into --memory are sorted in scratch files
/// beside the table; the table is the same bytes whatever the memory and the number of threads.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan grammar extract --kind tree --trees train.en.tree --target train.ja \\\n    \
    --align train.gdfa --out enja.rules --memory 1G --threads 2\n  \
    sylvan grammar extract --kind hiero --source train.de --target train.en --align train.align --out deen.rules"
)]
pub(crate) struct Extract {
    /// The kind of rules.
    #[arg(long, value_enum)]
    kind: Kind,
    /// Source trees, plain or compressed; for --kind tree.
    #[arg(long, value_name = "FILE", required_if_eq("kind", "tree"))]
    trees: Option<PathBuf>,
    /// Source sentences, one per line, words separated by spaces; for the other kinds.
    #[arg(long, value_name = "FILE", required_if_eq_any([("kind", "hiero"), ("kind", "lr-hiero"), ("kind", "phrase")]))]
    source: Option<PathBuf>,
    /// How the trees are written [default: penn]. In forests and lists a rule counts by the probability of the
    /// trees that have it.
    #[arg(long, value_enum)]
    tree_format: Option<Written>,
    /// Forests and lists: scores are multiplied by this before they count as log-probabilities [default: 1]; 0
    /// counts all trees alike. (The scores of `parser parse --nbest` need about 0.0005; its forests have
    /// log-probabilities.)
    #[arg(long, value_name = "X", value_parser = parse_scale)]
    tree_scale: Option<f64>,
    /// Target sentences, one per line.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Word links, one line per sentence: 0-0 1-2, source first, counted from 0. Repeat the option for several sets of
    /// links: rules are learnt from each, and each counts for its share.
    #[arg(long, value_name = "FILE", required = true)]
    align: Vec<PathBuf>,
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
    flat: FlatOptions,
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
        let counts = self.counts;
        let trained = match self.kind {
            Kind::Tree => self.trees()?,
            Kind::Hiero | Kind::LrHiero | Kind::Phrase => self.flat()?,
        };
        say(&format!("{} lines, rules learnt from {}", trained.lines, trained.pairs));
        say(&format!("{} occurrences of {} rules", trained.occurrences, trained.scored.distinct));
        if !counts {
            say(&format!("{} source sides", trained.scored.sources));
            say(&format!("{} rules in the table", trained.scored.kept));
        }
        Ok(())
    }

    fn trees(self) -> anyhow::Result<Trained> {
        self.flat.refuse_for_trees()?;
        refuse(self.kind, &[("--source", self.source.is_some())])?;
        let format = self.tree_format.map(TreeFormat::from).unwrap_or_default();
        self.has_whole_occurrences(&self.scores.config())?;
        let config = TrainConfig {
            trees: format,
            tree_scale: self.tree_scale.unwrap_or(1.0),
            preprocessing: self.trees_as.preprocessing(),
            extract: self.limits.config(format),
            score: self.scores.config(),
            memory: self.memory,
            threads: self.threads.count(),
            scratch: self.scratch,
        };
        let trees = self.trees.ok_or_else(|| anyhow::anyhow!("--kind tree needs --trees"))?;
        let files = TrainingFiles { trees, target: self.target, links: self.align };
        let progress = Terminal::default();
        Ok(if self.counts {
            extract_counts(&files, &self.out, self.lex.as_deref(), &config, &progress)?
        } else {
            train(&files, &self.out, &config, &progress)?
        })
    }

    /// What is learnt from several sets of links was not seen a whole number of times.
    fn has_whole_occurrences(&self, score: &ScoreConfig) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.align.len() == 1 || score.significance == Significance::Off,
            "--significance tests how often rules were seen, and with several --align their counts are shares; give one"
        );
        Ok(())
    }

    fn flat(self) -> anyhow::Result<Trained> {
        let of_trees = [
            ("--trees", self.trees.is_some()),
            ("--tree-format", self.tree_format.is_some()),
            ("--tree-scale", self.tree_scale.is_some()),
            ("--counts", self.counts),
            self.scores.labels_given(),
        ];
        refuse(self.kind, &[&of_trees[..], &self.trees_as.given()[..], &self.limits.given()[..]].concat())?;
        let rules = if self.kind == Kind::Phrase {
            refuse(self.kind, &[("--max-variables", self.limits.variables().is_some())])?;
            self.flat.phrase()?
        } else {
            self.flat.hiero(self.kind, self.limits.variables())?
        };
        let score = self.scores.config();
        let shared = match rules {
            FlatRules::Phrase(_) => false,
            FlatRules::Hiero(hiero) => !hiero.whole_counts,
            FlatRules::LeftToRight(config) => !config.rules.whole_counts,
        };
        anyhow::ensure!(
            !shared || score.significance == Significance::Off,
            "--significance tests how often rules were seen, and their counts are shares; add --whole-counts"
        );
        self.has_whole_occurrences(&score)?;
        let config = FlatConfig {
            score,
            orientations: self.flat.smoothing(),
            map: self.flat.map_smoothing(),
            memory: self.memory,
            threads: self.threads.count(),
            scratch: self.scratch,
            ..FlatConfig::new(rules)
        };
        let source = self.source.ok_or_else(|| anyhow::anyhow!("this kind of rules needs --source"))?;
        let files = TextFiles { source, target: self.target, links: self.align };
        Ok(train_flat(&files, &self.out, &config, &Terminal::default())?)
    }
}
