//! Aligning: finds word links, unless they are given.

use std::path::PathBuf;

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
    let (preset, heuristics) = (run.settings.preset, run.settings.heuristics.clone());
    let name = |set: usize| if set == 0 { "links".to_string() } else { format!("links{}", set + 1) };
    let files: Vec<_> = (0..heuristics.len()).map(|set| run.work.file(&name(set))).collect();
    let named: Vec<String> = heuristics.iter().map(ToString::to_string).collect();
    let (seed, threads, progress) = (run.config.seed, run.threads, run.progress);
    let (source, target) = (run.train.source.clone(), run.train.target.clone());
    let stage = Stage {
        name: "align",
        inputs: vec![&source, &target],
        settings: format!("{preset} {} {seed}", named.join(",")),
        outputs: files.iter().map(PathBuf::as_path).collect(),
    };
    let memory = Memory { limit: run.config.memory, scratch: Scratch::new(&run.work.file("")) };
    run.work.run(&stage, say, |_| {
        let config = ReadConfig { lowercase: true, ..ReadConfig::default() };
        let bitext = Bitext::open(&source, &target, config, memory, progress)?;
        let method = preset.method(bitext.len(), seed);
        let aligner = Aligner::train(&bitext, &method, threads, progress, &mut |_| {})?;
        let mut out =
            files.iter().map(|file| Output::create(file)).collect::<sylvan_base::Result<Vec<_>>>()?;
        let mut written = 0;
        aligner.for_each(
            |_, _, matrix| -> Vec<String> {
                let of = |&heuristic| Alignment::new(matrix.links(heuristic), Vec::new()).to_string();
                heuristics.iter().map(of).collect()
            },
            |portion: &Portion<'_>, index, lines: Vec<String>| -> Result<()> {
                // Lines that were left out are empty.
                for _ in written..portion.lines()[index] {
                    out.iter_mut().try_for_each(|out| out.line(""))?;
                }
                written = portion.lines()[index] + 1;
                Ok(out.iter_mut().zip(lines).try_for_each(|(out, line)| out.line(&line))?)
            },
        )?;
        for _ in written as usize..bitext.total() {
            out.iter_mut().try_for_each(|out| out.line(""))?;
        }
        Ok::<(), Error>(out.into_iter().try_for_each(Output::finish)?)
    })?;
    let mut files = files.into_iter();
    run.links = files.next();
    run.more_links = files.collect();
    Ok(())
}
