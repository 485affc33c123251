//! What a grammar file says, before features are filled in: the syntax tree of the data file.
//!
//! [`reader`](crate::reader) makes these values from text and checks everything that one statement shows by
//! itself; [`compile`](crate::compile) turns them into the flat tables the generator runs on.

use sylvan_base::{Fault, HashMap, InputError};

/// A place in a grammar file, kept so that errors found long after reading can still name their line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) line: u32,
}

/// A feature value; all features share one table of at most 255 names.
pub(crate) type Value = u8;

/// How the target words of a lexical category inflect, and how their tags and inner structure follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Noun,
    Mass,
    Verb,
    Adjective,
    Adverb,
    Name,
    Number,
    Phrase,
}

impl Kind {
    pub(crate) const NAMES: [(&'static str, Self); 8] = [
        ("noun", Self::Noun),
        ("mass", Self::Mass),
        ("verb", Self::Verb),
        ("adjective", Self::Adjective),
        ("adverb", Self::Adverb),
        ("name", Self::Name),
        ("number", Self::Number),
        ("phrase", Self::Phrase),
    ];

    /// The values of the form feature that the category gets after its declared features.
    pub(crate) fn forms(self) -> &'static [&'static str] {
        match self {
            Self::Noun => &["s", "p"],
            Self::Verb => &["base", "i", "p", "s", "past", "part", "ing"],
            Self::Adjective => &["base", "er"],
            Self::Mass | Self::Adverb | Self::Name | Self::Number | Self::Phrase => &[],
        }
    }
}

/// The three series of words that the open vocabulary makes by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    Person,
    Place,
    Number,
}

/// A phrase category or a lexical category.
#[derive(Debug)]
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// The values each feature position may take, form feature included.
    pub(crate) domains: Vec<Vec<Value>>,
    /// For lexical categories: inflection, source tag and open series.
    pub(crate) lexical: Option<Lexical>,
}

/// The part of a category that only lexical ones have.
#[derive(Debug)]
pub(crate) struct Lexical {
    pub(crate) kind: Kind,
    pub(crate) label: String,
    pub(crate) open: Option<Open>,
}

/// One argument of a category in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arg {
    Fixed(Value),
    Variable(u8),
}

/// A category with arguments.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub(crate) category: u32,
    pub(crate) args: Vec<Arg>,
}

/// A piece of the source tree fragment, in reading order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// An opening bracket with its label.
    Open(String),
    /// A literal word: position in [`Rule::literals`].
    Word(u8),
    /// A slot: position in [`Rule::slots`].
    Slot(u8),
    Close,
}

/// Where a link of a target item goes on the source side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Literal(u8),
    Slot(u8),
}

/// One item of a target side.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) what: What,
    /// Links to the source; `true` means sure.
    pub(crate) links: Vec<(End, bool)>,
    /// The item it depends on and how; `None` for the head.
    pub(crate) arc: Option<(u8, String)>,
}

/// A target item is a slot or a word, whose name may contain `<Variable>` parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Slot(u8),
    Word(String),
}

/// One target side of a rule.
#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) place: Place,
    pub(crate) weight: f64,
    pub(crate) items: Vec<Item>,
    pub(crate) head: u8,
}

/// A rule with feature variables.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    pub(crate) left: Term,
    pub(crate) weight: f64,
    pub(crate) ops: Vec<Op>,
    /// Literal source words; a word may be `<Variable>`.
    pub(crate) literals: Vec<String>,
    /// Slots in source order with their names.
    pub(crate) slots: Vec<(String, Term)>,
    pub(crate) variants: Vec<Variant>,
    /// Phenomena, as positions in [`File::phenomena`].
    pub(crate) phenomena: u64,
    /// Whether the rule makes sentences longer when a long one is wanted.
    pub(crate) grow: bool,
    /// Whether the last source words of its slots must differ: no apple and apple.
    pub(crate) distinct: bool,
    /// Variable names with the values left after intersecting all positions.
    pub(crate) variables: Vec<(String, Vec<Value>)>,
}

/// A line of the lexicon: one source word with its translations.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) place: Place,
    pub(crate) category: u32,
    /// Every combination of declared features it stands for (form excluded).
    pub(crate) args: Vec<Vec<Value>>,
    pub(crate) source: String,
    pub(crate) weight: f64,
    /// Translations with weights; forms as written.
    pub(crate) variants: Vec<(f64, Vec<String>)>,
}

/// A target word that rules name literally.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    pub(crate) form: String,
    pub(crate) upos: String,
    pub(crate) xpos: String,
    pub(crate) lemma: String,
}

/// Everything the files of one grammar say.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) names: Vec<String>,
    pub(crate) values: Vec<String>,
    /// How frequent each value is where a rule leaves it open.
    pub(crate) value_weights: Vec<f64>,
    pub(crate) features: HashMap<String, Vec<Value>>,
    pub(crate) sets: HashMap<String, Vec<Value>>,
    pub(crate) categories: Vec<Category>,
    pub(crate) words: HashMap<String, Word>,
    pub(crate) vowel_sound: Vec<String>,
    pub(crate) consonant_sound: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) phenomena: Vec<String>,
    pub(crate) start: Option<u32>,
}

impl File {
    /// Adds the place to a fault.
    pub(crate) fn error(&self, place: Place, fault: Fault) -> InputError {
        let name = self.names.get(place.file as usize).map_or("grammar", String::as_str);
        fault.at(name, u64::from(place.line))
    }

    /// The values that a value name or a set name stands for.
    pub(crate) fn values_of(&self, name: &str) -> Option<Vec<Value>> {
        if let Some(set) = self.sets.get(name) {
            return Some(set.clone());
        }
        self.values.iter().position(|value| value == name).map(|at| vec![at as Value])
    }
}
