//! `sylvan tokenize`: raw lines to tokens.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use serde_json::json;
use sylvan_store::{Output, TextReader};
use sylvan_text::{Protect, Segmenter, SegmenterTrainer, Token, Tokenizer, mark};

use super::language::language;
use crate::outputs::OutPath;

/// Splits lines into tokens with spaces between them.
///
/// en, de, fr and cs have rules of their own; zh and ja are written without spaces and are segmented: best
/// with a model, which --train makes from text that is already segmented. Addresses, markup and emoji stay whole; so
/// does what --keep matches.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan tokenize --lang en < raw.en > tok.en\n  \
    sylvan tokenize --lang en --joiner < raw.en | sylvan detokenize --lang en --joiner\n  \
    sylvan tokenize --lang ja --train cut.ja --model ja.seg\n  \
    sylvan tokenize --lang ja --model ja.seg < raw.ja > tok.ja")]
pub(crate) struct Tokenize {
    /// The language, as a two-letter code.
    #[arg(long, value_name = "L")]
    lang: String,
    /// A regular expression for what must not be split; repeat the option for several.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Put a mark in front of tokens that were joined to the one before, so that the way back is exact.
    #[arg(long)]
    joiner: bool,
    /// A model for text without spaces.
    #[arg(long, value_name = "FILE")]
    model: Option<OutPath>,
    /// Make the model from this text, whose words have spaces between them, instead of tokenising.
    #[arg(long, value_name = "FILE", requires = "model")]
    train: Option<PathBuf>,
    /// How many passes training makes over the text.
    #[arg(long, value_name = "N", default_value = "10", requires = "train")]
    rounds: usize,
    /// Print one JSON object per line, with the bytes of each token.
    #[arg(long)]
    json: bool,
    /// The raw text; - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

impl Tokenize {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let lang = language(&self.lang)?;
        if let (Some(text), Some(model)) = (&self.train, &self.model) {
            return self.train(text, model);
        }
        let mut tokenizer = Tokenizer::new(lang).protecting(Protect::new(&self.keep)?);
        if let Some(path) = &self.model {
            tokenizer = tokenizer.segmenting(Segmenter::open(path)?);
        }
        let mut reader = TextReader::open(&self.file)?.tolerant();
        let mut out = Output::create(Path::new("-"))?;
        while let Some(line) = reader.next_line()? {
            let tokens = tokenizer.tokenize(line);
            match (self.json, self.joiner) {
                (true, _) => out.line(&as_json(line, &tokens))?,
                (false, true) => out.line(&mark(line, &tokens))?,
                (false, false) => {
                    let words: Vec<&str> = tokens.iter().map(|token| token.text(line)).collect();
                    out.line(&words.join(" "))?;
                }
            }
        }
        Ok(out.finish()?)
    }

    fn train(&self, text: &Path, model: &Path) -> anyhow::Result<()> {
        let mut reader = TextReader::open(text)?.tolerant();
        let mut trainer = SegmenterTrainer::default();
        while let Some(line) = reader.next_line()? {
            trainer.add(line);
        }
        if reader.line_number() == 0 {
            bail!("{}: found no lines, expected text to learn from", text.display());
        }
        Ok(trainer.train(self.rounds).write(model)?)
    }
}

fn as_json(line: &str, tokens: &[Token]) -> String {
    let tokens: Vec<_> = tokens
        .iter()
        .map(|token| {
            json!({
                "text": token.text(line),
                "start": token.span.start,
                "end": token.span.end,
                "joined_left": token.joined_left,
                "joined_right": token.joined_right,
            })
        })
        .collect();
    json!({ "tokens": tokens }).to_string()
}
