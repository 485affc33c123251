//! Holding out: takes the last pairs out of the training text, to measure on, and those before them to tune on if no
//! text for that was given.

use std::path::{Path, PathBuf};

use sylvan_store::{Output, TextReader};

use crate::run::{Part, Run};
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let counts = [("dev", run.settings.dev), ("holdout", run.settings.holdout)];
    let taken: Vec<(&str, u64)> = counts.into_iter().filter(|&(_, count)| count > 0).collect();
    if taken.is_empty() {
        return Ok(());
    }
    let mut given = vec![("source", run.train.source.clone()), ("target", run.train.target.clone())];
    given.extend(run.train.trees.clone().map(|path| ("trees", path)));
    given.extend(run.links.clone().map(|path| ("links", path)));
    let parts: Vec<&str> = std::iter::once("kept").chain(taken.iter().map(|&(part, _)| part)).collect();
    // By file that was given, then by part.
    let files: Vec<Vec<PathBuf>> = given
        .iter()
        .map(|(name, _)| parts.iter().map(|part| run.work.file(&format!("{part}.{name}"))).collect())
        .collect();
    let stage = Stage {
        name: "hold-out",
        inputs: given.iter().map(|(_, path)| path.as_path()).collect(),
        settings: taken.iter().map(|(part, count)| format!("{part} {count} ")).collect(),
        outputs: files.iter().flatten().map(PathBuf::as_path).collect(),
    };
    run.work.run(&stage, say, |_| {
        for ((_, path), parts) in given.iter().zip(&files) {
            split(path, &taken, parts)?;
        }
        Ok::<(), Error>(())
    })?;
    let file = |part: &str, name: &str| {
        let part = parts.iter().position(|known| *known == part)?;
        let place = given.iter().position(|(known, _)| *known == name)?;
        Some(files[place][part].clone())
    };
    let part = |part: &str| {
        let (source, target) = (file(part, "source")?, file(part, "target")?);
        let trees = file(part, "trees");
        Some(Part { given: source.clone(), source, reference: target.clone(), target, trees })
    };
    run.holdout = part("holdout");
    run.dev = part("dev").unwrap_or_else(|| run.dev.clone());
    run.train = part("kept").unwrap_or_else(|| run.train.clone());
    run.links = file("kept", "links");
    Ok(())
}

/// Cuts the last lines off, so many for each part, in the order of the file.
fn split(path: &Path, taken: &[(&str, u64)], parts: &[PathBuf]) -> Result<()> {
    let mut reader = TextReader::open(path)?.tolerant();
    while reader.next_line()?.is_some() {}
    let kept = reader.line_number().saturating_sub(taken.iter().map(|(_, count)| count).sum());
    let mut reader = TextReader::open(path)?.tolerant();
    for (count, part) in std::iter::once(kept).chain(taken.iter().map(|(_, count)| *count)).zip(parts) {
        let mut out = Output::create(part)?;
        for _ in 0..count {
            let Some(line) = reader.next_line()? else { break };
            out.line(line)?;
        }
        out.finish()?;
    }
    Ok(())
}
