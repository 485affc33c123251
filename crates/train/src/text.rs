//! The first stages: hold out, tokenise, truecase.

use std::path::{Path, PathBuf};

use sylvan_base::{InputError, parallel};
use sylvan_store::{Output, TextReader};
use sylvan_text::{Lang, Protect, Tokenizer, Truecaser, TruecaserTrainer};

use super::work::Stage;
use super::{Part, PipelineError, Result, Run};

/// Lines that are worked on at a time.
const CHUNK: usize = 4096;

impl Run<'_> {
    /// Takes the last pairs out of the training text.
    pub(super) fn hold_out(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        let count = self.config.holdout;
        if count == 0 {
            return Ok(());
        }
        let mut given = vec![("source", self.train.source.clone()), ("target", self.train.target.clone())];
        given.extend(self.train.trees.clone().map(|path| ("trees", path)));
        given.extend(self.links.clone().map(|path| ("links", path)));
        let files: Vec<(PathBuf, PathBuf)> = given
            .iter()
            .map(|(name, _)| {
                (self.work.file(&format!("kept.{name}")), self.work.file(&format!("holdout.{name}")))
            })
            .collect();
        let stage = Stage {
            name: "hold-out",
            inputs: given.iter().map(|(_, path)| path.as_path()).collect(),
            settings: count.to_string(),
            outputs: files.iter().flat_map(|(kept, held)| [kept.as_path(), held.as_path()]).collect(),
        };
        self.work.run(&stage, hear, |_| {
            for ((_, path), (kept, held)) in given.iter().zip(&files) {
                split(path, count, kept, held)?;
            }
            Ok::<(), PipelineError>(())
        })?;
        let find =
            |name: &str| given.iter().position(|(known, _)| *known == name).map(|at| files[at].clone());
        let (Some(source), Some(target)) = (find("source"), find("target")) else { return Ok(()) };
        let trees = find("trees");
        self.holdout = Some(Part {
            source: source.1,
            reference: target.1.clone(),
            target: target.1,
            trees: trees.as_ref().map(|(_, held)| held.clone()),
        });
        self.train.source = source.0;
        self.train.reference = target.0.clone();
        self.train.target = target.0;
        self.train.trees = trees.map(|(kept, _)| kept);
        self.links = find("links").map(|(kept, _)| kept);
        Ok(())
    }

    fn parts(&mut self) -> impl Iterator<Item = (&'static str, &mut Part)> {
        let more = self.holdout.as_mut().map(|part| ("holdout", part));
        [("train", &mut self.train), ("dev", &mut self.dev)].into_iter().chain(more)
    }

    /// Cuts raw text into words.
    pub(super) fn tokenise(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        if self.config.tokenized {
            return Ok(());
        }
        let langs = [self.config.source_lang.clone(), self.config.target_lang.clone()];
        let mut jobs: Vec<(PathBuf, PathBuf, usize)> = Vec::new();
        let folder = self.work.file("");
        for (name, part) in self.parts() {
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
        let (threads, progress) = (self.threads, self.progress);
        self.work.run(&stage, hear, |_| {
            let tokenizers =
                langs.each_ref().map(|lang| crate::sides::tokenizer(lang, None, Protect::default()));
            progress.begin("cutting text into words", None);
            for (from, to, side) in &jobs {
                let cut = |line: &str| words(&tokenizers[*side], line).join(" ");
                each_line(from, to, threads, &cut, &mut |lines| progress.at(lines))?;
            }
            progress.end();
            Ok::<(), PipelineError>(())
        })
    }

    /// Gives first words of sentences their usual case.
    pub(super) fn truecase(&mut self, hear: &mut dyn FnMut(&str)) -> Result<()> {
        if self.config.tokenized {
            return Ok(());
        }
        let cases = ["source.case", "target.case"].map(|name| self.work.file(name));
        let training = [self.train.source.clone(), self.train.target.clone()];
        let mut jobs: Vec<(PathBuf, PathBuf, usize)> = Vec::new();
        let folder = self.work.file("");
        for (name, part) in self.parts() {
            for (side, path) in [&mut part.source, &mut part.target].into_iter().enumerate() {
                let out = folder.join(format!("{name}.{}.true", ["source", "target"][side]));
                jobs.push((std::mem::replace(path, out.clone()), out, side));
            }
        }
        let langs = [&self.config.source_lang, &self.config.target_lang].map(|lang| {
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
        let threads = self.threads;
        self.work.run(&stage, hear, |_| {
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
            Ok::<(), PipelineError>(())
        })?;
        let [source_case, _] = cases;
        self.source_case = Some(source_case);
        Ok(())
    }
}

fn words<'l>(tokenizer: &Tokenizer, line: &'l str) -> Vec<&'l str> {
    tokenizer.tokenize(line).iter().map(|token| token.text(line)).collect()
}

/// Writes what becomes of each line of a file, on several threads, in order.
pub(super) fn each_line(
    from: &Path,
    to: &Path,
    threads: usize,
    work: &(dyn Fn(&str) -> String + Sync),
    at: &mut dyn FnMut(u64),
) -> std::result::Result<(), InputError> {
    let mut reader = TextReader::open(from)?.tolerant();
    let mut out = Output::create(to)?;
    loop {
        let mut lines = Vec::with_capacity(CHUNK);
        while lines.len() < CHUNK {
            match reader.next_line()? {
                Some(line) => lines.push(line.to_string()),
                None => break,
            }
        }
        if lines.is_empty() {
            return out.finish();
        }
        for line in parallel::map(&lines, threads, || (), |(), _, line| work(line)) {
            out.line(&line)?;
        }
        at(reader.line_number());
    }
}

/// Copies a file without its last lines, and these.
fn split(path: &Path, count: u64, kept: &Path, held: &Path) -> Result<()> {
    let mut reader = TextReader::open(path)?.tolerant();
    while reader.next_line()?.is_some() {}
    let first = reader.line_number().saturating_sub(count);
    let mut reader = TextReader::open(path)?.tolerant();
    let (mut kept, mut held) = (Output::create(kept)?, Output::create(held)?);
    let mut number = 0;
    while let Some(line) = reader.next_line()? {
        if number < first {
            kept.line(line)?;
        } else {
            held.line(line)?;
        }
        number += 1;
    }
    kept.finish()?;
    Ok(held.finish()?)
}
