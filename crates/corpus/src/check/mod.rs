//! What is wrong with a parallel corpus, line by line and as a whole, before it costs a night's training.
//!
//! ```text
//! lines --Checker::add--> faults of single lines, duplicates;  a few numbers per line are kept
//!                         --Checker::finish--> faults seen against the rest: length, script, shifted blocks
//! ```
//!
//! One pass over the files. What is unusual is judged by the corpus itself (its usual ratio of lengths, its usual
//! scripts), so that no language pair needs settings.

mod line;
mod shift;
mod whole;

use sylvan_base::HashMap;
use sylvan_base::hash::{content_hash, fold};

use line::LineFacts;

/// What kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Nothing on the source side.
    EmptySource,
    /// Nothing on the target side.
    EmptyTarget,
    /// Far more words than a sentence has.
    TooLong,
    /// One side is unusually long for the other.
    LengthRatio,
    /// The same pair as an earlier line.
    Duplicate,
    /// Both sides are the same.
    Identical,
    /// A side is written in another script than the rest of it.
    WrongScript,
    /// Lines belong to lines before or after those beside them.
    Shifted,
    /// The two sides hardly have anything to do with each other: shuffled lines, or files of different texts.
    Unrelated,
    /// A control or invisible character.
    ControlCharacter,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Signs of text that was decoded wrongly.
    BrokenEncoding,
    /// Tags or entities.
    Markup,
    /// One word many times in a row.
    Repetition,
    /// Neither letters nor digits.
    NoLetters,
    /// A tree whose words are not those of the text.
    TreeYield,
    /// A tree that cannot be read.
    BadTree,
    /// Links that cannot be read or point beyond the words.
    Alignment,
}

impl Kind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [Self; 18] = [
        Self::EmptySource,
        Self::EmptyTarget,
        Self::TooLong,
        Self::LengthRatio,
        Self::Duplicate,
        Self::Identical,
        Self::WrongScript,
        Self::Shifted,
        Self::Unrelated,
        Self::ControlCharacter,
        Self::InvalidUtf8,
        Self::BrokenEncoding,
        Self::Markup,
        Self::Repetition,
        Self::NoLetters,
        Self::TreeYield,
        Self::BadTree,
        Self::Alignment,
    ];

    /// Whether it is about the corpus and not about single lines, so that no lines are to be left out for it.
    pub fn is_of_all(self) -> bool {
        self == Self::Unrelated
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::EmptySource => "empty-source",
            Self::EmptyTarget => "empty-target",
            Self::TooLong => "too-long",
            Self::LengthRatio => "length-ratio",
            Self::Duplicate => "duplicate",
            Self::Identical => "identical",
            Self::WrongScript => "wrong-script",
            Self::Shifted => "shifted",
            Self::Unrelated => "unrelated",
            Self::ControlCharacter => "control-character",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::BrokenEncoding => "broken-encoding",
            Self::Markup => "markup",
            Self::Repetition => "repetition",
            Self::NoLetters => "no-letters",
            Self::TreeYield => "tree-yield",
            Self::BadTree => "bad-tree",
            Self::Alignment => "alignment",
        }
    }
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The first line, counted from 1.
    pub line: u64,
    /// The last line; the same unless a block is meant.
    pub until: u64,
    /// What kind.
    pub kind: Kind,
    /// What exactly.
    pub detail: String,
}

/// Where the limits are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckOptions {
    /// More words than this are too many.
    pub max_words: usize,
    /// The same word this often in a row is a repetition.
    pub repeats: usize,
    /// A length ratio this many times the usual one is reported.
    pub ratio: f64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { max_words: 200, repeats: 5, ratio: 3.5 }
    }
}

/// Collects faults.
#[derive(Debug, Default)]
pub struct Checker {
    options: CheckOptions,
    facts: Vec<[LineFacts; 2]>,
    seen: HashMap<u64, u64>,
    findings: Vec<Finding>,
}

impl Checker {
    /// A checker with these limits.
    pub fn new(options: CheckOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Looks at the next pair of lines, given without their line breaks.
    pub fn add(&mut self, source: &[u8], target: &[u8]) {
        let line = self.facts.len() as u64 + 1;
        let mut facts = [LineFacts::default(); 2];
        let sides = [("source", source), ("target", target)];
        for ((side, bytes), facts) in sides.into_iter().zip(&mut facts) {
            *facts = line::look(bytes, &self.options, |kind, detail| {
                self.findings.push(Finding { line, until: line, kind, detail: format!("{side}: {detail}") });
            });
        }
        let mut report =
            |kind, detail: String| self.findings.push(Finding { line, until: line, kind, detail });
        for (facts, kind, side) in
            [(&facts[0], Kind::EmptySource, "source"), (&facts[1], Kind::EmptyTarget, "target")]
        {
            if facts.is_empty() {
                report(kind, format!("no words in the {side}"));
            }
        }
        if !facts[0].is_empty() && !facts[1].is_empty() {
            if source.trim_ascii() == target.trim_ascii() && facts[0].letters > 0 && facts[0].words > 1 {
                report(Kind::Identical, "both sides are the same".to_string());
            }
            let pair = fold(content_hash(source.trim_ascii()), content_hash(target.trim_ascii()));
            match self.seen.entry(pair) {
                hashbrown::hash_map::Entry::Occupied(first) => {
                    report(Kind::Duplicate, format!("the same pair as line {}", first.get()));
                }
                hashbrown::hash_map::Entry::Vacant(entry) => {
                    entry.insert(line);
                }
            }
        }
        self.facts.push(facts);
    }

    /// Adds a fault of the line added last that was found elsewhere (trees, links).
    pub fn report(&mut self, kind: Kind, detail: impl Into<String>) {
        let line = self.facts.len() as u64;
        self.findings.push(Finding { line, until: line, kind, detail: detail.into() });
    }

    /// How many pairs were added.
    pub fn lines(&self) -> u64 {
        self.facts.len() as u64
    }

    /// Judges lines against the whole and returns all faults in the order of lines and kinds.
    pub fn finish(mut self) -> Vec<Finding> {
        whole::scripts(&self.facts, &mut self.findings);
        whole::unrelated(&self.facts, &mut self.findings);
        if let Some(usual) = whole::usual_ratio(&self.facts) {
            whole::ratios(&self.facts, usual, self.options.ratio, &mut self.findings);
            shift::blocks(&self.facts, usual, &mut self.findings);
        }
        self.findings.sort_by_key(|finding| (finding.line, finding.kind));
        self.findings
    }
}
