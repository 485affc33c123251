//! The report of a training run: what it made, how good it is, what it cost, where it fails.
//!
//! ```text
//! work folder of `train` --gather--> Report --+--> html()       report.html, with explain-N.html beside it
//!                                             +--> markdown()   report.md
//! ```

mod charts;
mod html;
mod markdown;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sylvan_align::draw;
use sylvan_base::{HashMap, HashSet};
use sylvan_corpus::{Alignment, Base};
use sylvan_decode::{Input, Model, Request, Worker};
use sylvan_eval::{Chrf, Metric};
use sylvan_rules::{Formalism, Grammar};
use sylvan_store::{Output, TextReader, read_lines};

use crate::tuning::tuning_search;
use crate::work::StageReport;
use sylvan_decode::Result;

/// How many sentences are shown, and as many of the worst.
const SHOWN: usize = 8;
/// How many matrices of links are drawn, and of sentences with how many words a side.
const MATRICES: usize = 4;
const MATRIX_WORDS: std::ops::RangeInclusive<usize> = 4..=12;
/// Shorter sentences are left out of the worst: they show little.
const LEAST_WORDS: usize = 4;

/// Where a run left what the report is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'p> {
    /// The model.
    pub(crate) model: &'p Path,
    /// The folder for the report and the explanations; `tune.svg` is there.
    pub(crate) work: &'p Path,
    /// The training text, in words.
    pub(crate) source: &'p Path,
    /// Its translation.
    pub(crate) target: &'p Path,
    /// Its links.
    pub(crate) links: &'p Path,
    /// The rule table.
    pub(crate) rules: &'p Path,
    /// The tuning text in words.
    pub(crate) dev_source: &'p Path,
    /// What is translated of it: its trees, or the text as it was given.
    pub(crate) dev_input: (&'p Path, Input),
    /// What its translation should be.
    pub(crate) dev_reference: &'p Path,
    /// What its translation is.
    pub(crate) dev_out: &'p Path,
}

/// A translated sentence of the tuning text.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    /// Its number, from 1.
    line: usize,
    source: String,
    translation: String,
    reference: String,
    /// chrF of this sentence alone.
    score: f64,
    /// The page that explains it.
    page: Option<String>,
}

/// Sentences by number of words, source and target.
#[derive(Debug, Clone, Default, PartialEq)]
struct Lengths {
    counts: [Vec<u64>; 2],
    words: [u64; 2],
    sentences: u64,
}

/// What the rules are like.
#[derive(Debug, Clone, Default, PartialEq)]
struct RuleFigures {
    kind: Formalism,
    rules: u64,
    sources: u64,
    /// By how often they were seen: once, twice, ..
    by_count: Vec<(String, u64)>,
    /// By their number of variables.
    by_variables: Vec<(String, u64)>,
}

/// Everything in a report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    title: String,
    scores: Vec<(String, f64)>,
    /// What they mean.
    verdict: Vec<String>,
    stages: Vec<StageReport>,
    /// The curve of tuning, as SVG.
    curve: String,
    lengths: Lengths,
    rules: RuleFigures,
    /// Links of some sentences, as SVG.
    matrices: Vec<String>,
    samples: Vec<Sample>,
    worst: Vec<Sample>,
    /// Words of the tuning text that training has never seen, most frequent first.
    unknown: Vec<(String, u64)>,
    /// Words of the tuning text.
    dev_words: u64,
}

impl Report {
    /// Reads what a run left, and explains the sentences that are shown.
    pub(crate) fn gather(
        places: &Places<'_>,
        scores: &[(String, f64)],
        verdict: Vec<String>,
        stages: &[StageReport],
        beam: usize,
    ) -> Result<Self> {
        let (lengths, known) = lengths(places)?;
        let (samples, worst) = samples(places, beam)?;
        let (unknown, dev_words) = unknown(places.dev_source, &known)?;
        let name = places.model.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            title: name.unwrap_or_default(),
            scores: scores.to_vec(),
            verdict,
            stages: stages.to_vec(),
            curve: std::fs::read_to_string(places.work.join("tune.svg")).unwrap_or_default(),
            lengths,
            rules: rule_figures(places.rules)?,
            matrices: matrices(places)?,
            samples,
            worst,
            unknown,
            dev_words,
        })
    }

    /// Writes `report.html` and `report.md` and returns where the page is.
    pub(crate) fn write(&self, folder: &Path) -> sylvan_base::Result<PathBuf> {
        let page = folder.join("report.html");
        for (path, text) in [(&page, self.html()), (&folder.join("report.md"), self.markdown())] {
            let mut file = Output::create(path)?;
            file.write(text.as_bytes())?;
            file.finish()?;
        }
        Ok(page)
    }

    /// Scores by text and search: the rows of a table.
    fn table(&self) -> Vec<(String, String, f64)> {
        let rows = self.scores.iter().filter_map(|(name, score)| {
            let mut parts = name.split('.');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(text), Some(search), Some("bleu")) => {
                    Some((text.to_string(), search.to_string(), *score))
                }
                _ => None,
            }
        });
        rows.collect()
    }
}

fn each_line(path: &Path, mut each: impl FnMut(&str)) -> sylvan_base::Result<()> {
    let mut reader = TextReader::open(path)?.tolerant();
    while let Some(line) = reader.next_line()? {
        each(line);
    }
    Ok(())
}

fn lengths(places: &Places<'_>) -> sylvan_base::Result<(Lengths, HashSet<String>)> {
    let mut lengths = Lengths::default();
    let mut known = HashSet::default();
    for (side, path) in [places.source, places.target].into_iter().enumerate() {
        let mut sentences = 0;
        each_line(path, |line| {
            let mut length = 0;
            for word in line.split_ascii_whitespace() {
                length += 1;
                if side == 0 && !known.contains(word) {
                    known.insert(word.to_string());
                }
            }
            let counts = &mut lengths.counts[side];
            if counts.len() <= length {
                counts.resize(length + 1, 0);
            }
            counts[length] += 1;
            lengths.words[side] += length as u64;
            sentences += 1;
        })?;
        lengths.sentences = sentences;
    }
    Ok((lengths, known))
}

fn rule_figures(path: &Path) -> sylvan_base::Result<RuleFigures> {
    let grammar = Grammar::open(path)?;
    let mut by_count = [0; 5];
    let mut by_variables = [0; 5];
    for id in grammar.rules() {
        if let Some(count) = grammar.notes(id).count {
            let class = match count.rule.to_f64() {
                count if count < 1.5 => 0,
                count if count < 2.5 => 1,
                count if count < 5.5 => 2,
                count if count < 20.5 => 3,
                _ => 4,
            };
            by_count[class] += 1;
        }
        by_variables[grammar.rule(id).variables().count().min(4)] += 1;
    }
    let named = |names: [&str; 5], counts: [u64; 5]| -> Vec<(String, u64)> {
        names.into_iter().map(str::to_string).zip(counts).collect()
    };
    Ok(RuleFigures {
        kind: grammar.meta().formalism,
        rules: grammar.len() as u64,
        sources: grammar.sources().count() as u64,
        by_count: named(["once", "twice", "3 to 5", "6 to 20", "more often"], by_count),
        by_variables: named(["none", "1", "2", "3", "4 or more"], by_variables),
    })
}

fn matrices(places: &Places<'_>) -> sylvan_base::Result<Vec<String>> {
    let open = |path| TextReader::open(path).map(TextReader::tolerant);
    let mut readers = [places.source, places.target, places.links].map(open);
    let [Ok(source), Ok(target), Ok(links)] = &mut readers else { return Ok(Vec::new()) };
    let mut drawn = Vec::new();
    while drawn.len() < MATRICES {
        let (Some(source), Some(target), Some(links)) =
            (source.next_line()?, target.next_line()?, links.next_line()?)
        else {
            break;
        };
        let source: Vec<&str> = source.split_ascii_whitespace().collect();
        let target: Vec<&str> = target.split_ascii_whitespace().collect();
        if ![&source, &target].iter().all(|words| MATRIX_WORDS.contains(&words.len())) {
            continue;
        }
        let Ok(links) = Alignment::parse(links, Base::Zero) else { continue };
        drawn.push(draw::svg(&source, &target, &links, None));
    }
    Ok(drawn)
}

/// The first sentences of the tuning text and the worst ones, with pages that explain them.
fn samples(places: &Places<'_>, beam: usize) -> Result<(Vec<Sample>, Vec<Sample>)> {
    let [source, out, reference, trees] =
        [places.dev_source, places.dev_out, places.dev_reference, places.dev_input.0].map(read_lines);
    let (source, out, reference, trees) = (source?, out?, reference?, trees?);
    let chrf = Chrf::default();
    let mut work = sylvan_eval::Workspace::default();
    let all =
        source.iter().zip(&out).zip(&reference).enumerate().map(|(index, ((source, out), reference))| {
            let stats = chrf.line(out, &[reference.as_str()], &mut work);
            Sample {
                line: index + 1,
                source: source.clone(),
                translation: out.clone(),
                reference: reference.clone(),
                score: chrf.value(&stats),
                page: None,
            }
        });
    let mut all: Vec<Sample> = all.filter(|sample| !sample.source.trim().is_empty()).collect();
    let mut first: Vec<Sample> = all.iter().take(SHOWN).cloned().collect();
    all.retain(|sample| sample.source.split_ascii_whitespace().count() >= LEAST_WORDS);
    all.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.line.cmp(&b.line)));
    all.truncate(SHOWN);
    let model = Model::open(places.model)?;
    let search = tuning_search(&model, beam);
    let mut worker = Worker::new(Arc::new(model));
    let mut request = Request::default();
    (request.input, request.search) = (places.dev_input.1, Some(search));
    for sample in first.iter_mut().chain(&mut all) {
        let Some(tree) = trees.get(sample.line - 1) else { continue };
        let Some(explanation) = worker.explain(tree, &request)? else { continue };
        let name = format!("explain-{}.html", sample.line);
        let mut file = Output::create(&places.work.join(&name))?;
        file.write(explanation.html().as_bytes())?;
        file.finish()?;
        sample.page = Some(name);
    }
    Ok((first, all))
}

fn unknown(dev: &Path, known: &HashSet<String>) -> sylvan_base::Result<(Vec<(String, u64)>, u64)> {
    let mut counts: HashMap<String, u64> = HashMap::default();
    let mut total = 0;
    each_line(dev, |line| {
        for word in line.split_ascii_whitespace() {
            total += 1;
            if !known.contains(word) {
                *counts.entry(word.to_string()).or_default() += 1;
            }
        }
    })?;
    let mut unknown: Vec<(String, u64)> = counts.into_iter().collect();
    unknown.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok((unknown, total))
}
