//! BLEU, chrF, TER, and whether a difference means anything.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sylvan_eval::compare::{bootstrap, mean_score, randomization, sign};
use sylvan_eval::{Better, Bleu, Case, Chrf, EvalError, Metric, Ter, Workspace};

use crate::errors::Refused;
use crate::model::Lines;
use crate::running::{Reporter, run, threads};

/// More say nothing new; each is kept.
const MOST_SAMPLES: usize = 10_000_000;

/// A score, with the fields that sacreBLEU's objects have.
#[pyclass(frozen, module = "sylvan", get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Score {
    /// `BLEU`, `chrF2`, `TER`.
    name: String,
    /// The score of the whole text.
    score: f64,
    /// Everything needed to get the number again.
    signature: String,
    /// The scores of single lines, if they were asked for.
    sentences: Option<Vec<f64>>,
    /// BLEU: n-gram precisions in percent.
    precisions: Option<Vec<f64>>,
    /// BLEU: n-grams that match.
    counts: Option<Vec<u64>>,
    /// BLEU: n-grams.
    totals: Option<Vec<u64>>,
    /// BLEU: the brevity penalty.
    bp: Option<f64>,
    /// BLEU: words of the translation.
    sys_len: Option<u64>,
    /// BLEU, TER: words of the references.
    ref_len: Option<f64>,
    /// TER: edits.
    num_edits: Option<u64>,
}

#[pymethods]
impl Score {
    fn __float__(&self) -> f64 {
        self.score
    }

    fn __str__(&self) -> String {
        let mut out = format!("{} = {:.2}", self.name, self.score);
        if let (Some(precisions), Some(bp), Some(sys), Some(reference)) =
            (&self.precisions, self.bp, self.sys_len, self.ref_len)
        {
            let parts: Vec<String> = precisions.iter().map(|part| format!("{part:.1}")).collect();
            let ratio = if reference == 0.0 { 0.0 } else { sys as f64 / reference };
            out += &format!(
                " {} (BP = {bp:.3} ratio = {ratio:.3} hyp_len = {sys} ref_len = {reference})",
                parts.join("/")
            );
        }
        out
    }

    fn __repr__(&self) -> String {
        self.__str__()
    }
}

/// A system beside a baseline.
#[pyclass(frozen, module = "sylvan", get_all)]
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    /// The score of the baseline.
    baseline: f64,
    /// The score of the system.
    score: f64,
    /// How much higher the second is.
    difference: f64,
    /// How likely chance would bring such a difference.
    p_value: f64,
    /// Where 95 of 100 samples of the difference are, by bootstrap.
    interval: Option<(f64, f64)>,
    /// Everything needed to get the scores again.
    signature: String,
}

#[pymethods]
impl Comparison {
    fn __repr__(&self) -> String {
        format!(
            "Comparison({:.2} -> {:.2}, {:+.2}, p = {:.4})",
            self.baseline, self.score, self.difference, self.p_value
        )
    }
}

fn refused(error: EvalError) -> Refused {
    Refused::new(error.to_string())
}

fn lines(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match Lines::read(given)? {
        Lines::Many(lines) => Ok(lines),
        Lines::One(_) => Err(PyTypeError::new_err("expected a list of strings, one per line")),
    }
}

/// References: a list of strings, or a list of such lists, one per translator.
fn streams(given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<String>>> {
    // Neither is a list of lines, although it can be gone through.
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyDict>() {
        return Ok(vec![lines(given)?]);
    }
    let items: Vec<Bound<'_, PyAny>> = given.try_iter()?.collect::<PyResult<_>>()?;
    match items.first() {
        Some(first) if !first.is_instance_of::<PyString>() => items.iter().map(lines).collect(),
        _ => Ok(vec![items.iter().map(|line| line.extract()).collect::<PyResult<_>>()?]),
    }
}

fn case(lowercase: bool) -> Case {
    if lowercase { Case::Lower } else { Case::Mixed }
}

/// A metric that looks whether its work is still wanted, between lines and between samples.
struct Watched<'m, M> {
    metric: &'m M,
    reporter: &'m Reporter<'m>,
}

impl<M: Metric> Metric for Watched<'_, M> {
    type Stats = M::Stats;

    fn name(&self) -> String {
        self.metric.name()
    }

    fn better(&self) -> Better {
        self.metric.better()
    }

    fn line(&self, hypothesis: &str, references: &[&str], workspace: &mut Workspace) -> M::Stats {
        self.reporter.look();
        self.metric.line(hypothesis, references, workspace)
    }

    fn value(&self, total: &M::Stats) -> f64 {
        self.reporter.look();
        self.metric.value(total)
    }

    fn line_value(&self, line: &M::Stats) -> f64 {
        self.metric.line_value(line)
    }

    fn most_words(&self) -> Option<usize> {
        self.metric.most_words()
    }

    fn words(&self, line: &str) -> usize {
        self.metric.words(line)
    }

    fn signature(&self, references: usize) -> String {
        self.metric.signature(references)
    }
}

/// Scores a text with a metric; `more` adds what is special about it.
fn score<M: Metric + Send>(
    py: Python<'_>,
    metric: M,
    (hypotheses, references): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    sentences: bool,
    wanted: Option<usize>,
    more: impl FnOnce(&M, &M::Stats, &mut Score) + Send,
) -> PyResult<Score> {
    let (hypotheses, references) = (lines(hypotheses)?, streams(references)?);
    let count = NonZeroUsize::new(threads(wanted)).unwrap_or(NonZeroUsize::MIN);
    run(py, None, |reporter| {
        let stats = Watched { metric: &metric, reporter }
            .line_stats(&hypotheses, &references, count)
            .map_err(refused)?;
        let total = metric.sum(&stats);
        let mut score = Score {
            name: metric.name(),
            score: metric.value(&total),
            signature: metric.signature(references.len()),
            sentences: sentences.then(|| stats.iter().map(|line| metric.line_value(line)).collect()),
            precisions: None,
            counts: None,
            totals: None,
            bp: None,
            sys_len: None,
            ref_len: None,
            num_edits: None,
        };
        more(&metric, &total, &mut score);
        Ok(score)
    })
}

fn a_bleu(tokenize: &str, lowercase: bool, smooth: &str, effective_order: bool) -> Result<Bleu, Refused> {
    Ok(Bleu {
        tokenizer: tokenize.parse().map_err(refused)?,
        case: case(lowercase),
        smoothing: smooth.parse().map_err(refused)?,
        effective_order,
    })
}

/// BLEU of a translation, as sacreBLEU computes it.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, tokenize="13a", lowercase=false, smooth="exp", effective_order=false, sentences=false, threads=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn bleu(
    py: Python<'_>,
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    tokenize: &str,
    lowercase: bool,
    smooth: &str,
    effective_order: bool,
    sentences: bool,
    threads: Option<usize>,
) -> PyResult<Score> {
    let metric = a_bleu(tokenize, lowercase, smooth, effective_order)?;
    score(py, metric, (hypotheses, references), sentences, threads, |metric, total, score| {
        let parts = metric.score(total);
        score.precisions = Some(parts.precisions.to_vec());
        score.counts = Some(total.matches.to_vec());
        score.totals = Some(total.totals.to_vec());
        score.bp = Some(parts.brevity);
        score.sys_len = Some(total.hyp_len);
        score.ref_len = Some(total.ref_len as f64);
    })
}

/// chrF of a translation, or chrF++ with a word order of 2, as sacreBLEU computes it.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, word_order=0, beta=2, lowercase=false, sentences=false, threads=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn chrf(
    py: Python<'_>,
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    word_order: usize,
    beta: u32,
    lowercase: bool,
    sentences: bool,
    threads: Option<usize>,
) -> PyResult<Score> {
    if word_order > 2 {
        return Err(Refused::setting("word_order", &word_order.to_string(), "0, 1 or 2").into());
    }
    let metric = Chrf { word_order, beta, case: case(lowercase) };
    score(py, metric, (hypotheses, references), sentences, threads, |_, _, _| {})
}

/// TER of a translation, as sacreBLEU computes it.
#[pyfunction]
#[pyo3(signature = (hypotheses, references, *, sentences=false, threads=None))]
pub(crate) fn ter(
    py: Python<'_>,
    hypotheses: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    sentences: bool,
    threads: Option<usize>,
) -> PyResult<Score> {
    score(py, Ter::default(), (hypotheses, references), sentences, threads, |_, total, score| {
        score.num_edits = Some(total.edits);
        score.ref_len = Some(total.mean_reference());
    })
}

/// How to compare.
struct Test<'t> {
    name: &'t str,
    samples: Option<usize>,
    seed: u64,
    reporter: &'t Reporter<'t>,
}

fn compared<M: Metric>(
    metric: &M,
    [base, system]: [&[String]; 2],
    references: &[Vec<String>],
    test: &Test<'_>,
) -> Result<Comparison, Refused> {
    let threads = NonZeroUsize::new(threads(None)).unwrap_or(NonZeroUsize::MIN);
    let metric = &Watched { metric, reporter: test.reporter };
    let stats = |lines: &[String]| metric.line_stats(lines, references, threads).map_err(refused);
    let (base, system) = ([stats(base)?], [stats(system)?]);
    let (baseline, score) = (mean_score(metric, &base), mean_score(metric, &system));
    let (p_value, interval) = match test.name {
        "bootstrap" => {
            let found = bootstrap(metric, &base, &system, test.samples.unwrap_or(1_000), test.seed);
            (found.p_value, Some((found.difference.low, found.difference.high)))
        }
        "randomization" => {
            (randomization(metric, &base, &system, test.samples.unwrap_or(10_000), test.seed), None)
        }
        "sign" => (sign(metric, &base[0], &system[0]).p_value, None),
        other => return Err(Refused::setting("test", other, "bootstrap, randomization or sign")),
    };
    let signature = metric.signature(references.len());
    Ok(Comparison { baseline, score, difference: score - baseline, p_value, interval, signature })
}

/// Is one translation better than another, or was it luck?
#[pyfunction]
#[pyo3(signature = (baseline, system, references, *, metric="bleu", test="bootstrap", samples=None, seed=12345, tokenize="13a", lowercase=false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compare(
    py: Python<'_>,
    baseline: &Bound<'_, PyAny>,
    system: &Bound<'_, PyAny>,
    references: &Bound<'_, PyAny>,
    metric: &str,
    test: &str,
    samples: Option<usize>,
    seed: u64,
    tokenize: &str,
    lowercase: bool,
) -> PyResult<Comparison> {
    let (baseline, system, references) = (lines(baseline)?, lines(system)?, streams(references)?);
    if let Some(found @ 0 | found @ MOST_SAMPLES..) = samples {
        return Err(Refused::setting("samples", &found.to_string(), "at least 1 and below 10,000,000").into());
    }
    let of_bleu = a_bleu(tokenize, lowercase, "exp", false)?;
    let case = case(lowercase);
    run(py, None, |reporter| {
        let test = Test { name: test, samples, seed, reporter };
        let texts = [baseline.as_slice(), system.as_slice()];
        match metric {
            "bleu" => compared(&of_bleu, texts, &references, &test),
            "chrf" => compared(&Chrf { case, ..Chrf::default() }, texts, &references, &test),
            "chrf++" => compared(&Chrf { case, ..Chrf::plus_plus() }, texts, &references, &test),
            "ter" => compared(&Ter::default(), texts, &references, &test),
            other => Err(Refused::setting("metric", other, "bleu, chrf, chrf++ or ter")),
        }
    })
}
