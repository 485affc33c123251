//! `sylvan detokenize`: tokens to natural text.

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_store::{Output, TextReader};
use sylvan_text::{Detokenizer, capitalise, unmark};

use super::language::language;

/// Joins tokens into text as people write it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sylvan detokenize --lang fr --capitalize < output.tok > output.fr")]
pub(crate) struct Detokenize {
    /// The language, as a two-letter code.
    #[arg(long, value_name = "L")]
    lang: String,
    /// The tokens carry the marks of tokenize --joiner.
    #[arg(long)]
    joiner: bool,
    /// Begin each line with a capital.
    #[arg(long)]
    capitalize: bool,
    /// The tokens; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

impl Detokenize {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let lang = language(&self.lang)?;
        let detokenizer = Detokenizer::new(lang);
        let mut reader = TextReader::open(&self.file)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        while let Some(line) = reader.next_line()? {
            let text = if self.joiner {
                unmark(line)
            } else {
                let tokens: Vec<&str> = line.split_whitespace().collect();
                detokenizer.detokenize(&tokens)
            };
            out.line(&if self.capitalize { capitalise(&text) } else { text })?;
        }
        Ok(out.finish()?)
    }
}
