//! Prints pairs of the sample corpus with all their annotation.
//!
//! ```text
//! cargo run --release -p sylvan-sample --example show -- [count [first [min [max [types]]]]]
//! cargo run --release -p sylvan-sample --example show -- page      the examples of docs/sample-corpus.md
//! ```

mod page;

use std::io::Write;
use std::process::ExitCode;

use sylvan_sample::{Config, Sampler, Workspace};

fn main() -> ExitCode {
    match text(&std::env::args().skip(1).collect::<Vec<String>>()) {
        // A reader that stops early (`| head`) is no failure.
        Ok(text) => {
            let written = std::io::stdout().write_all(text.as_bytes());
            drop(written);
            ExitCode::SUCCESS
        }
        Err(message) => {
            let written = writeln!(std::io::stderr(), "{message}");
            drop(written);
            ExitCode::FAILURE
        }
    }
}

fn text(arguments: &[String]) -> Result<String, String> {
    if arguments.first().is_some_and(|argument| argument == "page") {
        return Ok(page::examples());
    }
    let mut numbers = Vec::new();
    for argument in arguments {
        let number = argument.parse::<usize>();
        numbers.push(number.map_err(|_| format!("found `{argument}`, expected a whole number or `page`"))?);
    }
    let number = |at: usize, default: usize| numbers.get(at).copied().unwrap_or(default);
    let config = Config {
        min_words: number(2, 4),
        max_words: number(3, 60),
        types: numbers.get(4).copied(),
        ..Config::default()
    };
    let sampler = Sampler::new(config).map_err(|error| error.to_string())?;
    let mut workspace = Workspace::new();
    let mut out = String::new();
    let first = number(1, 0) as u64;
    for index in first..first + number(0, 10) as u64 {
        let mut pair = sampler.pair(index, &mut workspace);
        out += &format!("{index}\t{}\n\t{}\n\t{}\n", pair.source(), pair.target(), pair.oracle());
        out +=
            &format!("\t{}\n\t{}\n\t{}\n", pair.source_tree(), pair.alignment(), pair.phenomena().join(" "));
        out += &format!("{}\n", pair.conllu());
    }
    Ok(out)
}
