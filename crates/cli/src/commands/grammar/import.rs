//! `sylvan grammar import`: another toolkit's rule table into ours.

use std::path::PathBuf;

use clap::Args;
use sylvan_rules::formats::TextFormat;
use sylvan_rules::{ImportConfig, Imported, Precision, Preprocessing, import};
use sylvan_trees::{CleanUp, Direction, Root};

use super::flat_options::{Kind, refuse};
use crate::outputs::OutPath;
use crate::progress::Terminal;

/// Turns another toolkit's rule table into a file that is mapped into memory instead of being read.
///
/// Features get this program's names (egfp becomes p_ef), as reported on standard error. What was done to the
/// trees that the rules were learnt from is recorded in the table and done to the input when it is used.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan grammar import --format travatar --keep-root --binarize right \
    rule-table.gz --out enja.rules")]
pub(crate) struct Import {
    /// The format of the table.
    #[arg(long, value_enum)]
    format: Foreign,
    #[command(flatten)]
    what: ImportedKind,
    /// The rules were learnt from trees with their ROOT node; without this it is dropped from the input.
    #[arg(long)]
    keep_root: bool,
    /// The rules were learnt from trees that were binarised on this side.
    #[arg(long, value_enum, value_name = "SIDE")]
    binarize: Option<Side>,
    /// Round feature values to this many bits each, 1 to 16; without this they are exact.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=16))]
    quantize: Option<u32>,
    /// The table, plain or compressed; - for standard input.
    #[arg(value_name = "IN")]
    table: PathBuf,
    /// Where the imported table goes.
    #[arg(long, value_name = "RULES")]
    out: OutPath,
}

/// What kind of rules a text table holds.
#[derive(Debug, Args)]
pub(crate) struct ImportedKind {
    /// The kind of rules.
    #[arg(long, value_enum, default_value = "tree")]
    kind: Kind,
    /// With --kind phrase: Moses' reordering table (msd-bidirectional-fe) of the same phrase pairs.
    #[arg(long, value_name = "FILE")]
    reordering: Option<PathBuf>,
}

impl ImportedKind {
    /// How to import; `trees` are the options of trees, each with whether it was given, and what they mean.
    pub(crate) fn config(
        self,
        trees: &[(&str, bool)],
        preprocessing: Preprocessing,
        quantize: Option<u32>,
    ) -> anyhow::Result<ImportConfig> {
        if !matches!(self.kind, Kind::Phrase | Kind::LrHiero) {
            refuse(self.kind, &[("--reordering", self.reordering.is_some())])?;
        }
        if self.kind != Kind::Tree {
            refuse(self.kind, trees)?;
        }
        Ok(ImportConfig {
            preprocessing: if self.kind == Kind::Tree { preprocessing } else { Preprocessing::as_is() },
            precision: quantize.map_or(Precision::Exact, Precision::Bits),
            formalism: self.kind.into(),
            reordering: self.reordering,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Foreign {
    /// Travatar's rule tables.
    Travatar,
    /// Moses' rule tables, with source trees or without, and its phrase tables.
    Moses,
    /// cdec's grammars, tree-to-string or hierarchical.
    Cdec,
    /// Joshua's grammars, which cdec reads too: rules without inner nodes.
    Joshua,
    /// Tables of Kriya and its left-to-right decoder, for --kind lr-hiero or hiero.
    Kriya,
}

impl From<Foreign> for TextFormat {
    fn from(format: Foreign) -> Self {
        match format {
            Foreign::Travatar => Self::Travatar,
            Foreign::Moses => Self::Moses,
            Foreign::Cdec => Self::Cdec,
            Foreign::Joshua => Self::Joshua,
            Foreign::Kriya => Self::Kriya,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Side {
    /// The first child stays, the others go below a new node.
    Right,
    /// The last child stays, the others go below a new node.
    Left,
}

impl From<Side> for Direction {
    fn from(side: Side) -> Self {
        match side {
            Side::Right => Direction::Right,
            Side::Left => Direction::Left,
        }
    }
}

impl Import {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let root = if self.keep_root { Root::Keep } else { Root::Drop };
        let preprocessing = Preprocessing {
            clean_up: CleanUp { root, ..CleanUp::as_is() },
            binarise: self.binarize.map(Direction::from),
            // The table was learnt from trees as they are.
            ..Preprocessing::as_is()
        };
        let trees = [("--keep-root", self.keep_root), ("--binarize", self.binarize.is_some())];
        let config = self.what.config(&trees, preprocessing, self.quantize)?;
        let progress = Terminal::default();
        let imported = import(&self.table, self.format.into(), &self.out, &config, &progress)?;
        say_imported(&imported, config.reordering.is_some());
        for (theirs, ours) in &imported.renamed {
            say(&format!("feature {theirs} is called {ours} here"));
        }
        for name in &imported.implied {
            say(&format!("feature {name} counts what every rule shows; it is not kept"));
        }
        Ok(())
    }
}

/// What was read, and what was left out.
pub(crate) fn say_imported(imported: &Imported, reordering: bool) {
    say(&format!("{} rules", imported.rules));
    if imported.repeated > 0 {
        say(&format!(
            "{} of them read like earlier ones; the first counts, with the counts of all",
            imported.repeated
        ));
    }
    if imported.glue > 0 {
        say(&format!("{} glue rules are not kept; glue is not a matter of tables here", imported.glue));
    }
    if reordering {
        say(&format!("{} of them without orientations", imported.unoriented));
        say(&format!("{} orientations of other phrase pairs are not kept", imported.unused));
    }
}

/// What a user should know about a conversion goes to standard error.
#[allow(clippy::print_stderr)]
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}
