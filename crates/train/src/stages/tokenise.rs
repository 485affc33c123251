//! Tokenising: splits raw text into words.
//!
//! The source is split as the parser's treebank splits it: the trees of the text are made of these words.

use std::path::{Path, PathBuf};

use sylvan_decode::{SourceText, tokenizer};
use sylvan_parse::{Conventions, Parser, treebank};
use sylvan_text::Protect;

use super::each_line;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if run.config.tokenized {
        return Ok(());
    }
    let langs = [run.config.source_lang.clone(), run.config.target_lang.clone()];
    let mut jobs: Vec<(PathBuf, PathBuf, usize)> = Vec::new();
    let folder = run.work.file("");
    for (name, part) in run.parts() {
        for (side, path) in [&mut part.source, &mut part.target].into_iter().enumerate() {
            let out = folder.join(format!("{name}.{}.tok", ["source", "target"][side]));
            jobs.push((std::mem::replace(path, out.clone()), out, side));
        }
    }
    let (bank, parser) = (run.config.treebank.clone(), run.config.parser.clone());
    let mut inputs: Vec<&Path> = jobs.iter().map(|(from, ..)| from.as_path()).collect();
    inputs.extend(bank.iter().chain(&parser).map(PathBuf::as_path));
    let stage = Stage {
        name: "tokenise",
        inputs,
        settings: langs.join(" "),
        outputs: jobs.iter().map(|(_, to, _)| to.as_path()).collect(),
    };
    let (threads, progress) = (run.threads, run.progress);
    run.work.run(&stage, say, |_| {
        let conventions = match (&bank, &parser) {
            (Some(bank), _) => treebank::conventions(&[bank])?,
            (None, Some(parser)) => Parser::open(parser)?.conventions().clone(),
            (None, None) => Conventions::default(),
        };
        let texts =
            [conventions, Conventions::default()].into_iter().zip(&langs).map(|(conventions, lang)| {
                SourceText {
                    tokenizer: Some(tokenizer(lang, Protect::default())),
                    conventions,
                    truecaser: None,
                }
            });
        let texts: Vec<SourceText> = texts.collect();
        progress.begin("splitting text into words", None);
        for (from, to, side) in &jobs {
            let cut = |line: &str| texts[*side].tokenized(line);
            each_line(from, to, threads, &cut, &mut |lines| progress.at(lines))?;
        }
        progress.end();
        Ok::<(), Error>(())
    })
}
