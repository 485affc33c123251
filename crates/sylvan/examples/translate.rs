//! Translates standard input on all processors, one model shared by all of them:
//! `cargo run --release --example translate -- enja.sylvan < text.en`

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use sylvan::{Model, Request, translate_lines, workers};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run(model: &Path, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let model = Arc::new(Model::open(model)?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut workers = workers(&model, threads);
    let lines = input.lines().collect::<std::io::Result<Vec<String>>>()?;
    for translated in translate_lines(&mut workers, &lines, "input", 1, &Request::default()) {
        writeln!(output, "{}", translated?.text())?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [model] = &files[..] else { return Err("give a model".into()) };
    run(model.as_ref(), std::io::stdin().lock(), std::io::stdout())
}
