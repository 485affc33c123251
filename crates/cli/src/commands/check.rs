//! `sylvan check`: what is wrong with a parallel corpus?

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Map, json};
use sylvan_base::Vocab;
use sylvan_corpus::check::{CheckOptions, Checker, Finding, Kind};
use sylvan_corpus::{Alignment, Base};
use sylvan_store::{Output, TextReader};
use sylvan_trees::penn::PennParser;
use sylvan_trees::{PennOptions, surface};

use crate::Exit;

/// Looks for bad lines in a parallel corpus, its trees and its word links.
///
/// Exit code 0: nothing found; 1: problems found; 2: the files could not be checked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sylvan check --source train.en --target train.de\n  \
    sylvan check --source train.en --target train.ja --trees train.en.tree --json\n  \
    sylvan check --source train.en --target train.de --fix clean")]
pub(crate) struct Check {
    /// The source side, one sentence per line.
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// The target side.
    #[arg(long, value_name = "FILE")]
    target: PathBuf,
    /// Penn trees of the source side, one per line.
    #[arg(long, value_name = "FILE")]
    trees: Option<PathBuf>,
    /// Word links, 0-based source-target pairs.
    #[arg(long, value_name = "FILE")]
    align: Option<PathBuf>,
    /// More words than this on one side are too many.
    #[arg(long, value_name = "N", default_value = "200")]
    max_words: usize,
    /// Report a length ratio that is this many times the usual one.
    #[arg(long, value_name = "X", default_value = "3.5")]
    ratio: f64,
    /// Leave these kinds of problems out, separated by commas.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Write copies without the bad lines into this folder, and what was dropped into dropped.tsv.
    #[arg(long, value_name = "DIR")]
    fix: Option<PathBuf>,
    /// Print at most this many problems as text; JSON lists them all.
    #[arg(long, value_name = "N", default_value = "50")]
    show: usize,
    /// Print JSON, for programs.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.check() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Exit { code: 1, error: None }.into()),
            Err(error) => Err(Exit { code: 2, error: Some(error) }.into()),
        }
    }

    /// Whether the corpus is clean.
    fn check(&self) -> anyhow::Result<bool> {
        for name in &self.ignore {
            if Kind::ALL.iter().all(|kind| kind.name() != name) {
                let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
                bail!("found --ignore {name:?}, expected some of {}", names.join(", "));
            }
        }
        if self.ratio.is_nan() || self.ratio <= 1.0 {
            bail!("found --ratio {}, expected a number above 1", self.ratio);
        }
        let (lines, mut findings) = self.read()?;
        findings.retain(|finding| !self.ignore.iter().any(|name| name == finding.kind.name()));
        let mut out = Output::create(Path::new("-"))?;
        match self.json {
            false => out.write(self.text(lines, &findings).as_bytes())?,
            true => out.line(&as_json(lines, &findings))?,
        }
        out.finish()?;
        if let Some(folder) = &self.fix {
            self.write_clean(folder, &findings)?;
        }
        Ok(findings.is_empty())
    }

    fn files(&self) -> Vec<&Path> {
        let mut files = vec![self.source.as_path(), self.target.as_path()];
        files.extend(self.trees.as_deref());
        files.extend(self.align.as_deref());
        files
    }

    /// Reads all files once and collects what is wrong.
    fn read(&self) -> anyhow::Result<(u64, Vec<Finding>)> {
        let options =
            CheckOptions { max_words: self.max_words, ratio: self.ratio, ..CheckOptions::default() };
        let mut checker = Checker::new(options);
        let mut source = TextReader::open(&self.source)?;
        let mut target = TextReader::open(&self.target)?;
        let mut trees = self.trees.as_deref().map(TreeCheck::open).transpose()?;
        let mut align = self.align.as_deref().map(TextReader::open).transpose()?;
        loop {
            let pair = (source.next_bytes()?, target.next_bytes()?);
            let tree = trees.as_mut().map(TreeCheck::next).transpose()?;
            let links = align.as_mut().map(TextReader::next_bytes).transpose()?;
            let ends = [pair.0.is_none(), pair.1.is_none(), tree == Some(false), links == Some(None)];
            let (Some(words), Some(other)) = pair else {
                if tree == Some(true) || links.is_some_and(|line| line.is_some()) || !(ends[0] && ends[1]) {
                    return Err(self.unequal());
                }
                return Ok((checker.lines(), checker.finish()));
            };
            if ends.contains(&true) {
                return Err(self.unequal());
            }
            checker.add(words, other);
            if let Some((kind, detail)) = trees.as_mut().and_then(|trees| trees.compare(words)) {
                checker.report(kind, detail);
            }
            if let Some(Some(line)) = links {
                let count = |side: &[u8]| String::from_utf8_lossy(side).split_whitespace().count();
                let text = String::from_utf8_lossy(line);
                if let Err(fault) = Alignment::parse_within(&text, Base::Zero, count(words), count(other)) {
                    checker.report(Kind::Alignment, fault.to_string());
                }
            }
        }
    }

    /// How long each file is.
    fn unequal(&self) -> anyhow::Error {
        let count = |path: &Path| -> anyhow::Result<u64> {
            let mut reader = TextReader::open(path)?;
            while reader.next_bytes()?.is_some() {}
            Ok(reader.line_number())
        };
        let lengths: Vec<String> = self
            .files()
            .into_iter()
            .map(|path| match count(path) {
                Ok(lines) => format!("{} has {lines}", path.display()),
                Err(error) => error.to_string(),
            })
            .collect();
        anyhow::anyhow!(
            "found files of unequal length, expected the same number of lines: {}",
            lengths.join(", ")
        )
    }

    fn text(&self, lines: u64, findings: &[Finding]) -> String {
        let mut text = String::new();
        for Finding { line, kind, detail, .. } in findings.iter().take(self.show) {
            let _ = writeln!(text, "{line}: {}: {detail}", kind.name());
        }
        if findings.len() > self.show {
            let _ = writeln!(text, "... and {} more", findings.len() - self.show);
        }
        for (kind, count) in counts(findings) {
            let _ = writeln!(text, "{count:>8}  {}", kind.name());
        }
        let bad = bad_lines(findings).len();
        let _ = writeln!(text, "{bad} of {lines} lines have problems");
        text
    }

    /// Copies the good lines. Every file keeps its name; the log says what was dropped and why.
    fn write_clean(&self, folder: &Path, findings: &[Finding]) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let bad = bad_lines(findings);
        let mut names = BTreeSet::new();
        for path in self.files() {
            let name =
                path.file_name().with_context(|| format!("{} has no file name to keep", path.display()))?;
            if !names.insert(name) || name == "dropped.tsv" || path == Path::new("-") {
                bail!("{}: --fix needs files with different names, not standard input", path.display());
            }
            if folder
                .join(name)
                .canonicalize()
                .ok()
                .is_some_and(|copy| path.canonicalize().ok() == Some(copy))
            {
                bail!("{}: --fix would write over its input; name another folder", path.display());
            }
            let mut reader = TextReader::open(path)?;
            let mut out = Output::create(&folder.join(name))?;
            loop {
                let number = reader.line_number() + 1;
                let Some(line) = reader.next_bytes()? else { break };
                if !bad.contains(&number) {
                    out.write(line)?;
                    out.write(b"\n")?;
                }
            }
            out.finish()?;
        }
        let mut log = Output::create(&folder.join("dropped.tsv"))?;
        for Finding { line, until, kind, detail } in findings {
            log.line(&format!("{line}\t{until}\t{}\t{detail}", kind.name()))?;
        }
        Ok(log.finish()?)
    }
}

/// Reads trees beside the text.
struct TreeCheck {
    reader: TextReader,
    parser: PennParser,
    vocab: Vocab,
    line: Vec<u8>,
}

impl TreeCheck {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let parser = PennParser::new(PennOptions::as_is().brackets);
        Ok(Self { reader: TextReader::open(path)?, parser, vocab: Vocab::new(), line: Vec::new() })
    }

    /// Whether there is another line.
    fn next(&mut self) -> anyhow::Result<bool> {
        self.line.clear();
        let Some(line) = self.reader.next_bytes()? else { return Ok(false) };
        self.line.extend_from_slice(line);
        Ok(true)
    }

    /// What is wrong with the tree of the current line.
    fn compare(&mut self, words: &[u8]) -> Option<(Kind, String)> {
        let line = String::from_utf8_lossy(&self.line);
        let tree = match self.parser.parse_line(&line, &mut self.vocab) {
            Ok(Some(tree)) => tree,
            // A blank line stands for a sentence without a tree.
            Ok(None) => return None,
            Err(fault) => {
                self.parser.reset();
                return Some((Kind::BadTree, fault.to_string()));
            }
        };
        let words = String::from_utf8_lossy(words);
        let mut expected = words.split_whitespace();
        for (index, &word) in tree.words().iter().enumerate() {
            let (found, wanted) = (self.vocab.text(word), expected.next());
            // Either may have brackets as codes.
            if wanted.map(surface) != Some(surface(found)) {
                let wanted = wanted.unwrap_or("the end");
                return Some((
                    Kind::TreeYield,
                    format!("word {}: the tree has {found}, the text {wanted}", index + 1),
                ));
            }
        }
        expected.next().map(|word| (Kind::TreeYield, format!("the tree ends before {word}")))
    }
}

fn counts(findings: &[Finding]) -> Vec<(Kind, usize)> {
    let count = |kind| findings.iter().filter(|finding| finding.kind == kind).count();
    Kind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|&(_, count)| count > 0).collect()
}

fn bad_lines(findings: &[Finding]) -> BTreeSet<u64> {
    let of_lines = findings.iter().filter(|finding| !finding.kind.is_of_all());
    of_lines.flat_map(|finding| finding.line..=finding.until).collect()
}

fn as_json(lines: u64, findings: &[Finding]) -> String {
    let all: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({
                "line": finding.line,
                "until": finding.until,
                "kind": finding.kind.name(),
                "detail": finding.detail,
            })
        })
        .collect();
    let counts: Map<_, _> =
        counts(findings).into_iter().map(|(kind, count)| (kind.name().to_string(), json!(count))).collect();
    json!({ "lines": lines, "bad_lines": bad_lines(findings).len(), "counts": counts, "findings": all })
        .to_string()
}
