//! Translates standard input with a model and a glossary (source text, a tab, target text):
//! `cargo run --release --example glossary -- enja.sylvan terms.tsv < text.en`

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use sylvan::{Model, Request, Worker};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run(model: &Path, terms: &Path, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let model = Arc::new(Model::open(model)?);
    let mut request = Request::default();
    request.glossary = Some(Arc::new(model.read_glossary(terms)?));
    let mut worker = Worker::new(model);
    for line in input.lines() {
        writeln!(output, "{}", worker.translate(&line?, &request)?.text())?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [model, terms] = &files[..] else { return Err("give a model and a glossary".into()) };
    run(model.as_ref(), terms.as_ref(), std::io::stdin().lock(), std::io::stdout())
}
