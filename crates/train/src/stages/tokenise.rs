//! Tokenising: splits raw text into words.

use std::path::PathBuf;

use sylvan_decode::tokenizer;
use sylvan_text::{Protect, Tokenizer};

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
    let stage = Stage {
        name: "tokenise",
        inputs: jobs.iter().map(|(from, ..)| from.as_path()).collect(),
        settings: langs.join(" "),
        outputs: jobs.iter().map(|(_, to, _)| to.as_path()).collect(),
    };
    let (threads, progress) = (run.threads, run.progress);
    run.work.run(&stage, say, |_| {
        let tokenizers = langs.each_ref().map(|lang| tokenizer(lang, Protect::default()));
        progress.begin("splitting text into words", None);
        for (from, to, side) in &jobs {
            let cut = |line: &str| words(&tokenizers[*side], line).join(" ");
            each_line(from, to, threads, &cut, &mut |lines| progress.at(lines))?;
        }
        progress.end();
        Ok::<(), Error>(())
    })
}

fn words<'l>(tokenizer: &Tokenizer, line: &'l str) -> Vec<&'l str> {
    tokenizer.tokenize(line).iter().map(|token| token.text(line)).collect()
}
