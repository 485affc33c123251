//! Holding out: takes the last pairs out of the training text, to measure on.

use std::path::{Path, PathBuf};

use sylvan_store::{Output, TextReader};

use crate::run::{Part, Run};
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let count = run.config.holdout;
    if count == 0 {
        return Ok(());
    }
    let mut given = vec![("source", run.train.source.clone()), ("target", run.train.target.clone())];
    given.extend(run.train.trees.clone().map(|path| ("trees", path)));
    given.extend(run.links.clone().map(|path| ("links", path)));
    let files: Vec<(PathBuf, PathBuf)> = given
        .iter()
        .map(|(name, _)| (run.work.file(&format!("kept.{name}")), run.work.file(&format!("holdout.{name}"))))
        .collect();
    let stage = Stage {
        name: "hold-out",
        inputs: given.iter().map(|(_, path)| path.as_path()).collect(),
        settings: count.to_string(),
        outputs: files.iter().flat_map(|(kept, held)| [kept.as_path(), held.as_path()]).collect(),
    };
    run.work.run(&stage, say, |_| {
        for ((_, path), (kept, held)) in given.iter().zip(&files) {
            split(path, count, kept, held)?;
        }
        Ok::<(), Error>(())
    })?;
    let find = |name: &str| given.iter().position(|(known, _)| *known == name).map(|at| files[at].clone());
    let (Some(source), Some(target)) = (find("source"), find("target")) else { return Ok(()) };
    let trees = find("trees");
    run.holdout = Some(Part {
        source: source.1,
        reference: target.1.clone(),
        target: target.1,
        trees: trees.as_ref().map(|(_, held)| held.clone()),
    });
    run.train.source = source.0;
    run.train.reference = target.0.clone();
    run.train.target = target.0;
    run.train.trees = trees.map(|(kept, _)| kept);
    run.links = find("links").map(|(kept, _)| kept);
    Ok(())
}

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
