//! A model that translates, explains and takes corrections.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, SystemTime};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString};
use sylvan::decode::corrections::written_time;
use sylvan::{
    CorrectionLog, Corrections, Details, Dialect, Glossary, Input, Learning, Pair, Request, Search, Worker,
    translate_lines,
};

use crate::errors::Refused;
use crate::pickled;
use crate::running::{Reporter, run};
use crate::translation::{Explanation, Translation};

/// Lines that are translated before signals, and whoever wants to know, are looked at again.
const PORTION: usize = 256;

/// A model made by `sylvan.train` or the program `sylvan train`. Threads may share it.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Model {
    model: Arc<sylvan::Model>,
    file: pickled::File,
    /// Held for no longer than it takes to read or replace it: calls wait for it with the interpreter's lock.
    corrections: Mutex<Option<Arc<Corrections>>>,
    /// Held while the corrections on disk change.
    changing: Mutex<()>,
    /// Memory of threads that are done, for the next ones.
    idle: Mutex<Vec<Worker>>,
}

/// A correction of a model.
#[pyclass(frozen, module = "sylvan", get_all)]
#[derive(Debug)]
pub(crate) struct Correction {
    /// The sentence; what else was asked for if it is not about one.
    text: String,
    /// Its translation.
    translation: String,
    author: String,
    time: String,
    /// The rules that it added, boosted or forbade, as lines of an overlay.
    rules: Vec<String>,
}

impl Correction {
    fn of(one: sylvan::Correction) -> Self {
        match Pair::parse(&one.about) {
            Some(pair) => Self {
                text: pair.text,
                translation: pair.translation,
                author: pair.author,
                time: pair.time,
                rules: one.lines,
            },
            None => Self {
                text: one.about,
                translation: String::new(),
                author: String::new(),
                time: String::new(),
                rules: one.lines,
            },
        }
    }
}

#[pymethods]
impl Correction {
    fn __repr__(&self) -> String {
        format!("Correction({:?}, {:?}, {} rules)", self.text, self.translation, self.rules.len())
    }
}

/// How to translate, as calls say it.
struct Wanted<'py, 'w> {
    nbest: usize,
    glossary: Option<Bound<'py, PyAny>>,
    tags: Option<String>,
    search: Option<String>,
    beam: Option<usize>,
    input: &'w str,
    corrections: bool,
    tokens: bool,
    details: bool,
}

impl Model {
    fn request(&self, py: Python<'_>, wanted: &Wanted<'_, '_>) -> PyResult<Request> {
        let mut request = Request::default();
        if wanted.nbest == 0 {
            return Err(Refused::setting("nbest", "0", "at least 1").into());
        }
        request.best = wanted.nbest;
        request.tokens = wanted.tokens;
        request.input = input_named(wanted.input)?;
        request.details = if wanted.details { Details::all() } else { Details::default() };
        request.tags = match wanted.tags.as_deref() {
            None => None,
            Some("html") => Some(Dialect::Html),
            Some("xml") => Some(Dialect::xml()),
            Some("xliff") => Some(Dialect::Xliff),
            Some(other) => return Err(Refused::setting("tags", other, "html, xml or xliff").into()),
        };
        request.search = self.search(wanted)?;
        request.glossary = match &wanted.glossary {
            None => None,
            Some(glossary) => Some(Arc::new(self.glossary(py, glossary)?)),
        };
        if wanted.corrections {
            request.corrections = self.known();
        }
        Ok(request)
    }

    fn search(&self, wanted: &Wanted<'_, '_>) -> Result<Option<Search>, Refused> {
        let search = match (&wanted.search, wanted.beam) {
            (None, None) => return Ok(None),
            (None, Some(_)) => self.model.usual_search(),
            (Some(name), _) => {
                let name = name.parse().map_err(|_| {
                    Refused::setting("search", name, "the name of a search, such as prediction or exact")
                })?;
                Search::named(name)
            }
        };
        let search = match wanted.beam {
            Some(0) => return Err(Refused::setting("beam", "0", "at least 1")),
            Some(beam) => search.with_beam(beam),
            None => search,
        };
        Ok(Some(self.model.search(Some(search))?))
    }

    /// Terms: a dictionary or the like, or a file with a term per line.
    fn glossary(&self, py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Glossary> {
        if let Ok(terms) = given.cast::<PyMapping>() {
            let mut glossary = Glossary::default();
            for term in terms.items()? {
                let (source, target): (String, String) = term.extract()?;
                self.model.add_term(&mut glossary, &source, &target);
            }
            return Ok(glossary);
        }
        let path = crate::text::file(given.extract()?);
        Ok(py.detach(|| self.model.read_glossary(&path)).map_err(Refused::from)?)
    }

    /// Memory for so many threads. After a fork another process may hold the lock for ever, so nobody waits for it.
    fn workers(&self, count: usize) -> Vec<Worker> {
        let mut workers = match self.idle.try_lock() {
            Ok(mut idle) => {
                let from = idle.len().saturating_sub(count);
                idle.split_off(from)
            }
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => Vec::new(),
        };
        while workers.len() < count {
            workers.push(Worker::new(Arc::clone(&self.model)));
        }
        workers
    }

    fn give_back(&self, workers: Vec<Worker>) {
        if let Ok(mut idle) = self.idle.try_lock()
            && idle.len() < 64
        {
            idle.extend(workers);
        }
    }

    /// Translates lines; the callback, if there is one, gets how many are done.
    fn lines(
        &self,
        py: Python<'_>,
        lines: &[String],
        mut request: Request,
        count: usize,
    ) -> PyResult<Vec<Translation>> {
        let listed = request.best > 1;
        run(py, None, |reporter| {
            request.stop.cancel = Some(reporter.stop());
            let mut workers = self.workers(count.min(lines.len()).max(1));
            let mut all = Vec::with_capacity(lines.len());
            let mut first = 1;
            for portion in lines.chunks(PORTION) {
                let found = translate_lines(&mut workers, portion, "the list", first, &request);
                for (line, translated) in portion.iter().zip(found) {
                    all.push(Translation::of(line, translated?, listed));
                }
                first += portion.len() as u64;
            }
            self.give_back(workers);
            Ok(all)
        })
    }

    /// The corrections that translations obey.
    fn known(&self) -> Option<Arc<Corrections>> {
        self.corrections.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One change of the corrections after the other. After a fork the one before may never end, so Ctrl-C ends the wait.
    fn change(&self, reporter: &Reporter<'_>) -> MutexGuard<'_, ()> {
        loop {
            match self.changing.try_lock() {
                Ok(turn) => return turn,
                Err(TryLockError::Poisoned(turn)) => return turn.into_inner(),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
            reporter.look();
        }
    }

    /// Reads the corrections beside the file again.
    fn refresh(&self) -> Result<(), Refused> {
        let read = Corrections::beside(&self.model, self.file.path())?.map(Arc::new);
        *self.corrections.lock().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }
}

/// What lines are.
fn input_named(name: &str) -> Result<Input, Refused> {
    match name {
        "text" => Ok(Input::Text),
        "tree" => Ok(Input::Tree),
        other => Err(Refused::setting("input", other, "text or tree")),
    }
}

fn open(path: &Path) -> Result<Model, Refused> {
    let file = pickled::File::new(path)?;
    let model = Arc::new(sylvan::Model::open(file.path())?);
    let opened = Model {
        model,
        file,
        corrections: Mutex::default(),
        changing: Mutex::default(),
        idle: Mutex::default(),
    };
    opened.refresh()?;
    Ok(opened)
}

/// What a pickle calls: the same file, with the same content.
#[pyfunction]
#[pyo3(name = "_reopen")]
pub(crate) fn reopen(py: Python<'_>, path: PathBuf, content: u64) -> PyResult<Model> {
    py.detach(|| {
        pickled::check(&path, content)?;
        open(&path)
    })
    .map_err(PyErr::from)
}

/// One line or many.
pub(crate) enum Lines {
    One(String),
    Many(Vec<String>),
}

impl Lines {
    pub(crate) fn read(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyString>() {
            return Ok(Self::One(given.extract()?));
        }
        if given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err("expected a string, or strings"));
        }
        let items = given.try_iter().map_err(|_| PyTypeError::new_err("expected a string, or strings"))?;
        items.map(|item| item?.extract::<String>()).collect::<PyResult<_>>().map(Self::Many)
    }
}

#[pymethods]
impl Model {
    /// Opens a model file, with the corrections beside it.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| open(&path)).map_err(PyErr::from)
    }

    /// Translates a string, or each of several. Without `details` features, links and rules are left empty, which saves
    /// a little time.
    #[pyo3(signature = (text, *, nbest=1, glossary=None, tags=None, search=None, beam=None, threads=None, input="text", corrections=true, tokens=false, details=true))]
    #[allow(clippy::too_many_arguments)]
    fn translate<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        nbest: usize,
        glossary: Option<Bound<'py, PyAny>>,
        tags: Option<String>,
        search: Option<String>,
        beam: Option<usize>,
        threads: Option<usize>,
        input: &str,
        corrections: bool,
        tokens: bool,
        details: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let wanted = Wanted { nbest, glossary, tags, search, beam, input, corrections, tokens, details };
        let request = self.request(py, &wanted)?;
        let count = crate::running::threads(threads);
        match Lines::read(text)? {
            Lines::One(line) => {
                let mut all = self.lines(py, &[line], request, 1)?;
                let one = all.pop().ok_or_else(|| Refused::new("the line has no translation"))?;
                Ok(Bound::new(py, one)?.into_any())
            }
            Lines::Many(lines) => self.lines(py, &lines, request, count)?.into_pyobject(py),
        }
    }

    /// Why a line is translated as it is; None if it has no words.
    #[pyo3(signature = (text, *, search=None, beam=None, input="text", corrections=true))]
    fn explain(
        &self,
        py: Python<'_>,
        text: String,
        search: Option<String>,
        beam: Option<usize>,
        input: &str,
        corrections: bool,
    ) -> PyResult<Option<Explanation>> {
        let wanted =
            Wanted { nbest: 1, glossary: None, tags: None, search, beam, input, corrections, tokens: false, details: true };
        let mut request = self.request(py, &wanted)?;
        run(py, None, |reporter| {
            request.stop.cancel = Some(reporter.stop());
            let mut workers = self.workers(1);
            let found = match workers.first_mut() {
                Some(worker) => worker.explain(&text, &request)?,
                None => None,
            };
            self.give_back(workers);
            Ok(found.as_ref().map(Explanation::of))
        })
    }

    /// Makes a sentence translate as given from now on, and others use what that teaches; it is on disk when this returns.
    #[pyo3(signature = (text, translation, *, author="anonymous", exact=false, input="text"))]
    fn correct(
        &self,
        py: Python<'_>,
        text: String,
        translation: String,
        author: &str,
        exact: bool,
        input: &str,
    ) -> PyResult<Correction> {
        let input = input_named(input)?;
        // They become lines of a file.
        if [&text, &translation].iter().any(|text| text.contains(char::is_control)) {
            return Err(Refused::setting("a correction", "control characters", "one line of text").into());
        }
        let author = author.replace(char::is_control, " ");
        let learning = if exact { Learning::exact() } else { Learning::default() };
        run(py, None, |reporter| {
            let _turn = self.change(reporter);
            let mut log = CorrectionLog::open(self.file.path())?;
            let mut workers = self.workers(1);
            let Some(worker) = workers.first_mut() else { return Err(Refused::new("nobody to learn")) };
            let learned = worker.learn((&text, &translation), input, self.known().as_deref(), &learning)?;
            self.give_back(workers);
            let pair = Pair::new(&written_time(SystemTime::now()), &author, &text, &translation);
            let entry = sylvan::Correction { about: pair.about(), lines: learned.lines };
            log.push(&entry)?;
            self.refresh()?;
            Ok(Correction::of(entry))
        })
    }

    /// Takes the corrections of a model back, the last one first; None if there are none.
    fn undo(&self, py: Python<'_>) -> PyResult<Option<Correction>> {
        run(py, None, |reporter| {
            let _turn = self.change(reporter);
            let undone = CorrectionLog::open(self.file.path())?.undo()?;
            self.refresh()?;
            Ok(undone.map(Correction::of))
        })
    }

    /// The corrections so far, the oldest first.
    #[getter]
    fn corrections(&self, py: Python<'_>) -> PyResult<Vec<Correction>> {
        py.detach(|| -> Result<Vec<Correction>, Refused> {
            let all = CorrectionLog::open(self.file.path())?.corrections();
            Ok(all.into_iter().map(Correction::of).collect())
        })
        .map_err(PyErr::from)
    }

    /// Its file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.file.path().to_path_buf()
    }

    /// Codes of its languages.
    #[getter]
    fn languages(&self) -> (String, String) {
        let [source, target] = self.model.languages();
        (source.clone(), target.clone())
    }

    /// The weights of its features.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, weight) in self.model.weights().iter() {
            all.set_item(name, weight)?;
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        let [source, target] = self.model.languages();
        format!("Model({:?}, {source} to {target})", self.file.path().display().to_string())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (PathBuf, u64))> {
        let py = slf.py();
        let this = slf.get();
        let state = py.detach(|| pickled::file(Some(&this.file))).map_err(PyErr::from)?;
        Ok((py.import("sylvan._native")?.getattr("_reopen")?, state))
    }
}
