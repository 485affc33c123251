//! Rule tables of Kriya and of the left-to-right decoder that goes with it.
//!
//! ```text
//! aber X__1 sagen X__2 ||| but say X__1 X__2 ||| -0.7 -1.2 -0.3 -1.1
//! ```
//!
//! Natural logarithms of p(f|e), lex(f|e), p(e|f) and lex(e|f); its decoder ranks rules by the third. More numbers are
//! kept as `kriya4`, `kriya5` and so on. Links, counts and other features are lost when a table is written.

use sylvan_base::Vocab;
use sylvan_base::limits::VALUE;

use super::line::{Fields, Parsed, checked_word, fault_at, push, push_escaped, rule, unescaped};
use super::{Names, TextRule};
use crate::table::FLAT_LABEL;
use crate::{Grammar, Rule, RuleCount, RuleId, RuleNotes, Source, TargetSide};

const EXPECTED: &str = "source ||| target ||| numbers";
const KEPT: &str = "|";
/// In the order of the format.
const SCORES: [&str; 4] = ["p_fe", "lex_fe", "p_ef", "lex_ef"];

/// `X__1`.
fn variable(token: &str) -> Option<u32> {
    token.strip_prefix("X__")?.parse().ok().filter(|number| *number > 0)
}

/// Reads a rule.
pub(super) fn parse(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let tokens: Vec<&str> = fields.need(EXPECTED)?.split_ascii_whitespace().collect();
    let label = vocab.intern(FLAT_LABEL);
    let mut source = vec![Source::Open(label, tokens.len() as u32)];
    let mut variables = 0;
    for token in tokens {
        source.push(match variable(token) {
            Some(number) => {
                variables += 1;
                if number != variables {
                    return Err(fault_at(line, token, "variables in order: X__1 X__2"));
                }
                Source::Var(label)
            }
            None => Source::Word(vocab.intern(&unescaped(token))),
        });
    }
    let mut target = Vec::new();
    for token in fields.need(EXPECTED)?.split_ascii_whitespace() {
        target.push(match variable(token) {
            Some(number) => TargetSide::Var(number - 1),
            None => {
                let word = unescaped(token);
                TargetSide::Word(vocab.intern(checked_word(line, token, &word)?))
            }
        });
    }
    let mut features = Vec::new();
    for (number, field) in fields.need(EXPECTED)?.split_ascii_whitespace().enumerate() {
        let value = field.parse::<f32>().ok().filter(|value| value.abs() <= VALUE);
        let value = value.ok_or_else(|| fault_at(line, field, "a number"))?;
        let name = match SCORES.get(number) {
            Some(name) => names.number(name),
            None => names.number(&format!("kriya{number}")),
        };
        features.push((name, value));
    }
    Ok(TextRule { rule: rule(source, target)?, features, count: RuleCount::default(), links: Vec::new() })
}

/// Writes a rule.
pub(super) fn write(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    _notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    let mut next = 0;
    for token in rule.source() {
        match token {
            Source::Open(..) => continue,
            Source::Word(word) => push_escaped(line, vocab.text(*word), KEPT),
            Source::Var(_) => {
                next += 1;
                push(line, format_args!("X__{next}"));
            }
        }
        line.push(' ');
    }
    line.push_str("|||");
    for symbol in rule.target() {
        line.push(' ');
        match symbol {
            TargetSide::Word(word) => push_escaped(line, vocab.text(*word), KEPT),
            TargetSide::Var(number) => push(line, format_args!("X__{}", number + 1)),
        }
    }
    line.push_str(" |||");
    let values = grammar.features(id);
    for name in SCORES {
        let value =
            grammar.feature_names().iter().position(|known| known == name).map_or(0.0, |at| values[at]);
        push(line, format_args!(" {value}"));
    }
}
