//! Words of raw text, and text of words.

use std::path::PathBuf;

use pyo3::prelude::*;
use sylvan_base::Fault;
use sylvan_text::{Detokenizer, Protect, Tokenizer, language};

use crate::errors::Refused;

/// A file by its name. The program's `-` is no file of a process that others share, and Ctrl-C would not end a wait for it.
pub(crate) fn file(path: PathBuf) -> PathBuf {
    if path.as_os_str() == "-" { PathBuf::from("./-") } else { path }
}

fn refused(fault: &Fault) -> PyErr {
    Refused::new(fault.to_string()).into()
}

/// Splits a line into words.
#[pyfunction]
#[pyo3(signature = (text, lang, *, keep=Vec::new()))]
pub(crate) fn tokenize(text: &str, lang: &str, keep: Vec<String>) -> PyResult<Vec<String>> {
    let lang = language(lang).map_err(|fault| refused(&fault))?;
    let protect = Protect::new(&keep).map_err(|fault| refused(&fault))?;
    let tokens = Tokenizer::new(lang).protecting(protect).tokenize(text);
    Ok(tokens.iter().map(|token| token.text(text).to_string()).collect())
}

/// Joins words into text as people write it.
#[pyfunction]
pub(crate) fn detokenize(tokens: Vec<String>, lang: &str) -> PyResult<String> {
    let lang = language(lang).map_err(|fault| refused(&fault))?;
    Ok(Detokenizer::new(lang).detokenize(&tokens))
}
