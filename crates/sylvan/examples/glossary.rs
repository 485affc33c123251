//! Translates standard input with a model and a glossary (source words, a tab, target words):
//! `cargo run --release --example glossary -- enja.sylvan terms.tsv < text.en`

use std::io::{BufRead, Write};
use std::path::Path;

use sylvan::{OpenConfig, TextTranslator};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run(model: &Path, terms: &Path, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let (mut translator, _) = TextTranslator::open_with(model, &OpenConfig::default())?;
    translator.read_glossary(terms)?;
    for line in input.lines() {
        writeln!(output, "{}", translator.line(&line?)?)?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [model, terms] = &files[..] else { return Err("give a model and a glossary".into()) };
    run(model.as_ref(), terms.as_ref(), std::io::stdin().lock(), std::io::stdout())
}
