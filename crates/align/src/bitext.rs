//! The parallel text: flat arrays of word numbers, and which lines they came from.
//!
//! Everything that follows walks through the text portion by portion. A text that takes more than its share of
//! the memory lives in a scratch file instead, and only the current portion is in memory; the portions are the
//! same either way.
//!
//! Lines that cannot be aligned (an empty side) and lines that would cost too much (the work per pair grows with
//! the product of the lengths) are left out and counted; a file of links still has a line for them, so
//! that line `i` of the links belongs to line `i` of the text.

use std::path::Path;
use std::sync::Arc;

use sylvan_base::{Fault, InputError, Progress, Result, Vocab};
use sylvan_corpus::ParallelReader;
use sylvan_store::{Scratch, ScratchFile, TextReader};

use crate::portion::{Part, Portion};
use crate::side::Side;

/// How lines become words, and which lines are left out.
#[derive(Debug, Clone, Copy)]
pub struct ReadConfig {
    /// Compare words in lower case. Only links are written, so the case of the text is not lost.
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

/// How much memory the work may take, vocabulary and model apart, and where the rest goes.
#[derive(Debug, Clone)]
pub struct Memory {
    /// In bytes.
    pub limit: usize,
    /// For what does not fit.
    pub scratch: Arc<Scratch>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { limit: usize::MAX, scratch: Scratch::new(&std::env::temp_dir()) }
    }
}

/// The words of one side, sentence after sentence.
#[derive(Debug, Default)]
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

    fn part(&self, sentences: std::ops::Range<usize>) -> Part<'_> {
        let start = self.start(sentences.start);
        let end = self.start(sentences.end);
        Part::borrowed(&self.words[start..end], &self.ends[sentences], start as u32)
    }
}

/// A finished portion: its pairs, and where it is in the scratch file if there is one.
#[derive(Debug, Clone, Copy)]
struct Place {
    first: usize,
    len: usize,
    at: u64,
    bytes: usize,
}

/// A parallel text. Both sides share one vocabulary, so that a word which is the same in both has one number.
#[derive(Debug, Default)]
pub struct Bitext {
    vocab: Vocab,
    /// All words, or only those of the open portion if the others are in the scratch file.
    source: Words,
    target: Words,
    /// The 0-based input line of each pair in memory.
    lines: Vec<u32>,
    /// All portions but the one that is still open.
    places: Vec<Place>,
    /// The first pair of the open portion.
    open: usize,
    spilled: Option<ScratchFile>,
    memory: Memory,
    len: usize,
    cells: u64,
    /// Words of each side, and of its longest sentence.
    words: [u64; 2],
    longest: [usize; 2],
    total: u32,
    skipped: Skipped,
}

/// About how many words of both sides make a portion.
const PORTION: usize = 1 << 15;

impl Bitext {
    /// No text yet.
    pub fn new(memory: Memory) -> Self {
        Self { memory, ..Self::default() }
    }

    /// Reads two line-parallel files. C1 control characters, which are common in scraped text, count as
    /// parts of words; all other control characters are errors.
    pub fn open(
        source: &Path,
        target: &Path,
        config: ReadConfig,
        memory: Memory,
        progress: &dyn Progress,
    ) -> Result<Self> {
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
        Self::read(ParallelReader::new(vec![source?, target?]), config, memory, progress)
    }

    /// Reads two texts side by side; `reader` must have two files.
    pub fn read(
        mut reader: ParallelReader,
        config: ReadConfig,
        memory: Memory,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut bitext = Self::new(memory);
        progress.begin("reading", None);
        loop {
            let line = reader.line_number();
            let Some(lines) = reader.next_lines()? else { break };
            let added = bitext.push(&lines[0], &lines[1], config)?;
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
    pub fn push(&mut self, source: &str, target: &str, config: ReadConfig) -> Result<bool> {
        let room = u32::MAX as usize - 2 * config.max_words;
        if self.source.words.len().max(self.target.words.len()) >= room || self.total == u32::MAX {
            return Ok(false);
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
            return Ok(true);
        }
        self.source.ends.push(self.source.words.len() as u32);
        self.target.ends.push(self.target.words.len() as u32);
        self.lines.push(line);
        self.len += 1;
        self.cells += (lengths[0] * lengths[1]) as u64;
        for (which, length) in lengths.into_iter().enumerate() {
            self.words[which] += length as u64;
            self.longest[which] = self.longest[which].max(length);
        }
        let first = self.in_memory(self.open);
        let open = |words: &Words| words.words.len() - words.start(first);
        if open(&self.source) + open(&self.target) >= PORTION {
            self.close()?;
        }
        Ok(true)
    }

    /// Where a pair of the open portion, or of any if nothing is spilled, is in the arrays.
    fn in_memory(&self, pair: usize) -> usize {
        pair - if self.spilled.is_some() { self.open } else { 0 }
    }

    /// Ends the open portion, and moves text out of memory if there is too much.
    fn close(&mut self) -> Result<()> {
        let place = Place { first: self.open, len: self.len - self.open, at: 0, bytes: 0 };
        if self.spilled.is_none() && self.bytes() <= self.memory.limit / 4 {
            self.open = self.len;
            self.places.push(place);
            return Ok(());
        }
        let file = self.spilled.take().unwrap_or_else(|| self.memory.scratch.file());
        // The first time, all portions so far; then, one at a time.
        let earlier = self.places.iter().position(|place| place.bytes == 0).unwrap_or(self.places.len());
        self.places.push(place);
        let origin = self.places[earlier].first;
        for place in &mut self.places[earlier..] {
            let range = place.first - origin..place.first - origin + place.len;
            let portion = Portion::new(
                place.first,
                &self.lines[range.clone()],
                self.source.part(range.clone()),
                self.target.part(range),
            );
            let bytes = portion.to_bytes();
            place.at = file.append(&bytes)?;
            place.bytes = bytes.len();
        }
        self.source = Words::default();
        self.target = Words::default();
        self.lines = Vec::new();
        self.open = self.len;
        self.spilled = Some(file);
        Ok(())
    }

    /// What the text takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.source.words.len() + self.target.words.len() + 3 * self.lines.len())
    }

    /// How many portions there are.
    pub fn portions(&self) -> usize {
        self.places.len() + usize::from(self.len > self.open)
    }

    /// Some consecutive pairs of the text.
    pub fn portion(&self, number: usize) -> Result<Portion<'_>> {
        if let (Some(file), Some(place)) = (&self.spilled, self.places.get(number)) {
            let mut bytes = vec![0u8; place.bytes];
            file.read(place.at, &mut bytes)?;
            return Ok(Portion::from_bytes(place.first, place.len, &bytes));
        }
        let (first, len) = self
            .places
            .get(number)
            .map_or((self.open, self.len - self.open), |place| (place.first, place.len));
        let start = self.in_memory(first);
        let range = start..start + len;
        Ok(Portion::new(
            first,
            &self.lines[range.clone()],
            self.source.part(range.clone()),
            self.target.part(range),
        ))
    }

    /// The portion that a kept pair is in.
    pub fn portion_of(&self, pair: usize) -> usize {
        self.places.partition_point(|place| place.first + place.len <= pair)
    }

    /// Whether the text is in memory as a whole.
    pub fn is_resident(&self) -> bool {
        self.spilled.is_none()
    }

    /// How much memory the work on this text may take.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How many pairs were kept.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no pair was kept.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many lines were read.
    pub fn total(&self) -> usize {
        self.total as usize
    }

    /// What was left out.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The words of both sides.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// How many pairs of tokens the sentence pairs have.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// How many words a side has.
    pub(crate) fn tokens(&self, side: Side) -> u64 {
        self.words[side as usize]
    }

    /// The length of the longest sentence of a side.
    pub(crate) fn longest(&self, side: Side) -> usize {
        self.longest[side as usize]
    }

    /// The words of a pair's side; only of a text that [is resident](Self::is_resident).
    pub(crate) fn words(&self, side: Side, pair: usize) -> &[u32] {
        self.side(side).get(pair)
    }

    /// All words of a side; only of a text that [is resident](Self::is_resident).
    pub(crate) fn side(&self, side: Side) -> &Words {
        debug_assert!(self.is_resident());
        match side {
            Side::Source => &self.source,
            Side::Target => &self.target,
        }
    }
}
