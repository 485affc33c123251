//! Trains a model from the settings of a file (names as in `sylvan train --help`):
//! `cargo run --release --example train -- enja.toml`

use std::io::Write;

use sylvan::{Config, Silent, train};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) fn run(config: &Config, output: &mut impl Write) -> Result<()> {
    let outcome = train(config, &Silent, &mut |line| drop(writeln!(output, "{line}")))?;
    for (name, score) in outcome.scores {
        writeln!(output, "{name}\t{score:.2}")?;
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [file] = &files[..] else { return Err("give a file of settings".into()) };
    run(&Config::open(file.as_ref())?, &mut std::io::stdout())
}
