//! `sylvan parser train`: a parser from treebanks.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sylvan_base::{InputError, Vocab};
use sylvan_parse::{
    News, Templates, TrainConfig, train_constituency, train_dependency, train_tagger, treebank,
};
use sylvan_trees::{DependencyTree, Tree};

use super::Kind;
use crate::outputs::OutPath;
use crate::progress::Terminal;
use crate::threads::Threads;

/// Trains a parser or tagger from treebanks.
///
/// Treebanks are Penn brackets (one tree per line or over many), CoNLL-U or Egret forests; the format is
/// recognised by the first line, and each kind of parser learns from each format. Wrappers, traces and
/// function tags are removed. How the treebank writes brackets and quotation marks and where it cuts contractions is
/// learnt, too, so that raw text can be parsed. After each pass the parser is measured on the held-out trees, and the best one
/// so far is written. The number of threads does not change the result.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan parser train --kind constituency --train train.mrg --dev dev.mrg \
    --out en.parser"
)]
pub(crate) struct Train {
    /// What the parser is to produce.
    #[arg(long, value_enum)]
    kind: Kind,
    /// Trees to learn from. Repeat for several files.
    #[arg(long, value_name = "FILE", required = true)]
    train: Vec<PathBuf>,
    /// Held-out trees. Without them all passes are made and the last one counts. Repeat for several files.
    #[arg(long, value_name = "FILE")]
    dev: Vec<PathBuf>,
    /// Where the model goes.
    #[arg(long, value_name = "FILE")]
    out: OutPath,
    #[command(flatten)]
    threads: Threads,
    /// States per step in training.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().beam)]
    beam: usize,
    /// At most this many passes over the training trees.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().epochs)]
    epochs: usize,
    /// How many parsers to train on the same trees in different orders; their mean is written, which is
    /// better than each. Default: 2 for constituents, 3 for dependencies.
    #[arg(long, value_name = "N")]
    members: Option<usize>,
    /// How many words after the current one the tagger sees, 0 to 2; 0 for words that are generated one at a time.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().lookahead)]
    lookahead: usize,
    /// Dependencies: which features.
    #[arg(long, value_enum, default_value = "rich")]
    features: Features,
    /// Dependencies: how many words after the top of the stack features see, 0 to 3. Word-by-word parsing needs 0 or 1.
    #[arg(long, value_name = "N", default_value_t = TrainConfig::default().window)]
    window: usize,
    /// Dependencies: tag each word by itself, as word-by-word parsing does.
    #[arg(long)]
    tags_alone: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Features {
    /// The twenty of Yu et al. (2014).
    Paper,
    /// More of the stack, children and distances.
    Rich,
}

impl Train {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        anyhow::ensure!(self.beam > 0, "--beam 0: expected at least 1");
        anyhow::ensure!(self.epochs > 0, "--epochs 0: expected at least 1");
        anyhow::ensure!(self.members != Some(0), "--members 0: expected at least 1");
        anyhow::ensure!(
            self.members.is_none() || self.kind != Kind::Tagger,
            "--members: expected with --kind constituency or dependency"
        );
        anyhow::ensure!(self.lookahead <= 2, "--lookahead {}: expected 0, 1 or 2", self.lookahead);
        anyhow::ensure!(self.window <= 3, "--window {}: expected 0 to 3", self.window);
        let threads = self.threads.count();
        let config = TrainConfig {
            beam: self.beam,
            epochs: self.epochs,
            members: self.members.unwrap_or(if self.kind == Kind::Dependency { 3 } else { 2 }),
            threads,
            lookahead: self.lookahead,
            templates: match self.features {
                Features::Paper => Templates::Paper,
                Features::Rich => Templates::Rich,
            },
            window: self.window,
            tags_alone: self.tags_alone,
            conventions: treebank::conventions(&self.train)?,
            ..TrainConfig::default()
        };
        let progress = Terminal::default();
        let mut vocab = Vocab::new();
        let mut listener = Listener { out: &self.out, error: None };
        let mut hear = |news: News<'_>| listener.hear(news);
        let parser = match self.kind {
            Kind::Constituency => {
                let train = constituents(&self.train, &mut vocab)?;
                let dev = constituents(&self.dev, &mut vocab)?;
                let rules = treebank::head_rules(&train, &vocab);
                train_constituency(&train, &dev, &rules, &mut vocab, &config, &progress, &mut hear)?
            }
            Kind::Tagger => {
                let train = dependencies(&self.train, &mut vocab)?;
                let dev = dependencies(&self.dev, &mut vocab)?;
                train_tagger(&train, &dev, &vocab, &config, &progress, &mut hear)?
            }
            Kind::Dependency => {
                let train = dependencies(&self.train, &mut vocab)?;
                let dev = dependencies(&self.dev, &mut vocab)?;
                train_dependency(&train, &dev, &vocab, &config, &progress, &mut hear)?
            }
        };
        match listener.error {
            Some(error) => Err(error.into()),
            None => Ok(parser.write(&self.out)?),
        }
    }
}

/// Training progress goes to standard error.
#[allow(clippy::print_stderr)]
fn say(line: &str) {
    eprintln!("{line}");
}

/// Handles news of training: prints lines, and writes the best parser so far, so that an interrupted training
/// leaves one. The first error is kept for the end.
struct Listener<'a> {
    out: &'a Path,
    error: Option<InputError>,
}

impl Listener<'_> {
    fn hear(&mut self, news: News<'_>) {
        match news {
            News::Line(line) => say(line),
            News::Better(parser) => {
                if self.error.is_none() {
                    self.error = parser.write(self.out).err();
                }
            }
        }
    }
}

fn constituents(paths: &[PathBuf], vocab: &mut Vocab) -> anyhow::Result<Vec<Tree>> {
    let mut trees = Vec::new();
    for path in paths {
        trees.extend(treebank::read_constituents(path, vocab)?.into_iter().flatten());
    }
    Ok(trees)
}

fn dependencies(paths: &[PathBuf], vocab: &mut Vocab) -> anyhow::Result<Vec<DependencyTree>> {
    let mut trees = Vec::new();
    for path in paths {
        trees.extend(treebank::read_dependencies(path, vocab)?);
    }
    Ok(trees)
}
