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

mod read;

use sylvan_base::HashMap;

use crate::{Grammar, RuleId};

/// The feature of what a line adds to the score.
pub(crate) const BOOST: &str = "boost";

/// Corrections of one table.
#[derive(Debug)]
pub struct Overlay {
    added: Grammar,
    /// For each rule that lines are about: what they say, in order.
    verdicts: Vec<Vec<Verdict>>,
    /// Which of these belongs to a rule of the table, and which to an added rule.
    of_table: HashMap<RuleId, usize>,
    of_added: Vec<usize>,
    /// The rule of the table that an added one replaces.
    instead_of: Vec<Option<RuleId>>,
}

/// What a line says about a rule.
#[derive(Debug, Clone, Copy)]
struct Verdict {
    /// The sentence that it is about; all if there is none.
    sentence: Option<u64>,
    /// The added rule that is used; none if the rule is forbidden.
    used: Option<RuleId>,
}

impl Overlay {
    /// What is added to the table: a layer with the table's features and `boost`.
    pub fn added(&self) -> &Grammar {
        &self.added
    }

    /// The rule of the table that an added rule replaces, if it is not new.
    pub fn instead_of(&self, added: RuleId) -> Option<RuleId> {
        self.instead_of.get(added.0 as usize).copied().flatten()
    }

    /// Whether a rule of the table may be used in a sentence.
    #[inline]
    pub fn allows(&self, rule: RuleId, sentence: Option<u64>) -> bool {
        self.of_table.get(&rule).is_none_or(|&entry| self.last(entry, sentence).is_none())
    }

    /// Whether an added rule is used in a sentence.
    pub(crate) fn uses(&self, added: RuleId, sentence: Option<u64>) -> bool {
        let entry = self.of_added.get(added.0 as usize);
        let last = entry.and_then(|&entry| self.last(entry, sentence));
        last.is_some_and(|verdict| verdict.used == Some(added))
    }

    fn last(&self, entry: usize, sentence: Option<u64>) -> Option<&Verdict> {
        let concerns = |verdict: &&Verdict| verdict.sentence.is_none() || verdict.sentence == sentence;
        self.verdicts[entry].iter().rev().find(concerns)
    }
}
