//! Aligning: finds word links, unless they are given.

use sylvan_align::{Aligner, Bitext, Memory, Portion, ReadConfig};
use sylvan_corpus::Alignment;
use sylvan_store::{Output, Scratch};

use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    if run.links.is_some() {
        return Ok(());
    }
    let links = run.work.file("links");
    let (preset, heuristic) = (run.settings.preset, run.settings.heuristic);
    let (seed, threads, progress) = (run.config.seed, run.threads, run.progress);
    let (source, target) = (run.train.source.clone(), run.train.target.clone());
    let stage = Stage {
        name: "align",
        inputs: vec![&source, &target],
        settings: format!("{preset} {heuristic} {seed}"),
        outputs: vec![&links],
    };
    let memory = Memory { limit: run.config.memory, scratch: Scratch::new(&run.work.file("")) };
    run.work.run(&stage, say, |_| {
        let config = ReadConfig { lowercase: true, ..ReadConfig::default() };
        let bitext = Bitext::open(&source, &target, config, memory, progress)?;
        let method = preset.method(bitext.len(), seed);
        let aligner = Aligner::train(&bitext, &method, threads, progress, &mut |_| {})?;
        let mut out = Output::create(&links)?;
        let mut written = 0;
        aligner.for_each(
            |_, _, matrix| Alignment::new(matrix.links(heuristic), Vec::new()).to_string(),
            |portion: &Portion<'_>, index, line: String| -> Result<()> {
                // Lines that were left out are empty.
                while written < portion.lines()[index] {
                    out.line("")?;
                    written += 1;
                }
                written += 1;
                Ok(out.line(&line)?)
            },
        )?;
        for _ in written as usize..bitext.total() {
            out.line("")?;
        }
        out.finish()?;
        Ok::<(), Error>(())
    })?;
    run.links = Some(links);
    Ok(())
}
