//! `sylvan explain`: why a sentence is translated as it is.

use std::path::Path;

use clap::Args;
use sylvan::Worker;
use sylvan_store::{Output, read_lines};

use super::model_options::ModelOptions;
use crate::outputs::OutPath;

/// Explains why a sentence is translated as it is.
///
/// Shows the source tree, the derivation, each target word with its rule, what each feature adds, training
/// lines that the rule was learnt from, the best other rule and the second best translation with what decided
/// against them, and what the search did. All numbers add up to the score.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan explain --model enja.sylvan \"he bought a book .\"\n  \
    sylvan explain --model enja.sylvan --html why.html --search prediction \"he bought a book .\"\n  \
    sylvan translate --model enja.sylvan < text.en; sed -n 17p text.en | sylvan explain --model enja.sylvan --json\n\n\
    Searches that go from left to right (incremental, prediction) are shown step by step: bins, what stood in them, \
    what was pruned; of undirected search, when each part of the answer was taken.\nJSON is described in docs/formats/explanation.md; several lines give an object each.")]
pub(crate) struct Explain {
    #[command(flatten)]
    model: ModelOptions,
    /// Write a page for a browser; it is one file and needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<OutPath>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The sentence; lines of standard input if it is not given.
    #[arg(value_name = "SENTENCE")]
    sentence: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let (model, request) = self.model.open()?;
        let mut worker = Worker::new(model);
        let lines = match self.sentence {
            Some(sentence) => vec![sentence],
            None => read_lines(Path::new("-"))?,
        };
        if self.html.is_some() && lines.len() != 1 {
            anyhow::bail!("--html: found {} lines, expected one sentence; a page explains one", lines.len());
        }
        let mut out = Output::create(Path::new("-"))?;
        for line in &lines {
            let Some(explanation) = worker.explain(line, &request)? else {
                anyhow::bail!("found a sentence without words, expected words to translate");
            };
            match &self.html {
                Some(path) => {
                    let mut page = Output::create(path)?;
                    page.write(explanation.html().as_bytes())?;
                    page.finish()?;
                }
                None if !self.json => out.write(explanation.text().as_bytes())?,
                None => {}
            }
            if self.json {
                out.line(&explanation.json())?;
            }
        }
        Ok(out.finish()?)
    }
}
