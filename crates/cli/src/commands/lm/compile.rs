//! `sylvan lm compile`: a language model that opens at once.

use std::path::PathBuf;

use clap::Args;
use sylvan_lm::classes::Classes;
use sylvan_lm::{ArpaConfig, CompileConfig, LayoutKind, Lm};

use crate::outputs::OutPath;
use crate::progress::Terminal;
use sylvan_base::Progress;

/// Compiles ARPA text into a file that is mapped into memory instead of being read.
///
/// The layout `hash` is the fastest; `trie` takes half the space and two to three times as long. Both score
/// exactly as the ARPA text does, unless the trie is quantised.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan lm compile --arpa en.arpa.gz --layout trie --out en.lm")]
pub(crate) struct Compile {
    /// The model as ARPA text, plain or compressed; - for standard input.
    #[arg(long, value_name = "FILE")]
    arpa: PathBuf,
    /// How the n-grams are laid out.
    #[arg(long, value_enum, default_value = "hash")]
    layout: Layout,
    /// The model is one of word classes, which this file gives (`sylvan lm classes`): it is to be asked about words.
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,
    /// Where the compiled model goes.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    /// Round probabilities and back-off weights to this many bits each, 2 to 16. Only for tries.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(2..=16))]
    quantize: Option<u32>,
    /// Add upper bounds of scores, which exact search needs.
    #[arg(long, conflicts_with = "quantize")]
    bounds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Layout {
    /// Hash tables: fast.
    Hash,
    /// A packed trie: small.
    Trie,
}

impl Compile {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let layout = match self.layout {
            Layout::Hash => LayoutKind::Hash,
            Layout::Trie => LayoutKind::Trie,
        };
        if layout == LayoutKind::Hash && self.quantize.is_some() {
            anyhow::bail!("--quantize with --layout hash: only tries are quantised; use --layout trie");
        }
        let progress = Terminal::default();
        progress.begin("reading the model", None);
        let list = self.bounds || layout == LayoutKind::Trie;
        let mut lm = Lm::open_with(&self.arpa, ArpaConfig { list, ..ArpaConfig::default() })?;
        if let Some(path) = &self.classes {
            lm = lm.with_classes(&Classes::read(path)?);
        }
        progress.end();
        progress.begin("compiling", None);
        lm.compile(&self.out, CompileConfig { layout, quantize: self.quantize, bounds: self.bounds })?;
        progress.end();
        Ok(())
    }
}
