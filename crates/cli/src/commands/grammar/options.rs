//! Options that several commands share: how trees are prepared, which rules are learnt, how they are scored.

use clap::Args;
use sylvan_rules::extract::{Attach, ExtractConfig, Numbering};
use sylvan_rules::{
    Count, Leaves, Precision, Preprocessing, ScoreConfig, Significance, Smoothing, TargetKey, TreeFormat,
};
use sylvan_trees::{CleanUp, Direction, Root, Unaries};

use super::import::Side;

/// How trees are prepared.
#[derive(Debug, Args)]
pub(crate) struct TreeOptions {
    /// Keep the outermost ROOT or TOP node.
    #[arg(long, help_heading = "Trees")]
    keep_root: bool,
    /// Leave trees as they are: keep traces, function tags, codes such as -LRB- and the outermost node.
    #[arg(long, help_heading = "Trees")]
    as_is: bool,
    /// Merge each chain of nodes with one child into a single node.
    #[arg(long, help_heading = "Trees")]
    collapse_unary: bool,
    /// Binarise nodes with more than two children on this side.
    #[arg(long, value_enum, value_name = "SIDE", help_heading = "Trees")]
    binarize: Option<Side>,
}

impl TreeOptions {
    /// Each option, and whether it was given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--keep-root", self.keep_root),
            ("--as-is", self.as_is),
            ("--collapse-unary", self.collapse_unary),
            ("--binarize", self.binarize.is_some()),
        ]
    }

    pub(crate) fn preprocessing(&self) -> Preprocessing {
        let mut clean_up = if self.as_is { CleanUp::as_is() } else { CleanUp::standard() };
        if self.keep_root {
            clean_up.root = Root::Keep;
        }
        if self.collapse_unary {
            clean_up.unaries = Unaries::Collapse;
        }
        let leaves = if self.as_is { Leaves::Written } else { Leaves::Surface };
        Preprocessing { clean_up, leaves, binarise: self.binarize.map(Direction::from) }
    }
}

/// Which rules are learnt.
#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// The limits of Travatar's training script; single limits can still be changed.
    #[arg(long, help_heading = "Limits")]
    like_travatar: bool,
    /// At most this many minimal rules per rule; 1 learns minimal rules alone [default: 6; with --like-travatar 4].
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    compose: Option<u32>,
    /// At most this many expanded nodes per rule [default: 10].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_nodes: Option<u32>,
    /// At most this many target words per rule [default: 10].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_words: Option<u32>,
    /// At most this many source words per rule [default: any number].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_source_words: Option<u32>,
    /// At most this many variables per rule [default: 4, Hiero rules 2].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_variables: Option<u32>,
    /// Phrases of up to this many source words become rules, however many minimal rules they hold [default:
    /// 0].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    phrases: Option<u32>,
    /// Number variables as Travatar's extractor does, which confuses them in some rules; for comparisons
    /// only.
    #[arg(long, help_heading = "Limits")]
    number_like_travatar: bool,
    /// Rules that are less than this part of an occurrence are not learnt [default: 0.01 for forests, else 0].
    #[arg(long, value_name = "P", value_parser = parse_share, help_heading = "Limits")]
    least_share: Option<f64>,
    /// What becomes of target words without a link [default: lowest].
    #[arg(long, value_enum, help_heading = "Limits")]
    attach: Option<AttachWords>,
    /// With --attach exhaustive: at most this many unlinked words on each side [default: 1].
    #[arg(long, value_name = "N", help_heading = "Limits")]
    attach_words: Option<u32>,
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
    /// Each option that flat rules do not have, and whether it was given.
    pub(super) fn given(&self) -> [(&'static str, bool); 10] {
        [
            ("--like-travatar", self.like_travatar),
            ("--compose", self.compose.is_some()),
            ("--max-nodes", self.max_nodes.is_some()),
            ("--max-words", self.max_words.is_some()),
            ("--max-source-words", self.max_source_words.is_some()),
            ("--phrases", self.phrases.is_some()),
            ("--number-like-travatar", self.number_like_travatar),
            ("--least-share", self.least_share.is_some()),
            ("--attach", self.attach.is_some()),
            ("--attach-words", self.attach_words.is_some()),
        ]
    }

    /// Variables per rule, if that was given.
    pub(super) fn variables(&self) -> Option<u32> {
        self.max_variables
    }

    pub(super) fn config(&self, trees: TreeFormat) -> ExtractConfig {
        let base = if self.like_travatar { ExtractConfig::travatar() } else { ExtractConfig::default() };
        ExtractConfig {
            // What `sylvan train` does.
            minimal_rules: self.compose.unwrap_or_else(|| {
                if self.like_travatar { base.minimal_rules } else { sylvan::Config::default().compose }
            }),
            nodes: self.max_nodes.unwrap_or(base.nodes),
            words: self.max_words.unwrap_or(base.words),
            source_words: self.max_source_words.unwrap_or(base.source_words),
            variables: self.max_variables.unwrap_or(base.variables),
            phrase_words: self.phrases.unwrap_or(base.phrase_words),
            attach: match self.attach {
                None | Some(AttachWords::Lowest) => Attach::Lowest,
                Some(AttachWords::Inside) => Attach::Inside,
                Some(AttachWords::Exhaustive) => Attach::Exhaustive(self.attach_words.unwrap_or(1)),
            },
            least_share: Count::from_f64(self.least_share.unwrap_or(match trees {
                TreeFormat::Forests => 0.01,
                TreeFormat::Penn | TreeFormat::Lists => 0.0,
            })),
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
    /// What counts as one target side [default: labelled].
    #[arg(long, value_enum, help_heading = "Scores")]
    target_sides: Option<TargetSides>,
    /// Keep this many target sides per source side, the most frequent; 0 keeps all.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Scores")]
    per_source: u32,
    /// Keep rules seen at least this often; the others still count for the frequencies of these.
    #[arg(long, value_name = "COUNT", default_value_t = 0.0, help_heading = "Scores")]
    min_count: f64,
    /// Drop rules that could be chance: alpha+epsilon, alpha-epsilon, or the least -ln p (Johnson et al. 2007).
    #[arg(long, value_name = "LEVEL", value_parser = parse_significance, help_heading = "Scores")]
    significance: Option<Significance>,
    /// Round feature values to this many bits each, 1 to 16.
    #[arg(long, value_name = "BITS", default_value_t = 16, help_heading = "Scores",
        value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with = "exact")]
    quantize: u32,
    /// Keep feature values as exact floats.
    #[arg(long, help_heading = "Scores")]
    exact: bool,
    /// How many training lines to remember per rule.
    #[arg(long, value_name = "K", default_value_t = 3, help_heading = "Scores")]
    lines: u32,
    /// Two more features: rare (1 divided by how often the rule was seen) and lexical (1 if it has source words).
    #[arg(long, help_heading = "Scores")]
    evidence: bool,
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
    /// The option that flat rules do not have, as they have one label, and whether it was given.
    pub(super) fn labels_given(&self) -> (&'static str, bool) {
        ("--target-sides", self.target_sides.is_some())
    }

    pub(crate) fn config(&self) -> ScoreConfig {
        ScoreConfig {
            smoothing: match self.smoothing {
                SmoothingKind::None => Smoothing::None,
                SmoothingKind::GoodTuring => Smoothing::GoodTuring,
                SmoothingKind::KneserNey => Smoothing::KneserNey,
            },
            target_key: match self.target_sides {
                None | Some(TargetSides::Labelled) => TargetKey::Labelled,
                Some(TargetSides::Plain) => TargetKey::Plain,
            },
            per_source: self.per_source,
            min_count: self.min_count,
            significance: self.significance.unwrap_or(Significance::Off),
            precision: if self.exact { Precision::Exact } else { Precision::Bits(self.quantize) },
            lines: self.lines,
            evidence: self.evidence,
        }
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_string())
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
