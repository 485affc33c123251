//! What a line became, and why.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Where a translation comes from.
const GIVEN: &str = "correction";
const FOUND: &str = "model";

/// A translation of a line.
///
/// Places are counted in characters, so that `text[start:end]` is a word.
#[pyclass(frozen, module = "sylvan", eq)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Translation {
    /// As people write it.
    #[pyo3(get)]
    text: String,
    /// Its words.
    #[pyo3(get)]
    words: Vec<String>,
    /// Where each word stands in the text.
    #[pyo3(get)]
    spans: Vec<(usize, usize)>,
    /// Source word and target word, counted from 0.
    #[pyo3(get)]
    links: Vec<(u32, u32)>,
    /// The model score.
    #[pyo3(get)]
    score: f64,
    features: Vec<(String, f64)>,
    /// The line that was translated.
    #[pyo3(get)]
    source: String,
    /// Its words, as the model sees them.
    #[pyo3(get)]
    source_words: Vec<String>,
    /// Where each of them stands in the line; none of a tree.
    #[pyo3(get)]
    source_spans: Vec<Option<(usize, usize)>>,
    /// Source words, counted from 0, that the model has never seen.
    #[pyo3(get)]
    unknown_words: Vec<u32>,
    /// For exact search: how much better anything else can be; 0 if this is the optimum.
    #[pyo3(get)]
    gap: Option<f64>,
    /// The rules, one per line, indented by depth.
    #[pyo3(get)]
    rules: String,
    /// `model`, or `correction` if a correction gave this sentence this translation.
    #[pyo3(get)]
    origin: &'static str,
    /// Best first, this one included, if more than one was asked for.
    others: Vec<Translation>,
}

/// Characters of a text before each of some bytes.
struct Characters<'t>(&'t str);

impl Characters<'_> {
    fn of(&self, [start, end]: [usize; 2]) -> (usize, usize) {
        let before = |byte: usize| self.0.get(..byte).map_or(0, |text| text.chars().count());
        (before(start), before(end))
    }

    /// The same for many places, which are usually in order: what was counted is not counted again.
    fn all(&self, spans: impl Iterator<Item = [usize; 2]>) -> Vec<(usize, usize)> {
        let (mut byte, mut count) = (0, 0);
        let mut at = |wanted: usize| {
            match self.0.get(byte..wanted) {
                Some(between) => count += between.chars().count(),
                None => count = self.of([wanted, wanted]).0,
            }
            byte = wanted;
            count
        };
        spans.map(|[start, end]| (at(start), at(end))).collect()
    }
}

impl Translation {
    /// All translations of a line, the best one with the others; one without words if the line has none.
    pub(crate) fn of(source: &str, translated: sylvan::Translated, listed: bool) -> Self {
        let words: Vec<String> = translated.source.iter().map(|word| word.text.clone()).collect();
        let origin = if translated.origin == sylvan::Origin::Correction { GIVEN } else { FOUND };
        let characters = Characters(source);
        let places: Vec<Option<(usize, usize)>> =
            translated.source.iter().map(|word| word.span.map(|span| characters.of(span))).collect();
        let mut all: Vec<Self> = translated
            .best
            .into_iter()
            .map(|best| Self {
                spans: Characters(&best.text).all(best.spans.iter().copied()),
                text: best.text,
                words: best.words,
                links: best.links,
                score: best.score,
                features: best.features,
                source: source.to_string(),
                source_words: words.clone(),
                source_spans: places.clone(),
                unknown_words: translated.unknown_words.clone(),
                gap: translated.gap,
                rules: best.rules,
                origin,
                others: Vec::new(),
            })
            .collect();
        let mut first = match all.first() {
            Some(first) => first.clone(),
            None => Self {
                text: String::new(),
                words: Vec::new(),
                spans: Vec::new(),
                links: Vec::new(),
                score: 0.0,
                features: Vec::new(),
                source: source.to_string(),
                source_words: words,
                source_spans: places,
                unknown_words: Vec::new(),
                gap: None,
                rules: String::new(),
                origin,
                others: Vec::new(),
            },
        };
        if listed {
            first.others.append(&mut all);
        }
        first
    }

    /// The words of the source that a target word is linked to.
    fn sources(&self, target: usize) -> Vec<&str> {
        let linked = self.links.iter().filter(|(_, word)| *word as usize == target);
        linked.filter_map(|(word, _)| self.source_words.get(*word as usize)).map(String::as_str).collect()
    }
}

#[pymethods]
impl Translation {
    /// Names and values of features; weights times values is the score.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, value) in &self.features {
            all.set_item(name, value)?;
        }
        Ok(all)
    }

    /// All translations that were asked for, best first; this one alone if one was.
    #[getter]
    fn nbest(&self) -> Vec<Self> {
        match self.others.is_empty() {
            true => vec![self.clone()],
            false => self.others.clone(),
        }
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Translation({:?}, score={:.4})", self.text, self.score)
    }

    fn __len__(&self) -> usize {
        self.words.len()
    }

    /// A word.
    fn __getitem__(&self, index: isize) -> PyResult<&str> {
        let place = if index < 0 { index + self.words.len() as isize } else { index };
        let word = usize::try_from(place).ok().and_then(|place| self.words.get(place));
        word.map(String::as_str).ok_or_else(|| PyIndexError::new_err("a word that is not there"))
    }

    /// The text for notebooks: each word shows what it was made from.
    fn _repr_html_(&self) -> String {
        let mut out = String::from("<span class=\"sylvan-translation\">");
        let characters: Vec<char> = self.text.chars().collect();
        let part = |from: usize, to: usize| -> String {
            characters.get(from..to).map(|part| part.iter().collect()).unwrap_or_default()
        };
        let mut done = 0;
        for (word, &(start, end)) in self.spans.iter().enumerate() {
            if start < done {
                continue;
            }
            let from = self.sources(word).join(" ");
            out += &escaped(&part(done, start));
            out += &format!("<span title=\"{}\">{}</span>", escaped(&from), escaped(&part(start, end)));
            done = end;
        }
        out += &escaped(&part(done, characters.len()));
        out + "</span>"
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let remake = py.import("sylvan._native")?.getattr("_remake")?;
        Ok((remake, PyTuple::new(py, [slf.get().state()])?))
    }
}

impl Translation {
    /// Everything, for another process.
    fn state(&self) -> String {
        serde_json::json!({
            "text": self.text, "words": self.words, "spans": self.spans, "links": self.links,
            "score": self.score.to_bits(),
            "features": self.features.iter().map(|(name, value)| (name, value.to_bits())).collect::<Vec<_>>(),
            "source": self.source, "source_words": self.source_words, "source_spans": self.source_spans,
            "unknown_words": self.unknown_words, "gap": self.gap.map(f64::to_bits), "rules": self.rules,
            "origin": self.origin,
            "others": self.others.iter().map(Self::state).collect::<Vec<_>>(),
        })
        .to_string()
    }

    fn read(state: &str) -> Option<Self> {
        let mut value: serde_json::Value = serde_json::from_str(state).ok()?;
        fn take<T: for<'de> serde::Deserialize<'de>>(value: &mut serde_json::Value, name: &str) -> Option<T> {
            serde_json::from_value(value.get_mut(name)?.take()).ok()
        }
        let features: Vec<(String, u64)> = take(&mut value, "features")?;
        let others: Vec<String> = take(&mut value, "others")?;
        Some(Self {
            text: take(&mut value, "text")?,
            words: take(&mut value, "words")?,
            spans: take(&mut value, "spans")?,
            links: take(&mut value, "links")?,
            score: f64::from_bits(take(&mut value, "score")?),
            features: features.into_iter().map(|(name, bits)| (name, f64::from_bits(bits))).collect(),
            source: take(&mut value, "source")?,
            source_words: take(&mut value, "source_words")?,
            source_spans: take(&mut value, "source_spans")?,
            unknown_words: take(&mut value, "unknown_words")?,
            gap: take::<Option<u64>>(&mut value, "gap")?.map(f64::from_bits),
            rules: take(&mut value, "rules")?,
            origin: if take::<String>(&mut value, "origin")? == GIVEN { GIVEN } else { FOUND },
            others: others.iter().map(|other| Self::read(other)).collect::<Option<_>>()?,
        })
    }
}

/// A translation from another process.
#[pyfunction]
#[pyo3(name = "_remake")]
pub(crate) fn remake(state: &str) -> PyResult<Translation> {
    let wrong = || crate::errors::Refused::setting("a pickle", "something else", "a translation").into();
    Translation::read(state).ok_or_else(wrong)
}

/// Why a line is translated as it is.
#[pyclass(frozen, module = "sylvan")]
#[derive(Debug)]
pub(crate) struct Explanation {
    /// As JSON.
    #[pyo3(get)]
    json: String,
    /// For a terminal.
    #[pyo3(get)]
    text: String,
    /// A page that needs nothing else.
    #[pyo3(get)]
    html: String,
}

impl Explanation {
    pub(crate) fn of(found: &sylvan::Explanation) -> Self {
        Self { json: found.json(), text: found.text(), html: found.html() }
    }
}

#[pymethods]
impl Explanation {
    /// Everything as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item(name)
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    /// The page in a frame, since it has scripts and styles of its own.
    fn _repr_html_(&self) -> String {
        format!(
            "<iframe srcdoc=\"{}\" style=\"width:100%;height:600px;border:0\" sandbox=\"allow-scripts\"></iframe>",
            escaped(&self.html)
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, String, String))> {
        let this = slf.get();
        let state = (this.json.clone(), this.text.clone(), this.html.clone());
        Ok((slf.get_type().getattr("_of")?, state))
    }

    #[staticmethod]
    fn _of(json: String, text: String, html: String) -> Self {
        Self { json, text, html }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
