//! N-gram language models, with the methods of `kenlm.Model`.

use std::f64::consts::LN_10;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use sylvan_lm::{CompileConfig, EstimateConfig, Estimator, Lm as Native, WordId, temp_folder};
use sylvan_store::{Output, TextReader};

use crate::errors::Refused;
use crate::pickled;
use crate::running::run;
use crate::text::file;

/// A language model. Logarithms are to base 10; words are what spaces separate.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Lm {
    lm: Native,
    file: Option<pickled::File>,
}

impl Lm {
    fn read(path: &Path) -> Result<Self, Refused> {
        let file = pickled::File::new(path)?;
        Ok(Self { lm: Native::open(file.path())?, file: Some(file) })
    }

    /// log10 p of each word after those before it, how long the n-gram was that gave it, and whether the word is unknown.
    fn scores(&self, sentence: &str, bos: bool, eos: bool) -> Vec<(f64, usize, bool)> {
        let mut state = if bos { self.lm.begin() } else { self.lm.null() };
        let words = sentence.split_ascii_whitespace().map(|word| self.lm.word(word));
        words
            .chain(eos.then(|| self.lm.end_word()))
            .map(|word| {
                let (score, next, length) = self.lm.score_with_length(&state, word);
                state = next;
                (f64::from(score) / LN_10, length, word == WordId(0))
            })
            .collect()
    }
}

#[pymethods]
impl Lm {
    /// Opens a model: ARPA text, also compressed, or compiled.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::read(&path)).map_err(PyErr::from)
    }

    /// Estimates a model by Kneser-Ney smoothing, as KenLM's lmplz does, from strings or from a file.
    ///
    /// With `out` it is written there as ARPA text, the program's bytes, and opened. Without, it is in memory alone, where
    /// numbers were never rounded to what a text holds.
    #[staticmethod]
    #[pyo3(signature = (text, *, order=5, prune=None, discount_fallback=false, out=None, threads=None, on_progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        order: usize,
        prune: Option<String>,
        discount_fallback: bool,
        out: Option<PathBuf>,
        threads: Option<usize>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let out = out.map(file);
        let prune = sylvan_lm::Prune::parse(prune.as_deref().unwrap_or("0"))
            .map_err(|error| Refused::new(format!("prune: {error}")))?;
        let config = EstimateConfig {
            order,
            prune,
            fallback: discount_fallback.then_some([0.5, 1.0, 1.5]),
            threads: crate::running::threads(threads),
            ..EstimateConfig::default()
        };
        enum Text {
            File(PathBuf),
            Lines(Vec<String>),
        }
        let given = match text.extract::<PathBuf>() {
            Ok(path) => Text::File(file(path)),
            Err(_) => match crate::model::Lines::read(text)? {
                crate::model::Lines::Many(lines) => Text::Lines(lines),
                crate::model::Lines::One(line) => Text::Lines(vec![line]),
            },
        };
        run(py, on_progress, |reporter| {
            let temp = out.as_deref().map_or_else(std::env::temp_dir, temp_folder);
            let mut estimator = Estimator::with_temp(config, &temp)?;
            // A path that cannot be written should not cost an hour.
            let opened = out.as_deref().map(Output::create).transpose()?;
            match given {
                Text::File(path) => {
                    let mut reader = TextReader::open(&path)?.tolerant();
                    estimator.read(&mut reader, reporter)?;
                }
                Text::Lines(lines) => {
                    for (line, number) in lines.iter().zip(1..) {
                        reporter.look();
                        estimator.add(line).map_err(|fault| fault.at("the list", number))?;
                    }
                }
            }
            let (Some(out), Some(mut written)) = (out, opened) else {
                return Ok(Self { lm: estimator.finish_telling(reporter)?, file: None });
            };
            estimator.write_arpa(&mut written, reporter)?;
            written.finish()?;
            Self::read(&out)
        })
    }

    /// Writes the model: as ARPA text if the name ends in .arpa, .arpa.gz or .arpa.zst, else compiled.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let path = file(path);
        py.detach(|| -> Result<(), Refused> {
            let name = path.to_string_lossy().to_lowercase();
            let is_text = [".arpa", ".arpa.gz", ".arpa.zst"].iter().any(|ending| name.ends_with(ending));
            if !is_text {
                return Ok(self.lm.compile(&path, CompileConfig::default())?);
            }
            let mut out = Output::create(&path)?;
            self.lm.write_arpa(&mut out)?;
            Ok(out.finish()?)
        })
        .map_err(PyErr::from)
    }

    /// The length of its longest n-grams.
    #[getter]
    fn order(&self) -> usize {
        self.lm.order()
    }

    /// log10 p of a sentence.
    #[pyo3(signature = (sentence, bos=true, eos=true))]
    fn score(&self, py: Python<'_>, sentence: &str, bos: bool, eos: bool) -> f64 {
        py.detach(|| self.scores(sentence, bos, eos).iter().map(|(score, ..)| score).sum())
    }

    /// For each word, and the end: log10 p, the length of the n-gram that gave it, whether the word is unknown.
    #[pyo3(signature = (sentence, bos=true, eos=true))]
    fn full_scores(&self, py: Python<'_>, sentence: &str, bos: bool, eos: bool) -> Vec<(f64, usize, bool)> {
        py.detach(|| self.scores(sentence, bos, eos))
    }

    /// The perplexity of a sentence with its end.
    fn perplexity(&self, py: Python<'_>, sentence: &str) -> f64 {
        let scores = py.detach(|| self.scores(sentence, true, true));
        let sum: f64 = scores.iter().map(|(score, ..)| score).sum();
        10_f64.powf(-sum / scores.len() as f64)
    }

    fn __contains__(&self, word: &str) -> bool {
        self.lm.word(word) != WordId(0)
    }

    fn __len__(&self) -> usize {
        self.lm.vocab_len()
    }

    fn __repr__(&self) -> String {
        format!("Lm(order {}, {} words)", self.lm.order(), self.lm.vocab_len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, u64))> {
        let this = slf.get();
        let state = slf.py().detach(|| pickled::file(this.file.as_ref())).map_err(PyErr::from)?;
        Ok((slf.get_type().getattr("_reopen")?, state))
    }

    #[staticmethod]
    fn _reopen(py: Python<'_>, path: PathBuf, content: u64) -> PyResult<Self> {
        py.detach(|| {
            pickled::check(&path, content)?;
            Self::read(&path)
        })
        .map_err(PyErr::from)
    }
}
