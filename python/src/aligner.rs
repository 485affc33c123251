//! Word links.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sylvan_align::{Aligner as Aligning, Bitext, Heuristic, Model, Portion, Preset, ReadConfig};
use sylvan_corpus::{Alignment, Link};

use crate::errors::Refused;
use crate::pickled;
use crate::running::{Reporter, run, threads};
use crate::text::file;

/// A model of word links between two languages.
///
/// Results are those of the program `sylvan align` with the same settings.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Aligner {
    model: Model,
    lowercase: bool,
    /// The links of the text that it was learnt from.
    learnt: Vec<Vec<Link>>,
    file: Option<pickled::File>,
}

impl Aligner {
    fn read(path: &Path, lowercase: bool) -> Result<Self, Refused> {
        let file = pickled::File::new(path)?;
        Ok(Self { model: Model::open(file.path())?, lowercase, learnt: Vec::new(), file: Some(file) })
    }
}

/// Settings by name.
struct Settings {
    preset: Preset,
    heuristic: Heuristic,
    seed: u64,
    threads: usize,
    read: ReadConfig,
}

impl Settings {
    fn new(
        preset: &str,
        symmetrize: &str,
        seed: u64,
        wanted: Option<usize>,
        lowercase: bool,
    ) -> Result<Self, Refused> {
        let preset =
            preset.parse().map_err(|_| Refused::setting("preset", preset, "fast, default or best"))?;
        let heuristic = symmetrize.parse().map_err(|_| {
            Refused::setting("symmetrize", symmetrize, "a heuristic such as mean or grow-diag-final-and")
        })?;
        let read = ReadConfig { lowercase, ..ReadConfig::default() };
        Ok(Self { preset, heuristic, seed, threads: threads(wanted), read })
    }
}

/// Two texts, line by line: lists of strings, or files.
enum Texts {
    Lists(Vec<String>, Vec<String>),
    Files(PathBuf, PathBuf),
}

impl Texts {
    fn read(source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let (Ok(source), Ok(target)) = (source.extract::<PathBuf>(), target.extract::<PathBuf>()) {
            return Ok(Self::Files(file(source), file(target)));
        }
        let lines = |given: &Bound<'_, PyAny>| -> PyResult<Vec<String>> {
            match crate::model::Lines::read(given)? {
                crate::model::Lines::Many(lines) => Ok(lines),
                crate::model::Lines::One(_) => {
                    Err(PyTypeError::new_err("expected two files, or two lists of strings"))
                }
            }
        };
        let (source, target) = (lines(source)?, lines(target)?);
        if source.len() != target.len() {
            let found = format!("{} and {} lines", source.len(), target.len());
            return Err(Refused::setting("the texts", &found, "as many of one as of the other").into());
        }
        Ok(Self::Lists(source, target))
    }

    fn bitext(&self, config: ReadConfig, reporter: &Reporter<'_>) -> Result<Bitext, Refused> {
        match self {
            Self::Files(source, target) => {
                Ok(Bitext::open(source, target, config, sylvan_align::Memory::default(), reporter)?)
            }
            Self::Lists(source, target) => {
                let mut bitext = Bitext::default();
                for (source, target) in source.iter().zip(target) {
                    bitext.push(source, target, config)?;
                }
                Ok(bitext)
            }
        }
    }
}

/// The links of all lines; lines that were left out have none.
fn links(bitext: &Bitext, aligner: &Aligning<'_>, heuristic: Heuristic) -> Result<Vec<Vec<Link>>, Refused> {
    let mut all: Vec<Vec<Link>> = vec![Vec::new(); bitext.total()];
    aligner.for_each(
        |_, _, matrix| matrix.links(heuristic),
        |portion: &Portion<'_>, index, links: Vec<Link>| -> Result<(), Refused> {
            if let Some(place) = all.get_mut(portion.lines()[index] as usize) {
                *place = links;
            }
            Ok(())
        },
    )?;
    Ok(all)
}

/// As strings (`0-0 1-2`), or as lists of pairs.
fn shown<'py>(py: Python<'py>, all: &[Vec<Link>], pharaoh: bool) -> PyResult<Bound<'py, PyList>> {
    match pharaoh {
        true => {
            PyList::new(py, all.iter().map(|links| Alignment::new(links.clone(), Vec::new()).to_string()))
        }
        false => {
            let pairs = |links: &Vec<Link>| -> Vec<(u32, u32)> {
                links.iter().map(|link| (link.source, link.target)).collect()
            };
            PyList::new(py, all.iter().map(pairs))
        }
    }
}

#[pymethods]
impl Aligner {
    /// Learns from two texts: lists of strings, or files. Words are what spaces separate.
    #[staticmethod]
    #[pyo3(signature = (source, target, *, preset="default", symmetrize="mean", lowercase=false, seed=1, threads=None, on_progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn train(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        preset: &str,
        symmetrize: &str,
        lowercase: bool,
        seed: u64,
        threads: Option<usize>,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let settings = Settings::new(preset, symmetrize, seed, threads, lowercase)?;
        let texts = Texts::read(source, target)?;
        run(py, on_progress, |reporter| {
            let bitext = texts.bitext(settings.read, reporter)?;
            if bitext.is_empty() {
                return Err(Refused::setting(
                    "the texts",
                    "no pair of lines with words",
                    "some to learn from",
                ));
            }
            let method = settings.preset.method(bitext.len(), settings.seed);
            let aligner = Aligning::train(&bitext, &method, settings.threads, reporter, &mut |_| {})?;
            let learnt = links(&bitext, &aligner, settings.heuristic)?;
            Ok(Self { model: aligner.model()?, lowercase, learnt, file: None })
        })
    }

    /// Opens a model that `save`, or the program, wrote.
    #[staticmethod]
    #[pyo3(signature = (path, *, lowercase=false))]
    fn open(py: Python<'_>, path: PathBuf, lowercase: bool) -> PyResult<Self> {
        py.detach(|| Self::read(&path, lowercase)).map_err(PyErr::from)
    }

    /// Writes the model to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| self.model.save(&path)).map_err(Refused::from)?)
    }

    /// The links of the text that it was learnt from: strings (`0-0 1-2`), or lists of pairs.
    #[pyo3(signature = (*, pharaoh=true))]
    fn links<'py>(&self, py: Python<'py>, pharaoh: bool) -> PyResult<Bound<'py, PyList>> {
        shown(py, &self.learnt, pharaoh)
    }

    /// Links other texts. They are learnt from on top of what is known, so links of a line depend on the other lines.
    #[pyo3(signature = (source, target, *, preset="default", symmetrize="mean", seed=1, threads=None, pharaoh=true))]
    #[allow(clippy::too_many_arguments)]
    fn align<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        preset: &str,
        symmetrize: &str,
        seed: u64,
        threads: Option<usize>,
        pharaoh: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let settings = Settings::new(preset, symmetrize, seed, threads, self.lowercase)?;
        let texts = Texts::read(source, target)?;
        let found = run(py, None, |reporter| {
            let bitext = texts.bitext(settings.read, reporter)?;
            let size = bitext.len() + usize::try_from(self.model.pairs()).unwrap_or(usize::MAX / 2);
            let method = settings.preset.method(size, settings.seed);
            let aligner = Aligning::apply(&bitext, &self.model, &method, settings.threads, reporter)?;
            links(&bitext, &aligner, settings.heuristic)
        })?;
        shown(py, &found, pharaoh)
    }

    /// p(target | source) and p(source | target) of two words; None if they never met.
    fn translation(&self, source: &str, target: &str) -> Option<(f64, f64)> {
        self.model.translation(source, target).map(|[forward, reverse]| (forward, reverse))
    }

    fn __repr__(&self) -> String {
        format!("Aligner({} pairs, {} word pairs)", self.model.pairs(), self.model.entries())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, u64, bool))> {
        let this = slf.get();
        let (path, content) = slf.py().detach(|| pickled::file(this.file.as_ref())).map_err(PyErr::from)?;
        Ok((slf.get_type().getattr("_reopen")?, (path, content, this.lowercase)))
    }

    #[staticmethod]
    fn _reopen(py: Python<'_>, path: PathBuf, content: u64, lowercase: bool) -> PyResult<Self> {
        py.detach(|| {
            pickled::check(&path, content)?;
            Self::read(&path, lowercase)
        })
        .map_err(PyErr::from)
    }
}
