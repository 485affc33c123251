//! The loop: take an input of the corpus, change it, run a reader on it, keep it if something new happened.
//!
//! A stable compiler shows no branches, so "new" is what can be seen from outside: what the reader says (an error
//! with its numbers and quotations taken out, or what it read), and how much it allocated, roughly.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use sylvan_base::Rng;
use sylvan_base::hash::content_hash;

use crate::memory;
use crate::mutate;

/// No input may make a reader ask for more.
pub(crate) const MOST_BYTES: usize = 2 << 30;

/// Reads an input and says what it found, or what is wrong.
pub(crate) type Run = Box<dyn FnMut(&[u8]) -> Result<String, String>>;

/// A reader under test.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Whether it reads containers.
    pub(crate) binary: bool,
    /// It takes one turn in so many: a reader of files is much slower than one of bytes.
    pub(crate) turn_in: u64,
    pub(crate) seeds: Vec<Vec<u8>>,
    pub(crate) run: Run,
}

/// What became of a target.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) accepted: u64,
    pub(crate) most_bytes: usize,
    pub(crate) slowest: Duration,
    pub(crate) kept: usize,
    pub(crate) failures: Vec<String>,
}

/// A target with its corpus.
pub(crate) struct Fuzzing {
    pub(crate) target: Target,
    corpus: Vec<Vec<u8>>,
    seen: BTreeSet<u64>,
    rng: Rng,
    pub(crate) tally: Tally,
}

/// Memory of a corpus is bounded; the oldest finds go first.
const CORPUS: usize = 4096;

impl Fuzzing {
    /// Starts with the target's seeds and the inputs of a folder, all of which run unchanged first.
    pub(crate) fn new(target: Target, seed: u64, folder: &Path) -> Self {
        let mut corpus = target.seeds.clone();
        let mut files: Vec<_> = std::fs::read_dir(folder.join(target.name))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        files.sort();
        corpus.extend(files.iter().filter_map(|file| std::fs::read(file).ok()));
        let rng = Rng::new(seed ^ content_hash(target.name.as_bytes()));
        let mut new =
            Self { target, corpus: Vec::new(), seen: BTreeSet::new(), rng, tally: Tally::default() };
        for input in corpus {
            new.try_input(&input, None);
            new.corpus.push(input);
        }
        new
    }

    /// One run. New finds go to a folder, if there is one.
    pub(crate) fn step(&mut self, finds: Option<&Path>) {
        // A file that is refused early hides what else is wrong with it, so half of all begin with a good one.
        let seeds = self.target.binary && self.rng.chance(0.5);
        let parent = self.rng.below(if seeds { self.target.seeds.len() } else { self.corpus.len() });
        let input = if self.target.binary {
            mutate::binary(&self.corpus[parent], &mut self.rng)
        } else {
            let other = self.rng.below(self.corpus.len());
            mutate::text(&self.corpus[parent], &self.corpus[other], &mut self.rng)
        };
        let accepted = self.tally.accepted;
        if self.try_input(&input, finds) {
            self.tally.kept += 1;
            if self.target.binary && self.tally.accepted == accepted {
                return;
            }
            if self.corpus.len() == CORPUS {
                let first = self.target.seeds.len();
                self.corpus.remove(first);
            }
            self.corpus.push(input);
        }
    }

    /// Runs the reader; whether something new happened.
    fn try_input(&mut self, input: &[u8], finds: Option<&Path>) -> bool {
        let (start, before) = (Instant::now(), memory::begin());
        let run = &mut self.target.run;
        let result = catch_unwind(AssertUnwindSafe(|| run(input)));
        let used = memory::since(before);
        let tally = &mut self.tally;
        tally.runs += 1;
        tally.slowest = tally.slowest.max(start.elapsed());
        tally.most_bytes = tally.most_bytes.max(used.bytes);
        let (what, shape) = match &result {
            Ok(Ok(read)) => {
                tally.accepted += 1;
                (None, shape(read))
            }
            Ok(Err(error)) => {
                let long = error.len() > 2_000;
                (long.then(|| format!("a message of {} bytes", error.len())), shape(error))
            }
            Err(panic) => (Some(format!("a panic: {}", told(panic.as_ref()))), String::new()),
        };
        let what = what.or((used.bytes > MOST_BYTES).then(|| format!("{} bytes of memory", used.bytes)));
        if let Some(what) = what {
            let name = format!("{}-{:016x}", self.target.name, content_hash(input));
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::write(&path, input);
            tally.failures.push(format!("{what}; the input is {}", path.display()));
        }
        let allocated = (used.calls.max(1).ilog2(), used.bytes.max(1).ilog2() / 2);
        let new = self.seen.insert(content_hash(format!("{shape}{allocated:?}").as_bytes()));
        if new
            && input.len() < 4096
            && let Some(folder) = finds
        {
            let folder = folder.join(self.target.name);
            let path = folder.join(format!("{:016x}", content_hash(input)));
            let _ = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(path, input));
        }
        new
    }
}

fn told(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

/// A message without what differs from input to input: numbers, and what is quoted. Quotations may hold quotation
/// marks, so that of what was found ends where what was expected begins.
fn shape(text: &str) -> String {
    let (before, after) = match (text.find("found "), text.rfind(", expected ")) {
        (Some(found), Some(expected)) if found < expected => (&text[..found], &text[expected..]),
        _ => (text, ""),
    };
    let found = text[before.len()..text.len() - after.len()].split(['"', '\'']).next().unwrap_or_default();
    let mut shape = String::new();
    for c in before.chars().chain(found.chars()).take(200).chain(after.chars().take(60)) {
        if !c.is_ascii_digit() {
            shape.push(c);
        } else if !shape.ends_with('#') {
            shape.push('#');
        }
    }
    shape
}
