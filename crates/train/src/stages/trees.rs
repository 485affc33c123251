//! Parsing: makes trees for texts that have none.

use sylvan_base::Vocab;
use sylvan_parse::{Parser, Workspace};
use sylvan_trees::penn;

use super::each_line;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let Some(model) = run.parser.clone() else { return Ok(()) };
    let parts =
        [("train", Some(&mut run.train)), ("dev", Some(&mut run.dev)), ("holdout", run.holdout.as_mut())];
    let (threads, progress) = (run.threads, run.progress);
    let beam = run.config.parser_beam.max(1);
    let mut jobs = Vec::new();
    for (name, part) in parts {
        let Some(part) = part.filter(|part| part.trees.is_none()) else { continue };
        let out = run.work.file(&format!("{name}.trees"));
        jobs.push((part.source.clone(), out.clone()));
        part.trees = Some(out);
    }
    if jobs.is_empty() {
        return Ok(());
    }
    let stage = Stage {
        name: "parse",
        inputs: jobs.iter().map(|(from, _)| from.as_path()).chain([model.as_path()]).collect(),
        settings: beam.to_string(),
        outputs: jobs.iter().map(|(_, to)| to.as_path()).collect(),
    };
    run.work.run(&stage, say, |_| {
        let parser = Parser::open(&model)?;
        progress.begin("parsing", None);
        for (from, to) in &jobs {
            each_line(from, to, threads, &|line| parse_line(&parser, beam, line), &mut |lines| {
                progress.at(lines);
            })?;
        }
        progress.end();
        Ok::<(), Error>(())
    })
}

/// A line of words as a tree in one line.
fn parse_line(parser: &Parser, beam: usize, line: &str) -> String {
    thread_local! {
        static WORKSPACE: std::cell::RefCell<Workspace> = std::cell::RefCell::new(Workspace::new());
    }
    WORKSPACE.with_borrow_mut(|workspace| {
        penn_line(parser, beam, &line.split_ascii_whitespace().collect::<Vec<_>>(), workspace)
    })
}

/// The best tree of some words, in Penn brackets.
fn penn_line(parser: &Parser, beam: usize, words: &[&str], workspace: &mut Workspace) -> String {
    let mut vocab = Vocab::new();
    let parsed = parser.constituents(words, beam, 1, &mut vocab, workspace);
    penn::to_line(parsed.first().map(|parsed| &parsed.tree), &vocab)
}
