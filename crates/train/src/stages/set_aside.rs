//! Setting aside: pairs spread evenly over the training text, to tune on besides the tuning text. Rules and n-gram models
//! are learnt twice then, from all pairs and without these; weights that are tuned with the latter are the model's.

use std::path::{Path, PathBuf};

use sylvan_store::{Output, TextReader};

use crate::preflight::can_set_aside;
use crate::run::{Part, Rest, Run};
use crate::work::Stage;
use sylvan_decode::Result;

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let count = run.config.tune_more as u64;
    if count == 0 {
        return Ok(());
    }
    let mut given = vec![("source".to_string(), run.train.source.clone())];
    given.push(("target".to_string(), run.train.target.clone()));
    given.extend(run.train.trees.clone().map(|path| ("trees".to_string(), path)));
    let texts = given.len();
    let links = run.links(crate::run::Of::All)?;
    given.extend(links.into_iter().enumerate().map(|(set, path)| (format!("links{}", set + 1), path)));
    let files: Vec<[PathBuf; 2]> = given
        .iter()
        .map(|(name, _)| ["rest", "aside"].map(|part| run.work.file(&format!("{part}.{name}"))))
        .collect();
    let pairs = lines(&given[0].1)?;
    can_set_aside(count, pairs)?;
    let stage = Stage {
        name: "set-aside",
        inputs: given.iter().map(|(_, path)| path.as_path()).collect(),
        settings: count.to_string(),
        outputs: files.iter().flatten().map(PathBuf::as_path).collect(),
    };
    run.work.run(&stage, say, |_| {
        given.iter().zip(&files).try_for_each(|((_, path), files)| split(path, (count, pairs), files))
    })?;
    let part = |side: usize| {
        let [source, target] = [&files[0][side], &files[1][side]];
        Part {
            source: source.clone(),
            target: target.clone(),
            trees: (texts > 2).then(|| files[2][side].clone()),
            reference: target.clone(),
            given: source.clone(),
        }
    };
    run.rest = Some(Rest {
        train: part(0),
        aside: part(1),
        links: files[texts..].iter().map(|[rest, _]| rest.clone()).collect(),
        rules: run.work.file("rules-rest"),
        language_model: run.work.file("lm-rest"),
        class_model: None,
    });
    Ok(())
}

fn lines(path: &Path) -> Result<u64> {
    let mut reader = TextReader::open(path)?.tolerant();
    while reader.next_line()?.is_some() {}
    Ok(reader.line_number())
}

/// Whether a line, counted from 0, is one of `count` that are spread evenly over `pairs`.
fn is_aside(line: u64, count: u64, pairs: u64) -> bool {
    let before = |lines: u64| u128::from(lines) * u128::from(count) / u128::from(pairs);
    before(line + 1) > before(line)
}

fn split(path: &Path, (count, pairs): (u64, u64), [rest, aside]: &[PathBuf; 2]) -> Result<()> {
    let mut reader = TextReader::open(path)?.tolerant();
    let (mut rest, mut aside) = (Output::create(rest)?, Output::create(aside)?);
    for line in 0.. {
        let Some(text) = reader.next_line()? else { break };
        if is_aside(line, count, pairs) { aside.line(text)? } else { rest.line(text)? }
    }
    rest.finish()?;
    Ok(aside.finish()?)
}

#[cfg(test)]
mod tests {
    use super::is_aside;

    #[test]
    fn as_many_as_wanted_are_set_aside_and_never_two_neighbours() {
        for (count, pairs) in [(1, 4), (3, 13), (25, 100), (7, 1000)] {
            let aside: Vec<u64> = (0..pairs).filter(|&line| is_aside(line, count, pairs)).collect();
            assert_eq!(aside.len() as u64, count);
            assert!(aside.windows(2).all(|two| two[1] - two[0] >= pairs / count));
        }
    }
}
