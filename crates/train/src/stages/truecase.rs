//! Truecasing: gives the first words of sentences their usual case.

use std::path::PathBuf;

use sylvan_store::TextReader;
use sylvan_text::{Lang, Truecaser, TruecaserTrainer};

use super::each_line;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if run.config.tokenized {
        return Ok(());
    }
    let cases = ["source.case", "target.case"].map(|name| run.work.file(name));
    let training = [run.train.source.clone(), run.train.target.clone()];
    let mut jobs: Vec<(PathBuf, PathBuf, usize)> = Vec::new();
    let folder = run.work.file("");
    for (name, part) in run.parts() {
        for (side, path) in [&mut part.source, &mut part.target].into_iter().enumerate() {
            let out = folder.join(format!("{name}.{}.true", ["source", "target"][side]));
            jobs.push((std::mem::replace(path, out.clone()), out, side));
        }
    }
    let langs = [&run.config.source_lang, &run.config.target_lang].map(|lang| {
        let Ok(lang) = lang.parse::<Lang>();
        lang
    });
    let stage = Stage {
        name: "truecase",
        inputs: jobs.iter().map(|(from, ..)| from.as_path()).collect(),
        settings: format!("{langs:?}"),
        outputs: jobs
            .iter()
            .map(|(_, to, _)| to.as_path())
            .chain(cases.iter().map(PathBuf::as_path))
            .collect(),
    };
    let threads = run.threads;
    run.work.run(&stage, say, |_| {
        for side in 0..2 {
            let mut trainer = TruecaserTrainer::default();
            // A script without case has nothing to learn.
            if !langs[side].is_spaceless() {
                let mut reader = TextReader::open(&training[side])?.tolerant();
                while let Some(line) = reader.next_line()? {
                    trainer.add(&line.split_ascii_whitespace().collect::<Vec<_>>());
                }
            }
            trainer.finish().write(&cases[side])?;
        }
        let casers = [Truecaser::open(&cases[0])?, Truecaser::open(&cases[1])?];
        for (from, to, side) in &jobs {
            let cased = |line: &str| {
                let words: Vec<&str> = line.split_ascii_whitespace().collect();
                casers[*side].apply(&words).join(" ")
            };
            each_line(from, to, threads, &cased, &mut |_| {})?;
        }
        Ok::<(), Error>(())
    })?;
    let [source_case, _] = cases;
    run.source_case = Some(source_case);
    Ok(())
}
