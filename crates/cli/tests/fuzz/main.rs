//! Fuzzing of every reader: `cargo test -p sylvan-cli --test fuzz -- --runs 1000000`.
//!
//! No input may make a reader panic, ask for more than 2 GB, or say more than two kilobytes. Runs are the same with
//! the same seed. As a test it makes some thousand runs; with SYLVAN_TESTS=full, as in `.ci/run full`, it goes on for
//! three minutes. The corpus in `fuzz/corpus` runs first, each time; `--finds FOLDER` writes inputs that did something
//! new, to be looked at and added to it.
//!
//! ```text
//! seeds, corpus --mutate--> input --reader--> what it says, what it allocates --new?--> corpus
//! ```
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod binaries;
mod engine;
mod memory;
mod mutate;
mod texts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use engine::Fuzzing;

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// After so many failures a reader is not tried again.
const FAILURES: usize = 5;

struct Options {
    runs: u64,
    seconds: u64,
    seed: u64,
    targets: Vec<String>,
    finds: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let full = sylvan_testkit::cases(0, 1) == 1;
    let usual = if full { (u64::MAX, 180) } else { (12_000, u64::MAX) };
    let (mut runs, mut seconds) = (None, None);
    let mut options = Options { runs: usual.0, seconds: usual.1, seed: 1, targets: Vec::new(), finds: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        // What Cargo passes to the usual harness.
        if matches!(word.as_str(), "--quiet" | "-q" | "--nocapture" | "--bench" | "--list") {
            continue;
        }
        let value = words.next().ok_or(format!("found {word} alone, expected a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("found {word} {value}, expected a number"));
        match word.as_str() {
            "--runs" => runs = Some(number()?),
            "--seconds" => seconds = Some(number()?),
            "--seed" => options.seed = number()?,
            "--target" => options.targets.push(value),
            "--finds" => options.finds = Some(value.into()),
            _ => {
                return Err(format!("found {word}, expected --runs, --seconds, --seed, --target or --finds"));
            }
        }
    }
    // Of both, whichever comes first.
    if runs.is_some() || seconds.is_some() {
        (options.runs, options.seconds) = (runs.unwrap_or(u64::MAX), seconds.unwrap_or(u64::MAX));
    }
    Ok(options)
}

fn main() -> ExitCode {
    if std::env::args().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // Panics are counted and told at the end; a thousand backtraces help nobody.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let wanted =
        |name: &str| options.targets.is_empty() || options.targets.iter().any(|target| target == name);
    let scratch = tempfile::tempdir().unwrap();
    let targets = texts::targets(scratch.path()).into_iter().chain(binaries::targets(scratch.path()));
    let mut all: Vec<Fuzzing> = targets
        .filter(|target| wanted(target.name))
        .map(|target| Fuzzing::new(target, options.seed, &folder))
        .collect();
    if all.is_empty() {
        eprintln!("found no such target");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let mut runs = 0;
    // Turns by count, not by time, so that a run can be repeated.
    'all: for turn in 0u64.. {
        for fuzzing in &mut all {
            if turn % fuzzing.target.turn_in != 0 {
                continue;
            }
            if runs >= options.runs {
                break 'all;
            }
            // One that fails over and over says nothing new.
            if fuzzing.tally.failures.len() >= FAILURES {
                continue;
            }
            fuzzing.step(options.finds.as_deref());
            runs += 1;
        }
        let spent = start.elapsed() > Duration::from_secs(options.seconds);
        if spent || all.iter().all(|fuzzing| fuzzing.tally.failures.len() >= FAILURES) {
            break;
        }
    }
    report(&all, start.elapsed())
}

fn report(all: &[Fuzzing], took: Duration) -> ExitCode {
    println!(
        "| reader | runs | read without error | kept | most memory | slowest |\n|---|---|---|---|---|---|"
    );
    let (mut runs, mut failures) = (0, 0);
    for Fuzzing { target, tally, .. } in all {
        runs += tally.runs;
        failures += tally.failures.len();
        println!(
            "| {} | {} | {} | {} | {:.1} MB | {} ms |",
            target.name,
            tally.runs,
            tally.accepted,
            tally.kept,
            tally.most_bytes as f64 / 1e6,
            tally.slowest.as_millis()
        );
    }
    for (fuzzing, failure) in
        all.iter().flat_map(|one| one.tally.failures.iter().map(move |told| (one, told)))
    {
        println!("{}: {failure}", fuzzing.target.name);
    }
    println!("{runs} runs of {} readers in {:.0} s: {failures} failures", all.len(), took.as_secs_f64());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
