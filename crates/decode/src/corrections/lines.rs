//! What a model learnt from single training lines.

use sylvan_rules::RuleId;

use crate::error::Result;
use crate::model::Model;

/// Rules that were learnt from one pair alone, by its number in the files that training was given; `None` if the model
/// does not know that pair.
pub fn rules_of_line(model: &Model, number: u64) -> Result<Option<Vec<String>>> {
    let Some(lines) = model.training_lines() else { return Ok(None) };
    let Some(kept) = lines.kept(number)? else { return Ok(None) };
    let grammar = model.grammar();
    let alone = |id: &RuleId| {
        let notes = grammar.notes(*id);
        // Where a sentence has several derivations they share its counts, which never exceed 1.
        notes.lines == [kept] && notes.count.is_some_and(|count| count.rule.to_f64() <= 1.0)
    };
    let rules = grammar.rules().filter(alone);
    Ok(Some(rules.map(|id| grammar.rule(id).show(model.vocab())).collect()))
}
