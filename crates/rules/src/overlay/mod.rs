//! Corrections on top of a table: rules added, forbidden, favoured, without training again.
//!
//! ```text
//! add     NP(DT(the) NN(bank)) -> Ufer ||| p_ef=-0.5
//! forbid  NN(bank) -> Bank
//! forbid  NN(bank) -> *                      whatever the target side
//! boost 2 NN(bank) -> Ufer                   its score is 2 more wherever it is used
//! @17 forbid NN(bank) -> Ufer                in the sentence of line 17 alone
//! ```
//!
//! Rules are written as `sylvan grammar show` prints them. Each line says what to do with a rule, and of
//! several lines about one rule the last one that concerns a sentence counts. What is added or favoured is a
//! layer of its own, in which a favoured rule stands again with one more feature, `boost`; the table itself
//! is never touched.
//!
//! *Parts.* Lines are added one after the other, thousands of them in time, and each must count at once. So an overlay
//! is a row of parts that are never changed: new lines become a part of their own on top of the others, which are
//! shared. What a part says about a rule goes before what those below it say.

mod read;

use std::sync::Arc;

use sylvan_base::HashMap;

use crate::{Grammar, Rule, RuleId};

/// The feature of what a line adds to the score.
pub(crate) const BOOST: &str = "boost";

/// A rule without variables that is added with at least this much boost is given: it is the translation of a sentence
/// that is its source side.
pub const GIVEN: f32 = 100.0;

/// Corrections of one table.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// The oldest first.
    parts: Vec<Arc<Part>>,
}

/// What a row of lines says.
#[derive(Debug)]
struct Part {
    added: Grammar,
    /// The number of its first added rule among those of all parts.
    first: u32,
    /// For each rule that lines are about: what they say, in order.
    verdicts: Vec<Vec<Verdict>>,
    /// Which of these belongs to a rule, to a rule of the table, and to an added rule of this part or of one below it.
    entries: HashMap<Rule, usize>,
    of_table: HashMap<RuleId, usize>,
    of_added: HashMap<u32, usize>,
    /// Of each entry, the added rules of this part.
    numbers: Vec<Vec<u32>>,
    /// Of each added rule, the rule of the table that it replaces, and the line that it comes from.
    instead_of: Vec<Option<RuleId>>,
    lines: Vec<u64>,
    given: Vec<bool>,
}

/// What a line says about a rule.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    /// The sentence that it is about; all if there is none.
    sentence: Option<u64>,
    /// The number of the added rule that is used; none if the rule is forbidden.
    used: Option<u32>,
}

impl Part {
    fn last(&self, entry: usize, sentence: Option<u64>) -> Option<&Verdict> {
        let concerns = |verdict: &&Verdict| verdict.sentence.is_none() || verdict.sentence == sentence;
        self.verdicts[entry].iter().rev().find(concerns)
    }
}

impl Overlay {
    /// How many parts there are.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// What a part adds to the table: a layer with the table's features and `boost`.
    pub fn added(&self, part: usize) -> Option<&Grammar> {
        self.parts.get(part).map(|part| &part.added)
    }

    /// The first parts alone, which are shared.
    pub fn lowest(&self, parts: usize) -> Self {
        Self { parts: self.parts[..parts.min(self.parts.len())].to_vec() }
    }

    /// The rule of the table that an added rule of a part replaces, if it is not new.
    pub fn instead_of(&self, part: usize, added: RuleId) -> Option<RuleId> {
        self.parts.get(part)?.instead_of.get(added.0 as usize).copied().flatten()
    }

    /// The line that an added rule of a part comes from, counted from 1 in the text of that part.
    pub fn line(&self, part: usize, added: RuleId) -> Option<u64> {
        self.parts.get(part)?.lines.get(added.0 as usize).copied()
    }

    /// Whether an added rule of a part is given: the translation of a sentence that is its source side.
    pub fn is_given(&self, part: usize, added: RuleId) -> bool {
        let given = self.parts.get(part).and_then(|part| part.given.get(added.0 as usize));
        given.copied().unwrap_or(false)
    }

    /// Whether a rule of the table may be used in a sentence.
    #[inline]
    pub fn allows(&self, rule: RuleId, sentence: Option<u64>) -> bool {
        self.parts.iter().all(|part| {
            let entry = part.of_table.get(&rule);
            entry.is_none_or(|&entry| part.last(entry, sentence).is_none())
        })
    }

    /// Whether an added rule of a part is used in a sentence.
    pub fn uses(&self, part: usize, added: RuleId, sentence: Option<u64>) -> bool {
        let Some(first) = self.parts.get(part).map(|part| part.first) else { return false };
        let number = first + added.0;
        let mut verdicts = self.parts[part..].iter().rev().filter_map(|part| {
            let entry = *part.of_added.get(&number)?;
            part.last(entry, sentence)
        });
        verdicts.next().is_some_and(|verdict| verdict.used == Some(number))
    }

    /// The first number that no added rule has.
    fn end(&self) -> u32 {
        self.parts.last().map_or(0, |part| part.first + part.added.len() as u32)
    }

    /// The part and the rule of a number.
    fn place(&self, number: u32) -> Option<(&Part, RuleId)> {
        let after = self.parts.partition_point(|part| part.first <= number);
        let part = self.parts.get(after.checked_sub(1)?)?;
        Some((part, RuleId(number - part.first)))
    }
}
