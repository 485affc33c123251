//! Finding a rule by its content.

use super::matching::{Place, step};
use crate::{Count, Grammar, Rule, RuleId, Source, SourceId, TargetSide};

impl Grammar {
    /// The source side with this content, in the grammar's symbols.
    pub fn find_source(&self, source: &[Source]) -> Option<SourceId> {
        let mut place = Place::Trie(0);
        for token in source {
            let token = match *token {
                Source::Open(label, children) => self.tokens.open(label, children),
                Source::Word(word) => self.tokens.word(word),
                Source::Var(label) => self.tokens.variable(label),
            };
            place = step(self, place, token)?;
        }
        match place {
            Place::Tail { source, left: 0, .. } => Some(source),
            _ => None,
        }
    }

    /// The rule with this content; the first, if a table has it more than once.
    pub fn find_rule(&self, rule: &Rule) -> Option<RuleId> {
        let mut found = None;
        self.each_rule_of(self.find_source(rule.source())?, |id, target| {
            if found.is_none() && target.eq(rule.target().iter().copied()) {
                found = Some(id);
            }
        });
        found
    }

    /// All rules of a source side.
    pub fn rules_of(&self, source: SourceId) -> impl Iterator<Item = RuleId> + use<> {
        let mut ids = Vec::new();
        self.each_rule_of(source, |id, _| ids.push(id));
        ids.into_iter()
    }

    /// How often a source side was seen, if the table knows.
    pub fn count_of(&self, source: SourceId) -> Option<Count> {
        let first = self.rules_of(source).next()?;
        self.notes(first).count.map(|count| count.source)
    }

    /// All rules of a source side, with their target sides.
    pub(crate) fn each_rule_of(
        &self,
        source: SourceId,
        mut found: impl FnMut(RuleId, &mut dyn Iterator<Item = TargetSide>),
    ) {
        let Some(cursor) = self.rules_at(source) else { return };
        self.each_rule(source, cursor, |rule| found(rule.id, &mut rule.symbols()));
    }
}
