//! `sylvan split`: text to one sentence per line.

use std::path::{Path, PathBuf};

use clap::Args;
use sylvan_store::{Output, TextReader};
use sylvan_text::sentences;

use super::language::language;

/// Writes one sentence per line. Each input line is a paragraph: no sentence crosses its end.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sylvan split --lang en < book.txt | sylvan tokenize --lang en > book.tok"
)]
pub(crate) struct Split {
    /// The language, as a two-letter code.
    #[arg(long, value_name = "L")]
    lang: String,
    /// The text; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

impl Split {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let lang = language(&self.lang)?;
        let mut reader = TextReader::open(&self.file)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        while let Some(line) = reader.next_line()? {
            for sentence in sentences(lang, line) {
                out.line(sentence)?;
            }
        }
        Ok(out.finish()?)
    }
}
