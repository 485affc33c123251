//! cdec's grammars: of its tree-to-string decoder, and the flat ones that Joshua reads too.
//!
//! ```text
//! (VP (VB show) [NP]) ||| [1] を 見せ ||| p_ef=-2.48 p_fe=-1.09 ||| 0-2        trees
//! [VP] ||| show [NP,1] ||| [NP,1] を 見せ ||| p_ef=-2.48 p_fe=-1.09 ||| 0-2      flat
//! ```
//!
//! Features keep their names and values; numbers without a name are `PhraseModel_0`, `PhraseModel_1`, ... Links are
//! between places of the two sides, variables counted. A flat rule is a tree of one level: the inside of
//! a deeper tree is lost when it is written, and the labels between the root and the words cannot be recovered.

use sylvan_base::Vocab;
use sylvan_base::limits::VALUE;

use super::brackets::Brackets;
use super::line::{
    Fields, Parsed, checked_word, fault_at, named_value, place_links, push, push_escaped, rule, unescaped,
    write_place_links,
};
use super::{Names, TextRule};
use crate::{Grammar, Rule, RuleCount, RuleId, RuleNotes, Source, TargetSide};

const KEPT: &str = "|[]()";
const TREES: Brackets = Brackets { open: '(', close: ')', kept: KEPT };
const EXPECTED: &str = "(tree) ||| target ||| features ||| links";
const EXPECTED_FLAT: &str = "[LABEL] ||| source ||| target ||| features ||| links";

/// Reads a rule with a source tree.
pub(super) fn parse(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let source = TREES.parse(line, fields.need(EXPECTED)?, vocab)?;
    finish(line, source, fields, EXPECTED, names, vocab)
}

/// Reads a flat rule.
pub(super) fn parse_flat(line: &str, names: &mut Names, vocab: &mut Vocab) -> Parsed<TextRule> {
    let mut fields = Fields::new(line);
    let root = fields.need(EXPECTED_FLAT)?.trim();
    let label = root.strip_prefix('[').and_then(|root| root.strip_suffix(']'));
    let label = label.filter(|label| !label.is_empty());
    let label = label.ok_or_else(|| fault_at(line, root, "a label in square brackets"))?;
    let tokens: Vec<&str> = fields.need(EXPECTED_FLAT)?.split_ascii_whitespace().collect();
    let mut source = vec![Source::Open(vocab.intern(&unescaped(label)), tokens.len() as u32)];
    let mut variables = 0;
    for token in tokens {
        source.push(match variable(token) {
            Some((label, number)) => {
                variables += 1;
                if label.is_empty() || number != variables {
                    return Err(fault_at(line, token, "variables with labels, in order: [NP,1] [VP,2]"));
                }
                Source::Var(vocab.intern(&unescaped(label)))
            }
            None => Source::Word(vocab.intern(&unescaped(token))),
        });
    }
    finish(line, source, fields, EXPECTED_FLAT, names, vocab)
}

/// `[NP,1]` or `[1]`.
fn variable(token: &str) -> Option<(&str, u32)> {
    let inside = token.strip_prefix('[')?.strip_suffix(']')?;
    let (label, number) = inside.rsplit_once(',').unwrap_or(("", inside));
    Some((label, number.parse().ok().filter(|number| *number > 0)?))
}

fn finish(
    line: &str,
    source: Vec<Source>,
    mut fields: Fields<'_>,
    expected: &str,
    names: &mut Names,
    vocab: &mut Vocab,
) -> Parsed<TextRule> {
    let mut target = Vec::new();
    for token in fields.need(expected)?.split_ascii_whitespace() {
        target.push(match variable(token) {
            Some((_, number)) => TargetSide::Var(number - 1),
            None => {
                let word = unescaped(token);
                TargetSide::Word(vocab.intern(checked_word(line, token, &word)?))
            }
        });
    }
    let mut features = Vec::new();
    let pairs = fields.need(expected)?.split([' ', '\t', ';']).filter(|pair| !pair.is_empty());
    for (number, pair) in pairs.enumerate() {
        let bare = pair.parse::<f32>().ok().filter(|value| value.abs() <= VALUE);
        let (name, value) = match bare {
            Some(value) => (format!("PhraseModel_{number}"), value),
            None => named_value(line, pair).map(|(name, value)| (name.to_string(), value))?,
        };
        features.push((names.number(&name), value));
    }
    let rule = rule(source, target)?;
    let links = place_links(line, fields.next().unwrap_or_default(), &rule)?;
    Ok(TextRule { rule, features, count: RuleCount::default(), links })
}

/// Writes a rule with its source tree.
pub(super) fn write(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    TREES.write(rule.source(), vocab, line);
    line.push_str(" ||| ");
    let variable = |number: u32, line: &mut String| push(line, format_args!("[{}]", number + 1));
    write_rest(grammar, id, rule, notes, vocab, line, variable);
}

/// Writes a rule without the inside of its tree.
pub(super) fn write_flat(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
) {
    line.push('[');
    push_escaped(line, vocab.text(rule.root()), KEPT);
    line.push_str("] |||");
    let labels: Vec<_> = rule.variables().collect();
    let variable = |number: u32, line: &mut String| {
        line.push('[');
        push_escaped(line, vocab.text(labels[number as usize]), KEPT);
        push(line, format_args!(",{}]", number + 1));
    };
    let mut next = 0;
    for token in rule.source() {
        match token {
            Source::Open(..) => {}
            Source::Word(word) => {
                line.push(' ');
                push_escaped(line, vocab.text(*word), KEPT);
            }
            Source::Var(_) => {
                line.push(' ');
                variable(next, line);
                next += 1;
            }
        }
    }
    line.push_str(" ||| ");
    write_rest(grammar, id, rule, notes, vocab, line, variable);
}

fn write_rest(
    grammar: &Grammar,
    id: RuleId,
    rule: &Rule,
    notes: &RuleNotes,
    vocab: &Vocab,
    line: &mut String,
    variable: impl Fn(u32, &mut String),
) {
    for (index, symbol) in rule.target().iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        match symbol {
            TargetSide::Word(word) => push_escaped(line, vocab.text(*word), KEPT),
            TargetSide::Var(number) => variable(*number, line),
        }
    }
    // cdec looks for bars with a space on each side, so an empty side is two spaces.
    line.push_str(" |||");
    for (name, value) in grammar.feature_names().iter().zip(grammar.features(id)) {
        push(line, format_args!(" {name}={value}"));
    }
    line.push_str(" |||");
    write_place_links(rule, &notes.links, false, line);
}
