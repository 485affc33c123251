//! A structured language model that is a probability distribution over sentences (after Chelba & Jelinek 2000).
//!
//! ```text
//! P(actions, words) = product of   P(shift, reduce left or right, end | stack)   over all actions
//!                              and P(word | stack) P(tag | word)                 over all shifts
//! ```
//!
//! Each factor is estimated from trees, in practice from the automatic parses of much text, and backs off from what is
//! seen of the stack to less of it (`estimate.rs`). Such scores mean in a sum with others what those of an n-gram model
//! mean. Parses of a sentence can be compared once it is complete; on the way those that put their reductions off look
//! better than they are (`owing.rs`).

mod contexts;
mod estimate;
mod table;

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use sylvan_base::{HashMap, InputError, Result};
use sylvan_store::{Container, ContainerWriter, Name, Section, name};

use self::contexts::word_contexts;
use self::table::{Decisions, Outcomes, SeenContexts, Table};
use super::{Actions, Top};

pub use estimate::GenerativeEstimator;

pub(super) const KIND: Name = name("slm");
pub(super) const VERSION: u32 = 1;
const META: Name = name("meta");
const WORDS: Name = name("words");
const TAGS: Name = name("tags");
const WORD_TAGS: Name = name("wordtags");
const TAG_SCORES: Name = name("tagscore");
const EXPECTED: Name = name("expected");
const ACTION_KEYS: Name = name("actkeys");
const ACTION_VALUES: Name = name("actprobs");
const KEYS: Name = name("keys");
const VALUES: Name = name("values");

/// The word that stands for all unknown ones.
const UNKNOWN: u32 = 0;

/// Actions by number. A sentence ends only where nothing can be reduced, so its end shares a number with a reduction.
const SHIFT: usize = 0;
const LEFT: usize = 1;
const RIGHT: usize = 2;
const END: usize = 1;
const ACTIONS: usize = 3;

/// The model.
#[derive(Debug, Clone)]
pub struct Generative {
    words: Arc<HashMap<Box<str>, u32>>,
    texts: Arc<[Box<str>]>,
    tags: Arc<[Box<str>]>,
    /// By word, as many as `ways`: a part of speech plus 1, or 0 for none.
    word_tags: Section<u8>,
    /// The logarithm of its probability.
    tag_scores: Section<f32>,
    ways: usize,
    /// By word: what it added on average.
    expected: Section<f32>,
    /// What a reduction added on average.
    reduction: f64,
    actions: Decisions,
    outcomes: Outcomes,
    notes: Vec<(String, String)>,
}

/// A partial tree: its head, and the parts of speech of its outermost children (0: none).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GenerativeTree {
    word: GenerativeWord,
    left: u8,
    right: u8,
}

/// What was looked up for a stack.
#[derive(Debug, Clone)]
pub struct GenerativeSeen {
    /// The logarithms of the probabilities of actions.
    actions: [f32; ACTIONS],
    /// Once a word is shifted: most stacks are reduced or dropped.
    words: OnceCell<SeenContexts>,
}

/// A word and its part of speech, plus 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GenerativeWord {
    id: u32,
    tag: u8,
}

impl GenerativeWord {
    /// The number of its part of speech among [`Generative::tags`].
    pub fn tag(&self) -> u8 {
        self.tag.saturating_sub(1)
    }
}

impl Generative {
    /// The parts of speech.
    pub fn tags(&self) -> &[Box<str>] {
        &self.tags
    }

    /// What it was learnt from: names and values.
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// Writes the model file.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut writer = ContainerWriter::create(path, KIND, VERSION, 10)?;
        let mut meta = format!("ways={}\nreduction={}\n", self.ways, self.reduction);
        for (name, value) in &self.notes {
            meta.push_str(&format!("{name}={value}\n"));
        }
        writer.section(META, meta.as_bytes())?;
        writer.section(WORDS, self.texts.join("\n").as_bytes())?;
        writer.section(TAGS, self.tags.join("\n").as_bytes())?;
        writer.section(WORD_TAGS, &self.word_tags)?;
        writer.section(TAG_SCORES, &self.tag_scores)?;
        writer.section(EXPECTED, &self.expected)?;
        writer.section(ACTION_KEYS, self.actions.0.keys())?;
        writer.section(ACTION_VALUES, self.actions.0.values())?;
        writer.section(KEYS, self.outcomes.0.keys())?;
        writer.section(VALUES, self.outcomes.0.values())?;
        writer.finish()
    }

    pub(super) fn from_container(file: Container) -> Result<Self> {
        file.check_all()?;
        let file = Arc::new(file);
        let meta = text(&file, META)?;
        let lines = meta.lines().filter_map(|line| line.split_once('='));
        let mut notes: Vec<(String, String)> =
            lines.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let mut take = |wanted: &str| {
            let at = notes.iter().position(|(name, _)| name == wanted);
            at.map(|at| notes.remove(at).1).unwrap_or_default()
        };
        let ways = take("ways").parse().unwrap_or(0);
        let reduction = take("reduction").parse().unwrap_or(f64::NAN);
        let texts: Arc<[Box<str>]> = text(&file, WORDS)?.lines().map(Box::from).collect();
        let tags: Arc<[Box<str>]> = text(&file, TAGS)?.lines().map(Box::from).collect();
        let word_tags = Section::from_file(&file, WORD_TAGS)?;
        let tag_scores = Section::from_file(&file, TAG_SCORES)?;
        let expected = Section::from_file(&file, EXPECTED)?;
        let entries = (texts.len() + 1) * ways;
        let fits = (1..=255).contains(&ways)
            && word_tags.len() == entries
            && tag_scores.len() == entries
            && expected.len() == texts.len() + 1
            && reduction.is_finite()
            && word_tags.iter().all(|&tag| usize::from(tag) <= tags.len());
        let actions = Table::from_sections(
            Section::from_file(&file, ACTION_KEYS)?,
            Section::from_file(&file, ACTION_VALUES)?,
            ACTIONS,
        );
        let outcomes =
            Table::from_sections(Section::from_file(&file, KEYS)?, Section::from_file(&file, VALUES)?, 1);
        match (actions, outcomes) {
            (Some(actions), Some(outcomes)) if fits => {
                let (actions, outcomes) = (Decisions(actions), Outcomes(outcomes));
                let words = Arc::new(numbered(&texts));
                Ok(Self {
                    words,
                    texts,
                    tags,
                    word_tags,
                    tag_scores,
                    ways,
                    expected,
                    reduction,
                    actions,
                    outcomes,
                    notes,
                })
            }
            _ => Err(bad(&file, "sections that do not belong together")),
        }
    }
}

/// Words are numbered from 1.
fn numbered(texts: &[Box<str>]) -> HashMap<Box<str>, u32> {
    texts.iter().cloned().zip(1..).collect()
}

fn bad(file: &Container, found: &str) -> InputError {
    file.bad(found.to_string(), "a structured language model of this program".into())
}

fn text(file: &Container, name: Name) -> Result<String> {
    let bytes = file.section::<u8>(name)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| bad(file, "a section that is no text"))
}

impl Actions for Generative {
    type Tree = GenerativeTree;
    type Word = GenerativeWord;
    type Seen = GenerativeSeen;

    fn words(&self, text: &str, out: &mut Vec<(GenerativeWord, f64)>) {
        let id = self.words.get(text).copied().unwrap_or(UNKNOWN);
        let first = id as usize * self.ways;
        let tags = self.word_tags[first..first + self.ways].iter();
        let ways = tags.zip(&self.tag_scores[first..first + self.ways]).filter(|(tag, _)| **tag > 0);
        out.extend(ways.map(|(&tag, &score)| (GenerativeWord { id, tag }, f64::from(score))));
        if out.is_empty() {
            out.push((GenerativeWord { id, tag: 0 }, 0.0));
        }
    }

    fn leaf(&self, word: &GenerativeWord, _below: Option<&GenerativeTree>) -> GenerativeTree {
        GenerativeTree { word: *word, left: 0, right: 0 }
    }

    fn left(&self, s0: &GenerativeTree, s1: &GenerativeTree) -> GenerativeTree {
        GenerativeTree { left: s1.word.tag, ..*s0 }
    }

    fn right(&self, s0: &GenerativeTree, s1: &GenerativeTree) -> GenerativeTree {
        GenerativeTree { right: s0.word.tag, ..*s1 }
    }

    fn see(&self, top: Top<'_, GenerativeTree>) -> GenerativeSeen {
        GenerativeSeen { actions: self.actions.decide(top), words: OnceCell::new() }
    }

    fn shift(&self, top: Top<'_, GenerativeTree>, seen: &GenerativeSeen, word: &GenerativeWord) -> f64 {
        // The words that it knows, and the one that stands for all others.
        let uniform = -((self.texts.len() + 1) as f64).ln();
        let words = seen.words.get_or_init(|| self.outcomes.see(&word_contexts(top)));
        f64::from(seen.actions[SHIFT]) + self.outcomes.log_probability(words, word.id, uniform)
    }

    fn reduce(
        &self,
        _top: Top<'_, GenerativeTree>,
        seen: &GenerativeSeen,
        _next: Option<&GenerativeWord>,
    ) -> [f64; 2] {
        [LEFT, RIGHT].map(|action| f64::from(seen.actions[action]))
    }

    fn end(&self, seen: &GenerativeSeen) -> f64 {
        f64::from(seen.actions[END])
    }

    fn expected(&self, word: &GenerativeWord) -> f64 {
        f64::from(self.expected[word.id as usize])
    }

    fn expected_reduction(&self) -> f64 {
        self.reduction
    }

    /// Probabilities are at most 1, but for rounding.
    fn largest_reduction(&self) -> f64 {
        1e-6
    }

    fn is_normalized(&self) -> bool {
        true
    }
}
