//! The parallel text in memory: flat arrays of word numbers, and which lines they came from.
//!
//! Lines that cannot be aligned (an empty side) and lines that would cost too much (the work per pair grows with
//! the product of the lengths) are left out and counted; whoever writes links still writes a line for them, so
//! that line `i` of the links belongs to line `i` of the text.

use std::path::Path;

use sylvan_base::{Fault, InputError, Progress, Result, Vocab};
use sylvan_corpus::ParallelReader;
use sylvan_store::TextReader;

/// Which of the two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first text; links name it first.
    Source,
    /// The second text.
    Target,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::Source => Self::Target,
            Self::Target => Self::Source,
        }
    }
}

/// How lines become words, and which lines are left out.
#[derive(Debug, Clone, Copy)]
pub struct ReadConfig {
    /// Compare words in lower case. What is written is links, so nothing else of the case is lost.
    pub lowercase: bool,
    /// Pairs with more words than this on a side are left out.
    pub max_words: usize,
}

impl Default for ReadConfig {
    fn default() -> Self {
        Self { lowercase: false, max_words: 250 }
    }
}

/// What was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Pairs with an empty side.
    pub empty: u64,
    /// Pairs with a side above the limit.
    pub long: u64,
}

/// The words of one side, sentence behind sentence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) words: Vec<u32>,
    /// Where each sentence ends.
    ends: Vec<u32>,
}

impl Words {
    pub(crate) fn start(&self, sentence: usize) -> usize {
        if sentence == 0 { 0 } else { self.ends[sentence - 1] as usize }
    }

    pub(crate) fn range(&self, sentence: usize) -> std::ops::Range<usize> {
        self.start(sentence)..self.ends[sentence] as usize
    }

    pub(crate) fn get(&self, sentence: usize) -> &[u32] {
        &self.words[self.range(sentence)]
    }
}

/// A parallel text. Both sides share one vocabulary, so that a word which is the same in both has one number.
#[derive(Debug, Clone, Default)]
pub struct Bitext {
    vocab: Vocab,
    source: Words,
    target: Words,
    /// The 0-based input line of each kept pair.
    lines: Vec<u32>,
    total: u32,
    skipped: Skipped,
}

impl Bitext {
    /// Reads two line-parallel files. C1 control characters, which scraped text is sprinkled with, are taken as
    /// parts of words; all other control characters are errors.
    pub fn open(source: &Path, target: &Path, config: ReadConfig, progress: &dyn Progress) -> Result<Self> {
        if source == Path::new("-") && target == Path::new("-") {
            return Err(InputError::Format {
                path: "-".into(),
                found: "standard input for both sides".into(),
                expected: "at least one file".into(),
                advice: "give one of the two texts by name".into(),
            });
        }
        let readers = [source, target].map(|path| TextReader::open(path).map(TextReader::tolerant));
        let [source, target] = readers;
        Self::read(ParallelReader::new(vec![source?, target?]), config, progress)
    }

    /// Reads two texts side by side; `reader` must have two files.
    pub fn read(mut reader: ParallelReader, config: ReadConfig, progress: &dyn Progress) -> Result<Self> {
        let mut bitext = Self::default();
        progress.begin("reading", None);
        loop {
            let line = reader.line_number();
            let Some(lines) = reader.next_lines()? else { break };
            let added = bitext.push(&lines[0], &lines[1], config);
            if !added {
                let fault = Fault::new(0, "more text than fits", "at most 4 billion words or lines")
                    .advise("align the text in parts");
                return Err(reader.locate(0, fault));
            }
            if line.is_multiple_of(4096) {
                progress.at(line);
            }
        }
        progress.end();
        Ok(bitext)
    }

    /// Adds a pair of lines; false when the arrays cannot hold any more.
    pub fn push(&mut self, source: &str, target: &str, config: ReadConfig) -> bool {
        let room = u32::MAX as usize - 2 * config.max_words;
        if self.source.words.len().max(self.target.words.len()) >= room || self.total == u32::MAX {
            return false;
        }
        let line = self.total;
        self.total += 1;
        let starts = (self.source.words.len(), self.target.words.len());
        let mut lengths = [0; 2];
        for (which, text) in [source, target].into_iter().enumerate() {
            let lowered;
            let text = if config.lowercase {
                lowered = text.to_lowercase();
                &lowered
            } else {
                text
            };
            let words = if which == 0 { &mut self.source.words } else { &mut self.target.words };
            for word in text.split_ascii_whitespace() {
                lengths[which] += 1;
                if lengths[which] <= config.max_words {
                    words.push(self.vocab.intern(word).0);
                }
            }
        }
        let empty = lengths.contains(&0);
        if empty || lengths.iter().any(|&length| length > config.max_words) {
            self.source.words.truncate(starts.0);
            self.target.words.truncate(starts.1);
            *(if empty { &mut self.skipped.empty } else { &mut self.skipped.long }) += 1;
        } else {
            self.source.ends.push(self.source.words.len() as u32);
            self.target.ends.push(self.target.words.len() as u32);
            self.lines.push(line);
        }
        true
    }

    /// How many pairs were kept.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no pair was kept.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many lines were read.
    pub fn total(&self) -> usize {
        self.total as usize
    }

    /// What was left out.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The 0-based lines of the kept pairs.
    pub fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// The words of both sides.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The words of a kept pair's side, as numbers of [`vocab`](Self::vocab).
    pub fn words(&self, side: Side, pair: usize) -> &[u32] {
        self.side(side).get(pair)
    }

    pub(crate) fn side(&self, side: Side) -> &Words {
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }
}
