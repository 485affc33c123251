//! `sylvan trees`: read, check, clean, convert and count trees.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sylvan_base::{Progress, Result, Vocab};
use sylvan_parse::treebank::{self, Format};
use sylvan_store::Output;
use sylvan_trees::penn::Layout;
use sylvan_trees::{
    CleanUp, ConlluReader, Direction, EgretReader, HeadRules, PackedForest, PennOptions, PennReader, Phrases,
    Statistics, Tags, Tree, binarise, conllu, egret, penn, to_constituents, to_dependencies,
};

use crate::outputs::OutPath;
use crate::progress::Terminal;

/// Reads trees in one format and writes them in another, or counts them.
///
/// Sentences without a tree stay as blank lines, so that files stay parallel. Of a packed forest the best tree is
/// taken. Dependency trees become constituents around their heads, and the reverse by head rules.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan trees train.mrg --clean\n  \
    sylvan trees --from conllu --to penn dev.conllu --out dev.tree\n  \
    sylvan trees --to penn --binarize right test.tree | head")]
pub(crate) struct Trees {
    /// The format to read; by default the file's first line tells (penn for standard input).
    #[arg(long, value_enum)]
    from: Option<Input>,
    /// What to write.
    #[arg(long, value_enum, default_value = "stats")]
    to: Written,
    /// Drop the outermost wrapper, empty categories and function tags.
    #[arg(long)]
    clean: bool,
    /// Give each node at most two children.
    #[arg(long, value_enum, value_name = "SIDE")]
    binarize: Option<Side>,
    /// The head rules for writing dependencies.
    #[arg(long, value_enum, default_value = "english")]
    heads: Heads,
    /// Where to write; - for standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: OutPath,
    /// The trees; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Input {
    /// Penn brackets, one tree per line.
    Penn,
    /// Penn brackets over several lines.
    PennLines,
    /// Universal Dependencies.
    Conllu,
    /// Egret's packed forests.
    Egret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Written {
    /// Counts instead of trees.
    Stats,
    /// Penn brackets, one tree per line.
    Penn,
    /// The words, one sentence per line.
    Words,
    /// Dependencies by head rules.
    Conllu,
    /// Packed forests of one tree each.
    Egret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    /// New nodes take the first children.
    Left,
    /// New nodes take the last children, as Travatar does.
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Heads {
    /// Penn Treebank labels.
    English,
    /// Chinese Treebank labels.
    Chinese,
    /// Any labels.
    Generic,
}

impl Trees {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut vocab = Vocab::new();
        let mut reader = self.reader()?;
        let mut writer = Writer::new(&self)?;
        let progress = Terminal::default();
        progress.begin("reading trees", None);
        let mut done = 0;
        while let Some(tree) = reader.next(&mut vocab)? {
            let tree = tree.and_then(|tree| self.prepare(tree, &mut vocab));
            writer.add(tree.as_ref(), &mut vocab)?;
            done += 1;
            if done % 1024 == 0 {
                progress.at(done);
            }
        }
        progress.end();
        Ok(writer.finish()?)
    }

    fn from(&self) -> Result<Input> {
        if let Some(from) = self.from {
            return Ok(from);
        }
        // Standard input can be read only once.
        if self.file.as_os_str() == "-" {
            return Ok(Input::Penn);
        }
        // An empty file is a file without trees.
        let Ok(format) = treebank::format_of(&self.file) else { return Ok(Input::Penn) };
        Ok(match format {
            Format::Penn => Input::Penn,
            Format::PennLines => Input::PennLines,
            Format::Conllu => Input::Conllu,
            Format::Egret => Input::Egret,
        })
    }

    fn reader(&self) -> Result<Reader> {
        Ok(match self.from()? {
            Input::Penn => Reader::Penn(PennReader::open(&self.file, PennOptions::as_is())?),
            Input::PennLines => {
                let options = PennOptions { layout: Layout::ManyLines, ..PennOptions::as_is() };
                Reader::Penn(PennReader::open(&self.file, options)?)
            }
            Input::Conllu => Reader::Conllu(ConlluReader::open(&self.file, conllu::Columns::Basic)?),
            Input::Egret => Reader::Egret(EgretReader::open(&self.file)?),
        })
    }

    fn prepare(&self, tree: Tree, vocab: &mut Vocab) -> Option<Tree> {
        let tree = if self.clean { CleanUp::standard().apply(tree, vocab)? } else { tree };
        Some(match self.binarize {
            None => tree,
            Some(Side::Left) => binarise(&tree, Direction::Left, vocab),
            Some(Side::Right) => binarise(&tree, Direction::Right, vocab),
        })
    }
}

enum Reader {
    Penn(PennReader),
    Conllu(ConlluReader),
    Egret(EgretReader),
}

impl Reader {
    /// The next sentence: `None` at the end, `Some(None)` for one without a tree.
    fn next(&mut self, vocab: &mut Vocab) -> Result<Option<Option<Tree>>> {
        Ok(match self {
            Self::Penn(reader) => reader.next_tree(vocab)?,
            Self::Conllu(reader) => reader
                .next_tree(vocab)?
                .map(|tree| to_constituents(&tree?, Tags::default(), Phrases::default(), vocab)),
            Self::Egret(reader) => reader.next_forest(vocab)?.map(|forest| Some(forest?.best().0)),
        })
    }
}

struct Writer {
    to: Written,
    out: Output,
    heads: HeadRules,
    statistics: Statistics,
    sentence: u64,
    text: String,
}

impl Writer {
    fn new(command: &Trees) -> Result<Self> {
        let heads = match command.heads {
            Heads::English => HeadRules::english(),
            Heads::Chinese => HeadRules::chinese(),
            Heads::Generic => HeadRules::generic(),
        };
        let out = Output::create(&command.out)?;
        Ok(Self {
            to: command.to,
            out,
            heads,
            statistics: Statistics::new(),
            sentence: 0,
            text: String::new(),
        })
    }

    fn add(&mut self, tree: Option<&Tree>, vocab: &mut Vocab) -> Result<()> {
        self.text.clear();
        self.sentence += 1;
        match (self.to, tree) {
            (Written::Stats, tree) => {
                self.statistics.add(tree);
                return Ok(());
            }
            (Written::Penn, Some(tree)) => penn::write(tree, vocab, &mut self.text),
            (Written::Words, Some(tree)) => self.text.push_str(&vocab.join(tree.words())),
            (Written::Conllu, Some(tree)) => {
                let dependencies = to_dependencies(tree, &self.heads, vocab);
                conllu::write(&dependencies, vocab, &mut self.text);
                // `conllu::write` ends with the blank line that ends a sentence.
                return self.out.write(self.text.as_bytes());
            }
            (Written::Egret, Some(tree)) => {
                egret::write(&PackedForest::from_tree(tree), self.sentence, vocab, &mut self.text);
                return self.out.write(self.text.as_bytes());
            }
            (Written::Egret, None) => {
                egret::write_unparsed(&[], self.sentence, vocab, &mut self.text);
                return self.out.write(self.text.as_bytes());
            }
            (_, None) => {}
        }
        self.out.line(&self.text)
    }

    fn finish(mut self) -> Result<()> {
        if self.to == Written::Stats {
            self.out.line(&self.statistics.to_string())?;
        }
        self.out.finish()
    }
}
