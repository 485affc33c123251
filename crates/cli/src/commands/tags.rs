//! `sylvan tags`: tags taken out of text, and put into a translation that exists already.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use sylvan::Dialect;
use sylvan_corpus::{Alignment, Base};
use sylvan_store::{Output, TextReader};
use sylvan_tags::{Placement, Segment, Share};
use sylvan_text::Tokenizer;

use super::language::language;

/// Kinds of tags.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// Inline elements of XLIFF 1.2.
    Xliff,
    /// HTML.
    Html,
    /// Any XML.
    Xml,
}

impl From<Kind> for Dialect {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Xliff => Self::Xliff,
            Kind::Html => Self::Html,
            Kind::Xml => Self::xml(),
        }
    }
}

/// Takes tags out of text, or puts them into a translation by the links between words.
#[derive(Debug, Args)]
pub(crate) struct Tags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Strip(Strip),
    Place(Place),
    Score(Score),
}

impl Tags {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.command {
            Command::Strip(command) => command.run(),
            Command::Place(command) => command.run(),
            Command::Score(command) => command.run(),
        }
    }
}

/// Writes lines without their tags, entities resolved.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan tags strip --tags xliff < segments.en > plain.en")]
struct Strip {
    /// What the tags are.
    #[arg(long, value_name = "KIND", value_enum)]
    tags: Kind,
    /// The lines; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

impl Strip {
    fn run(self) -> anyhow::Result<()> {
        let dialect = Dialect::from(self.tags);
        let mut reader = TextReader::open(&self.file)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        while let Some(line) = reader.next_line()? {
            out.line(Segment::translated_already(line, &dialect).text())?;
        }
        Ok(out.finish()?)
    }
}

/// Puts the tags of source lines into their translations.
///
/// Links are pairs of words as `sylvan tokenize` splits the two texts without tags.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan tags strip --tags xliff segments.en | sylvan tokenize --lang en > tok.en\n  \
    sylvan tokenize --lang de plain.de > tok.de\n  \
    sylvan align train --source tok.en --target tok.de --out links\n  \
    sylvan tags place --tags xliff --langs en de --links links segments.en plain.de > segments.de"
)]
struct Place {
    /// What the tags are.
    #[arg(long, value_name = "KIND", value_enum)]
    tags: Kind,
    /// The two languages, as two-letter codes.
    #[arg(long, num_args = 2, value_names = ["S", "T"], required = true)]
    langs: Vec<String>,
    /// Links, a line for each pair: source-target counted from 0.
    #[arg(long, value_name = "FILE")]
    links: PathBuf,
    /// The source lines, with tags.
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
    /// Their translations, without tags.
    #[arg(value_name = "TARGET")]
    target: PathBuf,
}

impl Place {
    fn run(self) -> anyhow::Result<()> {
        let dialect = Dialect::from(self.tags);
        let tokenizers =
            [Tokenizer::new(language(&self.langs[0])?), Tokenizer::new(language(&self.langs[1])?)];
        let spans = |side: usize, line: &str| -> Vec<[usize; 2]> {
            let tokens = tokenizers[side].tokenize(line);
            tokens.iter().map(|token| [token.span.start as usize, token.span.end as usize]).collect()
        };
        let mut files = [
            TextReader::open(&self.source)?.tolerant(),
            TextReader::open(&self.target)?.tolerant(),
            TextReader::open(&self.links)?,
        ];
        let mut out = Output::create(Path::new("-"))?;
        let [source, target, links] = &mut files;
        loop {
            let (source, target, found) = match (source.next_line()?, target.next_line()?, links.next_line()?)
            {
                (Some(source), Some(target), Some(links)) => (source, target, links.to_string()),
                (None, None, None) => return Ok(out.finish()?),
                _ => bail!(
                    "{}, {} and {}: found different numbers of lines, expected a line of each for every pair",
                    self.source.display(),
                    self.target.display(),
                    self.links.display()
                ),
            };
            let segment = Segment::translated_already(source, &dialect);
            let [words, others] = [spans(0, segment.text()), spans(1, target)];
            let pairs = Alignment::parse_within(&found, Base::Zero, words.len(), others.len())
                .map_err(|fault| links.locate(fault))?;
            let pairs: Vec<(u32, u32)> = pairs.sure().iter().map(|link| (link.source, link.target)).collect();
            out.line(&segment.translated(&words, target, &others, &pairs).text)?;
        }
    }
}

/// Compares the places of tags with those of a reference, whose text should be the same.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan tags score segments.de reference.de")]
struct Score {
    /// The lines with tags.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The same lines with tags where they should be.
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
}

impl Score {
    #[allow(clippy::print_stdout)]
    fn run(self) -> anyhow::Result<()> {
        let mut files =
            [TextReader::open(&self.file)?.tolerant(), TextReader::open(&self.reference)?.tolerant()];
        let [file, reference] = &mut files;
        let mut placement = Placement::default();
        loop {
            match (file.next_line()?, reference.next_line()?) {
                (Some(line), Some(wanted)) => placement.add(line, wanted),
                (None, None) => break,
                _ => bail!(
                    "{} and {}: found different numbers of lines, expected as many of one as of the other",
                    self.file.display(),
                    self.reference.display()
                ),
            }
        }
        let shown = |name: &str, share: Share| {
            println!("{name}: {:.1} % ({} of {})", share.percent(), share.right, share.all);
        };
        shown("tags in place", placement.tags());
        shown("with text on both sides", placement.inner);
        shown("at an edge", placement.edge);
        shown("lines with all tags in place", placement.segments);
        shown("lines with the same tags", placement.same_tags);
        Ok(())
    }
}
