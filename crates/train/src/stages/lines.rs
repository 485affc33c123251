//! The training text: packed for the model, if it is to be kept.

use sylvan_decode::lines::write_lines;

use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if !run.config.lines {
        return Ok(());
    }
    let (out, dropped) = (run.work.file("lines"), run.work.file("dropped.tsv"));
    let (source, target) = (run.train.source.clone(), run.train.target.clone());
    let stage = Stage {
        name: "lines",
        inputs: vec![&source, &target, &dropped],
        settings: String::new(),
        outputs: vec![&out],
    };
    run.work.run(&stage, say, |_| Ok::<(), Error>(write_lines(&source, &target, Some(&dropped), &out)?))?;
    run.lines = Some(out);
    Ok(())
}
