//! `sylvan grammar extract`: rules out of parallel trees and sentences.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::extract::{Attach, ExtractConfig, Numbering};
use sylvan_rules::{
    Precision, Preprocessing, ScoreConfig, Significance, Smoothing, TargetKey, TrainConfig, TrainingFiles,
    extract_counts, train,
};
use sylvan_trees::{CleanUp, Direction, Root, Unaries};

use super::import::{Side, say};
use crate::progress::Terminal;

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
    /// Source trees in Penn brackets, one per line, plain or compressed.
    #[arg(long, value_name = "FILE")]
    trees: PathBuf,
    /// Target sentences, one per line.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Word links, one line per sentence: 0-0 1-2, source first, counted from 0.
    #[arg(long, value_name = "FILE")]
    align: PathBuf,
    /// Where the table goes.
    #[arg(long, value_name = "RULES")]
    out: PathBuf,
    /// Write counted rules as text to --out instead of a table; `score` takes them.
    #[arg(long)]
    counts: bool,
    /// With --counts: where link counts for lexical weights go.
    #[arg(long, value_name = "FILE", requires = "counts")]
    lex: Option<PathBuf>,
    /// How much memory rules may take before they go to scratch files, such as 512M or 2G.
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_size)]
    memory: usize,
    /// Threads that cut rules out.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Where scratch files go; beside the table if not given.
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
enum Kind {
    /// Tree-to-string rules.
    Tree,
}

/// What is done to trees.
#[derive(Debug, Args)]
pub(crate) struct TreeOptions {
    /// Keep the outermost ROOT or TOP node.
    #[arg(long, help_heading = "Trees")]
    keep_root: bool,
    /// Leave trees as they are: keep traces, function tags and the outermost node.
    #[arg(long, help_heading = "Trees")]
    as_is: bool,
    /// Make chains of nodes with one child single nodes.
    #[arg(long, help_heading = "Trees")]
    collapse_unary: bool,
    /// Binarise nodes with more than two children on this side.
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Trees")]
    binarize: Option<Side>,
}

impl TreeOptions {
    pub(crate) fn preprocessing(&self) -> Preprocessing {
        let mut clean_up = if self.as_is { CleanUp::as_is() } else { CleanUp::standard() };
        if self.keep_root {
            clean_up.root = Root::Keep;
        }
        if self.collapse_unary {
            clean_up.unaries = Unaries::Collapse;
        }
        Preprocessing { clean_up, binarise: self.binarize.map(Direction::from) }
    }
}

/// Which rules are learnt.
#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// The limits of Travatar's training script; single limits can be changed beside it.
    #[arg(long, help_heading = "Limits")]
    like_travatar: bool,
    /// Most minimal rules per rule; 1 learns minimal rules alone [default: 4].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    compose: Option<u32>,
    /// Most expanded nodes per rule [default: 10].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_nodes: Option<u32>,
    /// Most target words per rule [default: 10].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_words: Option<u32>,
    /// Most source words per rule [default: any number].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_source_words: Option<u32>,
    /// Most variables per rule [default: 4].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_variables: Option<u32>,
    /// Phrases of up to so many source words become rules whatever the number of minimal rules [default: 0].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    phrases: Option<u32>,
    /// Number variables as Travatar's extractor does, which confuses them in some rules; for comparisons alone.
    #[arg(long, help_heading = "Limits")]
    number_like_travatar: bool,
    /// What becomes of target words without a link.
    #[arg(long, value_enum, default_value = "lowest", help_heading = "Limits")]
    attach: AttachWords,
    /// With --attach exhaustive: most unlinked words on each side.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Limits")]
    attach_words: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AttachWords {
    /// To the lowest node that spans them, or to the root.
    Lowest,
    /// The same, but at the edges of the sentence they are dropped.
    Inside,
    /// Every way, with fractional counts.
    Exhaustive,
}

impl LimitOptions {
    pub(crate) fn config(&self) -> ExtractConfig {
        let base = if self.like_travatar { ExtractConfig::travatar() } else { ExtractConfig::default() };
        ExtractConfig {
            minimal_rules: self.compose.unwrap_or(base.minimal_rules).max(1),
            nodes: self.max_nodes.unwrap_or(base.nodes),
            words: self.max_words.unwrap_or(base.words),
            source_words: self.max_source_words.unwrap_or(base.source_words),
            variables: self.max_variables.unwrap_or(base.variables),
            phrase_words: self.phrases.unwrap_or(base.phrase_words),
            attach: match self.attach {
                AttachWords::Lowest => Attach::Lowest,
                AttachWords::Inside => Attach::Inside,
                AttachWords::Exhaustive => Attach::Exhaustive(self.attach_words),
            },
            numbering: if self.number_like_travatar { Numbering::Travatar } else { Numbering::Source },
            ..base
        }
    }
}

/// How rules are scored.
#[derive(Debug, Args)]
pub(crate) struct ScoreOptions {
    /// Smoothing of relative frequencies.
    #[arg(long, value_enum, default_value = "none", help_heading = "Scores")]
    smoothing: SmoothingKind,
    /// What counts as one target side.
    #[arg(long, value_enum, default_value = "labelled", help_heading = "Scores")]
    target_sides: TargetSides,
    /// Most target sides per source side, the most frequent; 0 keeps all.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Scores")]
    per_source: u32,
    /// Drop rules that could be chance: alpha+epsilon, alpha-epsilon, or the least -ln p (Johnson et al. 2007).
    #[arg(long, value_name = "LEVEL", value_parser = parse_significance, help_heading = "Scores")]
    significance: Option<Significance>,
    /// Round feature values to so many bits each, 1 to 16.
    #[arg(long, value_name = "BITS", default_value_t = 16, help_heading = "Scores",
        value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with = "exact")]
    quantize: u32,
    /// Keep feature values as exact floats.
    #[arg(long, help_heading = "Scores")]
    exact: bool,
    /// Training lines to remember per rule.
    #[arg(long, value_name = "K", default_value_t = 3, help_heading = "Scores")]
    lines: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SmoothingKind {
    /// Relative frequencies as they are.
    None,
    /// Good-Turing: counts up to 5 are lowered.
    GoodTuring,
    /// Modified Kneser-Ney.
    KneserNey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TargetSides {
    /// With the labels of root and variables.
    Labelled,
    /// Words and variables alone, as Travatar counts.
    Plain,
}

impl ScoreOptions {
    pub(crate) fn config(&self) -> ScoreConfig {
        ScoreConfig {
            smoothing: match self.smoothing {
                SmoothingKind::None => Smoothing::None,
                SmoothingKind::GoodTuring => Smoothing::GoodTuring,
                SmoothingKind::KneserNey => Smoothing::KneserNey,
            },
            target_key: match self.target_sides {
                TargetSides::Labelled => TargetKey::Labelled,
                TargetSides::Plain => TargetKey::Plain,
            },
            per_source: self.per_source,
            significance: self.significance.unwrap_or(Significance::Off),
            precision: if self.exact { Precision::Exact } else { Precision::Bits(self.quantize) },
            lines: self.lines,
        }
    }
}

fn parse_significance(text: &str) -> Result<Significance, String> {
    match text {
        "alpha+epsilon" => Ok(Significance::AlphaPlus),
        "alpha-epsilon" => Ok(Significance::AlphaMinus),
        _ => match text.parse::<f64>() {
            Ok(least) if least.is_finite() => Ok(Significance::Above(least)),
            _ => Err("expected alpha+epsilon, alpha-epsilon or a number".to_string()),
        },
    }
}

/// Bytes, or with K, M or G behind.
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
        let config = TrainConfig {
            preprocessing: self.trees_as.preprocessing(),
            extract: self.limits.config(),
            score: self.scores.config(),
            memory: self.memory,
            threads: self.threads as usize,
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
