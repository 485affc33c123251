//! Checking: drops harmful pairs, and stops if the text as a whole looks wrong.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sylvan_base::Vocab;
use sylvan_corpus::check::{CheckOptions, Checker, Finding, Kind};
use sylvan_corpus::{Alignment, Base, ParallelReader};
use sylvan_store::{Output, TextReader};
use sylvan_trees::penn::{Brackets, PennParser};
use sylvan_trees::surface;

use crate::preflight::shown;
use crate::run::Run;
use crate::work::Stage;
use sylvan_decode::{Error, Result};

/// Rules and links cannot be learnt from these. The rest (duplicates, markup, ..) is reported but kept.
const HARMFUL: [Kind; 9] = [
    Kind::EmptySource,
    Kind::EmptyTarget,
    Kind::TooLong,
    Kind::LengthRatio,
    Kind::WrongScript,
    Kind::Shifted,
    Kind::TreeYield,
    Kind::BadTree,
    Kind::Alignment,
];

/// If more than one line in this many would have to go, something else is wrong.
const MOST: usize = 4;

pub(crate) fn run(run: &mut Run<'_>, say: &mut dyn FnMut(&str)) -> Result<()> {
    let mut files = vec![run.train.source.clone(), run.train.target.clone()];
    files.extend(run.train.trees.clone());
    files.extend(run.links.clone());
    let (has_trees, has_links) = (run.train.trees.is_some(), run.links.is_some());
    let mut names = vec!["clean.source", "clean.target"];
    if has_trees {
        names.push("clean.trees");
    }
    if has_links {
        names.push("clean.links");
    }
    let outputs: Vec<PathBuf> = names.iter().map(|name| run.work.file(name)).collect();
    let log = run.work.file("dropped.tsv");
    let stage = Stage {
        name: "check",
        inputs: files.iter().map(PathBuf::as_path).collect(),
        settings: String::new(),
        outputs: outputs.iter().map(PathBuf::as_path).chain([log.as_path()]).collect(),
    };
    run.work.run(&stage, say, |say| {
        let (lines, findings) = findings(&files, has_trees, has_links)?;
        let bad: BTreeSet<u64> = findings
            .iter()
            .filter(|finding| HARMFUL.contains(&finding.kind))
            .flat_map(|finding| finding.line..=finding.until)
            .collect();
        judge(&files[0], lines, &bad, &findings, say)?;
        for (path, out) in files.iter().zip(&outputs) {
            copy_without(path, &bad, out)?;
        }
        let mut log = Output::create(&log)?;
        for Finding { line, until, kind, detail } in &findings {
            let fate = if HARMFUL.contains(kind) { "dropped" } else { "kept" };
            log.line(&format!("{line}\t{until}\t{fate}\t{}\t{detail}", kind.name()))?;
        }
        log.finish()?;
        Ok::<(), Error>(())
    })?;
    let mut clean = outputs.into_iter();
    if let (Some(source), Some(target)) = (clean.next(), clean.next()) {
        (run.train.source, run.train.target) = (source, target);
    }
    if has_trees {
        run.train.trees = clean.next();
    }
    if has_links {
        run.links = clean.next();
    }
    Ok(())
}

/// What is wrong with each line.
fn findings(files: &[PathBuf], has_trees: bool, has_links: bool) -> Result<(usize, Vec<Finding>)> {
    let mut reader = ParallelReader::new(
        files.iter().map(|path| Ok(TextReader::open(path)?.tolerant())).collect::<Result<_>>()?,
    );
    let mut checker = Checker::new(CheckOptions::default());
    let mut parser = PennParser::new(Brackets::Keep);
    let mut vocab = Vocab::new();
    let mut lines = 0;
    while let Some(line) = reader.next_lines()? {
        lines += 1;
        let (source, target) = (&line[0], &line[1]);
        checker.add(source.as_bytes(), target.as_bytes());
        if has_trees {
            match parser.parse_line(&line[2], &mut vocab) {
                Ok(None) => {}
                Ok(Some(tree)) => {
                    // Either may have brackets as codes; rules see neither.
                    let leaves = tree.words().iter().map(|&word| surface(vocab.text(word)));
                    if !leaves.eq(source.split_ascii_whitespace().map(surface)) {
                        checker.report(Kind::TreeYield, "the tree has other words than the text");
                    }
                }
                Err(fault) => {
                    parser.reset();
                    checker.report(Kind::BadTree, fault.to_string());
                }
            }
        }
        if has_links {
            let count = |side: &str| side.split_ascii_whitespace().count();
            let links = &line[files.len() - 1];
            if let Err(fault) = Alignment::parse_within(links, Base::Zero, count(source), count(target)) {
                checker.report(Kind::Alignment, fault.to_string());
            }
        }
    }
    Ok((lines, checker.finish()))
}

/// Reports what was found, and refuses a text that is wrong as a whole.
fn judge(
    source: &Path,
    lines: usize,
    bad: &BTreeSet<u64>,
    findings: &[Finding],
    say: &mut dyn FnMut(&str),
) -> Result<()> {
    for kind in Kind::ALL {
        let count = findings.iter().filter(|finding| finding.kind == kind).count();
        if count > 0 {
            let fate = if HARMFUL.contains(&kind) { "left out" } else { "kept" };
            say(&format!("  {count} x {} ({fate})", kind.name()));
        }
    }
    for finding in findings.iter().filter(|finding| finding.kind.is_of_all()) {
        say(&format!("warning: {}: {}", shown(source), finding.detail));
    }
    if bad.len() * MOST > lines {
        let harmful = findings.iter().find(|finding| HARMFUL.contains(&finding.kind));
        let example = harmful.map_or(String::new(), |finding| {
            format!(" (line {}: {}: {})", finding.line, finding.kind.name(), finding.detail)
        });
        let found = format!("{} of {lines} lines that cannot be used{example}", bad.len());
        return Err(Error::setting(shown(source), found, "a parallel text")
            .advise("do the files belong together? `sylvan check` lists all problems"));
    }
    Ok(())
}

fn copy_without(path: &Path, bad: &BTreeSet<u64>, out: &Path) -> Result<()> {
    let mut reader = TextReader::open(path)?.tolerant();
    let mut out = Output::create(out)?;
    loop {
        let number = reader.line_number() + 1;
        let Some(line) = reader.next_line()? else { break };
        if !bad.contains(&number) {
            out.line(line)?;
        }
    }
    Ok(out.finish()?)
}
