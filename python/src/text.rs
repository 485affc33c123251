//! Words of raw text, and text of words.

use pyo3::prelude::*;
use sylvan_base::Fault;
use sylvan_text::{Detokenizer, Protect, Tokenizer, language};

use crate::errors::Refused;

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
