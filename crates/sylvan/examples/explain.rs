//! Translates a sentence and shows the rule and the training lines behind each word:
//! `cargo run --release --example explain -- enja.sylvan "he bought a book ."`

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use sylvan::{Model, Request, Worker};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run(model: &Path, sentence: &str, mut output: impl Write) -> Result<()> {
    let mut worker = Worker::new(Arc::new(Model::open(model)?));
    let Some(why) = worker.explain(sentence, &Request::default())? else {
        return Err("a sentence without words".into());
    };
    writeln!(output, "{}", why.translation)?;
    for word in &why.words {
        let step = &why.steps[word.step];
        let lines: Vec<u64> = step.lines.iter().map(|line| line.number).collect();
        writeln!(output, "{}\t{}\ttraining lines {lines:?}", word.text, step.rule)?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, sentence] = &arguments[..] else { return Err("give a model and a sentence".into()) };
    run(model.as_ref(), sentence, std::io::stdout())
}
