//! Single-point mutants of chosen sources, all in one build, run against the tests.
//!
//! ```text
//! cargo run --release -- --crate search --tests twin,golden,options --sample 300 --jobs 2
//! ```
//!
//! Each place that can be mutated becomes a choice at run time, `if mutant(17) { a <= b } else { a < b }`, so that a
//! crate is built once and not once per mutant. A mutant is killed if one of the named tests of the crate fails, panics or
//! does not end in time with SYLVAN_MUTANT set to its number. The work is done in a copy (`target/mutants`); survivors
//! are printed with their places.

mod mutate;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use mutate::{Mutant, mutate};

struct Options {
    /// The folder of the crate under `crates/`.
    of: String,
    /// Only sources whose path contains one of these.
    only: Vec<String>,
    /// Integration tests, the quickest to kill first; `lib` for unit tests.
    tests: Vec<String>,
    /// How many mutants are drawn; all if there are fewer.
    sample: usize,
    /// Which of the places between two drawn ones: another number, another draw.
    offset: usize,
    jobs: usize,
    seconds: u64,
    /// The output of an earlier run: only its survivors are run.
    again: Option<PathBuf>,
    /// Where the places drawn are listed.
    list: Option<PathBuf>,
    /// Lists of earlier draws: none of their places is drawn.
    except: Vec<PathBuf>,
}

fn options() -> Result<Options> {
    let mut options = Options {
        of: String::new(),
        only: Vec::new(),
        tests: Vec::new(),
        sample: usize::MAX,
        offset: 0,
        jobs: 1,
        seconds: 120,
        again: None,
        list: None,
        except: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    let list = |text: String| text.split(',').map(str::to_string).collect();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word}: expected a value"));
        match word.as_str() {
            "--crate" => options.of = value()?,
            "--only" => options.only = list(value()?),
            "--tests" => options.tests = list(value()?),
            "--sample" => options.sample = value()?.parse()?,
            "--offset" => options.offset = value()?.parse()?,
            "--jobs" => options.jobs = value()?.parse()?,
            "--seconds" => options.seconds = value()?.parse()?,
            "--again" => options.again = Some(value()?.into()),
            "--list" => options.list = Some(value()?.into()),
            "--except" => options.except = value()?.split(',').map(PathBuf::from).collect(),
            _ => bail!(
                "found {word}, expected --crate, --only, --tests, --sample, --offset, --jobs, --seconds, --again, \
                 --list or --except"
            ),
        }
    }
    ensure!(!options.of.is_empty(), "expected --crate NAME, a folder under crates/");
    ensure!(!options.tests.is_empty(), "expected --tests NAME,NAME");
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let copy = root.join("target/mutants");
    copy_sources(&root, &copy)?;
    let sources = sources(&root.join("crates").join(&options.of).join("src"))?;
    let mut left_out: BTreeSet<u32> = BTreeSet::new();
    // Some places cannot be made a choice; the compiler says which.
    let (mutants, tests) = loop {
        let mutants = rewrite(&root, &copy, &sources, &options, &left_out)?;
        match build(&copy, &options)? {
            Built::Tests(tests) => break (mutants, tests),
            Built::Faults(faults) => {
                ensure!(!faults.is_empty(), "the copy does not build, and not because of a mutant");
                left_out.extend(faults);
            }
        }
    };
    ensure!(runs(&tests, &copy, 0, &options) == Verdict::Survives, "the tests fail without any mutant");
    let mut alive: Vec<&Mutant> =
        mutants.iter().filter(|mutant| !left_out.contains(&mutant.number)).collect();
    for path in &options.except {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let before: BTreeSet<&str> = text.lines().collect();
        alive.retain(|mutant| !before.contains(mutant.place().as_str()));
    }
    let mut drawn = draw(&alive, options.sample, options.offset);
    if let Some(path) = &options.again {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let before: BTreeSet<&str> =
            text.lines().filter_map(|line| line.strip_prefix("survives: ")).collect();
        drawn.retain(|mutant| before.contains(mutant.to_string().as_str()));
    }
    if let Some(path) = &options.list {
        let text: String = drawn.iter().map(|mutant| mutant.place() + "\n").collect();
        std::fs::write(path, text).with_context(|| path.display().to_string())?;
    }
    println!("{} mutants, {} of them run; {} do not build", alive.len(), drawn.len(), left_out.len());
    let next = AtomicUsize::new(0);
    let (survivors, in_time) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some(mutant) = drawn.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match runs(&tests, &copy, mutant.number, &options) {
                        Verdict::Survives => {
                            println!("survives: {mutant}");
                            survivors.lock().unwrap_or_else(PoisonError::into_inner).push(mutant.number);
                        }
                        Verdict::Hangs => {
                            in_time.fetch_add(1, Ordering::Relaxed);
                        }
                        Verdict::Killed => {}
                    }
                }
            });
        }
    });
    let survivors = survivors.into_inner().unwrap_or_else(PoisonError::into_inner).len();
    println!(
        "{} killed ({} by the clock), {survivors} survive: {:.1} % killed",
        drawn.len() - survivors,
        in_time.load(Ordering::Relaxed),
        100.0 * (drawn.len() - survivors) as f64 / drawn.len().max(1) as f64
    );
    Ok(())
}

/// Every n-th, so that all files are drawn from and the same ones each time.
fn draw<'m>(mutants: &[&'m Mutant], sample: usize, offset: usize) -> Vec<&'m Mutant> {
    let count = mutants.len().min(sample);
    (0..count).map(|place| mutants[(place * mutants.len() / count + offset) % mutants.len()]).collect()
}

fn copy_sources(root: &Path, copy: &Path) -> Result<()> {
    std::fs::create_dir_all(copy)?;
    let files = Command::new("git").args(["ls-files"]).current_dir(root).output()?;
    let files = String::from_utf8(files.stdout)?;
    let known: BTreeSet<&Path> = files.lines().map(Path::new).collect();
    // What is gone from the sources must not be built.
    for old in sources(&copy.join("crates")).unwrap_or_default() {
        if old.strip_prefix(copy).is_ok_and(|path| !known.contains(path)) {
            std::fs::remove_file(&old)?;
        }
    }
    for file in files.lines() {
        let (from, to) = (root.join(file), copy.join(file));
        if !from.is_file() {
            continue;
        }
        std::fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        // Unchanged files keep their dates, so that they are not built again.
        let content = std::fs::read(&from)?;
        if std::fs::read(&to).ok().as_ref() != Some(&content) {
            std::fs::write(&to, content)?;
        }
    }
    Ok(())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Writes the sources with their choices into the copy.
fn rewrite(
    root: &Path,
    copy: &Path,
    sources: &[PathBuf],
    options: &Options,
    left_out: &BTreeSet<u32>,
) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for source in sources {
        let name = source.strip_prefix(root)?.display().to_string();
        let wanted = options.only.is_empty() || options.only.iter().any(|part| name.contains(part.as_str()));
        let text = std::fs::read_to_string(source)?;
        let mut text = if wanted { mutate(&name, &text, &mut mutants, left_out)? } else { text };
        if name.ends_with("src/lib.rs") {
            text.push_str(CHOICE);
        }
        std::fs::write(copy.join(&name), text)?;
    }
    Ok(mutants)
}

const CHOICE: &str = "
#[doc(hidden)]
#[allow(missing_docs, unreachable_pub)]
pub fn mutant(number: u32) -> bool {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = || std::env::var(\"SYLVAN_MUTANT\").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *CHOSEN.get_or_init(chosen) == number
}
";

enum Built {
    /// The programs, in the order of the options.
    Tests(Vec<PathBuf>),
    /// Mutants on the lines of errors.
    Faults(BTreeSet<u32>),
}

fn build(copy: &Path, options: &Options) -> Result<Built> {
    let package = format!("sylvan-{}", options.of);
    let mut command = Command::new("cargo");
    command.args(["test", "--no-run", "--locked", "--package", &package, "--message-format", "json"]);
    for test in &options.tests {
        if test == "lib" {
            command.arg("--lib");
        } else {
            command.args(["--test", test]);
        }
    }
    let output = command
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", copy.join("target"))
        .env("RUSTFLAGS", "--cap-lints allow")
        .stderr(Stdio::inherit())
        .output()?;
    let messages = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let program = |test: &String| {
            let name = if test == "lib" { format!("sylvan_{}", options.of) } else { test.clone() };
            let is_program = |line: &&str| {
                line.contains(&format!("\"name\":\"{name}\""))
                    && line.contains("\"executable\":\"")
                    && line.contains("\"test\":true")
            };
            let line = messages.lines().rfind(is_program).with_context(|| format!("{test}: no program"))?;
            let (_, after) = line.split_once("\"executable\":\"").context("a program")?;
            let (path, _) = after.split_once('"').context("a path")?;
            Ok(PathBuf::from(path))
        };
        return Ok(Built::Tests(options.tests.iter().map(program).collect::<Result<_>>()?));
    }
    let mut faults = BTreeSet::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if message["message"]["level"] != "error" {
            continue;
        }
        let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
        let found: BTreeSet<u32> = spans.iter().filter_map(|span| above(copy, span)).collect();
        if found.is_empty() {
            eprintln!("{}", message["message"]["rendered"].as_str().unwrap_or(line));
        }
        faults.extend(found);
    }
    Ok(Built::Faults(faults))
}

/// The mutant that begins on the line of an error, or on the nearest line before it.
fn above(copy: &Path, span: &serde_json::Value) -> Option<u32> {
    let text = std::fs::read_to_string(copy.join(span["file_name"].as_str()?)).ok()?;
    let line = span["line_end"].as_u64()? as usize;
    let before: Vec<&str> = text.lines().take(line).collect();
    let (_, after) = before.iter().rev().take(30).find_map(|line| line.rsplit_once("mutant("))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Survives,
    Killed,
    Hangs,
}

fn runs(tests: &[PathBuf], copy: &Path, mutant: u32, options: &Options) -> Verdict {
    for test in tests {
        let child = Command::new(test)
            .current_dir(copy.join("crates").join(&options.of))
            .env("SYLVAN_MUTANT", mutant.to_string())
            .env("RUST_BACKTRACE", "0")
            .env_remove("SYLVAN_TESTS")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return Verdict::Killed };
        let started = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => break,
                Ok(None) if started.elapsed() < Duration::from_secs(options.seconds) => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Ok(None) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Verdict::Hangs;
                }
                _ => return Verdict::Killed,
            }
        }
    }
    Verdict::Survives
}
